#include "unit/gotabmaker.h"

#include "symbol/go/gotab.h"
#include "test.h"

enum { TABLE = 0x500000, MODULE = 0x600000, DATA = 0x700000, INSIDE = 0x40 };

const char *const gotabmaker_names[GOTABMAKER_FUNCTIONS] = {"_rt0_amd64_linux", "main.main",
	"main.(*Set).Add"};

/* From an address in the function on, a value; the last one only ends. */
struct from {
	u8 at;
	int8_t value;
};

static const struct from depths[] = {{0, 0}, {4, 8}, {0x10, 40}, {0x1f, 0}, {0x20}};
static const struct from files[] = {{0, 0}, {8, 1}, {0x10, 0}, {0x20}};
static const struct from lines[] = {{0, 10}, {8, 21}, {0x10, 11}, {0x20}};
static const struct from inlined[] = {{0, -1}, {8, 0}, {0x10, -1}, {0x20}};

static void add(struct str *s, u64 v, unsigned size)
{
	str_addn(s, (const char *)&v, size);
}

static void put(struct str *s, size_t at, u64 v, unsigned size)
{
	memcpy(s->at + at, &v, size);
}

/* All numbers are below 64: one byte each. */
static u32 add_steps(struct str *s, size_t begin, const struct from *f)
{
	u32 at = (u32)(s->n - begin);
	int8_t value = -1;

	for (; f->at < 0x20; f++) {
		int8_t change = (int8_t)(f->value - value);

		str_addc(s, (char)(change < 0 ? (u8)~change << 1 | 1 : change << 1));
		str_addc(s, (char)(f[1].at - f->at));
		value = f->value;
	}
	str_addc(s, 0);
	return at;
}

static void add_description(struct gotabmaker *m, size_t i, u32 name, const u32 *steps)
{
	struct str *s = &m->table;
	bool has_lines = i == 1;

	add(s, name, 4);
	add(s, 0, 8); /* the size of arguments, where deferred calls return to */
	for (unsigned k = 0; k < 3; k++)
		add(s, has_lines ? steps[k] : k ? 0 : steps[0], 4);
	add(s, 3, 4); /* other steps */
	add(s, 1, 4); /* the unit: its files begin there in the table of units */
	if (m->version == GOTAB_1_20)
		add(s, 10, 4);
	add(s, i == 2 ? 0x200 : i == 0 ? 0x100 : 0, 3); /* flags: in the second byte */
	add(s, 4, 1);
	add(s, 0, 8);
	add(s, has_lines ? steps[3] : 0, 4);
	for (unsigned k = 0; k < 4; k++)
		add(s, has_lines && k == 3 ? 0x10 : UINT32_MAX, 4);
}

static void add_entries(struct gotabmaker *m, u64 base, u8 size)
{
	for (size_t i = 0; i < GOTABMAKER_FUNCTIONS; i++) {
		add(&m->table, base + 0x20 * i, size);
		add(&m->table, 0, size);
	}
	add(&m->table, base + 0x60, size);
}

void gotabmaker_table(struct gotabmaker *m)
{
	bool is_first = m->version == GOTAB_1_2, is_second = m->version == GOTAB_1_16;
	bool is_absolute = is_first || is_second;
	u8 entry = is_absolute ? m->word : 4;
	u64 base = is_absolute ? GOTABMAKER_TEXT : 0;
	size_t heads, functions, begin, parts[GOTAB_PARTS] = {0};
	struct str *s = &m->table;
	u32 names[GOTABMAKER_FUNCTIONS], steps[4] = {0};

	str_clear(s);
	add(s, m->version, 4);
	add(s, 0, 2);
	add(s, 1, 1);
	add(s, m->word, 1);
	add(s, GOTABMAKER_FUNCTIONS, m->word);
	if (!is_first) {
		add(s, 2, m->word);
		if (!is_second)
			add(s, m->text, m->word);
	}
	heads = s->n;
	for (unsigned i = 0; !is_first && i < GOTAB_PARTS; i++)
		add(s, 0, m->word);
	functions = s->n;
	if (is_first)
		add_entries(m, base, entry);
	begin = is_first ? 0 : s->n;
	parts[GOTAB_NAMES] = s->n;
	for (size_t i = 0; i < GOTABMAKER_FUNCTIONS; i++) {
		names[i] = (u32)(s->n - begin);
		str_addn(s, gotabmaker_names[i], strlen(gotabmaker_names[i]) + 1);
	}
	if (!is_first) {
		str_addn(s, "main.twice", sizeof("main.twice"));
		parts[GOTAB_UNITS] = s->n;
		add(s, UINT32_MAX, 4);
		add(s, 0, 4);
		add(s, 5, 4);
		parts[GOTAB_FILES] = s->n;
		str_addn(s, "a.go\0b.go", 10);
		parts[GOTAB_STEPS] = s->n;
		str_addc(s, 0);
		steps[0] = add_steps(s, parts[GOTAB_STEPS], depths);
		steps[1] = add_steps(s, parts[GOTAB_STEPS], files);
		steps[2] = add_steps(s, parts[GOTAB_STEPS], lines);
		steps[3] = add_steps(s, parts[GOTAB_STEPS], inlined);
		parts[GOTAB_FUNCTIONS] = functions = s->n;
		add_entries(m, base, entry);
		for (unsigned i = 0; i < GOTAB_PARTS; i++)
			put(s, heads + (size_t)i * m->word, parts[i], m->word);
	}
	for (size_t i = 0; i < GOTABMAKER_FUNCTIONS; i++) {
		put(s, functions + (2 * i + 1) * entry, is_first ? s->n : s->n - functions, entry);
		add(s, base + 0x20 * i, entry);
		add_description(m, i, names[i], steps);
	}
}

/* The words of what the loader knows: the table, its names, and further on code and data. */
static void add_module(struct gotabmaker *m)
{
	unsigned data = m->version == GOTAB_1_18 ? 38 : 40;
	u64 table = TABLE + (m->is_inside ? INSIDE : 0);
	struct str s = {0}, tree = {0};
	u64 names = 0;

	memcpy(&names, m->table.at + 8 + 3 * m->word, m->word);
	for (unsigned i = 0; i < 48; i++)
		add(&s,
			i == 1                  ? table
				: i == 2        ? table + names
				: i == 23       ? GOTABMAKER_TEXT
				: i == data + 1 ? DATA
						: 0,
			m->word);
	elfmaker_segment(&m->file, PT_LOAD, PF_R | PF_W, 0x2000, MODULE, s.n);
	elfmaker_section(&m->file,
		&(struct elfmaker_section){.name = ".noptrdata",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_WRITE,
			.addr = MODULE,
			.offset = 0x2000,
			.data = s.at,
			.size = s.n});
	/* The inlined call: of main.twice, behind the other names, from 0x4 in main.main. */
	str_fill(&tree, 0, m->version == GOTAB_1_18 ? 0x10 + 12 : 0x10 + 4);
	for (size_t i = 0; i < GOTABMAKER_FUNCTIONS; i++)
		names = (i ? names : 0) + strlen(gotabmaker_names[i]) + 1;
	add(&tree, names, 4);
	add(&tree, 4, 4);
	str_fill(&tree, 0, 4);
	elfmaker_segment(&m->file, PT_LOAD, PF_R, 0x3000, DATA, tree.n);
	elfmaker_section(&m->file,
		&(struct elfmaker_section){.name = ".rodata",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC,
			.addr = DATA,
			.offset = 0x3000,
			.data = tree.at,
			.size = tree.n});
	str_fini(&s);
	str_fini(&tree);
}

void gotabmaker_file(struct gotabmaker *m, size_t n, struct elf *ret_elf)
{
	struct str section = {0};
	struct err err;

	elfmaker_init(&m->file, m->word == 8, false, m->word == 8 ? EM_X86_64 : EM_386);
	elfmaker_text(&m->file, GOTABMAKER_TEXT, 0x1000, NULL, 0x100);
	str_fill(&section, 'x', m->is_inside ? INSIDE : 0);
	str_addn(&section, m->table.at, n);
	elfmaker_section(&m->file,
		&(struct elfmaker_section){.name = m->is_inside ? ".data.rel.ro" : ".gopclntab",
			.type = SHT_PROGBITS,
			.addr = TABLE,
			.data = section.at,
			.size = section.n});
	if (m->is_inside)
		elfmaker_section(&m->file,
			&(struct elfmaker_section){.name = ".go.buildinfo",
				.type = SHT_PROGBITS,
				.data = "go",
				.size = 2});
	if (m->has_module)
		add_module(m);
	elfmaker_finish(&m->file);
	CHECK_EQ(elf_of_memory(ret_elf, m->file.file.at, m->file.file.n, &err), 0);
	ret_elf->entry = GOTABMAKER_TEXT;
	str_fini(&section);
}

void gotabmaker_close(struct gotabmaker *m, struct elf *elf)
{
	elf_close(elf);
	elfmaker_fini(&m->file);
}

void gotabmaker_fini(struct gotabmaker *m)
{
	str_fini(&m->table);
}
