#include "symbol/embed/embedded.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "base/fd.h"
#include "base/hash.h"
#include "symbol/embed/embedfold.h"
#include "symbol/jit/jitdump.h"

/* Entries are copied as they are: big-endian machines are not supported. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "sections are little-endian");

enum { PAGE_BYTES = 4096 };

/* The entry sizes that this version knows. */
static const u32 entry_sizes[EMBEDDED_TABLES] = {
	[EMBEDDED_STRINGS] = 1,
	[EMBEDDED_BYTES] = 1,
	[EMBEDDED_DSOS] = sizeof(struct embedded_dso),
	[EMBEDDED_SEGMENTS] = sizeof(struct embedded_segment),
	[EMBEDDED_SYMBOLS] = sizeof(struct embedded_symbol),
	[EMBEDDED_PLACES] = sizeof(struct embedded_place),
	[EMBEDDED_SOURCES] = sizeof(struct embedded_source),
	[EMBEDDED_CODE] = sizeof(struct embedded_code),
	[EMBEDDED_DUMPS] = sizeof(struct embedded_dump),
	[EMBEDDED_PIECES] = sizeof(struct embedded_piece),
	[EMBEDDED_FRAMES] = sizeof(struct embedded_frame),
	[EMBEDDED_SECTIONS] = sizeof(struct embedded_section),
};

/* ---- opening ---- */

static int damaged(const char *what, u64 at, struct err *err)
{
	return err_set(err, ERR_FORMAT, "section EMBEDDED is damaged: %s, at 0x%llx of it", what,
		(unsigned long long)at);
}

static int take_table(struct embedded *e, u64 toc_at, struct err *err)
{
	struct embedded_table t;
	u64 room;

	memcpy(&t, e->data + toc_at, sizeof(t));
	if (t.id >= EMBEDDED_TABLES || !entry_sizes[t.id])
		return 0; /* of a later version */
	if (t.offset > e->n_unpacked || t.offset % EMBEDDED_ALIGN)
		return damaged("a table begins outside", toc_at, err);
	room = e->n_unpacked - t.offset;
	if (t.each < entry_sizes[t.id] || t.n > room / t.each || t.n > UINT32_MAX)
		return damaged("a table does not fit", toc_at, err);
	if (e->tables[t.id].each)
		return damaged("a table occurs twice", toc_at, err);
	e->tables[t.id].at = e->data + t.offset;
	e->tables[t.id].n = t.n;
	e->tables[t.id].each = t.each;
	return 0;
}

/*
 * Whether entries come after all earlier ones. Entries belong to one DSO, pieces and bytes to one entry: a file
 * that uses the same entries repeatedly could cause unlimited work. *next is the lowest allowed index of the next.
 */
static bool follows(const struct embedded *e, enum embedded_table_id id, u32 first, u32 n,
	u64 next[EMBEDDED_TABLES])
{
	if (!n)
		return true;
	if (first < next[id] || (u64)first + n > e->tables[id].n)
		return false;
	next[id] = (u64)first + n;
	return true;
}

static int check_dsos(struct embedded *e, struct err *err)
{
	u64 next[EMBEDDED_TABLES] = {0};
	struct embedded_dso d;

	if (e->tables[EMBEDDED_DSOS].n > EMBEDDED_DSOS_MAX)
		return damaged("it has more files than any real recording",
			e->tables[EMBEDDED_DSOS].n, err);
	for (u64 i = 0; embedded_entry(e, EMBEDDED_DSOS, i, &d, sizeof(d)); i++) {
		const char *path = embedded_string(e, d.path);

		if (!follows(e, EMBEDDED_SEGMENTS, d.first_segment, d.n_segments, next) ||
			!follows(e, EMBEDDED_SYMBOLS, d.first_symbol, d.n_symbols, next) ||
			!follows(e, EMBEDDED_PLACES, d.first_place, d.n_places, next) ||
			!follows(e, EMBEDDED_CODE, d.first_code, d.n_code, next) ||
			!follows(e, EMBEDDED_FRAMES, d.first_frame, d.n_frames, next) ||
			!follows(e, EMBEDDED_SECTIONS, d.first_section, d.n_sections, next))
			return damaged("a file's entries are outside their tables", i, err);
		if (path)
			table_add(&e->by_path, hash_bytes(path, strlen(path)), (u32)i);
	}
	return 0;
}

static int check_pieces(const struct embedded *e, struct err *err)
{
	u64 room = e->tables[EMBEDDED_BYTES].n, n_pieces = e->tables[EMBEDDED_PIECES].n;
	struct embedded_section s;
	struct embedded_piece p;
	struct embedded_dump d;
	struct embedded_code c;

	for (u64 i = 0; embedded_entry(e, EMBEDDED_PIECES, i, &p, sizeof(p)); i++) {
		if (p.size > room)
			return damaged("pieces have more bytes than the section", i, err);
		room -= p.size;
	}
	for (u64 i = 0; embedded_entry(e, EMBEDDED_CODE, i, &c, sizeof(c)); i++) {
		if (c.size > room)
			return damaged("code has more bytes than the section", i, err);
		room -= c.size;
	}
	if (e->tables[EMBEDDED_DUMPS].n > EMBEDDED_DSOS_MAX)
		return damaged("it has more dumps than any real recording",
			e->tables[EMBEDDED_DUMPS].n, err);
	for (u64 i = 0; embedded_entry(e, EMBEDDED_DUMPS, i, &d, sizeof(d)); i++) {
		if (d.n_pieces > n_pieces)
			return damaged("dumps have more pieces than the section", i, err);
		n_pieces -= d.n_pieces;
	}
	for (u64 i = 0; embedded_entry(e, EMBEDDED_SECTIONS, i, &s, sizeof(s)); i++) {
		if (s.n_pieces > n_pieces)
			return damaged("sections have more pieces than the section", i, err);
		n_pieces -= s.n_pieces;
	}
	return 0;
}

/* Call after take_table() of all tables. */
static void unfold_tables(struct embedded *e)
{
	for (unsigned id = 0; id < EMBEDDED_TABLES; id++)
		embedfold_table_back(e->tables[id].at, e->tables[id].each, e->tables[id].n);
}

/* Call after the checks: the code is not larger than the table of bytes. */
static void unfold_code(struct embedded *e)
{
	u64 n_bytes = e->tables[EMBEDDED_BYTES].n;
	struct embedded_dso d;
	struct embedded_code c;

	for (u64 i = 0; embedded_entry(e, EMBEDDED_DSOS, i, &d, sizeof(d)); i++)
		for (u64 k = d.first_code;
			embedfold_has_code(d.machine) && k < (u64)d.first_code + d.n_code &&
			embedded_entry(e, EMBEDDED_CODE, k, &c, sizeof(c));
			k++)
			if (c.bytes <= n_bytes && c.size <= n_bytes - c.bytes)
				embedfold_code_back(e->tables[EMBEDDED_BYTES].at + c.bytes, c.size,
					c.at);
}

static int take_tables(struct embedded *e, bool is_folded, struct err *err)
{
	u32 n;

	if (e->n_unpacked < 8)
		return damaged("it has no list of tables", 0, err);
	n = load_u32(e->data);
	if (n > (e->n_unpacked - 8) / sizeof(struct embedded_table))
		return damaged("its list of tables does not fit", 0, err);
	for (u32 i = 0; i < n; i++)
		if (take_table(e, 8 + i * sizeof(struct embedded_table), err))
			return err->code;
	if (is_folded)
		unfold_tables(e);
	if (check_dsos(e, err) || check_pieces(e, err))
		return err->code;
	if (is_folded)
		unfold_code(e);
	return 0;
}

/* Unpacks to e->data, which has `size` bytes. */
static int take_contents(struct embedded *e, u32 packing, const u8 *packed, u64 n, u64 size,
	struct err *err)
{
	size_t got;

	if (packing & ~(u32)(EMBEDDED_ZSTD | EMBEDDED_FOLDED))
		return err_set(err, ERR_UNSUPPORTED,
			"section EMBEDDED is packed in a way (%u) that this version of pace does not know",
			packing);
	if (!(packing & EMBEDDED_ZSTD)) {
		if (n != size)
			return damaged("its size is not the one in its header", 16, err);
		e->data = mem_alloc(size + 1);
		memcpy(e->data, packed, size);
		return 0;
	}
	/* A few bytes may claim to be many: the zstd frame must give the same size. */
	if (ZSTD_getFrameContentSize(packed, n) != size)
		return damaged("its size is not the one in its header", 16, err);
	e->data = mem_alloc(size + 1);
	got = ZSTD_decompress(e->data, size, packed, n);
	if (ZSTD_isError(got) || got != size)
		return err_set(err, ERR_FORMAT, "section EMBEDDED cannot be unpacked: %s",
			ZSTD_isError(got) ? ZSTD_getErrorName(got) : "it is too short");
	return 0;
}

/* How large a section may be unpacked: names compress to a tenth. */
static u64 allowed(u64 n_packed)
{
	return MIN(allowance_bytes(&(struct allowance){0}, n_packed), (u64)EMBEDDED_LIMIT);
}

int embedded_of_memory(struct embedded *e, const void *section, size_t n, struct err *err)
{
	u64 limit = allowed(n);
	struct embedded_header h;
	int r;

	memset(e, 0, sizeof(*e));
	if (n < sizeof(h))
		return damaged("it has no room for its header", n, err);
	memcpy(&h, section, sizeof(h));
	if (memcmp(h.magic, EMBEDDED_MAGIC, sizeof(h.magic)))
		return err_set(err, ERR_FORMAT,
			"section EMBEDDED does not begin with '" EMBEDDED_MAGIC "'");
	if (h.version != EMBEDDED_VERSION)
		return err_set(err, ERR_UNSUPPORTED,
			"section EMBEDDED is of version %u, this pace reads version %d", h.version,
			EMBEDDED_VERSION);
	if (h.size > limit)
		return err_set(err, ERR_LIMIT,
			"section EMBEDDED says it has %llu bytes unpacked, more than %llu",
			(unsigned long long)h.size, (unsigned long long)limit);
	e->n_packed = n;
	e->n_unpacked = h.size;
	r = take_contents(e, h.packing, (const u8 *)section + sizeof(h), n - sizeof(h), h.size,
		err);
	if (!r)
		r = take_tables(e, h.packing & EMBEDDED_FOLDED, err);
	if (r)
		embedded_close(e);
	return r;
}

int embedded_name_order(const struct embedded_name *x, const struct embedded_name *y)
{
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	if (x->origin != y->origin)
		return x->origin < y->origin ? -1 : 1;
	return strcmp(x->name, y->name);
}

int embedded_open(struct embedded *e, const struct reader *r, struct err *err)
{
	const struct layout_section *s = &r->sections[FEATURE_EMBEDDED];
	int sys, result;
	u8 *raw;

	memset(e, 0, sizeof(*e));
	if (!s->size)
		return 0;
	if (s->size > EMBEDDED_LIMIT)
		return err_set(err, ERR_LIMIT, "'%s': section EMBEDDED has %llu bytes", r->path,
			(unsigned long long)s->size);
	raw = mem_alloc(s->size);
	sys = fd_read_at(r->parts.at[0].fd, raw, s->size, s->offset);
	result = sys ? err_sys(err, sys, "reading section EMBEDDED")
		     : embedded_of_memory(e, raw, s->size, err);
	mem_free(raw);
	if (result)
		return err_prefix(err, "'%s'", r->path);
	return 1;
}

void embedded_attach(struct embedded *e, const struct reader *r, struct log *log)
{
	struct err err;
	int result = embedded_open(e, r, &err);

	if (result < 0)
		log_warn(log, "%s; names come from the files of this machine instead", err.msg);
	else if (result)
		log_debug(log,
			"'%s': the recording contains the names of %llu files: %llu bytes, unpacked %llu",
			r->path, (unsigned long long)embedded_count(e, EMBEDDED_DSOS),
			(unsigned long long)e->n_packed, (unsigned long long)e->n_unpacked);
}

void embedded_close(struct embedded *e)
{
	mem_free(e->data);
	table_fini(&e->by_path);
	memset(e, 0, sizeof(*e));
}

/* ---- entries ---- */

u64 embedded_count(const struct embedded *e, enum embedded_table_id id)
{
	return e->tables[id].n;
}

bool embedded_entry(const struct embedded *e, enum embedded_table_id id, u64 i, void *ret_entry,
	size_t size)
{
	if (i >= e->tables[id].n)
		return false;
	memcpy(ret_entry, e->tables[id].at + i * e->tables[id].each, size);
	return true;
}

const char *embedded_string(const struct embedded *e, u32 at)
{
	u64 n = e->tables[EMBEDDED_STRINGS].n;
	const char *s;

	if (!at || at >= n)
		return NULL;
	s = (const char *)e->tables[EMBEDDED_STRINGS].at + at;
	return memchr(s, '\0', MIN(n - at, (u64)EMBEDDED_STRING_MAX)) ? s : NULL;
}

const u8 *embedded_bytes(const struct embedded *e, u64 at, u64 n)
{
	u64 all = e->tables[EMBEDDED_BYTES].n;

	return at <= all && n <= all - at && all ? e->tables[EMBEDDED_BYTES].at + at : NULL;
}

static bool is_other_build(const struct embedded *e, const struct embedded_dso *d,
	const struct dso *dso)
{
	const u8 *id = embedded_bytes(e, d->build_id, d->build_id_size);

	return dso->build_id_size && d->build_id_size &&
		(!id || d->build_id_size != dso->build_id_size ||
			memcmp(id, dso->build_id, dso->build_id_size));
}

bool embedded_find_dso(const struct embedded *e, const struct dso *dso, struct embedded_dso *ret)
{
	struct table_probe probe =
		table_probe(&e->by_path, hash_bytes(dso->path, strlen(dso->path)));
	struct embedded_dso d;
	u32 i;

	while ((i = table_next(&e->by_path, &probe)) != TABLE_NONE) {
		const char *path;

		embedded_entry(e, EMBEDDED_DSOS, i, &d, sizeof(d));
		path = embedded_string(e, d.path);
		if (d.kind != dso->kind || d.nth != dso->nth || dso->is_guest || !path ||
			strcmp(path, dso->path) || is_other_build(e, &d, dso))
			continue;
		*ret = d;
		return true;
	}
	return false;
}

void embedded_prepare(const struct embedded *e, struct machine *m)
{
	struct embedded_dso d;

	if (!embedded_is_there(e))
		return;
	for (u64 i = 0; embedded_entry(e, EMBEDDED_DSOS, i, &d, sizeof(d)); i++) {
		const char *path = embedded_string(e, d.path);

		if (path && d.kind == DSO_FILE && d.nth)
			dso_expect(&m->dsos, dso_get(&m->dsos, path, strlen(path), 0, false),
				d.nth);
	}
}

bool embedded_address_of_offset(const struct embedded *e, const struct embedded_dso *d, u64 offset,
	u64 *ret_va)
{
	struct embedded_segment s;

	for (u32 i = 0; i < d->n_segments; i++) {
		embedded_entry(e, EMBEDDED_SEGMENTS, d->first_segment + i, &s, sizeof(s));
		if (offset < s.offset || offset - s.offset >= s.size)
			continue;
		*ret_va = s.va + (offset - s.offset);
		return true;
	}
	return false;
}

/*
 * How many of the n entries from `first` on begin at `at` or before. The entries of all three tables that are
 * searched begin with the u64 that they are sorted by.
 */
static u32 count_up_to(const struct embedded *e, enum embedded_table_id id, u32 first, u32 n,
	u64 at)
{
	u32 low = 0, high = n;

	while (low < high) {
		u32 middle = low + (high - low) / 2;
		u64 start = 0;

		embedded_entry(e, id, first + middle, &start, sizeof(start));
		if (start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool find_place(const struct embedded *e, const struct embedded_dso *d, u64 at,
	struct embedded_place *ret)
{
	u32 n = count_up_to(e, EMBEDDED_PLACES, d->first_place, d->n_places, at);

	return n && embedded_entry(e, EMBEDDED_PLACES, d->first_place + n - 1, ret, sizeof(*ret)) &&
		ret->at == at;
}

enum embedded_answer embedded_symbol_at(const struct embedded *e, const struct embedded_dso *d,
	u32 i, struct embedded_name *ret)
{
	struct embedded_symbol s;

	if (i >= d->n_symbols)
		return EMBEDDED_UNKNOWN;
	embedded_entry(e, EMBEDDED_SYMBOLS, d->first_symbol + i, &s, sizeof(s));
	*ret = (struct embedded_name){s.start, s.end, s.name ? embedded_string(e, s.name) : "",
		!s.name                              ? ORIGIN_EXTENT
			: s.flags & EMBEDDED_IS_PLT  ? ORIGIN_PLT
			: s.flags & EMBEDDED_IS_MADE ? ORIGIN_CRT
						     : ORIGIN_TABLE};
	return ret->name ? EMBEDDED_FOUND : EMBEDDED_UNKNOWN;
}

enum embedded_answer embedded_find_name(const struct embedded *e, const struct embedded_dso *d,
	u64 at, struct embedded_name *ret)
{
	enum { OUTWARDS_MAX = 64 };
	struct embedded_place place;
	u32 n;

	if (find_place(e, d, at, &place) && place.symbol != EMBEDDED_NOT_ASKED)
		return place.symbol == EMBEDDED_NOTHING
			? EMBEDDED_NONE
			: embedded_symbol_at(e, d, place.symbol, ret);
	/* Try another instruction of a known function; of nested functions the innermost. */
	n = count_up_to(e, EMBEDDED_SYMBOLS, d->first_symbol, d->n_symbols, at);
	for (u32 i = 0; i < MIN(n, (u32)OUTWARDS_MAX); i++)
		if (embedded_symbol_at(e, d, n - 1 - i, ret) == EMBEDDED_FOUND && at < ret->end)
			return EMBEDDED_FOUND;
	return EMBEDDED_UNKNOWN;
}

enum embedded_answer embedded_find_chain(const struct embedded *e, const struct embedded_dso *d,
	u64 at, struct line_frame ret_frames[LINE_DEPTH_MAX], size_t *ret_n)
{
	struct embedded_place place;
	struct embedded_source s;
	u64 i;

	*ret_n = 0;
	if (!find_place(e, d, at, &place) || place.source == EMBEDDED_NOT_ASKED)
		return EMBEDDED_UNKNOWN;
	if (place.source == EMBEDDED_NOTHING)
		return EMBEDDED_NONE;
	/* Callers precede their callees in the table: otherwise this might not end. */
	for (i = (u64)place.source + 1; i && *ret_n < LINE_DEPTH_MAX;
		i = s.caller < i ? s.caller : 0) {
		if (!embedded_entry(e, EMBEDDED_SOURCES, i - 1, &s, sizeof(s)))
			break;
		ret_frames[(*ret_n)++] =
			(struct line_frame){.function = embedded_string(e, s.function),
				.file = embedded_string(e, s.file),
				.dir = embedded_string(e, s.dir),
				.line = s.line,
				.column = s.column};
	}
	return *ret_n ? EMBEDDED_FOUND : EMBEDDED_UNKNOWN;
}

enum line_gap embedded_find_gap(const struct embedded *e, const struct embedded_dso *d, u64 at)
{
	struct embedded_place place;

	return find_place(e, d, at, &place) && place.gap < LINE_GAPS ? place.gap : LINE_GAP_NONE;
}

u64 embedded_find_code(const struct embedded *e, const struct embedded_dso *d, u64 at,
	const u8 **ret_bytes, u64 *ret_before)
{
	u32 n = count_up_to(e, EMBEDDED_CODE, d->first_code, d->n_code, at);
	struct embedded_code c;
	const u8 *bytes;

	if (!n)
		return 0;
	embedded_entry(e, EMBEDDED_CODE, d->first_code + n - 1, &c, sizeof(c));
	bytes = embedded_bytes(e, c.bytes, c.size);
	if (!bytes || at - c.at >= c.size)
		return 0;
	*ret_bytes = bytes + (at - c.at);
	*ret_before = at - c.at;
	return c.size - (at - c.at);
}

/* ---- generated code ---- */

/* Fills the hole [from, to) with filler records. Returns 0 or an errno. */
static int fill_hole(int fd, u64 from, u64 to)
{
	while (from < to) {
		u64 size = MIN(to - from, (u64)JITDUMP_HOLE_MAX);
		u32 prefix[4] = {JITDUMP_NOTHING, (u32)size};
		int sys;

		/* The rest must be large enough for another record. */
		if (to - from - size && to - from - size < sizeof(prefix))
			prefix[1] = (u32)(size -= sizeof(prefix));
		sys = fd_write_at(fd, prefix, MIN(sizeof(prefix), to - from), from);
		if (sys)
			return sys;
		from += size;
	}
	return 0;
}

static int fill_dump(const struct embedded *e, const struct embedded_dump *dump, int fd,
	struct err *err)
{
	u64 at = 0, n_pages = 0, next_page = 0, limit = allowed(e->n_packed);
	struct embedded_piece p;
	int sys = 0;

	for (u32 i = 0; i < dump->n_pieces && !sys; i++) {
		const u8 *bytes;

		if (!embedded_entry(e, EMBEDDED_PIECES, (u64)dump->first_piece + i, &p, sizeof(p)))
			return damaged("a dump's pieces are outside their table", i, err);
		bytes = embedded_bytes(e, p.bytes, p.size);
		if (!bytes || p.offset < at || p.offset > EMBEDDED_DUMP_LIMIT)
			return damaged("a piece of a dump is malformed", i, err);
		/* Pieces that are far apart take a page each, however small they are. */
		n_pages += p.offset / PAGE_BYTES >= next_page;
		n_pages += p.size / PAGE_BYTES;
		next_page = (p.offset + p.size) / PAGE_BYTES + 1;
		if (n_pages > limit / PAGE_BYTES)
			return err_set(err, ERR_LIMIT,
				"the %u pieces of a dump lie on more than %llu pages",
				dump->n_pieces, (unsigned long long)(limit / PAGE_BYTES));
		sys = fill_hole(fd, at, p.offset);
		if (!sys)
			sys = fd_write_at(fd, bytes, p.size, p.offset);
		at = p.offset + p.size;
	}
	return sys ? err_sys(err, sys, "writing the embedded dump") : 0;
}

bool embedded_find_dump(const struct embedded *e, const char *path, u32 pid,
	struct embedded_dump *ret)
{
	for (u64 i = 0; embedded_entry(e, EMBEDDED_DUMPS, i, ret, sizeof(*ret)); i++) {
		const char *name = embedded_string(e, ret->path);

		if (name && !strcmp(name, path) && ret->pid == pid)
			return true;
	}
	return false;
}

int embedded_open_this_dump(const struct embedded *e, const struct embedded_dump *dump, int *ret_fd,
	struct err *err)
{
	int fd = memfd_create("pace-jitdump", MFD_CLOEXEC);

	if (fd < 0)
		return err_sys(err, errno, "memfd_create");
	if (fill_dump(e, dump, fd, err)) {
		close(fd);
		return err->code;
	}
	*ret_fd = fd;
	return 0;
}

int embedded_open_dump(const struct embedded *e, const char *path, u32 pid, int *ret_fd,
	struct err *err)
{
	struct embedded_dump d;

	if (!embedded_find_dump(e, path, pid, &d))
		return err_set(err, ERR_NOENT, "the recording has no dump '%s'", path);
	return embedded_open_this_dump(e, &d, ret_fd, err);
}
