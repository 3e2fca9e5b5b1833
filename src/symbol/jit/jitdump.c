#include "symbol/jit/jitdump.h"

#include <errno.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hash.h"
#include "base/search.h"

enum {
	MAGIC = 0x4a695444,
	VERSION = 1,
	HEADER = 40,
	PREFIX = 16,
	LOAD_FIXED = 40,
	UNWINDING_FIXED = 24
};
enum { JITDUMP_STRINGS = 256 << 20 };
enum { ARCH_TIMESTAMP = 1 };

enum record_id { LOAD, MOVE, DEBUG_INFO, CLOSE, UNWINDING_INFO };

/* ---- bytes of the file ---- */

/* Reads n bytes at an offset. Returns 1, or 0 if the file ends before; < 0: a read error. */
static int look_at(struct jitdump *d, u64 off, size_t n, struct bytes *ret_bytes, struct err *err)
{
	enum { AHEAD = 64 << 10 };

	if (off < d->window_at || off - d->window_at > d->window.n ||
		d->window.n - (off - d->window_at) < n) {
		size_t want = MAX(n, (size_t)AHEAD);
		ssize_t got;

		str_clear(&d->window);
		str_reserve(&d->window, want);
		for (d->window_at = off; d->window.n < want; d->window.n += (size_t)got) {
			got = fd_read_some_at(d->fd, d->window.at + d->window.n, want - d->window.n,
				off + d->window.n);
			if (got < 0)
				return err_set(err, ERR_SYS, "read: %s", strerror(errno));
			if (!got)
				break;
		}
		if (d->window.n < n)
			return 0;
	}
	*ret_bytes = bytes_of(d->window.at + (off - d->window_at), n);
	ret_bytes->offset = off;
	ret_bytes->swap = d->swap;
	return 1;
}

int jitdump_open(struct jitdump *d, int fd, struct err *err)
{
	u32 magic = 0, version = 0, size = 0, machine = 0;
	struct jitdump dump = {.fd = fd};
	struct bytes b;
	u64 flags = 0;
	int r = look_at(&dump, 0, HEADER, &b, err);

	if (r < 0)
		goto failed;
	if (!r || !bytes_u32(&b, &magic) || (magic != MAGIC && __builtin_bswap32(magic) != MAGIC)) {
		r = err_set(err, ERR_FORMAT, "it is not a jitdump");
		goto failed;
	}
	dump.swap = b.swap = magic != MAGIC;
	bytes_u32(&b, &version);
	bytes_u32(&b, &size);
	bytes_u32(&b, &machine);
	bytes_skip(&b, 16); /* padding, pid, time */
	bytes_u64(&b, &flags);
	if (version != VERSION || size < HEADER) {
		r = err_set(err, ERR_FORMAT,
			"it is a jitdump of version %u with a header of %u bytes, "
			"not of version %d with %d",
			version, size, VERSION, HEADER);
		goto failed;
	}
	dump.machine = (u16)machine;
	dump.has_other_clock = flags & ARCH_TIMESTAMP;
	dump.is_names_only = flags & JITDUMP_NAMES_ONLY;
	dump.at = size;
	*d = dump;
	return 0;
failed:
	str_fini(&dump.window);
	return r;
}

void jitdump_close(struct jitdump *d)
{
	close(d->fd);
	str_fini(&d->window);
	vec_fini(&d->codes);
	vec_fini(&d->lines);
	vec_fini(&d->indexes);
	table_fini(&d->by_index);
	intern_fini(&d->strings);
}

/* ---- records ---- */

static int damaged(const struct jitdump *d, const char *what, struct err *err)
{
	return err_set(err, ERR_FORMAT, "damaged at offset %llu: %s", (unsigned long long)d->at,
		what);
}

static struct jitdump_index *find_index(const struct jitdump *d, u64 index)
{
	struct table_probe probe = table_probe(&d->by_index, hash_u64(index));
	u32 i;

	while ((i = table_next(&d->by_index, &probe)) != TABLE_NONE)
		if (d->indexes.at[i].index == index)
			return &d->indexes.at[i];
	return NULL;
}

static void add_code(struct jitdump *d, const struct jitdump_code *code)
{
	const u64 index = code->index;
	struct jitdump_index *known = find_index(d, index);

	if (known) {
		known->code = (u32)d->codes.n;
	} else {
		table_add(&d->by_index, hash_u64(index), d->indexes.n);
		vec_add(&d->indexes, ((struct jitdump_index){index, (u32)d->codes.n}));
	}
	vec_add(&d->codes, *code);
}

static bool is_full(const struct jitdump *d)
{
	return d->codes.n == JITDUMP_CODES || d->strings.arena.total > JITDUMP_STRINGS;
}

/*
 * V8's addresses of lines are those in an ELF file that perf inject would make: 0x40 bytes higher, for the
 * ELF header.
 */
static void place_lines(struct jitdump *d, const struct jitdump_code *code, u64 va)
{
	enum { V8_SHIFT = 0x40 };
	struct jitdump_line *lines = d->lines.at + code->first_line;
	u64 lowest = UINT64_MAX;

	for (u32 i = 0; i < code->n_lines; i++)
		lowest = MIN(lowest, lines[i].off - va);
	for (u32 i = 0; i < code->n_lines; i++)
		lines[i].off += code->off - va - (lowest == V8_SHIFT ? V8_SHIFT : 0);
}

static int take_load(struct jitdump *d, struct bytes *b, u64 size, struct jitdump_event *e,
	struct err *err)
{
	struct jitdump_code code = {0};
	const char *name;
	size_t n;

	if (!bytes_skip(b, 16) || !bytes_u64(b, &e->va) || !bytes_u64(b, &code.size) ||
		!bytes_u64(b, &code.index))
		return damaged(d, "code is loaded in a record that has no room for it", err);
	name = (const char *)b->at;
	n = strnlen(name, bytes_left(b));
	/* The code is the end of the record; the name precedes it. */
	if (code.size > size || PREFIX + LOAD_FIXED + n + 1 > size - code.size ||
		e->va + code.size < e->va)
		return damaged(d, "a function's name and code do not fit into its record", err);
	code.off = d->at + size - code.size;
	code.va = e->va;
	if (d->n_pending && d->pending_va == e->va) {
		code.first_line = (u32)(d->lines.n - d->n_pending);
		code.n_lines = d->n_pending;
		place_lines(d, &code, e->va);
	}
	d->n_pending = 0;
	code.unwind_off = d->pending_unwind_off;
	code.unwind_size = d->pending_unwind_size;
	code.unwind_hdr_size = d->pending_unwind_hdr_size;
	d->pending_unwind_size = 0;
	if (!code.size)
		return 0;
	if (is_full(d)) {
		d->is_cut = true;
		return 0;
	}
	code.name = intern_add(&d->strings, name, MIN(n, (size_t)JITDUMP_NAME));
	add_code(d, &code);
	e->off = code.off;
	e->size = code.size;
	return 1;
}

static int take_move(struct jitdump *d, struct bytes *b, struct jitdump_event *e, struct err *err)
{
	const struct jitdump_index *known;
	const struct jitdump_code *code;
	u64 size, index;

	/* pid, tid, vma, old address */
	if (!bytes_skip(b, 24) || !bytes_u64(b, &e->va) || !bytes_u64(b, &size) ||
		!bytes_u64(b, &index))
		return damaged(d, "code is moved in a record that has no room for it", err);
	known = find_index(d, index);
	if (!known || e->va + size < e->va)
		return 0;
	code = &d->codes.at[known->code];
	e->off = code->off;
	e->size = MIN(size, code->size);
	return e->size > 0;
}

static bool is_text(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((u8)text[i] < ' ' || text[i] == 0x7f)
			return false;
	return n > 0;
}

/* Takes one entry: address (converted later), file, line. */
static bool take_line(struct jitdump *d, struct bytes *b, u64 va, const char **file)
{
	static const char as_before[] = "\xff";
	struct jitdump_line line;
	const char *name;
	u32 column;
	size_t n;

	if (!bytes_u64(b, &line.off) || !bytes_u32(b, &line.line) || !bytes_u32(b, &column))
		return false;
	name = (const char *)b->at;
	n = strnlen(name, bytes_left(b));
	if (!bytes_skip(b, n + 1) || line.off < va)
		return false;
	if (strcmp(name, as_before)) {
		if (!is_text(name, n))
			return false;
		*file = intern_add(&d->strings, name, MIN(n, (size_t)JITDUMP_NAME));
	}
	if (!*file)
		return false;
	line.file = *file;
	vec_add(&d->lines, line);
	d->n_pending++;
	return true;
}

static void take_debug(struct jitdump *d, struct bytes *b)
{
	const char *file = NULL;
	u64 n = 0;

	/* Drop lines whose code never came. */
	d->lines.n -= d->n_pending;
	d->n_pending = 0;
	if (!bytes_u64(b, &d->pending_va) || !bytes_u64(b, &n)) {
		d->n_bad_lines++;
		return;
	}
	/* Behind a malformed entry the start of the next one is unknown. */
	for (; n; n--) {
		if (d->lines.n == JITDUMP_LINES || is_full(d)) {
			d->is_cut = true;
			return;
		}
		if (!take_line(d, b, d->pending_va, &file)) {
			d->n_bad_lines += MIN(n, bytes_left(b) + 1);
			return;
		}
	}
}

/* Takes the unwinding tables for the code that comes next. */
static void take_unwinding(struct jitdump *d, struct bytes *b, u64 size)
{
	u64 n, hdr, mapped;

	d->pending_unwind_size = 0;
	if (!bytes_u64(b, &n) || !bytes_u64(b, &hdr) || !bytes_u64(b, &mapped) || hdr > n ||
		n > JITDUMP_UNWINDING || n > size - PREFIX - UNWINDING_FIXED)
		return;
	d->n_unwinding++;
	d->pending_unwind_off = d->at + PREFIX + UNWINDING_FIXED;
	d->pending_unwind_size = (u32)n;
	d->pending_unwind_hdr_size = (u32)hdr;
}

/* How much of a record is read: code stays in the file. */
static size_t fields_size(u32 id, u64 size)
{
	enum { LOAD_LOOKED_AT = LOAD_FIXED + 2 * JITDUMP_NAME };

	if (id == LOAD)
		return MIN(size - PREFIX, (u64)LOAD_LOOKED_AT);
	if (id == UNWINDING_INFO)
		return MIN(size - PREFIX, (u64)UNWINDING_FIXED);
	return id == MOVE || id == DEBUG_INFO ? size - PREFIX : 0;
}

/* Takes a complete record. Returns 1 if it loads or moves code. */
static int take_record(struct jitdump *d, u32 id, u64 size, struct bytes *b,
	struct jitdump_event *e, struct err *err)
{
	switch (id) {
	case LOAD:
		return take_load(d, b, size, e, err);
	case MOVE:
		return take_move(d, b, e, err);
	case DEBUG_INFO:
		take_debug(d, b);
		return 0;
	case CLOSE:
		d->is_closed = true;
		return 0;
	case UNWINDING_INFO:
		if (size >= PREFIX + UNWINDING_FIXED)
			take_unwinding(d, b, size);
		return 0;
	}
	return 0;
}

int jitdump_next(struct jitdump *d, struct jitdump_event *ret_event, struct err *err)
{
	struct bytes b;
	u32 id = 0, size = 0;
	int r = 0;

	while (!d->is_closed && (r = look_at(d, d->at, PREFIX, &b, err)) > 0) {
		struct jitdump_event e = {0};
		struct bytes last;
		size_t n;

		bytes_u32(&b, &id);
		bytes_u32(&b, &size);
		bytes_u64(&b, &e.time_ns);
		if (size < PREFIX)
			return damaged(d, "a record is smaller than its own header", err);
		n = fields_size(id, size);
		if (n > JITDUMP_RECORD)
			return damaged(d, "a record is larger than 16 MiB", err);
		/* If the last byte of the code is not there yet, the record is still being written. */
		r = look_at(d, d->at + size - 1, 1, &last, err);
		if (r > 0)
			r = look_at(d, d->at + PREFIX, n, &b, err);
		if (r > 0)
			r = take_record(d, id, size, &b, &e, err);
		else
			return r;
		if (r < 0)
			return r;
		d->at += size;
		if (r) {
			*ret_event = e;
			return 1;
		}
	}
	return r < 0 ? r : 0;
}

/* ---- look-ups ---- */

int jitdump_read(const struct jitdump *d, u64 off, void *to, size_t n, struct err *err)
{
	size_t done = 0;
	ssize_t got;

	while (done < n) {
		got = fd_read_some_at(d->fd, (char *)to + done, n - done, off + done);
		if (got < 0)
			return err_sys(err, errno, "reading code");
		if (!got)
			return err_set(err, ERR_NOENT, "it ends before its code does");
		done += (size_t)got;
	}
	return 0;
}

const struct jitdump_code *jitdump_find(const struct jitdump *d, u64 off)
{
	/* `off` is the first member, so search_behind() compares it. */
	size_t low = search_behind(d->codes.at, d->codes.n, sizeof(*d->codes.at), off);

	return low && off - d->codes.at[low - 1].off < d->codes.at[low - 1].size
		? &d->codes.at[low - 1]
		: NULL;
}

bool jitdump_is_newest(const struct jitdump *d, const struct jitdump_code *code)
{
	const struct jitdump_index *known = find_index(d, code->index);

	return !known || &d->codes.at[known->code] == code;
}

const struct jitdump_code *jitdump_find_loaded(const struct jitdump *d, u64 va)
{
	for (size_t i = d->codes.n; i-- > 0;)
		if (va - d->codes.at[i].va < d->codes.at[i].size)
			return &d->codes.at[i];
	return NULL;
}

const struct jitdump_line *jitdump_find_line(const struct jitdump *d, u64 off)
{
	const struct jitdump_code *code = jitdump_find(d, off);
	const struct jitdump_line *best = NULL;

	/* A linear search: lines are few, and not always in order. */
	for (u32 i = 0; code && i < code->n_lines; i++) {
		const struct jitdump_line *line = &d->lines.at[code->first_line + i];

		if (line->off <= off && (!best || line->off >= best->off))
			best = line;
	}
	return best;
}
