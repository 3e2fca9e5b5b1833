#include "symbol/dwarf/lineindexfile.h"

#include "base/hash.h"

enum { FORMAT_VERSION = 2 }; /* changes also if DWARF is read differently */

struct file_head {
	char magic[8];
	u32 version;
	u32 order;
	u64 check; /* checksum of the front, computed with 0 here */
	u64 file_bytes;
	u64 front_bytes;
	u64 source_bytes, source_sections;
	u64 text_off, text_bytes, text_check;
	u32 n_pieces, n_units;
	u32 path_bytes; /* with its NUL */
	u8 id_size;
	u8 id[BUILD_ID_MAX];
	u8 zero[7];
};

_Static_assert(sizeof(struct file_head) % 8 == 0, "what follows is aligned");

static const char magic[8] = "pacelin";
enum { OUR_ORDER = 0x01020304 };

u64 lineindexfile_check(const void *p, u64 n)
{
	const u64 factor = 0x9e3779b97f4a7c15ull;
	u64 lanes[4] = {1, 2, 3, 4}, sum = n;
	const u8 *at = p;

	/* Four at a time, as each multiplication waits for the one before. */
	for (; n >= 32; n -= 32, at += 32) {
		for (int i = 0; i < 4; i++) {
			lanes[i] = (lanes[i] ^ load_u64(at + 8 * i)) * factor;
			lanes[i] ^= lanes[i] >> 29;
		}
	}
	for (int i = 0; i < 4; i++)
		sum = (sum ^ lanes[i]) * factor + (sum >> 31);
	for (; n; n--, at++)
		sum = (sum ^ *at) * factor;
	return sum ^ sum >> 32;
}

/* ---- reading ---- */

static bool is_of(const struct file_head *h, const struct lineindexfile_source *s)
{
	return h->source_bytes == s->bytes && h->source_sections == s->sections &&
		h->id_size == s->id_size && !memcmp(h->id, s->id, s->id_size);
}

static u64 front_check(const struct file_head *h, const u8 *data)
{
	struct file_head blank = *h;

	blank.check = 0;
	return lineindexfile_check(&blank, sizeof(blank)) ^
		lineindexfile_check(data + sizeof(blank), h->front_bytes - sizeof(blank));
}

bool lineindexfile_view(struct lineindexfile *f, const void *data, u64 size,
	const struct lineindexfile_source *source)
{
	const u8 *at = data;
	struct file_head h;
	u64 need;

	if (size < sizeof(h) || (uintptr_t)data % 8)
		return false;
	memcpy(&h, data, sizeof(h));
	if (memcmp(h.magic, magic, sizeof(magic)) || h.version != FORMAT_VERSION ||
		h.order != OUR_ORDER || h.file_bytes != size || h.id_size > BUILD_ID_MAX ||
		(source && !is_of(&h, source)))
		return false;
	need = sizeof(h) + (u64)h.n_pieces * sizeof(*f->pieces) +
		(u64)h.n_units * sizeof(*f->units) + h.path_bytes;
	if (h.front_bytes < need || h.front_bytes > size || h.text_off > size ||
		h.text_bytes > size - h.text_off || !h.path_bytes || front_check(&h, at) != h.check)
		return false;
	*f = (struct lineindexfile){.data = data,
		.size = size,
		.n_pieces = h.n_pieces,
		.n_units = h.n_units,
		.text = (const char *)at + h.text_off,
		.text_size = h.text_bytes};
	f->pieces = (const void *)(at + sizeof(h));
	f->units = (const void *)(f->pieces + h.n_pieces);
	f->path = (const void *)(f->units + h.n_units);
	return !f->path[h.path_bytes - 1] && (!h.text_bytes || !f->text[h.text_bytes - 1]) &&
		lineindexfile_check(f->text, f->text_size) == h.text_check;
}

bool lineindexfile_unit(const struct lineindexfile *f, u32 unit, struct lineindex *ret)
{
	const struct lineindexfile_entry *e = &f->units[unit];

	if (!e->off || e->off % 8 || e->off > f->size || e->size > f->size - e->off ||
		lineindexfile_check(f->data + e->off, e->size) != e->check)
		return false;
	return lineindex_view(ret, f->data + e->off, e->size, f->text, f->text_size);
}

void lineindexfile_mend(void *data, u64 size)
{
	struct lineindexfile f = {.data = data, .size = size};
	struct lineindexfile_entry *units;
	struct file_head h;

	if (size < sizeof(h))
		return;
	memcpy(&h, data, sizeof(h));
	if (h.front_bytes > size || h.text_off > size || h.text_bytes > size - h.text_off ||
		sizeof(h) + (u64)h.n_pieces * sizeof(*f.pieces) +
				(u64)h.n_units * sizeof(*f.units) >
			h.front_bytes)
		return;
	units = (void *)((u8 *)data + sizeof(h) + h.n_pieces * sizeof(*f.pieces));
	for (u32 i = 0; i < h.n_units; i++)
		if (units[i].off <= size && units[i].size <= size - units[i].off)
			units[i].check = lineindexfile_check(f.data + units[i].off, units[i].size);
	h.file_bytes = size;
	h.text_check = lineindexfile_check(f.data + h.text_off, h.text_bytes);
	h.check = front_check(&h, f.data);
	memcpy(data, &h, sizeof(h));
}

/* ---- writing ---- */

/* The offset of a text in the common text; it is added if it is new. */
static u32 offset_of(struct lineindexfile_maker *m, const char *text)
{
	size_t n = strlen(text);
	u64 hash = hash_bytes(text, n);
	struct table_probe probe = table_probe(&m->index, hash);
	u32 at;

	while ((at = table_next(&m->index, &probe)) != TABLE_NONE)
		if (!strcmp(m->text.at + at, text))
			return at;
	at = (u32)m->text.n;
	table_add(&m->index, hash, at);
	str_addn(&m->text, text, n + 1);
	return at;
}

void lineindexfile_begin(struct lineindexfile_maker *m, const struct dwarf_unit *units, u32 n,
	const struct lineindexfile *before)
{
	memset(m, 0, sizeof(*m));
	for (u64 at = 0; before && at < before->text_size; at += strlen(before->text + at) + 1)
		offset_of(m, before->text + at);
	for (u32 i = 0; i < n; i++)
		vec_add(&m->units, ((struct lineindexfile_entry){.unit = units[i]}));
	/* The front is completed last. */
	vec_add(&m->parts, ((struct cache_part){NULL, 0}));
}

/* Offsets are relative to the first block; the size of the front is added at the end. */
static void add_block(struct lineindexfile_maker *m, u32 unit, const void *block, u64 size,
	u64 check)
{
	static const u8 zeros[8];
	struct lineindexfile_entry *e = &m->units.at[unit];
	u64 padding = -size & 7;

	e->off = m->at;
	e->size = size;
	e->check = check;
	vec_add(&m->parts, ((struct cache_part){block, size}));
	if (padding)
		vec_add(&m->parts, ((struct cache_part){zeros, padding}));
	m->at += size + padding;
}

void lineindexfile_keep(struct lineindexfile_maker *m, u32 unit, const struct lineindexfile *before)
{
	const struct lineindexfile_entry *e = &before->units[unit];
	struct lineindex lineindex;

	if (lineindexfile_unit(before, unit, &lineindex))
		add_block(m, unit, before->data + e->off, e->size, e->check);
}

void lineindexfile_add(struct lineindexfile_maker *m, u32 unit, struct str *block,
	const struct str *text)
{
	struct lineindex lineindex;
	u8 *texts;

	if (!lineindex_view(&lineindex, block->at, block->n, text->at, text->n))
		return;
	texts = (u8 *)block->at + ((const u8 *)lineindex.texts - (const u8 *)block->at);
	for (u32 i = 0; i < lineindex.head.n_texts; i++) {
		u32 offset = offset_of(m, text->at + lineindex.texts[i]);

		memcpy(texts + i * sizeof(offset), &offset, sizeof(offset));
	}
	add_block(m, unit, block->at, block->n, lineindexfile_check(block->at, block->n));
}

void lineindexfile_end(struct lineindexfile_maker *m, const struct interval *pieces, u32 n_pieces,
	const struct lineindexfile_source *source)
{
	struct file_head h = {.version = FORMAT_VERSION,
		.order = OUR_ORDER,
		.source_bytes = source->bytes,
		.source_sections = source->sections,
		.n_pieces = n_pieces,
		.n_units = (u32)m->units.n,
		.path_bytes = (u32)strlen(source->path) + 1,
		.id_size = source->id_size};
	u64 front = sizeof(h) + n_pieces * sizeof(*pieces) + m->units.n * sizeof(*m->units.at) +
		h.path_bytes;

	memcpy(h.magic, magic, sizeof(magic));
	memcpy(h.id, source->id, source->id_size);
	h.front_bytes = (front + 7) & ~7ull;
	h.text_off = h.front_bytes + m->at;
	h.text_bytes = m->text.n;
	h.text_check = lineindexfile_check(m->text.at, m->text.n);
	h.file_bytes = h.text_off + h.text_bytes;
	for (size_t i = 0; i < m->units.n; i++)
		if (m->units.at[i].size)
			m->units.at[i].off += h.front_bytes;
	str_addn(&m->front, &h, sizeof(h));
	for (u32 i = 0; i < n_pieces; i++) {
		struct interval piece;

		/* Clears the padding, too: equal line indexes must give equal bytes. */
		memset(&piece, 0, sizeof(piece));
		piece.start = pieces[i].start;
		piece.value = pieces[i].value;
		str_addn(&m->front, &piece, sizeof(piece));
	}
	str_addn(&m->front, m->units.at, m->units.n * sizeof(*m->units.at));
	str_addn(&m->front, source->path, h.path_bytes);
	str_fill(&m->front, '\0', h.front_bytes - m->front.n);
	h.check = front_check(&h, (const u8 *)m->front.at);
	memcpy(m->front.at, &h, sizeof(h));
	m->parts.at[0] = (struct cache_part){m->front.at, m->front.n};
	vec_add(&m->parts, ((struct cache_part){m->text.at, m->text.n}));
}

void lineindexfile_maker_fini(struct lineindexfile_maker *m)
{
	str_fini(&m->front);
	str_fini(&m->text);
	table_fini(&m->index);
	vec_fini(&m->parts);
	vec_fini(&m->units);
	memset(m, 0, sizeof(*m));
}
