#include "symbol/gotab.h"

#include <string.h>

/* The first four bytes say since when the table looks so. */
enum { GO_1_2 = 0xfffffffb, GO_1_16 = 0xfffffffa, GO_1_18 = 0xfffffff0, GO_1_20 = 0xfffffff1 };

struct gotab {
	struct bytes table; /* all of it */
	u32 version;
	u8 word;        /* bytes of an address */
	u64 n;          /* functions */
	u64 text;       /* since 1.18: what entries count from; 0: the loader writes it */
	u64 names;      /* where names are in the table */
	u64 functions;  /* where entries are, and what they count from */
	u8 entry_bytes; /* of each of the two numbers of an entry */
};

static bool take_number(struct bytes *b, u8 size, u64 *ret_v)
{
	u32 narrow;

	if (size == 8)
		return bytes_u64(b, ret_v);
	if (!bytes_u32(b, &narrow))
		return false;
	*ret_v = narrow;
	return true;
}

static struct bytes part(const struct gotab *g, u64 at)
{
	struct bytes b = g->table;

	return bytes_skip(&b, at) ? b : (struct bytes){0};
}

/* The numbers of a table since 1.16: how many, and where its parts begin. */
static bool read_places(struct gotab *g, struct bytes *b)
{
	u64 files, units, paths, counters;

	if (!take_number(b, g->word, &files) ||
		(g->version != GO_1_16 && !take_number(b, g->word, &g->text)))
		return false;
	g->entry_bytes = g->version == GO_1_16 ? g->word : 4;
	return take_number(b, g->word, &g->names) && take_number(b, g->word, &units) &&
		take_number(b, g->word, &paths) && take_number(b, g->word, &counters) &&
		take_number(b, g->word, &g->functions);
}

static bool read_head(struct gotab *g)
{
	struct bytes b = g->table;
	u8 zero, quantum;

	if (!bytes_u32(&b, &g->version) || !bytes_u8(&b, &zero) || zero || !bytes_u8(&b, &zero) ||
		zero || !bytes_u8(&b, &quantum) || !bytes_u8(&b, &g->word) ||
		(g->word != 4 && g->word != 8) || !take_number(&b, g->word, &g->n))
		return false;
	switch (g->version) {
	case GO_1_2:
		g->functions = 8 + g->word;
		g->entry_bytes = g->word;
		return true;
	case GO_1_16:
	case GO_1_18:
	case GO_1_20:
		return read_places(g, &b);
	}
	return false;
}

/* An entry: where a function begins, and where it is described. */
static bool entry_at(const struct gotab *g, u64 i, u64 *ret_start, u64 *ret_description)
{
	struct bytes b = part(g, g->functions);

	return i <= g->n && bytes_skip(&b, i * 2 * g->entry_bytes) &&
		take_number(&b, g->entry_bytes, ret_start) &&
		(i == g->n || take_number(&b, g->entry_bytes, ret_description));
}

/* NULL: it is not there, or has no end. */
static const char *name_of(const struct gotab *g, u64 description)
{
	bool is_first = g->version == GO_1_2; /* everything counts from the table's beginning */
	struct bytes b = part(g, is_first ? 0 : g->functions);
	u32 name;

	if (!bytes_skip(&b, description) || !bytes_skip(&b, g->entry_bytes) ||
		!bytes_u32(&b, &name))
		return NULL;
	b = part(g, g->names);
	if (!bytes_skip(&b, name) || !bytes_left(&b) || !*b.at || !memchr(b.at, 0, bytes_left(&b)))
		return NULL;
	return (const char *)b.at;
}

/*
 * What entries count from, where the loader writes it into the table: who begins the program is one of
 * them.
 */
static bool find_text(struct gotab *g, const struct elf *elf)
{
	u64 start, description;

	if (g->text || g->version == GO_1_2 || g->version == GO_1_16)
		return true;
	for (u64 i = 0; elf->entry && i < g->n && entry_at(g, i, &start, &description); i++) {
		const char *name = name_of(g, description);

		if (name && !strncmp(name, "_rt0_", 5) && start <= elf->entry &&
			strstr(name, "_linux") && !strchr(name, '.')) {
			g->text = elf->entry - start;
			return true;
		}
	}
	return false;
}

static bool find_table(const struct elf *elf, struct bytes *ret)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct elf_section *s = elf_section(elf, names[i]);

		if (s && elf_contents(elf, s, ret))
			return true;
	}
	return false;
}

size_t gotab_add(struct symtab *t, const struct elf *elf)
{
	size_t before = t->symbols.n;
	u64 start, end, description, ignored;
	struct gotab g = {0};

	if (!find_table(elf, &g.table) || !read_head(&g) || !find_text(&g, elf))
		return 0;
	for (u64 i = 0; i < g.n && entry_at(&g, i, &start, &description) &&
		entry_at(&g, i + 1, &end, &ignored);
		i++) {
		const char *name = name_of(&g, description);

		start += g.text;
		end += g.text;
		if (name && start < end)
			vec_add(&t->symbols,
				((struct symbol){.start = start,
					.end = end,
					.name = name,
					.binding = SYMTAB_GLOBAL}));
	}
	return t->symbols.n - before;
}
