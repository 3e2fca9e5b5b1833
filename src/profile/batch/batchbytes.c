#include "profile/batch/batchbytes.h"

#include <endian.h>
#include <string.h>
#include <zstd.h>

#include "base/hash.h"
#include "base/protobuf.h"

enum {
	VERSION = 1,
	LEVEL = 3,
	HEAD_BYTES = 40,
};

/* ---- tables as numbers ---- */

#define put protobuf_add_varint

static void put_text(struct str *out, const struct batch_text *t)
{
	put(out, t->n);
	str_addn(out, t->at, t->n);
}

/* Columns rather than rows: they pack better. */
#define PUT_COLUMN(out, table, field)                \
	do {                                         \
		vec_each(entry, table)               \
			put(out, (u64)entry->field); \
	} while (0)

void batch_add_tables(const struct batch *b, struct str *out)
{
	put(out, VERSION);
	put(out, b->start_ns);
	put(out, b->end_ns);
	put(out, b->texts.n);
	vec_each(t, &b->texts)
		put_text(out, t);
	put(out, b->facts.n);
	PUT_COLUMN(out, &b->facts, key);
	PUT_COLUMN(out, &b->facts, value);
	put(out, b->frames.n);
	PUT_COLUMN(out, &b->frames, name);
	PUT_COLUMN(out, &b->frames, file);
	PUT_COLUMN(out, &b->frames, build);
	PUT_COLUMN(out, &b->frames, mode);
	PUT_COLUMN(out, &b->frames, is_named);
	PUT_COLUMN(out, &b->frames, is_inlined);
	put(out, b->stacks.n);
	for (size_t i = 1; i < b->stacks.n; i++)
		put(out, i - 1 - b->stacks.at[i].parent);
	for (size_t i = 1; i < b->stacks.n; i++)
		put(out, b->stacks.at[i].frame);
	put(out, b->events.n);
	PUT_COLUMN(out, &b->events, name);
	PUT_COLUMN(out, &b->events, n_lost);
	put(out, b->n_columns);
	for (u32 i = 0; i < b->n_columns; i++)
		put(out, b->columns[i]);
	put(out, b->rows.n);
	PUT_COLUMN(out, &b->rows, event);
	PUT_COLUMN(out, &b->rows, stack);
	PUT_COLUMN(out, &b->rows, build);
	PUT_COLUMN(out, &b->rows, n_samples);
	PUT_COLUMN(out, &b->rows, period);
	for (u32 i = 0; i < b->n_columns; i++)
		for (size_t row = 0; row < b->rows.n; row++)
			put(out, b->cells.at[row * b->n_columns + i]);
	put(out, b->losses.n);
	PUT_COLUMN(out, &b->losses, cause);
	PUT_COLUMN(out, &b->losses, where);
	PUT_COLUMN(out, &b->losses, unit);
	PUT_COLUMN(out, &b->losses, amount);
}

/* ---- numbers as tables ---- */

struct input {
	struct bytes left;
	const char *reason; /* why reading cannot go on; NULL: it can */
};

static u64 take(struct input *in)
{
	u64 v = 0;

	if (!in->reason && !protobuf_varint(&in->left, &v))
		in->reason = "a number is cut off or has more than 64 bits";
	return v;
}

/* A number below `limit`. */
static u32 take_below(struct input *in, u64 limit, const char *reason)
{
	const u64 v = take(in);

	if (!in->reason && v >= limit)
		in->reason = reason;
	return in->reason ? 0 : (u32)v;
}

/* How many entries follow, each of as many bytes at least; the first stack takes none. */
static u32 take_count(struct input *in, u32 n_bytes)
{
	return take_below(in, MIN((u64)bytes_left(&in->left) / n_bytes + 2, (u64)UINT32_MAX),
		"a table has more entries than there are bytes");
}

#define TAKE_COLUMN(in, table, field, limit, reason)                                            \
	do {                                                                                    \
		vec_each(entry, table)                                                          \
			entry->field = (__typeof__(entry->field))take_below(in, limit, reason); \
	} while (0)

#define TAKE_AMOUNTS(in, table, field)           \
	do {                                     \
		vec_each(entry, table)           \
			entry->field = take(in); \
	} while (0)

/* Room for n entries of as many columns, zeroed. */
#define TAKE_ROOM(in, table, n_columns)                                           \
	do {                                                                      \
		const u32 n_entries = take_count(in, n_columns);                  \
		vec_reserve(table, n_entries);                                    \
		if (n_entries)                                                    \
			memset((table)->at, 0, n_entries * sizeof(*(table)->at)); \
		(table)->n = n_entries;                                           \
	} while (0)

static const char no_text[] = "the number of a text is too large";

static void take_texts(struct input *in, struct batch *b)
{
	const u32 n = take_count(in, 1);

	for (u32 i = 0; i < n && !in->reason; i++) {
		const u64 size = take(in);
		const void *at;

		if (in->reason)
			break;
		if (!bytes_take(&in->left, size, &at))
			in->reason = "a text is cut off";
		else if (batch_text(b, at, (size_t)size) != i)
			in->reason = i ? "a text is there twice" : "the first text is not empty";
	}
	if (!in->reason && !n)
		in->reason = "there are no texts";
}

static void take_frames(struct input *in, struct batch *b)
{
	VEC(struct batch_frame) frames = {0};

	TAKE_ROOM(in, &frames, 6);
	TAKE_COLUMN(in, &frames, name, b->texts.n, no_text);
	TAKE_COLUMN(in, &frames, file, b->texts.n, no_text);
	TAKE_COLUMN(in, &frames, build, b->texts.n, no_text);
	TAKE_COLUMN(in, &frames, mode, 256, "a frame's mode is too large");
	TAKE_COLUMN(in, &frames, is_named, 2, "a flag is not 0 or 1");
	TAKE_COLUMN(in, &frames, is_inlined, 2, "a flag is not 0 or 1");
	for (size_t i = 0; i < frames.n && !in->reason; i++)
		if (batch_frame(b, &frames.at[i]) != i)
			in->reason = "a frame is there twice";
	vec_fini(&frames);
}

static void take_stacks(struct input *in, struct batch *b)
{
	VEC(struct batch_stack) stacks = {0};

	TAKE_ROOM(in, &stacks, 2);
	if (!stacks.n && !in->reason)
		in->reason = "there are no stacks";
	for (size_t i = 1; i < stacks.n; i++)
		stacks.at[i].parent = (u32)(i - 1) - take_below(in, i, "a stack is above itself");
	for (size_t i = 1; i < stacks.n; i++)
		stacks.at[i].frame =
			take_below(in, b->frames.n, "the number of a frame is too large");
	for (size_t i = 1; i < stacks.n && !in->reason; i++)
		if (batch_stack(b, stacks.at[i].parent, stacks.at[i].frame) != i)
			in->reason = "a stack is there twice";
	vec_fini(&stacks);
}

static void take_events(struct input *in, struct batch *b)
{
	TAKE_ROOM(in, &b->events, 2);
	TAKE_COLUMN(in, &b->events, name, b->texts.n, no_text);
	TAKE_AMOUNTS(in, &b->events, n_lost);
}

static void take_columns(struct input *in, struct batch *b)
{
	b->n_columns = take_below(in, BATCH_COLUMNS + 1, "there are too many columns");
	for (u32 i = 0; i < b->n_columns; i++)
		b->columns[i] = take_below(in, b->texts.n, no_text);
}

/* Sums that fit in 64 bits are part of what a batch says. */
static void take_rows(struct input *in, struct batch *b)
{
	VEC(struct batch_row) rows = {0};
	VEC(u32) cells = {0};

	TAKE_ROOM(in, &rows, 5);
	TAKE_COLUMN(in, &rows, event, b->events.n, "the number of an event is too large");
	TAKE_COLUMN(in, &rows, stack, b->stacks.n, "the number of a stack is too large");
	TAKE_COLUMN(in, &rows, build, b->texts.n, no_text);
	TAKE_AMOUNTS(in, &rows, n_samples);
	TAKE_AMOUNTS(in, &rows, period);
	if (!in->reason)
		vec_reserve(&cells, rows.n * b->n_columns);
	for (u32 i = 0; i < b->n_columns && !in->reason; i++)
		for (size_t row = 0; row < rows.n; row++)
			cells.at[row * b->n_columns + i] = take_below(in, b->texts.n, no_text);
	for (size_t i = 0; i < rows.n && !in->reason; i++) {
		const struct batch_event *event = &b->events.at[rows.at[i].event];
		u64 sum;

		if (__builtin_add_overflow(event->n_samples, rows.at[i].n_samples, &sum) ||
			__builtin_add_overflow(event->period, rows.at[i].period, &sum))
			in->reason = "counts add up to more than 64 bits hold";
		else
			batch_count(b, &rows.at[i],
				b->n_columns ? cells.at + i * b->n_columns : NULL);
	}
	vec_fini(&rows);
	vec_fini(&cells);
}

static void take_tables(struct input *in, struct batch *b)
{
	if (take(in) != VERSION && !in->reason)
		in->reason = "it was written by a newer pace";
	b->start_ns = take(in);
	b->end_ns = take(in);
	/* The first text is there already. */
	take_texts(in, b);
	TAKE_ROOM(in, &b->facts, 2);
	TAKE_COLUMN(in, &b->facts, key, b->texts.n, no_text);
	TAKE_COLUMN(in, &b->facts, value, b->texts.n, no_text);
	take_frames(in, b);
	take_stacks(in, b);
	take_events(in, b);
	take_columns(in, b);
	take_rows(in, b);
	TAKE_ROOM(in, &b->losses, 4);
	TAKE_COLUMN(in, &b->losses, cause, b->texts.n, no_text);
	TAKE_COLUMN(in, &b->losses, where, b->texts.n, no_text);
	TAKE_COLUMN(in, &b->losses, unit, b->texts.n, no_text);
	TAKE_AMOUNTS(in, &b->losses, amount);
	if (!in->reason && bytes_left(&in->left))
		in->reason = "there are bytes behind its end";
}

const char *batch_of_tables(struct bytes tables, struct batch *ret)
{
	struct input in = {.left = tables};

	batch_init(ret);
	take_tables(&in, ret);
	if (in.reason)
		batch_fini(ret);
	return in.reason;
}

/* ---- packing ---- */

static u64 checksum(const u8 *head, const void *packed, size_t n)
{
	u64 sum = hash_lasting(n, load_u64(head));
	const u8 *at = packed;

	for (size_t i = 8; i + 8 < HEAD_BYTES; i += 8)
		sum = hash_lasting(sum, load_u64(head + i));
	for (; n >= 8; n -= 8, at += 8)
		sum = hash_lasting(sum, load_u64(at));
	for (; n; n--, at++)
		sum = hash_lasting(sum, *at);
	return sum;
}

static void put_u32(u8 *to, u32 v)
{
	v = htole32(v);
	memcpy(to, &v, sizeof(v));
}

static void put_u64(u8 *to, u64 v)
{
	v = htole64(v);
	memcpy(to, &v, sizeof(v));
}

/* The head's bytes, with the checksum if `packed` is given. */
static void put_head(const struct batch_head *h, const void *packed, u8 *to)
{
	memcpy(to, h->magic, sizeof(h->magic));
	put_u32(to + 4, h->is_first);
	put_u32(to + 8, h->n_packed);
	put_u32(to + 12, h->n_plain);
	put_u64(to + 16, h->start_ns);
	put_u64(to + 24, h->end_ns);
	put_u64(to + 32, checksum(to, packed, h->n_packed));
}

int batch_write(struct batch_writer *w, const struct batch *b, struct str *out, struct err *err)
{
	struct batch_head head = {.magic = BATCH_CHUNK,
		.is_first = !w->prefix.n,
		.start_ns = b->start_ns,
		.end_ns = b->end_ns};
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	const size_t before = out->n;
	struct str plain = {0};
	int result = 0;
	size_t n;

	if (!zstd)
		mem_exhausted(0);
	batch_add_tables(b, &plain);
	if (plain.n > BATCH_PLAIN_MOST) {
		result = err_set(err, ERR_LIMIT, "a batch of %zu bytes is too large to be kept",
			plain.n);
		goto end;
	}
	if (head.is_first)
		str_addn(out, BATCH_MAGIC, BATCH_MAGIC_BYTES);
	str_reserve(out, HEAD_BYTES + ZSTD_compressBound(plain.n));
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
	if (w->prefix.n)
		ZSTD_CCtx_refPrefix(zstd, w->prefix.at, w->prefix.n);
	n = ZSTD_compress2(zstd, out->at + out->n + HEAD_BYTES, out->cap - out->n - HEAD_BYTES,
		plain.at, plain.n);
	if (ZSTD_isError(n)) {
		str_cut(out, before);
		result = err_set(err, ERR_SYS, "packing a batch: %s", ZSTD_getErrorName(n));
		goto end;
	}
	head.n_packed = (u32)n;
	head.n_plain = (u32)plain.n;
	put_head(&head, out->at + out->n + HEAD_BYTES, (u8 *)out->at + out->n);
	out->n += HEAD_BYTES + n;
	if (head.is_first) {
		w->prefix = plain;
		plain = (struct str){0};
	}
end:
	ZSTD_freeCCtx(zstd);
	str_fini(&plain);
	return result;
}

void batch_writer_fini(struct batch_writer *w)
{
	str_fini(&w->prefix);
}

/* ---- unpacking ---- */

static int damaged(const struct batch_reader *r, u64 offset, const char *reason, struct err *err)
{
	return err_set(err, ERR_FORMAT, "'%s': the batch at offset 0x%llx is damaged: %s", r->path,
		(unsigned long long)offset, reason);
}

/* Offset of the head whose packed bytes are at hand. */
static u64 head_offset(const struct batch_reader *r)
{
	return r->packed.offset - HEAD_BYTES;
}

static int unpack_plain(struct batch_reader *r, struct str *plain, struct err *err)
{
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	size_t n;

	if (!zstd)
		mem_exhausted(0);
	/* What it unpacks to is bounded by what the head says, and that by what zstd can make of so few bytes. */
	str_reserve(plain, r->head.n_plain + 1);
	if (!r->head.is_first)
		ZSTD_DCtx_refPrefix(zstd, r->prefix.at, r->prefix.n);
	n = ZSTD_decompressDCtx(zstd, plain->at, r->head.n_plain, r->packed.at,
		bytes_left(&r->packed));
	ZSTD_freeDCtx(zstd);
	if (ZSTD_isError(n))
		return damaged(r, head_offset(r), ZSTD_getErrorName(n), err);
	if (n != r->head.n_plain)
		return damaged(r, head_offset(r), "it unpacks to fewer bytes than it says", err);
	plain->n = n;
	plain->at[n] = '\0';
	return 0;
}

/* Reads the head in front of the cursor; 0, or the reason why it is none. */
static const char *take_head(struct batch_reader *r)
{
	struct bytes at = r->left;
	const void *bytes;
	const u8 *h;
	u64 check;

	if (!bytes_take(&at, HEAD_BYTES, &bytes))
		return "it is cut off";
	h = bytes;
	memcpy(r->head.magic, h, sizeof(r->head.magic));
	if (memcmp(h, BATCH_CHUNK, 4) != 0)
		return "it does not begin with " BATCH_CHUNK;
	r->head.is_first = le32toh(load_u32(h + 4));
	r->head.n_packed = le32toh(load_u32(h + 8));
	r->head.n_plain = le32toh(load_u32(h + 12));
	r->head.start_ns = le64toh(load_u64(h + 16));
	r->head.end_ns = le64toh(load_u64(h + 24));
	check = le64toh(load_u64(h + 32));
	if (!bytes_sub(&at, r->head.n_packed, &r->packed))
		return "it is cut off";
	if (checksum(h, r->packed.at, r->head.n_packed) != check)
		return "its checksum is wrong";
	if (r->head.n_plain > r->plain_most)
		return "it is too large";
	r->left = at;
	return NULL;
}

/* To the next place where a chunk may begin. */
static void skip_damage(struct batch_reader *r)
{
	const u8 *at = r->left.at;
	const u8 *found = bytes_left(&r->left) > 1
		? memmem(at + 1, bytes_left(&r->left) - 1, BATCH_CHUNK, 4)
		: NULL;

	bytes_skip(&r->left, found ? (u64)(found - at) : bytes_left(&r->left));
}

int batch_next(struct batch_reader *r, struct err *err)
{
	const u64 offset = r->left.offset;
	const char *reason;

	if (!bytes_left(&r->left))
		return 0;
	reason = take_head(r);
	if (reason) {
		skip_damage(r);
		return damaged(r, offset, reason, err);
	}
	if (r->head.is_first) {
		str_clear(&r->prefix);
		if (unpack_plain(r, &r->prefix, err)) {
			str_clear(&r->prefix);
			return err->code;
		}
	} else if (!r->prefix.n) {
		return damaged(r, offset, "the first batch, which it refers to, is not readable",
			err);
	}
	return 1;
}

int batch_read(struct batch_reader *r, struct batch *ret, struct err *err)
{
	struct str plain = {0};
	const struct str *tables = r->head.is_first ? &r->prefix : &plain;
	const char *reason;
	int result = 0;

	if (!r->head.is_first)
		result = unpack_plain(r, &plain, err);
	if (!result) {
		reason = batch_of_tables(bytes_of(str_text(tables), tables->n), ret);
		if (reason)
			result = damaged(r, head_offset(r), reason, err);
	}
	str_fini(&plain);
	return result;
}

bool batch_recognizes(const u8 *first, size_t n)
{
	return n >= BATCH_MAGIC_BYTES && !memcmp(first, BATCH_MAGIC, BATCH_MAGIC_BYTES);
}

int batch_reader_init(struct batch_reader *r, struct bytes file, const char *path, struct err *err)
{
	*r = (struct batch_reader){.path = path, .left = file, .plain_most = BATCH_PLAIN_MOST};
	if (!batch_recognizes(file.at, bytes_left(&file)))
		return err_set(err, ERR_FORMAT,
			"'%s' is not a file of batches: it does not begin with %s", path,
			BATCH_MAGIC);
	bytes_skip(&r->left, BATCH_MAGIC_BYTES);
	return 0;
}

void batch_reader_fini(struct batch_reader *r)
{
	str_fini(&r->prefix);
}

int batch_writer_resume(struct batch_writer *w, struct bytes file, const char *path,
	struct err *err)
{
	struct batch_reader r;

	int result;

	if (batch_reader_init(&r, file, path, err))
		return err->code;
	result = batch_next(&r, err);
	if (result > 0 && r.head.is_first) {
		w->prefix = r.prefix;
		r.prefix = (struct str){0};
		result = 0;
	} else if (result >= 0) {
		result = damaged(&r, BATCH_MAGIC_BYTES, "there is no first batch", err);
	}
	batch_reader_fini(&r);
	return result;
}
