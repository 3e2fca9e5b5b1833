#include "symbol/dwarf/line.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/workers.h"
#include "symbol/dwarf/golines.h"
#include "symbol/dwarf/lineindexfile.h"

enum {
	KEY_SIZE = 64,
	PIECE_BYTES = 512 << 10, /* what one worker must have to read before another one starts */
	WORTH_BYTES = 256 << 10, /* reading this much again takes some milliseconds */
	WORTH_SHARE = 4,         /* the new part of a stored file must be at least a 4th */
};

struct line_unit {
	bool is_read, has_scopes, is_new, is_wanted;
	int wrong; /* 0, or the code of its error */
	struct lineindex lineindex;
	struct str block, text; /* of a line index that is not from the cache */
};

/* A line index without functions that was replaced by one with them: its texts may still be in use. */
struct retired {
	struct str block, text;
};

struct line_index {
	struct elf elf; /* a copy: the data stay, but the caller's struct may move */
	struct lineindexfile_source source;
	char key[KEY_SIZE]; /* "": not cacheable */
	struct lineindexfile kept;
	const u8 *map; /* of `kept`; NULL: there is none */
	u64 map_size;

	struct golines *go; /* NULL: DWARF is read */
	dwarf_units places; /* of the units */
	struct line_unit *units;
	const struct interval *pieces; /* values: index of the unit, + 1 */
	size_t n_pieces;
	interval_list own_pieces; /* unless they are those of `kept` */
	int wrong_list;           /* 0, or the code why units may be missing in the list */

	pthread_mutex_t lock;    /* guards the members below, and line_unit.wrong */
	struct dwarf_file *file; /* opened when something must be read */
	bool has_tried;
	struct dwarf_handle *handles[WORKERS_MAX];
	struct err complaints[LINE_GAPS]; /* the first of each kind */
	VEC(struct retired) retired;
};

static enum line_gap gap_of(int code)
{
	switch (code) {
	case 0:
		return LINE_GAP_NONE;
	case ERR_LIMIT:
		return LINE_GAP_TOO_LARGE;
	case ERR_NOENT:
		return LINE_GAP_ELSEWHERE;
	default:
		return LINE_GAP_DAMAGED;
	}
}

/* Call with the lock held. */
static void keep_complaint(struct line_index *l, const struct err *complaint)
{
	struct err *kept = &l->complaints[gap_of(complaint->code)];

	if (!kept->code)
		*kept = *complaint;
}

static void complain(struct line_index *l, const struct err *complaint)
{
	pthread_mutex_lock(&l->lock);
	keep_complaint(l, complaint);
	pthread_mutex_unlock(&l->lock);
}

const char *line_gap_text(const struct line_index *l, enum line_gap gap)
{
	if (gap == LINE_GAP_UNDESCRIBED)
		return "that part of it was compiled without -g";
	if (gap == LINE_GAP_UNLINED)
		return "the compiler or the linker made that code";
	return l->complaints[gap].code ? l->complaints[gap].msg : NULL;
}

const char *line_complaint(const struct line_index *l)
{
	for (enum line_gap gap = 0; gap < LINE_GAPS; gap++)
		if (l->complaints[gap].code)
			return l->complaints[gap].msg;
	return NULL;
}

/* ---- reading units ---- */

/* A worker's handle, opened when it is first needed. Returns NULL if that fails. */
static struct dwarf_handle *handle_of(struct line_index *l, unsigned worker)
{
	struct dwarf_handle *h;
	struct err err;

	pthread_mutex_lock(&l->lock);
	if (!l->has_tried && dwarf_open(&l->file, &l->elf, &err))
		keep_complaint(l, &err);
	l->has_tried = true;
	h = l->handles[worker];
	if (!h && l->file) {
		h = l->handles[worker] = dwarf_handle_new(l->file, &err);
		if (!h)
			keep_complaint(l, &err);
	}
	pthread_mutex_unlock(&l->lock);
	return h;
}

/* Reads a unit. Returns false if the file cannot be read. */
static bool read_lineindex(struct line_index *l, u32 i, bool with_scopes, unsigned worker,
	struct lineindex_maker *m, struct err *complaint)
{
	u64 entry = l->places.at[i].entry;
	struct dwarf_handle *h;

	if (l->go) {
		golines_read(l->go, entry, m);
		return true;
	}
	h = handle_of(l, worker);
	if (h)
		dwarf_read(h, entry, with_scopes, m, complaint);
	return h != NULL;
}

/* maker: the worker's, with the contents of its last unit. */
static void read_unit(struct line_index *l, u32 i, bool with_scopes, unsigned worker,
	struct lineindex_maker *maker)
{
	struct line_unit *u = &l->units[i];
	struct err complaint = {0};

	if (u->is_read) {
		pthread_mutex_lock(&l->lock);
		vec_add(&l->retired, ((struct retired){u->block, u->text}));
		pthread_mutex_unlock(&l->lock);
		u->block = u->text = (struct str){0};
	}
	u->is_read = u->is_new = true;
	u->has_scopes = with_scopes || l->go;
	lineindex_maker_clear(maker);
	if (!read_lineindex(l, i, with_scopes, worker, maker, &complaint)) {
		u->wrong = ERR_FORMAT;
		u->lineindex = (struct lineindex){0};
		return;
	}
	lineindex_make(maker, &u->block, &u->text);
	if (maker->is_cut && !complaint.code)
		err_set(&complaint, ERR_LIMIT,
			"a unit that has more code or files than any real one is cut");
	u->wrong = complaint.code;
	complain(l, &complaint);
	if (!lineindex_view(&u->lineindex, u->block.at, u->block.n, u->text.at, u->text.n))
		u->lineindex = (struct lineindex){0};
}

/* Takes a unit from the cache. Returns false if it is not there, or lacks functions that are needed. */
static bool take_kept(struct line_index *l, u32 i, bool with_scopes)
{
	struct line_unit *u = &l->units[i];
	struct lineindex lineindex;

	if (!l->map || !lineindexfile_unit(&l->kept, i, &lineindex) ||
		(with_scopes && !(lineindex.head.flags & LINEINDEX_HAS_SCOPES)))
		return false;
	u->lineindex = lineindex;
	u->is_read = true;
	u->has_scopes = lineindex.head.flags & LINEINDEX_HAS_SCOPES;
	return true;
}

static bool is_ready(const struct line_unit *u, bool with_scopes)
{
	return u->is_read && (u->has_scopes || !with_scopes);
}

/* The index of the unit at an address, + 1; 0: none. */
static u32 unit_at(const struct line_index *l, u64 address)
{
	u32 i = intervalmap_find(l->pieces, l->n_pieces, address);

	return i <= l->places.n ? i : 0;
}

static const struct lineindex *lineindex_at(struct line_index *l, u64 address, bool with_scopes)
{
	u32 i = unit_at(l, address);
	struct line_unit *u = i ? &l->units[i - 1] : NULL;
	struct lineindex_maker maker = {0};

	if (u && !is_ready(u, with_scopes) && !take_kept(l, i - 1, with_scopes)) {
		read_unit(l, i - 1, with_scopes, 0, &maker);
		lineindex_maker_fini(&maker);
	}
	return u ? &u->lineindex : NULL;
}

bool line_find(struct line_index *l, u64 address, struct line_frame *ret_frame)
{
	const struct lineindex *s = lineindex_at(l, address, false);

	return s && lineindex_find(s, address, ret_frame);
}

size_t line_chain(struct line_index *l, u64 address, struct line_frame ret_frames[LINE_DEPTH_MAX])
{
	const struct lineindex *s = lineindex_at(l, address, true);

	return s ? lineindex_chain(s, address, ret_frames) : 0;
}

enum line_gap line_gap(const struct line_index *l, u64 address)
{
	u32 i = unit_at(l, address);
	struct line_frame ignored;
	enum line_gap gap;

	/* If the unit has the line, its inlined functions may still be missing. */
	if (i && !l->units[i - 1].wrong &&
		lineindex_find(&l->units[i - 1].lineindex, address, &ignored))
		return LINE_GAP_NONE;
	gap = gap_of(i ? l->units[i - 1].wrong : l->wrong_list);
	if (gap != LINE_GAP_NONE)
		return gap;
	return i ? LINE_GAP_UNLINED : LINE_GAP_UNDESCRIBED;
}

/* ---- many addresses ---- */

void line_want(struct line_index *l, u64 address, bool with_scopes, line_wishes *wishes)
{
	u32 i = unit_at(l, address);
	struct line_unit *u = i ? &l->units[i - 1] : NULL;

	if (!u || u->is_wanted || is_ready(u, with_scopes) || take_kept(l, i - 1, with_scopes))
		return;
	u->is_wanted = true;
	vec_add(wishes, ((struct line_wish){l, i - 1, l->places.at[i - 1].bytes, with_scopes}));
}

u64 line_unpack_bytes(const struct line_index *l)
{
	return l->has_tried ? 0 : dwarf_packed_bytes(&l->elf);
}

bool line_is_ready(const struct line_index *l, u64 address, bool with_scopes)
{
	u32 i = unit_at(l, address);

	return !i || is_ready(&l->units[i - 1], with_scopes);
}

/* Requests for units of one index that one worker reads in sequence. */
struct batch {
	size_t first, n;
	u64 bytes;
};

struct fetching {
	const struct line_wish *wishes;
	VEC(struct batch) batches;
	struct lineindex_maker *makers; /* by worker: units are similar, so memory is reused */
	struct progress *progress;
};

static void fetch_batch(void *ctx, size_t i, unsigned worker)
{
	const struct fetching *f = ctx;
	const struct batch *b = &f->batches.at[i];

	for (size_t k = b->first; k < b->first + b->n; k++) {
		if (progress_is_stopped(f->progress))
			return;
		read_unit(f->wishes[k].index, f->wishes[k].unit, f->wishes[k].with_scopes, worker,
			&f->makers[worker]);
		progress_add(f->progress, LINE_WORK(f->wishes[k].bytes));
	}
}

static int by_bytes(const void *a, const void *b)
{
	const struct batch *x = a, *y = b;

	return x->bytes != y->bytes ? (x->bytes > y->bytes ? -1 : 1) : x->first > y->first ? 1 : -1;
}

void line_fetch(line_wishes *wishes, unsigned n_workers, struct progress *progress)
{
	struct fetching f = {.wishes = wishes->at, .progress = progress};
	u64 work = 0;

	vec_each(w, wishes) {
		struct batch *last = f.batches.n ? &f.batches.at[f.batches.n - 1] : NULL;

		if (last && last->bytes < PIECE_BYTES && w[-1].index == w->index) {
			last->n++;
			last->bytes += w->bytes;
			continue;
		}
		vec_add(&f.batches, ((struct batch){(size_t)(w - wishes->at), 1, w->bytes}));
	}
	vec_each(w, wishes)
		work += LINE_WORK(w->bytes);
	progress_expect_more(progress, work);
	/* The largest first: a large unit that begins last would delay the end. */
	if (f.batches.n)
		qsort(f.batches.at, f.batches.n, sizeof(*f.batches.at), by_bytes);
	f.makers = mem_zalloc(n_workers * sizeof(*f.makers));
	workers_run(n_workers, f.batches.n, fetch_batch, &f);
	for (unsigned i = 0; i < n_workers; i++)
		lineindex_maker_fini(&f.makers[i]);
	mem_free(f.makers);
	vec_each(w, wishes)
		w->index->units[w->unit].is_wanted = false;
	vec_fini(&f.batches);
}

/* ---- the index ---- */

/* Identifies the build and the form of the file, both of which a cached index must match. */
static void find_source(struct line_index *l)
{
	struct lineindexfile_source *s = &l->source;
	size_t at = (size_t)snprintf(l->key, KEY_SIZE, "%s", cache_kinds[CACHE_LINES].prefix);

	s->id_size = elf_build_id(&l->elf, s->id);
	s->bytes = l->elf.size;
	s->sections =
		lineindexfile_check(l->elf.sections, l->elf.n_sections * sizeof(*l->elf.sections));
	s->path = l->elf.path ? l->elf.path : "";
	for (u8 i = 0; i < s->id_size; i++)
		at += (size_t)snprintf(l->key + at, KEY_SIZE - at, "%02x", s->id[i]);
	if (!s->id_size || !l->elf.path)
		l->key[0] = '\0';
}

static bool open_kept(struct line_index *l)
{
	if (!l->key[0] || !cache_map(l->key, false, &l->map, &l->map_size))
		return false;
	if (!lineindexfile_view(&l->kept, l->map, l->map_size, &l->source)) {
		munmap((void *)l->map, l->map_size);
		l->map = NULL;
		return false;
	}
	for (u32 i = 0; i < l->kept.n_units; i++)
		vec_add(&l->places, l->kept.units[i].unit);
	l->pieces = l->kept.pieces;
	l->n_pieces = l->kept.n_pieces;
	return true;
}

/*
 * Template functions are in many units, and the linker keeps the first. The debug information of the
 * others may then point at it, too, although their code was different. So of units with the same start the first
 * counts, not the last as in nested ranges.
 */
static void lay_out(range_list *ranges, struct line_index *l)
{
	vec_each(r, ranges)
		r->value = ~r->value;
	intervalmap_of(ranges, &l->own_pieces);
	vec_each(p, &l->own_pieces)
		if (p->value)
			p->value = ~p->value;
	vec_fini(ranges);
	l->pieces = l->own_pieces.at;
	l->n_pieces = l->own_pieces.n;
}

static int open_fresh(struct line_index *l, struct err *err)
{
	struct err complaint = {0};
	range_list ranges = {0};

	l->has_tried = true;
	if (dwarf_open(&l->file, &l->elf, err) || !(l->handles[0] = dwarf_handle_new(l->file, err)))
		return err->code;
	dwarf_list(l->handles[0], &l->places, &ranges, &complaint);
	lay_out(&ranges, l);
	l->wrong_list = complaint.code;
	complain(l, &complaint);
	return 0;
}

/* Whether at most `most` bytes must be unpacked. */
static bool can_unpack(const struct line_index *l, u64 most, struct err *err)
{
	u64 bytes = dwarf_packed_bytes(&l->elf);

	if (bytes <= most)
		return true;
	err_set(err, ERR_LIMIT, "its debug information is %llu MB unpacked, which takes too long",
		(unsigned long long)bytes >> 20);
	return false;
}

int line_open(struct line_index **ret_index, const struct elf *elf, struct err *err)
{
	return line_open_within(ret_index, elf, UINT64_MAX, err);
}

static struct line_index *index_new(const struct elf *elf)
{
	struct line_index *l = mem_zalloc(sizeof(*l));

	l->elf = *elf;
	pthread_mutex_init(&l->lock, NULL);
	return l;
}

static struct line_index *index_ready(struct line_index *l)
{
	l->units = mem_zalloc((l->places.n + 1) * sizeof(*l->units));
	return l;
}

int line_open_within(struct line_index **ret_index, const struct elf *elf, u64 unpack_max,
	struct err *err)
{
	struct line_index *l;

	if (!dwarf_is_in(elf))
		return err_set(err, ERR_NOENT, "it has no debug information");
	l = index_new(elf);
	find_source(l);
	if (!open_kept(l) && (!can_unpack(l, unpack_max, err) || open_fresh(l, err))) {
		line_close(l);
		return err->code;
	}
	*ret_index = index_ready(l);
	return 0;
}

/* This is so fast that nothing is cached. */
int line_open_go(struct line_index **ret_index, const struct elf *elf, struct err *err)
{
	struct line_index *l = index_new(elf);
	range_list ranges = {0};

	l->has_tried = true;
	l->go = golines_open(&l->elf);
	if (!l->go) {
		line_close(l);
		return err_set(err, ERR_NOENT, "it has no table of the Go runtime");
	}
	golines_list(l->go, &l->places, &ranges);
	lay_out(&ranges, l);
	*ret_index = index_ready(l);
	return 0;
}

/* ---- caching ---- */

/*
 * Whether a unit is new and was read without complaint. A file that the others lack may be there the next
 * time.
 */
static bool is_storable(const struct line_unit *u)
{
	return u->is_new && !u->wrong && u->block.n;
}

/* Whether reading the new units again would take longer than writing the cache. */
static bool is_worth(const struct line_index *l)
{
	u64 gain = 0;

	if (!l->key[0] || l->wrong_list || !l->units)
		return false;
	for (size_t i = 0; i < l->places.n; i++)
		if (is_storable(&l->units[i]))
			gain += l->places.at[i].bytes;
	/* To read any missing part of a packed file, all of it must be unpacked. */
	if (gain)
		gain += dwarf_packed_bytes(&l->elf);
	return gain >= WORTH_BYTES && gain >= l->map_size / WORTH_SHARE;
}

static void store(struct line_index *l)
{
	struct lineindexfile_maker m;

	lineindexfile_begin(&m, l->places.at, (u32)l->places.n, l->map ? &l->kept : NULL);
	for (u32 i = 0; i < l->places.n; i++) {
		if (is_storable(&l->units[i]))
			lineindexfile_add(&m, i, &l->units[i].block, &l->units[i].text);
		else if (l->map)
			lineindexfile_keep(&m, i, &l->kept);
	}
	if (m.text.n < UINT32_MAX) {
		lineindexfile_end(&m, l->pieces, (u32)l->n_pieces, &l->source);
		cache_store(l->key, m.parts.at, m.parts.n);
	}
	lineindexfile_maker_fini(&m);
}

void line_close(struct line_index *l)
{
	if (!l)
		return;
	if (is_worth(l))
		store(l);
	for (size_t i = 0; l->units && i < l->places.n; i++) {
		str_fini(&l->units[i].block);
		str_fini(&l->units[i].text);
	}
	vec_each(r, &l->retired) {
		str_fini(&r->block);
		str_fini(&r->text);
	}
	vec_fini(&l->retired);
	mem_free(l->units);
	vec_fini(&l->places);
	vec_fini(&l->own_pieces);
	dwarf_close(l->file);
	golines_close(l->go);
	if (l->map)
		munmap((void *)l->map, l->map_size);
	pthread_mutex_destroy(&l->lock);
	mem_free(l);
}
