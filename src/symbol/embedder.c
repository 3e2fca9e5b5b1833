#include "symbol/embedder.h"

#include <assert.h>
#include <zstd.h>

#include "base/hash.h"

enum { LEVEL = 3 };

void embedder_init(struct embedder *e)
{
	memset(e, 0, sizeof(*e));
	str_addc(&e->strings, '\0');
}

void embedder_fini(struct embedder *e)
{
	str_fini(&e->strings);
	table_fini(&e->strings_index);
	vec_fini(&e->starts);
	str_fini(&e->bytes);
	vec_fini(&e->dsos);
	vec_fini(&e->segments);
	vec_fini(&e->symbols);
	vec_fini(&e->places);
	vec_fini(&e->sources);
	table_fini(&e->sources_index);
	vec_fini(&e->code);
	vec_fini(&e->dumps);
	vec_fini(&e->pieces);
	vec_fini(&e->frames);
	vec_fini(&e->sections);
}

u32 embedder_string(struct embedder *e, const char *text)
{
	size_t n = text ? strlen(text) : 0;
	struct table_probe probe;
	u64 hash;
	u32 i;

	if (!n)
		return 0;
	hash = hash_bytes(text, n);
	probe = table_probe(&e->strings_index, hash);
	while ((i = table_next(&e->strings_index, &probe)) != TABLE_NONE)
		if (!strcmp(e->strings.at + e->starts.at[i], text))
			return e->starts.at[i];
	table_add(&e->strings_index, hash, e->starts.n);
	vec_add(&e->starts, (u32)e->strings.n);
	str_addn(&e->strings, text, n + 1);
	return e->starts.at[e->starts.n - 1];
}

u64 embedder_bytes(struct embedder *e, const void *p, u64 n)
{
	u64 at = e->bytes.n;

	str_addn(&e->bytes, p, n);
	return at;
}

/* ---- DSOs ---- */

struct embedded_dso *embedder_add_dso(struct embedder *e, const struct dso *dso)
{
	vec_add(&e->dsos,
		((struct embedded_dso){.kind = dso->kind,
			.path = embedder_string(e, dso->path),
			.build_id = embedder_bytes(e, dso->build_id, dso->build_id_size),
			.build_id_size = dso->build_id_size,
			.pid = dso->pid,
			.nth = dso->nth,
			.first_segment = (u32)e->segments.n,
			.first_symbol = (u32)e->symbols.n,
			.first_place = (u32)e->places.n,
			.first_code = (u32)e->code.n,
			.first_frame = (u32)e->frames.n,
			.first_section = (u32)e->sections.n}));
	return &e->dsos.at[e->dsos.n - 1];
}

static struct embedded_dso *last_dso(struct embedder *e)
{
	assert(e->dsos.n);
	return &e->dsos.at[e->dsos.n - 1];
}

void embedder_add_segment(struct embedder *e, u64 offset, u64 va, u64 size)
{
	vec_add(&e->segments, ((struct embedded_segment){offset, va, size}));
	last_dso(e)->n_segments++;
}

void embedder_add_symbol(struct embedder *e, const struct embedded_name *name)
{
	vec_add(&e->symbols,
		((struct embedded_symbol){name->start, name->end, embedder_string(e, name->name),
			name->is_plt ? EMBEDDED_IS_PLT : 0}));
	last_dso(e)->n_symbols++;
}

void embedder_add_place(struct embedder *e, u64 at, u32 symbol, u32 source, enum line_gap gap)
{
	vec_add(&e->places, ((struct embedded_place){at, symbol, source, gap, 0}));
	last_dso(e)->n_places++;
}

void embedder_add_code(struct embedder *e, u64 at, const void *p, u64 size)
{
	vec_add(&e->code, ((struct embedded_code){at, size, embedder_bytes(e, p, size)}));
	last_dso(e)->n_code++;
}

void embedder_add_frame(struct embedder *e, u64 start, u64 end, u64 entry, u32 which)
{
	vec_add(&e->frames, ((struct embedded_frame){start, end, entry, which, 0}));
	last_dso(e)->n_frames++;
}

void embedder_add_section(struct embedder *e, u32 which, u64 address, u64 size, u64 text, u64 data,
	u32 flags)
{
	vec_add(&e->sections,
		((struct embedded_section){.which = which,
			.flags = flags,
			.address = address,
			.size = size,
			.text = text,
			.data = data,
			.first_piece = (u32)e->pieces.n}));
	last_dso(e)->n_sections++;
}

void embedder_add_section_piece(struct embedder *e, u64 offset, const void *p, u64 size)
{
	assert(e->sections.n);
	vec_add(&e->pieces, ((struct embedded_piece){offset, size, embedder_bytes(e, p, size)}));
	e->sections.at[e->sections.n - 1].n_pieces++;
}

/* ---- sources ---- */

static u32 add_source(struct embedder *e, const struct embedded_source *s)
{
	u64 hash = hash_words(s, sizeof(*s) / 8, 0);
	struct table_probe probe = table_probe(&e->sources_index, hash);
	u32 i;

	while ((i = table_next(&e->sources_index, &probe)) != TABLE_NONE)
		if (!memcmp(&e->sources.at[i], s, sizeof(*s)))
			return i;
	table_add(&e->sources_index, hash, e->sources.n);
	vec_add(&e->sources, *s);
	return (u32)e->sources.n - 1;
}

u32 embedder_source(struct embedder *e, const struct line_frame *frames, size_t n)
{
	u32 source = EMBEDDED_NOTHING;

	while (n--) {
		const struct line_frame *f = &frames[n];

		source = add_source(e,
			&(struct embedded_source){.function = embedder_string(e, f->function),
				.file = embedder_string(e, f->file),
				.dir = embedder_string(e, f->dir),
				.line = f->line,
				.column = f->column,
				.caller = source == EMBEDDED_NOTHING ? 0 : source + 1});
	}
	return source;
}

/* ---- dumps ---- */

void embedder_add_dump(struct embedder *e, const char *path, u32 pid, u64 size)
{
	vec_add(&e->dumps,
		((struct embedded_dump){.path = embedder_string(e, path),
			.pid = pid,
			.size = size,
			.first_piece = (u32)e->pieces.n}));
}

void embedder_add_piece(struct embedder *e, u64 offset, const void *p, u64 size)
{
	assert(e->dumps.n);
	vec_add(&e->pieces, ((struct embedded_piece){offset, size, embedder_bytes(e, p, size)}));
	e->dumps.at[e->dumps.n - 1].n_pieces++;
}

/* ---- from other sections ---- */

static bool has_dso(const struct embedder *e, const struct embedded *from,
	const struct embedded_dso *d, const char *path)
{
	const u8 *id = embedded_bytes(from, d->build_id, d->build_id_size);

	vec_each(known, &e->dsos) {
		if (known->kind != d->kind || strcmp(e->strings.at + known->path, path))
			continue;
		if (!id || !d->build_id_size || !known->build_id_size ||
			(known->build_id_size == d->build_id_size &&
				!memcmp(e->bytes.at + known->build_id, id, d->build_id_size)))
			return true;
	}
	return false;
}

static u32 copy_source(struct embedder *e, const struct embedded *from,
	const struct embedded_dso *d, u64 at)
{
	struct line_frame frames[LINE_DEPTH_MAX];
	size_t n;

	switch (embedded_find_chain(from, d, at, frames, &n)) {
	case EMBEDDED_FOUND:
		return embedder_source(e, frames, n);
	case EMBEDDED_NONE:
		return EMBEDDED_NOTHING;
	case EMBEDDED_UNKNOWN:
		break;
	}
	return EMBEDDED_NOT_ASKED;
}

static void copy_frames(struct embedder *e, const struct embedded *from,
	const struct embedded_dso *d)
{
	for (u32 i = 0; i < d->n_frames; i++) {
		struct embedded_frame f;

		embedded_entry(from, EMBEDDED_FRAMES, d->first_frame + i, &f, sizeof(f));
		embedder_add_frame(e, f.start, f.end, f.entry, f.which);
	}
	for (u32 i = 0; i < d->n_sections; i++) {
		struct embedded_section s;
		struct embedded_piece piece;

		embedded_entry(from, EMBEDDED_SECTIONS, d->first_section + i, &s, sizeof(s));
		embedder_add_section(e, s.which, s.address, s.size, s.text, s.data, s.flags);
		for (u32 k = 0; k < s.n_pieces &&
			embedded_entry(from, EMBEDDED_PIECES, (u64)s.first_piece + k, &piece,
				sizeof(piece));
			k++) {
			const u8 *bytes = embedded_bytes(from, piece.bytes, piece.size);

			if (bytes)
				embedder_add_section_piece(e, piece.offset, bytes, piece.size);
		}
	}
}

static void copy_dso(struct embedder *e, const struct embedded *from, const struct embedded_dso *d)
{
	u32 gaps[ARRAY_SIZE(d->gaps)];
	struct embedded_dso *copy;
	struct embedded_segment segment;
	struct embedded_symbol symbol;
	struct embedded_place place;
	struct embedded_code code;
	const u8 *bytes = embedded_bytes(from, d->build_id, d->build_id_size);
	u32 path = embedder_string(e, embedded_string(from, d->path)),
	    reason = embedder_string(e, embedded_string(from, d->reason)),
	    lines_reason = embedder_string(e, embedded_string(from, d->lines_reason));

	for (unsigned i = 0; i < ARRAY_SIZE(gaps); i++)
		gaps[i] = embedder_string(e, embedded_string(from, d->gaps[i]));
	copy = embedder_add_dso(e, &(struct dso){.kind = (u8)d->kind, .nth = d->nth});
	copy->outcome = d->outcome;
	copy->flags = d->flags;
	copy->pid = d->pid;
	copy->machine = d->machine;
	copy->path = path;
	copy->reason = reason;
	copy->lines_reason = lines_reason;
	copy->entry = d->entry;
	memcpy(copy->gaps, gaps, sizeof(gaps));
	if (bytes) {
		copy->build_id_size = d->build_id_size;
		copy->build_id = embedder_bytes(e, bytes, d->build_id_size);
	}
	for (u32 i = 0; i < d->n_segments; i++)
		if (embedded_entry(from, EMBEDDED_SEGMENTS, d->first_segment + i, &segment,
			    sizeof(segment)))
			embedder_add_segment(e, segment.offset, segment.va, segment.size);
	for (u32 i = 0; i < d->n_symbols; i++) {
		embedded_entry(from, EMBEDDED_SYMBOLS, d->first_symbol + i, &symbol,
			sizeof(symbol));
		embedder_add_symbol(e,
			&(struct embedded_name){symbol.start, symbol.end,
				embedded_string(from, symbol.name),
				symbol.flags & EMBEDDED_IS_PLT});
	}
	for (u32 i = 0; i < d->n_places; i++) {
		embedded_entry(from, EMBEDDED_PLACES, d->first_place + i, &place, sizeof(place));
		embedder_add_place(e, place.at, place.symbol, copy_source(e, from, d, place.at),
			place.gap);
	}
	for (u32 i = 0; i < d->n_code; i++) {
		embedded_entry(from, EMBEDDED_CODE, d->first_code + i, &code, sizeof(code));
		bytes = embedded_bytes(from, code.bytes, code.size);
		if (bytes)
			embedder_add_code(e, code.at, bytes, code.size);
	}
	copy_frames(e, from, d);
}

static bool has_dump(const struct embedder *e, const char *path, u32 pid)
{
	vec_each(known, &e->dumps)
		if (known->pid == pid && !strcmp(e->strings.at + known->path, path))
			return true;
	return false;
}

static void copy_dump(struct embedder *e, const struct embedded *from,
	const struct embedded_dump *dump, const char *path)
{
	struct embedded_piece piece;

	embedder_add_dump(e, path, dump->pid, dump->size);
	for (u32 i = 0; i < dump->n_pieces &&
		embedded_entry(from, EMBEDDED_PIECES, (u64)dump->first_piece + i, &piece,
			sizeof(piece));
		i++) {
		const u8 *bytes = embedded_bytes(from, piece.bytes, piece.size);

		if (bytes)
			embedder_add_piece(e, piece.offset, bytes, piece.size);
	}
}

void embedder_copy_missing(struct embedder *e, const struct embedded *from)
{
	struct embedded_dump dump;
	struct embedded_dso d;
	const char *path;

	for (u64 i = 0; embedded_entry(from, EMBEDDED_DSOS, i, &d, sizeof(d)); i++) {
		path = embedded_string(from, d.path);
		if (path && !has_dso(e, from, &d, path))
			copy_dso(e, from, &d);
	}
	for (u64 i = 0; embedded_entry(from, EMBEDDED_DUMPS, i, &dump, sizeof(dump)); i++) {
		path = embedded_string(from, dump.path);
		if (path && !has_dump(e, path, dump.pid))
			copy_dump(e, from, &dump, path);
	}
}

/* ---- the section ---- */

bool embedder_is_empty(const struct embedder *e)
{
	return !e->dsos.n && !e->dumps.n;
}

static void add_table(struct str *toc, struct str *tables, u64 front, u32 id, u32 each,
	const void *at, u64 n)
{
	struct embedded_table t = {id, each, front + tables->n, n};

	str_addn(toc, &t, sizeof(t));
	str_addn(tables, at, n * each);
	str_fill(tables, '\0', align_up(tables->n, EMBEDDED_ALIGN) - tables->n);
}

#define ADD_TABLE(id, vec) add_table(&toc, &tables, front, id, sizeof(*(vec).at), (vec).at, (vec).n)

/* Everything behind the header, as it is unpacked. */
static void compose(const struct embedder *e, struct str *out)
{
	enum { N_TABLES = EMBEDDED_SECTIONS };
	u64 front = 8 + N_TABLES * sizeof(struct embedded_table);
	struct str toc = {0}, tables = {0};
	u32 start[2] = {N_TABLES};

	str_addn(&toc, start, sizeof(start));
	ADD_TABLE(EMBEDDED_STRINGS, e->strings);
	ADD_TABLE(EMBEDDED_BYTES, e->bytes);
	ADD_TABLE(EMBEDDED_DSOS, e->dsos);
	ADD_TABLE(EMBEDDED_SEGMENTS, e->segments);
	ADD_TABLE(EMBEDDED_SYMBOLS, e->symbols);
	ADD_TABLE(EMBEDDED_PLACES, e->places);
	ADD_TABLE(EMBEDDED_SOURCES, e->sources);
	ADD_TABLE(EMBEDDED_CODE, e->code);
	ADD_TABLE(EMBEDDED_DUMPS, e->dumps);
	ADD_TABLE(EMBEDDED_PIECES, e->pieces);
	ADD_TABLE(EMBEDDED_FRAMES, e->frames);
	ADD_TABLE(EMBEDDED_SECTIONS, e->sections);
	assert(toc.n == front);
	str_addn(out, toc.at, toc.n);
	str_addn(out, tables.at, tables.n);
	str_fini(&toc);
	str_fini(&tables);
}

int embedder_finish(struct embedder *e, struct str *out, struct err *err)
{
	struct embedded_header h = {EMBEDDED_MAGIC, EMBEDDED_VERSION, EMBEDDED_ZSTD, 0};
	struct str plain = {0};
	size_t room, got;

	compose(e, &plain);
	h.size = plain.n;
	if (plain.n > EMBEDDED_LIMIT) {
		str_fini(&plain);
		return err_set(err, ERR_LIMIT, "it would have %llu bytes, more than %d",
			(unsigned long long)h.size, EMBEDDED_LIMIT);
	}
	str_addn(out, &h, sizeof(h));
	room = ZSTD_compressBound(plain.n);
	str_reserve(out, room + 1);
	got = ZSTD_compress(out->at + out->n, room, plain.at, plain.n, LEVEL);
	str_fini(&plain);
	if (ZSTD_isError(got))
		return err_set(err, ERR_SYS, "packing it: %s", ZSTD_getErrorName(got));
	out->n += got;
	return 0;
}
