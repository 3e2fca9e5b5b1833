#include "test.h"

#include <elf.h>

#include "symbol/gotab.h"
#include "unit/elfmaker.h"

enum { TEXT = 0x401000 };

/* A table of three functions of 0x20 bytes each, as a Go since that version writes it. */
struct made {
	struct str table;
	u32 version;
	u8 word;
	u64 text; /* what it says itself */
};

static const char *const names[] = {"_rt0_amd64_linux", "main.main", "main.(*Set).Add"};

static void add(struct str *s, u64 v, unsigned size)
{
	str_addn(s, (const char *)&v, size);
}

static void put(struct str *s, size_t at, u64 v, unsigned size)
{
	memcpy(s->at + at, &v, size);
}

/* Names, then entries, then what describes a function: where it begins, and its name. */
static void make(struct made *m)
{
	bool is_first = m->version == 0xfffffffb, is_second = m->version == 0xfffffffa;
	bool is_absolute = is_first || is_second;
	u8 entry = is_absolute ? m->word : 4;
	u64 place[3], functions, names_at, base = is_absolute ? TEXT : 0;
	struct str *s = &m->table;
	size_t heads;

	str_clear(s);
	add(s, m->version, 4);
	add(s, 0, 2);
	add(s, 1, 1);
	add(s, m->word, 1);
	add(s, ARRAY_SIZE(names), m->word);
	if (!is_first) {
		add(s, 1, m->word);
		if (!is_second)
			add(s, m->text, m->word);
		heads = s->n;
		for (unsigned i = 0; i < 5; i++)
			add(s, 0, m->word);
	}
	functions = s->n;
	if (is_first) {
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			add(s, base + 0x20 * i, entry);
			add(s, 0, entry);
		}
		add(s, base + 0x60, entry);
	}
	names_at = s->n;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		place[i] = is_first ? s->n : s->n - names_at;
		str_addn(s, names[i], strlen(names[i]) + 1);
	}
	if (!is_first) {
		functions = s->n;
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			add(s, base + 0x20 * i, entry);
			add(s, 0, entry);
		}
		add(s, base + 0x60, entry);
		put(s, heads, names_at, m->word);
		put(s, heads + 4 * m->word, functions, m->word);
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		put(s, functions + (2 * i + 1) * entry, is_first ? s->n : s->n - functions, entry);
		add(s, base + 0x20 * i, entry);
		add(s, place[i], 4);
	}
}

static size_t read_table(struct symtab *t, struct elfmaker *maker, struct elf *elf,
	const struct made *m, size_t n)
{
	struct err err;
	size_t found;

	elfmaker_init(maker, m->word == 8, false, m->word == 8 ? EM_X86_64 : EM_386);
	elfmaker_text(maker, TEXT, 0x1000, NULL, 0x100);
	elfmaker_section(maker,
		&(struct elfmaker_section){.name = ".gopclntab",
			.type = SHT_PROGBITS,
			.data = m->table.at,
			.size = n});
	elfmaker_finish(maker);
	CHECK_EQ(elf_of_memory(elf, maker->file.at, maker->file.n, &err), 0);
	elf->entry = TEXT;
	found = gotab_add(t, elf);
	symtab_finish(t);
	return found;
}

static void check(const struct made *m)
{
	struct elfmaker maker;
	struct symtab t = {0};
	struct elf elf;

	CHECK_EQ(read_table(&t, &maker, &elf, m, m->table.n), 3);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct symbol *s = symtab_find(&t, TEXT + 0x20 * i + 0x1f);

		CHECK(s != NULL);
		CHECK_STR(s->name, names[i]);
		CHECK_EQ(s->start, TEXT + 0x20 * i);
		CHECK_EQ(s->end, TEXT + 0x20 * i + 0x20);
	}
	CHECK(!symtab_find(&t, TEXT + 0x60));
	symtab_fini(&t);
	elf_close(&elf);
	elfmaker_fini(&maker);
}

TEST(gotab_has_the_functions_of_every_go)
{
	static const u32 versions[] = {0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1};
	struct made m = {.text = TEXT};

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		m.version = versions[i];
		m.word = 8;
		make(&m);
		check(&m);
		m.word = 4;
		make(&m);
		check(&m);
	}
	str_fini(&m.table);
}

TEST(gotab_whose_text_the_loader_writes_counts_from_where_the_program_begins)
{
	struct made m = {.version = 0xfffffff1, .word = 8};

	make(&m);
	check(&m);
	str_fini(&m.table);
}

TEST(gotab_that_is_damaged_gives_what_is_there_or_nothing)
{
	static const u32 versions[] = {0xfffffffb, 0xfffffffa, 0xfffffff0};
	struct made m = {.text = TEXT, .word = 8};
	u32 seed = 7;

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		m.version = versions[i];
		make(&m);
		for (size_t n = 0; n < m.table.n; n++) {
			struct elfmaker maker;
			struct symtab t = {0};
			struct elf elf;

			CHECK(read_table(&t, &maker, &elf, &m, n) <= 3);
			symtab_fini(&t);
			elf_close(&elf);
			elfmaker_fini(&maker);
			make(&m);
			seed = seed * 1664525 + 1013904223;
			m.table.at[8 + (seed >> 8) % (m.table.n - 8)] = (char)(seed >> 24);
			read_table(&t, &maker, &elf, &m, m.table.n);
			symtab_fini(&t);
			elf_close(&elf);
			elfmaker_fini(&maker);
			make(&m);
		}
	}
	str_fini(&m.table);
}
