#include "symbol/embed/embedunion.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/sort.h"
#include "base/table.h"

/* One DSO in one of the sections. */
struct part {
	const struct embedded *from;
	struct embedded_dso dso;
};

typedef VEC(struct part) part_list;

/* ---- names and places ---- */

struct named_place {
	u64 at;
	u32 order; /* of its section among the inputs */
	u32 source, gap;
	struct embedded_name name; /* .name NULL: none, or not looked up */
	bool has_asked;
};

typedef VEC(struct named_place) place_list;

SORT_BY(by_place, struct named_place, at, order)

static int by_name(const void *a, const void *b)
{
	return embedded_name_order(a, b);
}

static void collect_places(const part_list *parts, struct embedder *out, place_list *places)
{
	struct line_frame frames[LINE_DEPTH_MAX];
	size_t n;

	vec_each(part, parts)
		for (u32 i = 0; i < part->dso.n_places; i++) {
			struct named_place p = {.order = (u32)(part - parts->at),
				.source = EMBEDDED_NOT_ASKED};
			struct embedded_place place;

			embedded_entry(part->from, EMBEDDED_PLACES, part->dso.first_place + i,
				&place, sizeof(place));
			p.at = place.at;
			p.gap = place.gap;
			p.has_asked = place.symbol != EMBEDDED_NOT_ASKED;
			if (embedded_find_name(part->from, &part->dso, p.at, &p.name) !=
				EMBEDDED_FOUND)
				p.name.name = NULL;
			switch (embedded_find_chain(part->from, &part->dso, p.at, frames, &n)) {
			case EMBEDDED_FOUND:
				p.source = embedder_source(out, frames, n);
				break;
			case EMBEDDED_NONE:
				p.source = EMBEDDED_NOTHING;
				break;
			case EMBEDDED_UNKNOWN:
				break;
			}
			vec_add(places, p);
		}
	if (places->n)
		qsort(places->at, places->n, sizeof(*places->at), by_place);
	n = 0;
	vec_each(p, places) {
		if (n && places->at[n - 1].at == p->at) {
			if (places->at[n - 1].source == EMBEDDED_NOT_ASKED) {
				places->at[n - 1].source = p->source;
				places->at[n - 1].gap = p->gap;
			}
			continue;
		}
		places->at[n++] = *p;
	}
	places->n = n;
}

static void add_places(const part_list *parts, struct embedder *out)
{
	VEC(struct embedded_name) names = {0};
	place_list places = {0};
	size_t n = 0;

	collect_places(parts, out, &places);
	vec_each(p, &places)
		if (p->name.name)
			vec_add(&names, p->name);
	if (names.n)
		qsort(names.at, names.n, sizeof(*names.at), by_name);
	vec_each(name, &names)
		if (!n || by_name(&names.at[n - 1], name))
			names.at[n++] = *name;
	names.n = n;
	vec_each(name, &names)
		embedder_add_symbol(out, name);
	vec_each(p, &places) {
		u32 symbol = p->has_asked ? EMBEDDED_NOTHING : EMBEDDED_NOT_ASKED;

		if (p->name.name) {
			const struct embedded_name *found =
				bsearch(&p->name, names.at, names.n, sizeof(*names.at), by_name);

			symbol = (u32)(found - names.at);
		}
		embedder_add_place(out, p->at, symbol, p->source, p->gap);
	}
	vec_fini(&names);
	vec_fini(&places);
}

/* ---- runs of bytes ---- */

struct run {
	u64 from, size;
	const u8 *bytes;
};

typedef VEC(struct run) run_list;

SORT_BY(by_run, struct run, from)

/* Sorts the runs and removes overlaps. */
static void straighten(run_list *runs)
{
	u64 end = 0;
	size_t n = 0;

	if (runs->n)
		qsort(runs->at, runs->n, sizeof(*runs->at), by_run);
	vec_each(r, runs) {
		struct run rest = *r;

		if (rest.from < end) {
			u64 cut = MIN(end - rest.from, rest.size);

			rest.from += cut;
			rest.bytes += cut;
			rest.size -= cut;
		}
		if (!rest.size || rest.from + rest.size < rest.from)
			continue;
		runs->at[n++] = rest;
		end = rest.from + rest.size;
	}
	runs->n = n;
}

static void collect_pieces(const struct embedded *from, u32 first, u32 n, run_list *runs)
{
	struct embedded_piece p;

	for (u32 i = 0;
		i < n && embedded_entry(from, EMBEDDED_PIECES, (u64)first + i, &p, sizeof(p));
		i++) {
		const u8 *bytes = embedded_bytes(from, p.bytes, p.size);

		if (bytes)
			vec_add(runs, ((struct run){p.offset, p.size, bytes}));
	}
}

static void add_code(const part_list *parts, struct embedder *out)
{
	run_list runs = {0};

	vec_each(part, parts)
		for (u32 i = 0; i < part->dso.n_code; i++) {
			struct embedded_code c;
			const u8 *bytes;

			embedded_entry(part->from, EMBEDDED_CODE, part->dso.first_code + i, &c,
				sizeof(c));
			bytes = embedded_bytes(part->from, c.bytes, c.size);
			if (bytes)
				vec_add(&runs, ((struct run){c.at, c.size, bytes}));
		}
	straighten(&runs);
	vec_each(r, &runs)
		embedder_add_code(out, r->from, r->bytes, r->size);
	vec_fini(&runs);
}

/* ---- unwinding ---- */

SORT_BY(by_frame, struct embedded_frame, start)

static void add_sections(const part_list *parts, struct embedder *out, u32 which)
{
	struct embedded_section first = {0};
	run_list runs = {0};

	vec_each(part, parts)
		for (u32 i = 0; i < part->dso.n_sections; i++) {
			struct embedded_section s;

			embedded_entry(part->from, EMBEDDED_SECTIONS, part->dso.first_section + i,
				&s, sizeof(s));
			if (s.which != which)
				continue;
			if (!runs.n)
				first = s;
			collect_pieces(part->from, s.first_piece, s.n_pieces, &runs);
		}
	straighten(&runs);
	if (runs.n)
		embedder_add_section(out, which, first.address, first.size, first.text, first.data,
			first.flags);
	vec_each(r, &runs)
		embedder_add_section_piece(out, r->from, r->bytes, r->size);
	vec_fini(&runs);
}

static void add_frames(const part_list *parts, struct embedder *out)
{
	VEC(struct embedded_frame) frames = {0};
	const struct embedded_frame *last = NULL;

	vec_each(part, parts)
		for (u32 i = 0; i < part->dso.n_frames; i++)
			embedded_entry(part->from, EMBEDDED_FRAMES, part->dso.first_frame + i,
				vec_push(&frames), sizeof(*frames.at));
	if (frames.n)
		qsort(frames.at, frames.n, sizeof(*frames.at), by_frame);
	vec_each(f, &frames) {
		if (!last || last->start != f->start)
			embedder_add_frame(out, f->start, f->end, f->entry, f->which);
		last = f;
	}
	vec_fini(&frames);
	add_sections(parts, out, 0);
	add_sections(parts, out, 1);
}

/* ---- DSOs ---- */

/*
 * The best description of the DSO as a whole: with an image, with lines, without reasons for missing names.
 */
static const struct part *best_of(const part_list *parts)
{
	const struct part *best = parts->at;

	vec_each(part, parts)
		if (!part->dso.outcome && (best->dso.outcome || part->dso.flags > best->dso.flags))
			best = part;
	return best;
}

static void add_dso(const part_list *parts, struct embedder *out, const struct dso *key)
{
	const struct part *best = best_of(parts);
	const struct embedded_dso *d = &best->dso;
	u32 reason = embedder_string(out, embedded_string(best->from, d->reason)),
	    lines_reason = embedder_string(out, embedded_string(best->from, d->lines_reason));
	struct embedded_dso *entry;
	u32 gaps[ARRAY_SIZE(d->gaps)];

	for (unsigned i = 0; i < ARRAY_SIZE(gaps); i++)
		gaps[i] = embedder_string(out, embedded_string(best->from, d->gaps[i]));
	entry = embedder_add_dso(out, key);
	entry->entry = d->entry;
	memcpy(entry->gaps, gaps, sizeof(gaps));
	entry->outcome = d->outcome;
	entry->flags = d->flags;
	entry->pid = d->pid;
	entry->machine = d->machine;
	entry->reason = reason;
	entry->lines_reason = lines_reason;
	for (u32 i = 0; i < d->n_segments; i++) {
		struct embedded_segment s;

		embedded_entry(best->from, EMBEDDED_SEGMENTS, d->first_segment + i, &s, sizeof(s));
		embedder_add_segment(out, s.offset, s.va, s.size);
	}
	add_places(parts, out);
	add_code(parts, out);
	add_frames(parts, out);
}

static bool make_key(const struct embedded *from, const struct embedded_dso *d, struct dso *ret)
{
	const u8 *id = embedded_bytes(from, d->build_id, d->build_id_size);

	*ret = (struct dso){.kind = (u8)d->kind,
		.nth = d->nth,
		.path = embedded_string(from, d->path)};
	if (id && d->build_id_size <= BUILD_ID_MAX) {
		ret->build_id_size = (u8)d->build_id_size;
		memcpy(ret->build_id, id, d->build_id_size);
	}
	return ret->path != NULL;
}

static bool has_dso(const struct embedder *out, const struct table *by_path, const struct dso *key,
	u32 path)
{
	struct table_probe probe = table_probe(by_path, hash_u64(path));
	u32 i;

	while ((i = table_next(by_path, &probe)) != TABLE_NONE) {
		const struct embedded_dso *known = &out->dsos.at[i];

		if (known->path != path || known->kind != key->kind || known->nth != key->nth)
			continue;
		if (!key->build_id_size || !known->build_id_size ||
			(known->build_id_size == key->build_id_size &&
				!memcmp(out->bytes.at + known->build_id, key->build_id,
					key->build_id_size)))
			return true;
	}
	return false;
}

/* Adds each DSO where it is first met, with all that the later sections have of it. */
static void add_dsos(struct embedder *out, const struct embedded *all, size_t n)
{
	struct table by_path = {0};

	vec_each(d, &out->dsos)
		table_add(&by_path, hash_u64(d->path), (u32)(d - out->dsos.at));
	for (size_t i = 0; i < n; i++) {
		struct embedded_dso d, other;

		for (u64 k = 0; embedded_entry(&all[i], EMBEDDED_DSOS, k, &d, sizeof(d)); k++) {
			part_list parts = {0};
			struct dso key;
			u32 path;

			if (!make_key(&all[i], &d, &key))
				continue;
			path = embedder_string(out, key.path);
			if (has_dso(out, &by_path, &key, path))
				continue;
			table_add(&by_path, hash_u64(path), (u32)out->dsos.n);
			vec_add(&parts, ((struct part){&all[i], d}));
			for (size_t later = i + 1; later < n; later++)
				if (embedded_find_dso(&all[later], &key, &other))
					vec_add(&parts, ((struct part){&all[later], other}));
			add_dso(&parts, out, &key);
			vec_fini(&parts);
		}
	}
	table_fini(&by_path);
}

/* ---- dumps ---- */

static bool has_dump(const struct embedder *out, u32 path, u32 pid)
{
	vec_each(known, &out->dumps)
		if (known->pid == pid && known->path == path)
			return true;
	return false;
}

static void add_dumps(struct embedder *out, const struct embedded *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct embedded_dump d, other;

		for (u64 k = 0; embedded_entry(&all[i], EMBEDDED_DUMPS, k, &d, sizeof(d)); k++) {
			const char *path = embedded_string(&all[i], d.path);
			run_list runs = {0};
			u64 size = d.size;

			if (!path || has_dump(out, embedder_string(out, path), d.pid))
				continue;
			collect_pieces(&all[i], d.first_piece, d.n_pieces, &runs);
			for (size_t later = i + 1; later < n; later++)
				if (embedded_find_dump(&all[later], path, d.pid, &other)) {
					collect_pieces(&all[later], other.first_piece,
						other.n_pieces, &runs);
					size = MAX(size, other.size);
				}
			straighten(&runs);
			embedder_add_dump(out, path, d.pid, size);
			vec_each(r, &runs)
				embedder_add_piece(out, r->from, r->bytes, r->size);
			vec_fini(&runs);
		}
	}
}

void embedunion_add(struct embedder *out, const struct embedded *all, size_t n)
{
	add_dsos(out, all, n);
	add_dumps(out, all, n);
}
