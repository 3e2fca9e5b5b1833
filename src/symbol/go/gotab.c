#include "symbol/go/gotab.h"

#include <string.h>

#include "symbol/elf/elfword.h"

/* ---- the header ---- */

struct bytes gotab_part(const struct gotab *g, enum gotab_part part, u64 at)
{
	struct bytes b = g->table;

	return bytes_skip(&b, g->parts[part]) && bytes_skip(&b, at) ? b : (struct bytes){0};
}

/*
 * Reads the number of files (since 1.16), the address of the code (since 1.18), and the offsets of the parts.
 */
static bool read_places(struct gotab *g, struct bytes *b)
{
	u64 files;

	if (!bytes_word(b, g->word, &files) ||
		(g->version != GOTAB_1_16 && !bytes_word(b, g->word, &g->text)))
		return false;
	g->entry_bytes = g->version == GOTAB_1_16 ? g->word : 4;
	for (enum gotab_part part = 0; part < GOTAB_PARTS; part++)
		if (!bytes_word(b, g->word, &g->parts[part]))
			return false;
	return true;
}

static bool read_head(struct gotab *g, struct bytes table)
{
	struct bytes b = table;
	u8 zeros[2];

	*g = (struct gotab){.table = table};
	if (!bytes_u32(&b, &g->version) || !bytes_u8(&b, &zeros[0]) || !bytes_u8(&b, &zeros[1]) ||
		zeros[0] || zeros[1] || !bytes_u8(&b, &g->quantum) || !bytes_u8(&b, &g->word) ||
		(g->word != 4 && g->word != 8) || !bytes_word(&b, g->word, &g->n))
		return false;
	switch (g->version) {
	case GOTAB_1_2:
		g->parts[GOTAB_FUNCTIONS] = 8 + g->word;
		g->entry_bytes = g->word;
		return true;
	case GOTAB_1_16:
	case GOTAB_1_18:
	case GOTAB_1_20:
		return read_places(g, &b);
	}
	return false;
}

/* ---- functions ---- */

/* Reads an entry: a function's start, and the offset of its description. */
static bool entry_at(const struct gotab *g, u64 i, u64 *ret_start, u64 *ret_description)
{
	struct bytes b = gotab_part(g, GOTAB_FUNCTIONS, 0);

	if (i > g->n || !bytes_skip(&b, i * 2 * g->entry_bytes) ||
		!bytes_word(&b, g->entry_bytes, ret_start))
		return false;
	*ret_start += g->text;
	return i == g->n || bytes_word(&b, g->entry_bytes, ret_description);
}

const char *gotab_name(const struct gotab *g, u64 at)
{
	struct bytes b = gotab_part(g, GOTAB_NAMES, at);

	return bytes_left(&b) && *b.at && memchr(b.at, 0, bytes_left(&b)) ? (const char *)b.at
									  : NULL;
}

bool gotab_function(const struct gotab *g, u64 i, struct gotab_function *ret)
{
	u64 at, ignored;
	u32 name;

	*ret = (struct gotab_function){0};
	if (i >= g->n || !entry_at(g, i, &ret->start, &at) ||
		!entry_at(g, i + 1, &ret->end, &ignored))
		return false;
	/* In the first version all offsets were relative to the table's start. */
	ret->description =
		gotab_part(g, g->version == GOTAB_1_2 ? GOTAB_NAMES : GOTAB_FUNCTIONS, at);
	if (bytes_skip(&ret->description, g->entry_bytes) && bytes_u32(&ret->description, &name))
		ret->name = gotab_name(g, name);
	return true;
}

/* ---- the runtime's module data ---- */

/* Indexes of words in runtime.firstmoduledata, which begins with the addresses of the table and its names. */
enum { MODULE_TEXT = 22, MODULE_DATA_1_18 = 38, MODULE_DATA = 40 };

static bool is_module(const struct elf *elf, u64 va, const void *ctx)
{
	const struct gotab *g = ctx;

	return elfword_at(elf, va + g->word) == g->table.offset + g->parts[GOTAB_NAMES];
}

/* Reads, since 1.18, the base of the functions' data, and that of the code unless the table has it. */
static void read_module(struct gotab *g, const struct elf *elf)
{
	u64 at, text;

	if (!elfword_find(elf, g->table.offset, is_module, g, &at))
		return;
	text = elfword_at(elf, at + (u64)MODULE_TEXT * g->word);
	g->text = text ? text : g->text;
	g->data = elfword_at(elf,
		at + (u64)(g->version == GOTAB_1_18 ? MODULE_DATA_1_18 : MODULE_DATA) * g->word);
}

/*
 * If neither has the address of the code, it follows from the program's entry point, which is one of the
 * functions.
 */
static void find_text(struct gotab *g, const struct elf *elf)
{
	struct gotab_function f;

	for (u64 i = 0; elf->entry && !g->text && gotab_function(g, i, &f); i++)
		if (f.name && !strncmp(f.name, "_rt0_", 5) && f.start <= elf->entry &&
			strstr(f.name, "_linux") && !strchr(f.name, '.'))
			g->text = elf->entry - f.start;
}

/* ---- finding it ---- */

static bool contents_of(const struct elf *elf, const struct elf_section *s, struct bytes *ret)
{
	if (!s || !elf_contents(elf, s, ret))
		return false;
	ret->offset = s->addr;
	return true;
}

/* Whether this is a header whose parts follow one another inside the section. */
static bool is_table(struct gotab *g, struct bytes table)
{
	if (!read_head(g, table) || g->version == GOTAB_1_2)
		return false;
	for (enum gotab_part part = 0; part < GOTAB_PARTS; part++)
		if (g->parts[part] >= bytes_left(&table) ||
			(part && g->parts[part] < g->parts[part - 1]))
			return false;
	return g->n && g->n < bytes_left(&table) / g->entry_bytes / 2;
}

/* Finds the table inside a section: lld puts all data that need relocations into one. */
static bool find_inside(struct gotab *g, const struct elf *elf)
{
	static const char *const names[] = {".data.rel.ro", ".rodata"};
	enum { ALIGN = 16 };

	for (size_t i = 0; elf_section(elf, ".go.buildinfo") && i < ARRAY_SIZE(names); i++) {
		struct bytes b;

		if (!contents_of(elf, elf_section(elf, names[i]), &b))
			continue;
		do {
			if (b.at < b.end && b.at[elf->swap ? 0 : 3] == 0xff && is_table(g, b))
				return true;
		} while (bytes_skip(&b, ALIGN));
	}
	return false;
}

static bool find_table(struct gotab *g, const struct elf *elf)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab"};
	struct bytes b;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (contents_of(elf, elf_section(elf, names[i]), &b))
			return read_head(g, b);
	return find_inside(g, elf);
}

bool gotab_open(struct gotab *g, const struct elf *elf)
{
	if (!find_table(g, elf))
		return false;
	if (g->version == GOTAB_1_2 || g->version == GOTAB_1_16)
		return true;
	read_module(g, elf);
	find_text(g, elf);
	return g->text != 0;
}

size_t gotab_add(struct symtab *t, const struct elf *elf)
{
	size_t before = t->symbols.n;
	struct gotab_function f;
	struct gotab g;

	if (!gotab_open(&g, elf))
		return 0;
	for (u64 i = 0; gotab_function(&g, i, &f); i++)
		if (f.name && f.start < f.end)
			vec_add(&t->symbols,
				((struct symbol){.start = f.start,
					.end = f.end,
					.name = f.name,
					.binding = SYMTAB_GLOBAL}));
	return t->symbols.n - before;
}
