#include "symbol/dwarf/lineindex.h"

#include "base/hash.h"
#include "base/search.h"

/* ---- look-ups ---- */

bool lineindex_view(struct lineindex *s, const void *block, u64 size, const char *text,
	u64 text_size)
{
	struct lineindex_head h;
	const u8 *at = block;
	u64 need;

	if (size < sizeof(h) || (uintptr_t)block % 8 || (text_size && text[text_size - 1]))
		return false;
	memcpy(&h, block, sizeof(h));
	need = sizeof(h) + (u64)h.n_rows * sizeof(*s->rows) + (u64)h.n_scopes * sizeof(*s->scopes) +
		(u64)h.n_pieces * sizeof(*s->pieces) + (u64)h.n_texts * sizeof(*s->texts);
	if (need > size)
		return false;
	s->head = h;
	s->rows = (const void *)(at += sizeof(h));
	s->scopes = (const void *)(at += h.n_rows * sizeof(*s->rows));
	s->pieces = (const void *)(at += h.n_scopes * sizeof(*s->scopes));
	s->texts = (const void *)(at + h.n_pieces * sizeof(*s->pieces));
	s->text = text;
	s->text_size = text_size;
	return true;
}

/* NULL: unknown. */
static const char *text_at(const struct lineindex *s, u32 i)
{
	if (i >= s->head.n_texts || s->texts[i] >= s->text_size || !s->text[s->texts[i]])
		return NULL;
	return s->text + s->texts[i];
}

/* Converts an address to an offset from the base. Returns false if it is beyond this unit's code. */
static bool place_of(const struct lineindex *s, u64 address, u32 *ret_at)
{
	if (address < s->head.base || address - s->head.base > UINT32_MAX)
		return false;
	*ret_at = (u32)(address - s->head.base);
	return true;
}

bool lineindex_find(const struct lineindex *s, u64 address, struct line_frame *ret_frame)
{
	const struct lineindex_row *row;
	size_t behind;
	u32 at;

	if (!place_of(s, address, &at))
		return false;
	behind = search_first(i, s->head.n_rows, s->rows[i].at > at);
	row = behind ? &s->rows[behind - 1] : NULL;
	if (!row || !row->file)
		return false;
	*ret_frame = (struct line_frame){.file = text_at(s, row->file),
		.dir = text_at(s, 0),
		.line = row->line,
		.column = row->column};
	return ret_frame->file != NULL;
}

static u32 scope_at(const struct lineindex *s, u32 at)
{
	const size_t behind = search_first(i, s->head.n_pieces, s->pieces[i].at > at);

	return behind ? s->pieces[behind - 1].scope : 0;
}

size_t lineindex_chain(const struct lineindex *s, u64 address,
	struct line_frame ret_frames[LINE_DEPTH_MAX])
{
	struct line_frame frame = {.dir = text_at(s, 0)};
	size_t n = 0;
	u32 i, at;

	if (!place_of(s, address, &at))
		return 0;
	lineindex_find(s, address, &frame);
	i = scope_at(s, at);
	if (!i && frame.file)
		ret_frames[n++] = frame;
	while (i && i <= s->head.n_scopes && n < LINE_DEPTH_MAX) {
		const struct lineindex_scope *scope = &s->scopes[i - 1];

		frame.function = scope->name ? text_at(s, scope->name) : NULL;
		ret_frames[n++] = frame;
		frame.file = scope->call_file ? text_at(s, scope->call_file) : NULL;
		frame.line = scope->call_line;
		frame.column = scope->call_column;
		i = scope->parent;
	}
	return n;
}

/* ---- making one ---- */

static void texts_fini(struct lineindex_texts *t)
{
	vec_fini(&t->at);
	table_fini(&t->index);
}

static void texts_clear(struct lineindex_texts *t)
{
	t->at.n = 0;
	table_clear(&t->index);
}

void lineindex_maker_clear(struct lineindex_maker *m)
{
	m->dir = NULL;
	m->rows.n = m->scopes.n = m->ranges.n = 0;
	texts_clear(&m->files);
	texts_clear(&m->names);
	m->flags = 0;
	m->is_cut = false;
}

void lineindex_maker_fini(struct lineindex_maker *m)
{
	vec_fini(&m->rows);
	vec_fini(&m->scopes);
	vec_fini(&m->ranges);
	texts_fini(&m->files);
	texts_fini(&m->names);
	memset(m, 0, sizeof(*m));
}

u32 lineindex_text(struct lineindex_texts *t, const char *text)
{
	u64 hash = hash_u64((uintptr_t)text);
	struct table_probe probe = table_probe(&t->index, hash);
	u32 i;

	if (!text)
		return 0;
	while ((i = table_next(&t->index, &probe)) != TABLE_NONE)
		if (t->at.at[i] == text)
			return i + 1;
	table_add(&t->index, hash, t->at.n);
	vec_add(&t->at, text);
	return t->at.n;
}

u16 lineindex_file(struct lineindex_maker *m, const char *file)
{
	u32 i = lineindex_text(&m->files, file);

	m->is_cut |= i > UINT16_MAX;
	return i > UINT16_MAX ? 0 : (u16)i;
}

void lineindex_add_row(struct lineindex_maker *m, const struct lineindex_maker_row *row)
{
	struct lineindex_maker_row *last = m->rows.n ? &m->rows.at[m->rows.n - 1] : NULL;

	if (last && last->address == row->address) {
		if (row->file)
			*last = *row;
		return;
	}
	/* Rows may differ in properties that are not kept, as the start of a statement. */
	if (last && last->file == row->file && last->line == row->line &&
		last->column == row->column)
		return;
	vec_add(&m->rows, *row);
}

static u64 lowest(const struct lineindex_maker *m, const interval_list *pieces)
{
	u64 base = m->rows.n ? m->rows.at[0].address : UINT64_MAX;

	if (pieces->n)
		base = MIN(base, pieces->at[0].start);
	return base == UINT64_MAX ? 0 : base;
}

/* A block being filled, with enough room: its header, then its arrays. */
struct filling {
	struct lineindex_head head;
	u8 *at;
};

/* Adds the rows within 4 GiB of the base: all are in ascending order. */
static void add_rows(struct lineindex_maker *m, struct filling *f)
{
	struct lineindex_row *to = (void *)f->at;

	vec_each(r, &m->rows) {
		u64 at = r->address - f->head.base;

		if (at > UINT32_MAX) {
			m->is_cut = true;
			break;
		}
		*to++ = (struct lineindex_row){(u32)at, r->line, r->file, r->column};
	}
	f->head.n_rows = (u32)(to - (struct lineindex_row *)(void *)f->at);
	f->at = (u8 *)to;
}

static void add_scopes(const struct lineindex_maker *m, struct filling *f)
{
	struct lineindex_scope *to = (void *)f->at;

	vec_each(s, &m->scopes) {
		*to = *s;
		if (to->name)
			to->name += (u32)m->files.at.n;
		to++;
	}
	f->head.n_scopes = (u32)m->scopes.n;
	f->at = (u8 *)to;
}

static void add_pieces(struct lineindex_maker *m, const interval_list *pieces, struct filling *f)
{
	struct lineindex_piece *to = (void *)f->at;

	vec_each(p, pieces) {
		u64 at = p->start - f->head.base;

		if (at > UINT32_MAX) {
			m->is_cut = true;
			break;
		}
		*to++ = (struct lineindex_piece){(u32)at, p->value};
	}
	f->head.n_pieces = (u32)(to - (struct lineindex_piece *)(void *)f->at);
	f->at = (u8 *)to;
}

static void add_text(const char *text, struct filling *f, struct str *texts)
{
	u32 offset = (u32)texts->n;

	str_addn(texts, text, strlen(text) + 1);
	memcpy(f->at, &offset, sizeof(offset));
	f->at += sizeof(offset);
	f->head.n_texts++;
}

void lineindex_make(struct lineindex_maker *m, struct str *ret_block, struct str *ret_text)
{
	enum { TEXT_BYTES = 24 }; /* typical length of a name */
	size_t n_texts = m->files.at.n + m->names.at.n + 1;
	struct filling f = {.head.flags = m->flags};
	struct str block = {0}, text = {0};
	interval_list pieces = {0};

	intervalmap_of(&m->ranges, &pieces);
	f.head.base = lowest(m, &pieces);
	str_reserve(&block,
		sizeof(f.head) + m->rows.n * sizeof(struct lineindex_row) +
			m->scopes.n * sizeof(struct lineindex_scope) +
			pieces.n * sizeof(struct lineindex_piece) + n_texts * sizeof(u32));
	str_reserve(&text, n_texts * TEXT_BYTES);
	f.at = (u8 *)block.at + sizeof(f.head);
	add_rows(m, &f);
	add_scopes(m, &f);
	add_pieces(m, &pieces, &f);
	add_text(m->dir ? m->dir : "", &f, &text);
	vec_each(file, &m->files.at)
		add_text(*file, &f, &text);
	vec_each(name, &m->names.at)
		add_text(*name, &f, &text);
	memcpy(block.at, &f.head, sizeof(f.head));
	block.n = (size_t)((char *)f.at - block.at);
	block.at[block.n] = '\0';
	vec_fini(&pieces);
	*ret_block = block;
	*ret_text = text;
}
