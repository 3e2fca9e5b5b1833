#include "file/reader.h"

#include <errno.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/fd.h"
#include "base/mapped.h"
#include "base/mem.h"

enum {
	BUF_BYTES = 512 << 10, /* fits a core's L2 cache; at least twice the largest record */
	MAP_BYTES = 32 << 20,  /* unmapping stops the other threads for a moment */
	UNPACKED_BYTES = 1 << 20,
};

/* Unpacks compressed records. A record inside may continue in the next compressed record. */
struct reader_unpacker {
	ZSTD_DStream *stream;
	ZSTD_inBuffer in; /* the unread rest of the compressed record, in the cursor's buffer */
	u64 offset;       /* of the compressed record */
	size_t at, n;     /* in `out`: the next record, the end */
	bool is_full;     /* the last step filled `out`: there may be more without input */
	u8 out[UNPACKED_BYTES];
};

void reader_cursor_init(struct reader_cursor *c, struct reader *r, u64 from, u64 to)
{
	memset(c, 0, sizeof(*c));
	c->reader = r;
	c->at = c->from = from;
	c->end = to;
	c->buf_at = from;
	c->is_mapped = !r->is_stream && mapping_pays(&r->formats);
	if (!c->is_mapped)
		c->own = mem_alloc(BUF_BYTES);
	c->buf = c->own;
}

/* Starts over for a new stream. False: the previous stream ended inside a record. */
static bool unpacker_restart(struct reader_unpacker *u)
{
	bool is_whole = u->n == u->at;

	ZSTD_DCtx_reset(u->stream, ZSTD_reset_session_only);
	u->at = u->n = 0;
	u->in = (ZSTD_inBuffer){0};
	u->is_full = false;
	return is_whole;
}

void reader_cursor_aim(struct reader_cursor *c, u64 from, u64 to)
{
	c->at = c->from = from;
	c->end = to;
	if (!c->is_mapped)
		c->buf_n = c->plain_n = 0;
	c->part = NULL;
	c->damage = (struct reader_damage){0};
	if (c->unpacker)
		unpacker_restart(c->unpacker);
}

static void unpacker_free(struct reader_unpacker *u)
{
	if (!u)
		return;
	ZSTD_freeDStream(u->stream);
	mem_free(u);
}

void reader_cursor_fini(struct reader_cursor *c)
{
	mapping_fini(&c->mapping);
	mem_free(c->own);
	mem_free(c->native);
	unpacker_free(c->unpacker);
	memset(c, 0, sizeof(*c));
}

/* ---- bytes ---- */

static struct reader_part *part_of(const struct reader *r, u64 offset)
{
	vec_each(p, &r->parts)
		if (offset < p->base + p->end)
			return p;
	return &r->parts.at[r->parts.n - 1];
}

static u64 part_end(const struct reader *r, const struct reader_part *p)
{
	return r->is_stream ? UINT64_MAX : p->base + p->end;
}

/* Reads the next bytes of a stream, first those that reader_open() has read already. */
static ssize_t read_stream(struct reader *r, void *to, size_t n, u64 offset)
{
	if (offset >= r->ahead_from && offset - r->ahead_from < r->ahead.n) {
		n = MIN(n, (size_t)(r->ahead.n - (offset - r->ahead_from)));
		memcpy(to, r->ahead.at + (offset - r->ahead_from), n);
		return (ssize_t)n;
	}
	return fd_read(r->parts.at[0].fd, to, n);
}

static ssize_t read_file(const struct reader *r, void *to, size_t n, u64 offset)
{
	const struct reader_part *p = part_of(r, offset);

	return fd_read_some_at(p->fd, to, n, offset - p->base);
}

/* The part of the buffer from `offset` on. */
static const u8 *held(const struct reader_cursor *c, u64 offset, u64 *ret_n)
{
	u64 inside = offset - c->buf_at;
	bool is_inside = offset >= c->buf_at && inside <= c->buf_n;

	*ret_n = is_inside ? c->buf_n - inside : 0;
	return c->buf + (is_inside ? inside : 0);
}

/* Drops what the buffer has before `offset`; reads a stream up to `offset`. */
static int move_to(struct reader_cursor *c, u64 offset, struct err *err)
{
	u64 n_held;
	const u8 *from = held(c, offset, &n_held);

	if (n_held || offset == c->buf_at + c->buf_n) {
		memmove(c->own, from, n_held);
		c->buf_n = n_held;
		c->buf_at = offset;
		return 0;
	}
	c->buf_at = c->reader->is_stream ? c->buf_at + c->buf_n : offset;
	c->buf_n = 0;
	while (c->buf_at < offset) {
		ssize_t n = read_stream(c->reader, c->own, MIN((u64)BUF_BYTES, offset - c->buf_at),
			c->buf_at);

		if (n < 0)
			return err_sys(err, errno, "reading '%s'", c->reader->path);
		if (!n)
			return 0;
		c->buf_at += n;
	}
	return 0;
}

static int read_more(struct reader_cursor *c, u64 offset, u64 need, struct err *err)
{
	struct reader *r = c->reader;
	u64 room = BUF_BYTES, limit = part_end(r, part_of(r, offset));

	/* The last record may end behind the cursor's end, but not by much. */
	if (!r->is_stream) {
		room = MIN(room, limit - MIN(limit, offset));
		room = MIN(room, c->end - MIN(c->end, offset) + UINT16_MAX);
	}
	if (move_to(c, offset, err))
		return err->code;
	while (c->buf_at == offset && c->buf_n < need && c->buf_n < room) {
		ssize_t n = r->is_stream
			? read_stream(r, c->own + c->buf_n, room - c->buf_n, offset + c->buf_n)
			: read_file(r, c->own + c->buf_n, room - c->buf_n, offset + c->buf_n);

		if (n < 0)
			return err_sys(err, errno, "reading '%s' at offset 0x%llx", r->path,
				(unsigned long long)offset);
		if (!n)
			break;
		c->buf_n += n;
	}
	return 0;
}

/*
 * Mapped pages that cannot be read are zeros. A whole record of zeros is recognized as damage
 * later, zeros inside a record are not: they are found here.
 */
static void look_for_zeros(struct reader_cursor *c)
{
	u64 from = MAX(c->from, c->buf_at), to = MIN(c->at, c->buf_at + c->buf_n);
	const u8 *bytes, *page;

	if (!c->is_mapped || from >= to)
		return;
	bytes = c->buf + (from - c->buf_at);
	page = mapped_hurt(bytes, to - from);
	if (!page)
		return;
	from += page > bytes ? (u64)(page - bytes) : 0;
	c->damage = (struct reader_damage){from, to - from,
		"the file was changed while it was read, or could not be read"};
}

/* Maps the part's file from `offset` on. False: the file cannot be mapped and has to be read. */
static bool map_more(struct reader_cursor *c, u64 offset)
{
	const struct reader_part *part = part_of(c->reader, offset);
	const struct mapping *m = &part->mapping;

	look_for_zeros(c);
	if (!m->at) {
		m = &c->mapping;
		if (!mapping_move(&c->mapping, part->fd, offset - part->base, part->end, MAP_BYTES))
			return false;
	}
	c->buf = m->at;
	c->buf_at = part->base + m->offset;
	c->buf_n = m->n;
	return true;
}

/*
 * Makes the buffer hold at least `need` bytes from `offset` on, or all there are. Files are read in
 * large pieces; from a pipe no more is read than needed.
 */
static int fill(struct reader_cursor *c, u64 offset, u64 need, struct err *err)
{
	u64 n;

	held(c, offset, &n);
	if (n < need && c->is_mapped && !map_more(c, offset)) {
		c->is_mapped = false;
		c->buf = c->own = mem_alloc(BUF_BYTES);
	}
	if (n < need && !c->is_mapped && read_more(c, offset, need, err))
		return err->code;
	c->plain_n = c->reader->is_foreign ? 0 : c->buf_n;
	return 0;
}

/* ---- records as they are in the file ---- */

static int damaged_at(struct reader_cursor *c, u64 offset, const char *reason)
{
	u64 end = c->reader->is_stream ? c->buf_at + c->buf_n : c->reader->data_end;

	c->damage = (struct reader_damage){offset, end - MIN(end, offset), reason};
	c->at = c->end;
	if (c->unpacker)
		c->unpacker->n = c->unpacker->at = c->unpacker->in.size = 0;
	return 0;
}

static struct record_header header_at(const struct reader_cursor *c, const u8 *p)
{
	struct record_header h;

	memcpy(&h, p, sizeof(h));
	if (c->reader->is_foreign) {
		h.type = __builtin_bswap32(h.type);
		h.misc = __builtin_bswap16(h.misc);
		h.size = __builtin_bswap16(h.size);
	}
	return h;
}

/*
 * The number of bytes that follow a record without being part of its size. simpleperf counts the
 * data of TRACING_DATA in the size.
 */
static u64 payload_behind(const struct reader_cursor *c, const struct record *rec)
{
	const u8 *p = rec->at + RECORD_HEADER_SIZE;
	bool swap = c->reader->is_foreign;
	u32 n;

	if (rec->type == PERF_RECORD_AUXTRACE && rec->size >= 16 && !c->reader->has_typed_sections)
		return swap ? __builtin_bswap64(load_u64(p)) : load_u64(p);
	if (rec->type != PERF_RECORD_HEADER_TRACING_DATA || rec->size < RECORD_HEADER_SIZE + 4)
		return 0;
	n = swap ? __builtin_bswap32(load_u32(p)) : load_u32(p);
	return n && n <= rec->size - RECORD_HEADER_SIZE - 4U ? 0 : align_up(n, 8);
}

/*
 * Records of simpleperf may exceed 64 KiB: the rest counts as bytes that follow the record. Returns
 * its length.
 */
static u64 cut_large(struct record_header *h)
{
	u64 size = (u64)h->misc << 16 | h->size;

	if (h->type < SIMPLEPERF_RECORD_START || h->type >= SIMPLEPERF_RECORD_END || !h->misc)
		return 0;
	h->misc = 0;
	h->size = UINT16_MAX / 8 * 8;
	return size - h->size;
}

/*
 * Whether the rest is text, which is no damage: some programs print into the pipe that carries
 * their recording.
 */
static bool ends_in_text(struct reader_cursor *c)
{
	enum { TEXT_MAX = 4096 };
	struct err ignored;
	const u8 *text;
	u64 n;

	if (!c->reader->is_pipe_mode || fill(c, c->at, TEXT_MAX + 1, &ignored))
		return false;
	text = held(c, c->at, &n);
	if (n > TEXT_MAX)
		return false;
	for (u64 i = 0; i < n; i++)
		if ((text[i] < ' ' && text[i] != '\n' && text[i] != '\t') || text[i] >= 127)
			return false;
	c->n_text = n;
	c->at = c->end;
	return true;
}

/*
 * Enters another file of the directory; each file is packed by itself. False: the one before ended
 * inside a record.
 */
static bool enter_part(struct reader_cursor *c, const struct reader_part *part)
{
	c->part = part;
	return !c->unpacker || unpacker_restart(c->unpacker);
}

/* As reader_next(), but in the file's byte order and still packed. */
static int next_raw(struct reader_cursor *c, struct record *ret_rec, struct err *err)
{
	struct reader *r = c->reader;
	struct record_header header;
	const struct reader_part *part;
	const u8 *p;
	u64 n, rest;

	if (c->at >= c->end) {
		if (!c->damage.reason)
			look_for_zeros(c);
		return 0;
	}
	part = part_of(r, c->at);
	if (!r->is_stream && c->at < part->base + part->from) {
		c->at = part->base + part->from;
		if (c->at >= c->end)
			return 0;
	}
	if (UNLIKELY(part != c->part) && !enter_part(c, part))
		return damaged_at(c, c->unpacker->offset,
			"the compressed records end inside a record");
	if (fill(c, c->at, sizeof(header), err))
		return err->code;
	p = held(c, c->at, &n);
	if (!n && r->is_stream) {
		c->end = r->data_end = c->at;
		return 0;
	}
	if (n < sizeof(header))
		return damaged_at(c, c->at, "the file ends inside a record");
	header = header_at(c, p);
	rest = UNLIKELY(header.type >= SIMPLEPERF_RECORD_START) ? cut_large(&header) : 0;
	if (UNLIKELY(header.size < sizeof(header)))
		return ends_in_text(c)
			? 0
			: damaged_at(c, c->at, "a record claims to be shorter than its header");
	if (fill(c, c->at, header.size, err))
		return err->code;
	p = held(c, c->at, &n);
	if (n < header.size)
		return ends_in_text(c) ? 0 : damaged_at(c, c->at, "the file ends inside a record");
	*ret_rec = (struct record){header.type, header.misc, header.size, p, c->at};
	c->payload = rest + payload_behind(c, ret_rec);
	if (UNLIKELY(c->payload > part_end(r, part) - c->at - header.size)) {
		c->at += header.size;
		damaged_at(c, c->at, "the file ends inside a trace");
		c->payload = 0;
		return 1;
	}
	c->at += header.size + c->payload;
	return 1;
}

int reader_payload(struct reader_cursor *c, u64 limit, struct str *out, struct err *err)
{
	u64 offset = c->at - c->payload;

	if (c->payload > limit)
		return err_set(err, ERR_LIMIT, "%llu bytes follow the record, more than %llu",
			(unsigned long long)c->payload, (unsigned long long)limit);
	while (c->payload) {
		const u8 *p;
		u64 n;

		if (fill(c, offset, 1, err))
			return err->code;
		p = held(c, offset, &n);
		n = MIN(n, c->payload);
		if (!n)
			return err_set(err, ERR_FORMAT, "the file ends inside it");
		str_addn(out, p, n);
		offset += n;
		c->payload -= n;
	}
	return 0;
}

/* ---- records of the other byte order ---- */

/* Swaps a record's bytes, in the cursor's own memory. A record that makes no sense loses its body. */
static void make_native(struct reader_cursor *c, struct record *rec)
{
	if (!c->native)
		c->native = mem_alloc(UINT16_MAX + 1);
	memcpy(c->native, rec->at, rec->size);
	rec->at = c->native;
	if (formats_swap(&c->reader->formats, c->native, rec->size))
		return;
	c->n_not_native++;
	rec->size = RECORD_HEADER_SIZE;
}

/* ---- compressed records ---- */

static bool is_compressed(u32 type)
{
	return type == PERF_RECORD_COMPRESSED || type == PERF_RECORD_COMPRESSED2;
}

/* Starts to unpack a compressed record. False: it is too short for its own header. */
static bool unpack(struct reader_cursor *c, const struct record *rec)
{
	struct reader_unpacker *u = c->unpacker;
	u64 head = RECORD_HEADER_SIZE, n = rec->size - RECORD_HEADER_SIZE, own;

	if (rec->type == PERF_RECORD_COMPRESSED2) {
		if (n < 8)
			return false;
		own = load_u64(rec->at + head);
		own = c->reader->is_foreign ? __builtin_bswap64(own) : own;
		if (own > n - 8)
			return false;
		head += 8;
		n = own;
	}
	if (!u) {
		u = c->unpacker = mem_alloc(sizeof(*u));
		memset(u, 0, offsetof(struct reader_unpacker, out));
		u->stream = ZSTD_createDStream();
		if (!u->stream)
			mem_exhausted(0);
	}
	u->in = (ZSTD_inBuffer){rec->at + head, n, 0};
	u->offset = rec->offset;
	return true;
}

/* Charges n unpacked bytes. The limit is in proportion to what was read. */
static int charge_unpacked(struct reader_cursor *c, u64 n, struct err *err)
{
	u64 limit = reader_allows(c->reader, c->at);

	limit = limit > UINT64_MAX / ALLOWANCE_UNPACKED ? UINT64_MAX : limit * ALLOWANCE_UNPACKED;
	c->n_unpacked += n;
	return c->n_unpacked <= limit ? 0
				      : allowance_exceeded(&c->reader->allowance, limit,
						c->unpacker->offset, "its compressed records", err);
}

/* 1: a record was unpacked; 0: more input is needed, or there is damage; < 0: the limit is exceeded. */
static int next_unpacked(struct reader_cursor *c, struct record *ret_rec, struct err *err)
{
	struct reader_unpacker *u = c->unpacker;

	for (;;) {
		size_t left = u->n - u->at, status;
		struct record_header h = {0};
		ZSTD_outBuffer out;

		if (left >= sizeof(h)) {
			h = header_at(c, u->out + u->at);
			if (h.size < sizeof(h))
				return damaged_at(c, u->offset,
					"an unpacked record claims to be shorter than its header");
			/* The kernel never writes such a size: this is noise, or a bomb. */
			if (!record_is_size_sound(h.type, h.size))
				return damaged_at(c, u->offset,
					"the size of an unpacked record is not a multiple of 8");
		}
		if (h.size && left >= h.size) {
			*ret_rec =
				(struct record){h.type, h.misc, h.size, u->out + u->at, u->offset};
			u->at += h.size;
			return 1;
		}
		if (u->in.pos == u->in.size && !u->is_full)
			return 0;
		memmove(u->out, u->out + u->at, left);
		u->at = 0;
		out = (ZSTD_outBuffer){u->out, sizeof(u->out), left};
		status = ZSTD_decompressStream(u->stream, &out, &u->in);
		if (charge_unpacked(c, out.pos - left, err))
			return err->code;
		u->n = out.pos;
		u->is_full = out.pos == out.size;
		/* Not the file's fault. */
		if (ZSTD_getErrorCode(status) == ZSTD_error_memory_allocation)
			mem_exhausted(0);
		if (ZSTD_isError(status))
			return damaged_at(c, u->offset, "a compressed record cannot be unpacked");
		if (out.pos == left && u->in.pos == u->in.size)
			return 0;
	}
}

/* ---- all together ---- */

int reader_next_hard(struct reader_cursor *c, struct record *ret_rec, struct err *err)
{
	c->payload = 0;
	for (;;) {
		struct reader_unpacker *u = c->unpacker;
		int r = u ? next_unpacked(c, ret_rec, err) : 0;

		if (r < 0)
			return r;
		if (!r) {
			r = next_raw(c, ret_rec, err);
			if (!r && u && u->n > u->at) {
				damaged_at(c, u->offset,
					"the compressed records end inside a record");
				return 0;
			}
			if (r <= 0)
				return r;
			if (is_compressed(ret_rec->type)) {
				c->reader->is_packed = true;
				if (ret_rec->type == PERF_RECORD_COMPRESSED2)
					c->n_packed2++;
				else
					c->n_packed++;
				if (!unpack(c, ret_rec))
					return damaged_at(c, ret_rec->offset,
						"a compressed record is shorter than it claims");
				continue;
			}
		}
		if (UNLIKELY(c->reader->is_foreign))
			make_native(c, ret_rec);
		return 1;
	}
}
