#include "symbol/embed/embedder.h"

#include <assert.h>
#include <elf.h>
#include <zstd.h>

#include "base/hash.h"
#include "symbol/embed/embedfold.h"

/* make -j2: level 9 adds 15 ms to the 50 that recording takes in all, and makes the section 5% smaller. */
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
			(name->origin == ORIGIN_PLT ? EMBEDDED_IS_PLT : 0) |
				(name->origin == ORIGIN_CRT ? EMBEDDED_IS_MADE : 0)}));
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
	embedfold_table((u8 *)tables->at + t.offset - front, each, n);
	str_fill(tables, '\0', align_up(tables->n, EMBEDDED_ALIGN) - tables->n);
}

#define ADD_TABLE(id, vec) add_table(&toc, &tables, front, id, sizeof(*(vec).at), (vec).at, (vec).n)

/* `bytes` is the table of bytes in the section. */
static void fold_code(const struct embedder *e, u8 *bytes)
{
	vec_each(d, &e->dsos)
		for (u32 i = d->first_code;
			embedfold_has_code(d->machine) && i < d->first_code + d->n_code; i++)
			embedfold_code(bytes + e->code.at[i].bytes, e->code.at[i].size,
				e->code.at[i].at);
}

/* Composes everything after the header, folded, as it is before packing. */
static void compose(const struct embedder *e, struct str *out)
{
	enum { N_TABLES = EMBEDDED_SECTIONS };
	u64 front = 8 + N_TABLES * sizeof(struct embedded_table);
	struct str toc = {0}, tables = {0};
	u32 start[2] = {N_TABLES};
	size_t bytes_at;

	str_addn(&toc, start, sizeof(start));
	ADD_TABLE(EMBEDDED_STRINGS, e->strings);
	bytes_at = tables.n;
	ADD_TABLE(EMBEDDED_BYTES, e->bytes);
	fold_code(e, (u8 *)tables.at + bytes_at);
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
	struct embedded_header h = {EMBEDDED_MAGIC, EMBEDDED_VERSION,
		EMBEDDED_ZSTD | EMBEDDED_FOLDED, 0};
	struct str plain = {0};
	size_t room, got;

	compose(e, &plain);
	h.size = plain.n;
	if (plain.n > EMBEDDED_LIMIT) {
		str_fini(&plain);
		return err_set(err, ERR_LIMIT, "the section would have %llu bytes, more than %d",
			(unsigned long long)h.size, EMBEDDED_LIMIT);
	}
	str_addn(out, &h, sizeof(h));
	room = ZSTD_compressBound(plain.n);
	str_reserve(out, room + 1);
	got = ZSTD_compress(out->at + out->n, room, plain.at, plain.n, LEVEL);
	str_fini(&plain);
	if (ZSTD_isError(got))
		return err_set(err, ERR_SYS, "packing the section: %s", ZSTD_getErrorName(got));
	out->n += got;
	return 0;
}
