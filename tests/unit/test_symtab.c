#include "test.h"

#include <link.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/num.h"
#include "base/sort.h"
#include "symbol/elf/symtab.h"
#include "unit/elfmaker.h"
#include "unit/outside.h"

/* ---- tables made by hand ---- */

enum { CODE = 1, DATA = 2 }; /* the sections of a maker from here */

static void make(struct elfmaker *m, bool is_64, bool is_big, u16 machine)
{
	elfmaker_init(m, is_64, is_big, machine);
	elfmaker_section(m,
		&(struct elfmaker_section){.name = ".text",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_EXECINSTR,
			.addr = 0x1000,
			.size = 0x100});
	elfmaker_section(m,
		&(struct elfmaker_section){.name = ".data",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_WRITE,
			.addr = 0x8000,
			.size = 0x100});
}

static void make_usual(struct elfmaker *m)
{
	make(m, true, false, EM_X86_64);
}

/* Finishes the file and reads all its symbols. */
static void read_all(struct elfmaker *m, struct elf *elf, struct symtab *t)
{
	struct err err;

	memset(t, 0, sizeof(*t));
	elfmaker_finish(m);
	CHECK_EQ(elf_of_memory(elf, m->file.at, m->file.n, &err), 0);
	symtab_add_elf(t, elf, SHT_SYMTAB);
	symtab_finish(t);
	symtab_add_plt(t, elf);
}

static void close_all(struct elfmaker *m, struct elf *elf, struct symtab *t)
{
	symtab_fini(t);
	elf_close(elf);
	elfmaker_fini(m);
}

/* "name+offset", or "-". */
static const char *at(const struct symtab *t, u64 address)
{
	static char text[8][128];
	static unsigned next;
	char *buf = text[next++ % ARRAY_SIZE(text)];
	const struct symbol *s = symtab_find(t, address);

	if (!s)
		return "-";
	snprintf(buf, sizeof(text[0]), "%s+%llu", s->name,
		(unsigned long long)(address - s->start));
	return buf;
}

TEST(symtab_covers_a_function_from_its_first_to_its_last_byte)
{
	struct elfmaker m;
	struct symtab t;
	struct elf elf;

	make_usual(&m);
	elfmaker_function(&m, "b", 0x1040, 16);
	elfmaker_function(&m, "a", 0x1000, 16);
	read_all(&m, &elf, &t);
	CHECK_STR(at(&t, 0), "-");
	CHECK_STR(at(&t, 0xfff), "-");
	CHECK_STR(at(&t, 0x1000), "a+0");
	CHECK_STR(at(&t, 0x100f), "a+15");
	/* Nobody's bytes stay nobody's. */
	CHECK_STR(at(&t, 0x1010), "-");
	CHECK_STR(at(&t, 0x103f), "-");
	CHECK_STR(at(&t, 0x1040), "b+0");
	CHECK_STR(at(&t, 0x104f), "b+15");
	CHECK_STR(at(&t, 0x1050), "-");
	CHECK_STR(at(&t, UINT64_MAX), "-");
	CHECK_EQ(t.symbols.n, 2);
	CHECK_EQ(t.symbols.at[0].end, 0x1010);
	close_all(&m, &elf, &t);
}

TEST(symtab_reads_all_four_forms)
{
	for (int form = 0; form < 4; form++) {
		struct elfmaker m;
		struct symtab t;
		struct elf elf;

		make(&m, form & 1, form & 2, EM_PPC);
		elfmaker_function(&m, "late", 0xfffffff0, 8);
		elfmaker_function(&m, "early", 0x1000, 0x20);
		elfmaker_symbol(&m, SHT_SYMTAB, "weak", STB_WEAK, STT_FUNC, CODE, 0x2000, 4);
		read_all(&m, &elf, &t);
		CHECK_EQ(t.symbols.n, 3);
		CHECK_STR(at(&t, 0x101f), "early+31");
		CHECK_STR(at(&t, 0x2003), "weak+3");
		CHECK_STR(at(&t, 0xfffffff7), "late+7");
		CHECK_EQ(t.symbols.at[0].binding, SYMTAB_GLOBAL);
		CHECK_EQ(t.symbols.at[1].binding, SYMTAB_WEAK);
		close_all(&m, &elf, &t);
	}
}

TEST(symtab_extends_symbols_without_size_up_to_the_next)
{
	struct elfmaker m;
	struct symtab t;
	struct elf elf;

	make_usual(&m);
	elfmaker_function(&m, "_start", 0x1000, 0);
	elfmaker_function(&m, "sized", 0x1030, 8);
	elfmaker_function(&m, "last", 0x1040, 0);
	read_all(&m, &elf, &t);
	CHECK_STR(at(&t, 0x102f), "_start+47");
	CHECK_STR(at(&t, 0x1037), "sized+7");
	CHECK_STR(at(&t, 0x1038), "-");
	/* Behind the last one nobody knows; to the end of the next page, as perf has it. */
	CHECK_STR(at(&t, 0x2fff), "last+8127");
	CHECK_STR(at(&t, 0x3000), "-");
	close_all(&m, &elf, &t);

	make_usual(&m);
	elfmaker_function(&m, "at_a_page", 0x2000, 0);
	read_all(&m, &elf, &t);
	CHECK_STR(at(&t, 0x3fff), "at_a_page+8191");
	CHECK_STR(at(&t, 0x4000), "-");
	close_all(&m, &elf, &t);
}

TEST(symtab_takes_labels_inside_of_a_function_for_its_code)
{
	for (int is_first = 0; is_first < 2; is_first++) {
		struct elfmaker m;
		struct symtab t;
		struct elf elf;

		make_usual(&m);
		if (is_first)
			elfmaker_function(&m, "function_start_of_it", 0x1000, 0);
		elfmaker_function(&m, "function", 0x1000, 0x20);
		if (!is_first)
			elfmaker_function(&m, "function_start_of_it", 0x1000, 0);
		elfmaker_symbol(&m, SHT_SYMTAB, "in_the_middle", STB_GLOBAL, STT_NOTYPE, CODE,
			0x1010, 0);
		elfmaker_function(&m, "inner", 0x1014, 2);
		elfmaker_function(&m, "behind", 0x1020, 0);
		read_all(&m, &elf, &t);
		CHECK_STR(at(&t, 0x1000), "function+0");
		CHECK_STR(at(&t, 0x1012), "function+18");
		CHECK_STR(at(&t, 0x1015), "inner+1");
		CHECK_STR(at(&t, 0x101f), "function+31");
		CHECK_STR(at(&t, 0x1021), "behind+1");
		CHECK_EQ(t.symbols.n, 3);
		close_all(&m, &elf, &t);
	}
}

TEST(symtab_finds_the_innermost_of_nested_symbols)
{
	struct elfmaker m;
	struct symtab t;
	struct elf elf;

	make_usual(&m);
	elfmaker_function(&m, "outer", 0x1000, 0x100);
	elfmaker_function(&m, "middle", 0x1010, 0x40);
	elfmaker_function(&m, "inner", 0x1020, 8);
	elfmaker_function(&m, "over", 0x10f0, 0x20);
	read_all(&m, &elf, &t);
	CHECK_STR(at(&t, 0x100f), "outer+15");
	CHECK_STR(at(&t, 0x1010), "middle+0");
	CHECK_STR(at(&t, 0x1027), "inner+7");
	CHECK_STR(at(&t, 0x1028), "middle+24");
	CHECK_STR(at(&t, 0x104f), "middle+63");
	CHECK_STR(at(&t, 0x1050), "outer+80");
	/* Of two that overlap, the later one. */
	CHECK_STR(at(&t, 0x10ff), "over+15");
	CHECK_STR(at(&t, 0x110f), "over+31");
	CHECK_STR(at(&t, 0x1110), "-");
	close_all(&m, &elf, &t);
}

TEST(symtab_takes_what_code_can_be_in)
{
	static const struct {
		const char *name;
		u8 type;
		u16 section;
		bool is_taken;
	} rows[] = {
		{"function", STT_FUNC, CODE, true},
		{"ifunc", STT_GNU_IFUNC, CODE, true},
		{"label", STT_NOTYPE, CODE, true},
		{"table", STT_OBJECT, CODE, true},
		/* A function is one wherever it lies. */
		{"odd", STT_FUNC, DATA, true},
		{"variable", STT_OBJECT, DATA, false},
		{"mark", STT_NOTYPE, DATA, false},
		{"section", STT_SECTION, CODE, false},
		{"file.c", STT_FILE, SHN_ABS, false},
		{"tls", STT_TLS, CODE, false},
		{"undefined", STT_FUNC, SHN_UNDEF, false},
		{"absolute", STT_FUNC, SHN_ABS, false},
		{"beyond", STT_NOTYPE, 999, false},
		{"", STT_FUNC, CODE, false},
		/* What ARM and RISC-V mark code and data with. */
		{"$x", STT_NOTYPE, CODE, false},
		{"$d", STT_NOTYPE, CODE, false},
		{"$a.1", STT_NOTYPE, CODE, false},
		{"$t.anything", STT_NOTYPE, CODE, false},
		{"$data", STT_NOTYPE, CODE, true},
		{"$", STT_NOTYPE, CODE, true},
		{"$y", STT_NOTYPE, CODE, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct elfmaker m;
		struct symtab t;
		struct elf elf;

		make_usual(&m);
		elfmaker_symbol(&m, SHT_SYMTAB, rows[i].name, STB_GLOBAL, rows[i].type,
			rows[i].section, 0x1000, 4);
		read_all(&m, &elf, &t);
		if (t.symbols.n != rows[i].is_taken)
			test_failed(__FILE__, __LINE__, "symbol '%s'", rows[i].name);
		close_all(&m, &elf, &t);
	}
}

TEST(symtab_prefers_the_better_name_of_an_address)
{
	static const struct {
		const char *better;
		u8 better_binding;
		const char *worse;
		u8 worse_binding;
	} rows[] = {
		{"g", STB_GLOBAL, "weak_and_longer", STB_WEAK},
		{"l", STB_LOCAL, "weak_and_longer", STB_WEAK},
		{"_g", STB_GLOBAL, "local_and_longer", STB_LOCAL},
		{"open", STB_GLOBAL, "_open_and_longer", STB_GLOBAL},
		{"_open", STB_GLOBAL, "__open64", STB_GLOBAL},
		{"open64", STB_GLOBAL, "open", STB_GLOBAL},
		{"longer", STB_WEAK, "short", STB_WEAK},
		{"longer", STB_LOCAL, "short", STB_LOCAL},
		/* Bindings that only some systems have are seen by others too. */
		{"u", STB_GNU_UNIQUE, "local_and_longer", STB_LOCAL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (int is_swapped = 0; is_swapped < 2; is_swapped++) {
			struct elfmaker m;
			struct symtab t;
			struct elf elf;

			make_usual(&m);
			for (int k = 0; k < 2; k++) {
				bool is_better = k == is_swapped;

				elfmaker_symbol(&m, SHT_SYMTAB,
					is_better ? rows[i].better : rows[i].worse,
					is_better ? rows[i].better_binding : rows[i].worse_binding,
					STT_FUNC, CODE, 0x1000, 8);
			}
			read_all(&m, &elf, &t);
			CHECK_EQ(t.symbols.n, 1);
			CHECK_STR(t.symbols.at[0].name, rows[i].better);
			close_all(&m, &elf, &t);
		}
	}
}

TEST(symtab_takes_the_first_of_equally_good_names)
{
	struct elfmaker m;
	struct symtab t;
	struct elf elf;

	make_usual(&m);
	elfmaker_function(&m, "bbb", 0x1000, 8);
	elfmaker_function(&m, "aaa", 0x1000, 8);
	elfmaker_function(&m, "ccc", 0x1000, 8);
	read_all(&m, &elf, &t);
	CHECK_STR(at(&t, 0x1000), "bbb+0");
	close_all(&m, &elf, &t);
}

TEST(symtab_skips_symbols_whose_name_is_outside_the_table)
{
	struct elfmaker m;
	struct symtab t;
	struct elf elf;

	make_usual(&m);
	elfmaker_function(&m, "lost", 0x1000, 8);
	elfmaker_function(&m, "kept", 0x1010, 8);
	memset(m.symtab.at + 24, 0xff, 4);
	read_all(&m, &elf, &t);
	CHECK_EQ(t.symbols.n, 1);
	CHECK_STR(at(&t, 0x1010), "kept+0");
	close_all(&m, &elf, &t);

	/* The last name has no end. */
	make_usual(&m);
	elfmaker_function(&m, "kept", 0x1010, 8);
	elfmaker_function(&m, "lost", 0x1000, 8);
	m.strtab.n--;
	read_all(&m, &elf, &t);
	CHECK_EQ(t.symbols.n, 1);
	CHECK_STR(at(&t, 0x1000), "-");
	close_all(&m, &elf, &t);
}

TEST(symtab_survives_addresses_at_the_end_of_the_space)
{
	struct elfmaker m;
	struct symtab t;
	struct elf elf;

	make_usual(&m);
	elfmaker_function(&m, "ordinary", 0x1000, 8);
	elfmaker_function(&m, "wraps", UINT64_MAX - 8, 100);
	elfmaker_function(&m, "huge", 0x2000, UINT64_MAX - 0x2000);
	elfmaker_function(&m, "at_the_end", UINT64_MAX, 0);
	read_all(&m, &elf, &t);
	CHECK_STR(at(&t, 0x1007), "ordinary+7");
	CHECK_STR(at(&t, 0x1008), "-");
	CHECK_HAS(at(&t, 1ULL << 60), "huge+");
	symtab_find(&t, UINT64_MAX);
	close_all(&m, &elf, &t);
}

TEST(symtab_without_symbols_finds_nothing)
{
	struct symtab t = {0};

	symtab_finish(&t);
	CHECK(!symtab_find(&t, 0));
	CHECK(!symtab_find(&t, UINT64_MAX));
	symtab_fini(&t);
}

TEST(symtab_merge_adds_only_what_begins_where_nothing_does)
{
	struct elfmaker m;
	struct symtab t;
	struct elf elf;
	struct err err;

	make_usual(&m);
	elfmaker_function(&m, "both", 0x1000, 0x20);
	elfmaker_symbol(&m, SHT_DYNSYM, "better_name_of_both", STB_GLOBAL, STT_FUNC, CODE, 0x1000,
		0x20);
	/* Many more than there were: the table grows while it is asked. */
	for (u32 i = 0; i < 50; i++) {
		char name[16];

		snprintf(name, sizeof(name), "dynamic%u", i);
		elfmaker_symbol(&m, SHT_DYNSYM, name, STB_GLOBAL, STT_FUNC, CODE, 0x1010 + 16 * i,
			16);
	}
	elfmaker_finish(&m);
	memset(&t, 0, sizeof(t));
	CHECK_EQ(elf_of_memory(&elf, m.file.at, m.file.n, &err), 0);
	symtab_add_elf(&t, &elf, SHT_SYMTAB);
	symtab_finish(&t);
	symtab_merge_elf(&t, &elf, SHT_DYNSYM);
	CHECK_EQ(t.symbols.n, 51);
	CHECK_STR(at(&t, 0x1008), "both+8");
	CHECK_STR(at(&t, 0x1018), "dynamic0+8");
	CHECK_STR(at(&t, 0x1010 + 16 * 49), "dynamic49+0");
	/* Into an empty table everything goes. */
	symtab_fini(&t);
	symtab_merge_elf(&t, &elf, SHT_DYNSYM);
	CHECK_EQ(t.symbols.n, 51);
	CHECK_STR(at(&t, 0x1008), "better_name_of_both+8");
	close_all(&m, &elf, &t);
}

/* ---- PLT ---- */

static void check_plt(struct elfmaker *m, const char *const expected[], size_t n)
{
	struct symtab t;
	struct elf elf;
	size_t found = 0;

	read_all(m, &elf, &t);
	vec_each(s, &t.symbols)
		found += s->is_plt;
	for (size_t i = 0; i < n; i++) {
		CHECK_STR(at(&t, 0x2000 + 16 * i), expected[i]);
		if (!strchr("-_", *expected[i]))
			CHECK(symtab_find(&t, 0x2000 + 16 * i)->is_plt);
		found -= !strchr("-_", *expected[i]);
	}
	/* The front, if it is one. */
	CHECK_EQ(found, *expected[0] == '_');
	close_all(m, &elf, &t);
}

TEST(symtab_names_x86_stubs_after_what_they_jump_to)
{
	/* push; jmp *; then stubs in three dialects, one for a slot that nothing is known of. */
	u8 plt[16 * 6] = {0xff, 0x35, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0};
	static const struct {
		u8 at, prefix[5];
	} dialects[] = {{0, {0}}, {4, {0xf3, 0x0f, 0x1e, 0xfa}},
		{5, {0xf3, 0x0f, 0x1e, 0xfa, 0xf2}}, {0, {0}}, {0, {0}}};
	struct elfmaker m;

	for (u32 i = 0; i < 5; i++) {
		u8 *stub = plt + 16 * (i + 1);
		u32 where = 0x2000 + 16 * (i + 1) + dialects[i].at + 6;
		u32 slot = i == 4 ? 0x9990 : 0x3000 + 8 * i, disp = slot - where;

		memcpy(stub, dialects[i].prefix, 5);
		stub[dialects[i].at] = 0xff;
		stub[dialects[i].at + 1] = 0x25;
		memcpy(stub + dialects[i].at + 2, &disp, 4);
	}
	make_usual(&m);
	elfmaker_section(&m,
		&(struct elfmaker_section){.name = ".plt",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_EXECINSTR,
			.addr = 0x2000,
			.size = sizeof(plt),
			.data = plt,
			.entry_size = 16});
	elfmaker_function(&m, "choose_strlen", 0x1000, 32);
	elfmaker_symbol(&m, SHT_DYNSYM, "puts", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	elfmaker_symbol(&m, SHT_DYNSYM, "exit", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	elfmaker_symbol(&m, SHT_DYNSYM, "abort", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	elfmaker_relocation(&m, 0x3010, 3, R_X86_64_JUMP_SLOT, 0);
	elfmaker_relocation(&m, 0x3000, 1, R_X86_64_JUMP_SLOT, 0);
	elfmaker_relocation(&m, 0x3008, 2, R_X86_64_JUMP_SLOT, 0);
	/* No symbol: the function at this address chooses one when the program starts. */
	elfmaker_relocation(&m, 0x3018, 0, R_X86_64_IRELATIVE, 0x1000);
	check_plt(&m,
		(const char *const[]){"_dl_runtime_resolve+0", "puts+0", "exit+0", "abort+0",
			"choose_strlen+0", "-"},
		6);
}

TEST(symtab_names_lazy_stubs_beside_plt_sec_by_number)
{
	/* push; jmp *; then endbr64, push number, jmp to the front: with and without bnd. */
	u8 plt[16 * 6] = {0xff, 0x35, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0, 0x0f, 0x1f, 0x40, 0};
	static const u8 numbers[] = {1, 0, 2, 3, 9};
	struct elfmaker m;

	for (u32 i = 0; i < 5; i++)
		memcpy(plt + 16 * (i + 1),
			(const u8[16]){0xf3, 0x0f, 0x1e, 0xfa, 0x68, numbers[i], 0, 0, 0,
				i & 1 ? 0xf2 : 0xe9, i & 1 ? 0xe9 : 0, 0xff, 0xff, 0xff},
			16);
	make_usual(&m);
	elfmaker_section(&m,
		&(struct elfmaker_section){.name = ".plt",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_EXECINSTR,
			.addr = 0x2000,
			.size = sizeof(plt),
			.data = plt,
			.entry_size = 16});
	elfmaker_function(&m, "choose_strlen", 0x1000, 32);
	elfmaker_function(&m, "_init", 0x1ff0, 0);
	elfmaker_symbol(&m, SHT_DYNSYM, "puts", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	elfmaker_symbol(&m, SHT_DYNSYM, "exit", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	elfmaker_relocation(&m, 0x3000, 1, R_X86_64_JUMP_SLOT, 0);
	elfmaker_relocation(&m, 0x3008, 2, R_X86_64_JUMP_SLOT, 0);
	elfmaker_relocation(&m, 0x3010, 0, R_X86_64_IRELATIVE, 0x1000);
	/* A slot that is filled with nothing that has a name. */
	elfmaker_relocation(&m, 0x3018, 0, R_X86_64_RELATIVE, 0x1000);
	check_plt(&m,
		(const char *const[]){"_dl_runtime_resolve+0", "exit+0", "puts+0",
			"choose_strlen+0", "_init+80", "_init+96"},
		6);
}

TEST(symtab_names_arm_stubs_after_what_they_jump_to)
{
	u32 plt[4 * 7] = {0};
	struct elfmaker m;

	/* adrp x16, page; ldr x17, [x16, #offset]: pages ahead of and behind the code, one with bti
	 * c in front. */
	for (u32 i = 0; i < 3; i++) {
		u64 slot = i == 1 ? 0x1018 : 0x13010 + 8 * i;
		u32 pages = (u32)((slot >> 12) - 2), *stub = plt + 4 * (2 + i);

		if (i == 2)
			*stub++ = 0xd503245f;
		stub[0] = 0x90000010 | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5;
		stub[1] = 0xf9400211 | (u32)(slot & 0xfff) / 8 << 10;
	}
	/* The same through other registers is somebody's own code. */
	memcpy(plt + 4 * 5, plt + 4 * 2, 8);
	plt[4 * 5] ^= 1;
	memcpy(plt + 4 * 6, plt + 4 * 2, 8);
	plt[4 * 6 + 1] ^= 1;
	make(&m, true, false, EM_AARCH64);
	elfmaker_section(&m,
		&(struct elfmaker_section){.name = ".plt",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_EXECINSTR,
			.addr = 0x2000,
			.size = sizeof(plt),
			.data = plt,
			.entry_size = 16});
	elfmaker_symbol(&m, SHT_DYNSYM, "puts", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	elfmaker_symbol(&m, SHT_DYNSYM, "exit", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	elfmaker_symbol(&m, SHT_DYNSYM, "abort", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	elfmaker_relocation(&m, 0x13010, 1, R_AARCH64_JUMP_SLOT, 0);
	elfmaker_relocation(&m, 0x1018, 2, R_AARCH64_JUMP_SLOT, 0);
	elfmaker_relocation(&m, 0x13020, 3, R_AARCH64_JUMP_SLOT, 0);
	check_plt(&m, (const char *const[]){"-", "-", "puts+0", "exit+0", "abort+0", "-", "-"}, 7);
}

TEST(symtab_names_arm_stubs_of_any_size)
{
	/* The front; bti c, adrp, ldr, add, br, nop; the same with autia1716; adrp, ldr, add, br. */
	static const u32 plt[] = {0xd503245f, 0xa9bf7bf0, 0xb0000010, 0xf9400611, 0x91002210,
		0xd61f0220, 0xd503201f, 0xd503201f, 0xd503245f, 0xb0000010, 0xf9400a11, 0x91004210,
		0xd61f0220, 0xd503201f, 0xd503245f, 0xb0000010, 0xf9400e11, 0x91006210, 0xd503219f,
		0xd61f0220, 0xb0000010, 0xf9401211, 0x91008210, 0xd61f0220};
	struct elfmaker m;
	struct symtab t;
	struct elf elf;

	make(&m, true, false, EM_AARCH64);
	elfmaker_section(&m,
		&(struct elfmaker_section){.name = ".plt",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_EXECINSTR,
			.addr = 0x2000,
			.size = sizeof(plt),
			.data = plt,
			.entry_size = 16});
	elfmaker_symbol(&m, SHT_DYNSYM, "puts", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	elfmaker_symbol(&m, SHT_DYNSYM, "exit", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	elfmaker_symbol(&m, SHT_DYNSYM, "abort", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	for (u32 i = 0; i < 3; i++)
		elfmaker_relocation(&m, 0x3010 + 8 * i, i + 1, R_AARCH64_JUMP_SLOT, 0);
	read_all(&m, &elf, &t);
	CHECK_STR(at(&t, 0x2000), "-");
	CHECK_STR(at(&t, 0x201f), "-");
	CHECK_STR(at(&t, 0x2020), "puts+0");
	CHECK_STR(at(&t, 0x2037), "puts+23");
	CHECK_STR(at(&t, 0x2038), "exit+0");
	CHECK_STR(at(&t, 0x204f), "exit+23");
	CHECK_STR(at(&t, 0x2050), "abort+0");
	CHECK_STR(at(&t, 0x205f), "abort+15");
	close_all(&m, &elf, &t);
}

TEST(symtab_leaves_stubs_of_other_machines_alone)
{
	static const u8 stub[16] = {0xff, 0x25, 0xfa, 0x0f, 0, 0};
	struct elfmaker m;

	make(&m, true, false, EM_RISCV);
	elfmaker_section(&m,
		&(struct elfmaker_section){.name = ".plt",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_EXECINSTR,
			.addr = 0x2000,
			.size = 16,
			.data = stub});
	elfmaker_symbol(&m, SHT_DYNSYM, "puts", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	elfmaker_relocation(&m, 0x3000, 1, R_X86_64_JUMP_SLOT, 0);
	check_plt(&m, (const char *const[]){"-"}, 1);
}

TEST(symtab_is_not_held_up_by_a_slot_that_is_filled_again_and_again)
{
	static const u8 stub[16] = {0xff, 0x25, 0xfa, 0x0f, 0, 0};
	struct elfmaker m;

	make_usual(&m);
	elfmaker_section(&m,
		&(struct elfmaker_section){.name = ".plt",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_EXECINSTR,
			.addr = 0x2000,
			.size = 16,
			.data = stub});
	elfmaker_symbol(&m, SHT_DYNSYM, "puts", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	elfmaker_symbol(&m, SHT_DYNSYM, "exit", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	for (int i = 0; i < 200000; i++)
		elfmaker_relocation(&m, 0x3000, i ? 2 : 1, R_X86_64_JUMP_SLOT, 0);
	setrlimit(RLIMIT_CPU, &(struct rlimit){20, 20});
	check_plt(&m, (const char *const[]){"puts+0"}, 1);
}

/* ---- real files, as nm sees them ---- */

struct known { /* a symbol by nm */
	u64 start, size;
	char name[512];
};

typedef VEC(struct known) known_list;

/* Functions with a size from `nm -S`: "address size type name", a version behind the name's '@'. */
static void ask_nm(const char *path, const char *flags, known_list *list)
{
	struct str text = {0};

	outside_need("nm");
	if (outside_run(&text, "nm -S --defined-only %s '%s' 2>/dev/null", flags, path))
		SKIP("nm cannot read %s", path);
	for (char *line = text.at, *next; line && *line; line = next) {
		unsigned long long start, size;
		struct known k;
		char type;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (sscanf(line, "%llx %llx %c %511s", &start, &size, &type, k.name) != 4 ||
			!strchr("tTwWi", type) || !size)
			continue;
		k.start = start;
		k.size = size;
		k.name[strcspn(k.name, "@")] = '\0';
		vec_add(list, k);
	}
	str_fini(&text);
}

/* Whether nm has that name at that address. */
static bool is_known(const known_list *list, const struct sort_item *by_start, u64 start,
	const char *name)
{
	size_t low = 0, high = list->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_start[middle].key < start)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < list->n && by_start[low].key == start; low++)
		if (!strcmp(list->at[by_start[low].value].name, name))
			return true;
	return false;
}

/* Every function of nm's is found at its first, a middle and its last byte, or one that lies inside
 * it. */
static void compare_with_nm(const char *path, u32 table, const char *flags)
{
	struct sort_item *by_start;
	struct symtab t = {0};
	known_list list = {0};
	struct elf elf;
	struct err err;

	ask_nm(path, flags, &list);
	if (!list.n)
		SKIP("nm finds no functions in %s", path);
	CHECK_EQ(elf_open(&elf, path, &err), 0);
	/* nm shows the bit that says that code is Thumb's. */
	vec_each(k, &list)
		k->start &= elf.machine == EM_ARM ? ~1ULL : ~0ULL;
	by_start = mem_alloc(list.n * sizeof(*by_start));
	for (size_t i = 0; i < list.n; i++)
		by_start[i] = (struct sort_item){list.at[i].start, i};
	sort_by_key(by_start, list.n);
	CHECK(symtab_add_elf(&t, &elf, table) > 0);
	symtab_finish(&t);
	vec_each(k, &list) {
		const u64 places[] = {k->start, k->start + k->size / 2, k->start + k->size - 1};

		for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
			const struct symbol *s = symtab_find(&t, places[i]);

			if (!s || s->start > places[i] || s->end <= places[i] ||
				s->start < k->start ||
				!is_known(&list, by_start, s->start, s->name))
				test_failed(__FILE__, __LINE__, "%s: 0x%llx in %s is %s", path,
					(unsigned long long)places[i], k->name,
					s ? s->name : "nothing");
		}
	}
	symtab_fini(&t);
	elf_close(&elf);
	mem_free(by_start);
	vec_fini(&list);
}

TEST(symtab_of_this_program_is_what_nm_says)
{
	char path[64];

	/* Good for nm too, and even if the file has been replaced meanwhile. */
	snprintf(path, sizeof(path), "/proc/%d/exe", getpid());
	compare_with_nm(path, SHT_SYMTAB, "");
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (!strstr(info->dlpi_name, "/libc.so"))
		return 0;
	snprintf(path, 4096, "%s", info->dlpi_name);
	return 1;
}

TEST(symtab_of_the_c_library_is_what_nm_says)
{
	char path[4096] = "";

	dl_iterate_phdr(find_libc, path);
	if (!*path)
		SKIP("no libc.so is loaded");
	compare_with_nm(path, SHT_DYNSYM, "-D");
}

static const char program[] =
	"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
	"static int __attribute__((noinline)) inner(int x) { return x * 3; }\n"
	"int outer(int x) { return inner(x) + 1; }\n"
	"int other(int x) __attribute__((weak, alias(\"outer\")));\n"
	"int main(int argc, char **argv) {\n"
	"  char *p = malloc(argc);\n"
	"  printf(\"%d %zu\\n\", outer(argc), strlen(argv[0]));\n"
	"  puts(argv[0]); free(p); if (argc > 5) abort(); return other(1); }\n";

/* The forms in which compilers and linkers write programs. */
static const char *const builds[] = {"-O2", "-O0 -g", "-O2 -no-pie -fno-pie", "-O2 -Wl,-z,now",
	"-O2 -Wl,-z,now -fno-plt", "-O2 -fcf-protection=full -Wl,-z,ibtplt", "-O2 -Wl,-z,lazy",
	"-O2 -static", "-O2 -Wl,--hash-style=sysv", "-O2 -ffunction-sections -Wl,-z,separate-code",
	"-m32 -O2"};

TEST(symtab_of_programs_built_in_any_way_is_what_nm_says)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(builds); i++) {
		if (!outside_compile(program, "program", builds[i]))
			continue;
		compare_with_nm(test_path("program"), SHT_SYMTAB, "");
		n++;
	}
	CHECK(n > 0);
}

/* The labels of objdump's kind: "0000000000001030 <puts@plt>:". Those that end with @plt, without
 * it. */
static void ask_objdump(const char *path, const char *objdump, known_list *list)
{
	struct str text = {0};

	outside_need(objdump);
	outside_run(&text, "%s -d '%s' 2>/dev/null | grep '@plt>:$'", objdump, path);
	for (char *line = text.at, *next; line && *line; line = next) {
		unsigned long long start;
		struct known k = {0};

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (sscanf(line, "%llx <%511[^>]>", &start, k.name) != 2 || !strstr(k.name, "@plt"))
			continue;
		*strstr(k.name, "@plt") = '\0';
		k.start = start;
		vec_add(list, k);
	}
	str_fini(&text);
}

/*
 * What objdump does not label: the front of the PLT, and of stubs in two halves the one that goes
 * there, which has the name of the other.
 */
static bool is_half(const struct elf *elf, const struct symbol *s, const known_list *list)
{
	const struct elf_section *plt = elf_section(elf, ".plt");

	if (!plt || s->start < plt->addr || s->start >= plt->addr + plt->size)
		return false;
	if (s->start == plt->addr && !strcmp(s->name, "_dl_runtime_resolve"))
		return true;
	vec_each(k, list)
		if (elf_section(elf, ".plt.sec") && !strcmp(k->name, s->name))
			return true;
	return false;
}

/* objdump 2.44 takes stubs with bti c in front to be as long as those without, and labels middles. */
static bool labels_middles(const struct elf *elf, const known_list *list)
{
	enum { BR_X17 = 0xd61f0220 };

	vec_each(k, list) {
		const u8 *code = elf_bytes_at(elf, k->start, 4);

		if (elf->machine == EM_AARCH64 && code && load_u32(code) == BR_X17)
			return true;
	}
	return false;
}

static void compare_with_objdump_of(const char *path, const char *objdump)
{
	struct symtab t = {0};
	known_list list = {0};
	struct elf elf;
	struct err err;
	size_t n = 0;

	ask_objdump(path, objdump, &list);
	CHECK_EQ(elf_open(&elf, path, &err), 0);
	if (labels_middles(&elf, &list))
		list.n = 0;
	symtab_add_elf(&t, &elf, SHT_SYMTAB);
	symtab_finish(&t);
	symtab_add_plt(&t, &elf);
	vec_each(k, &list) {
		const struct symbol *s = symtab_find(&t, k->start);
		/* "*ABS*+0x4a0": chosen at run time; objdump knows no better. */
		if (k->name[0] == '*')
			continue;
		if (!s || s->start != k->start || !s->is_plt || strcmp(s->name, k->name))
			test_failed(__FILE__, __LINE__, "%s: 0x%llx, %s@plt, is %s%s", path,
				(unsigned long long)k->start, k->name, s ? s->name : "nothing",
				s && s->is_plt ? "@plt" : "");
		n++;
	}
	vec_each(s, &t.symbols)
		n -= s->is_plt && s->name[0] != '*' && list.n && !is_half(&elf, s, &list);
	/* And no others, where objdump sees any. */
	if (elf_section_of_type(&elf, SHT_DYNSYM))
		CHECK_EQ(n, 0);
	symtab_fini(&t);
	elf_close(&elf);
	vec_fini(&list);
}

static void compare_with_objdump(const char *path)
{
	compare_with_objdump_of(path, "objdump");
}

TEST(symtab_names_the_stubs_of_real_programs_as_objdump_does)
{
#if defined(__x86_64__) || defined(__aarch64__)
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(builds); i++) {
		if (strstr(builds[i], "-m32") || !outside_compile(program, "program", builds[i]))
			continue;
		compare_with_objdump(test_path("program"));
		n++;
	}
	CHECK(n > 0);
#else
	SKIP("stubs are understood on x86-64 and arm64");
#endif
}

/* A library for others to link with, and a program that calls it directly and by address. */
static const char calling[] = "extern int one(int), two(int); int (*by_address)(int) = two;\n"
			      "int f(int x) { return one(x) + two(x); }\n"
			      "int _start(void) { return f(1) + by_address(2); }\n";

TEST(symtab_names_the_stubs_of_32_bit_programs_as_objdump_does)
{
#if defined(__x86_64__) || defined(__i386__)
	static const char *const forms[] = {"-shared -fPIC", "-shared -fPIC -Wl,-z,now",
		"-shared -fPIC -fcf-protection -Wl,-z,ibtplt", "-no-pie -fno-pie", "-pie -fPIE"};
	char flags[512];

	if (!outside_compile("int one(int x) { return x; } int two(int x) { return x; }\n",
		    "libcalled.so", "-m32 -nostdlib -shared -fPIC"))
		SKIP("the compiler makes no 32-bit programs");
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		snprintf(flags, sizeof(flags), "-m32 -O1 -nostdlib -Wl,--no-as-needed %s '%s'",
			forms[i], test_path("libcalled.so"));
		CHECK(outside_compile(calling, "program", flags));
		compare_with_objdump(test_path("program"));
	}
#else
	SKIP("i386 stubs are compared on x86");
#endif
}

/* What clang and lld make for other machines: 32 and 64 bit, both byte orders. */
TEST(symtab_of_programs_of_other_machines_is_what_nm_says)
{
	static const char *const targets[] = {"powerpc-linux-gnu", "mips-linux-gnu",
		"armv7-linux-gnueabihf", "armv7-linux-gnueabihf -mthumb", "aarch64-linux-gnu",
		"riscv64-linux-gnu", "i386-linux-gnu"};
	size_t n = 0;

	outside_need("clang");
	outside_need("ld.lld");
	test_write(test_path("calling.c"), calling, strlen(calling));
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		struct str out = {0};
		int status = outside_run(&out,
			"cd '%s' && clang --target=%s -O1 -g -fuse-ld=lld -nostdlib -shared -fPIC -o program calling.c 2>&1",
			test_dir(), targets[i]);

		str_fini(&out);
		if (status)
			continue;
		compare_with_nm(test_path("program"), SHT_SYMTAB, "");
		n++;
	}
	if (!n)
		SKIP("clang makes programs for no other machine");
}

TEST(symtab_names_the_stubs_of_arm_programs_as_objdump_does)
{
	static const char *const forms[] = {"-O2", "-O2 -static", "-O2 -Wl,-z,now",
		"-O2 -mbranch-protection=standard"};

	outside_need("aarch64-linux-gnu-gcc");
	outside_need("aarch64-linux-gnu-objdump");
	test_write(test_path("program.c"), program, strlen(program));
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct str out = {0};

		if (outside_run(&out,
			    "cd '%s' && aarch64-linux-gnu-gcc %s -o program program.c 2>&1",
			    test_dir(), forms[i]))
			SKIP("the cross compiler makes no whole programs: %.200s", str_text(&out));
		str_fini(&out);
		compare_with_objdump_of(test_path("program"), "aarch64-linux-gnu-objdump");
	}
}
