#include "test.h"

#include <elf.h>

#include "base/workers.h"
#include "symbol/dwarf/line.h"
#include "unit/outside.h"
#include "unit/spoil.h"

/*
 * Line 8 is in leaf(), line 13 calls it in middle(), line 19 calls that in outer(). Volatile: what is
 * inlined must not begin where outer() does, or gcc writes a list of ranges that ends there.
 */
static const char source[] = "typedef unsigned u;\n"
			     "volatile u sink;\n"
			     "\n"
			     "static inline __attribute__((always_inline)) void leaf(u x)\n"
			     "{\n"
			     "	/* a\n"
			     "	 * comment */\n"
			     "	sink = 1000003 * x;\n"
			     "}\n"
			     "static inline __attribute__((always_inline)) void middle(u x)\n"
			     "{\n"
			     "	sink = 77;\n"
			     "	leaf(x);\n"
			     "}\n"
			     "\n"
			     "__attribute__((noinline)) u outer(u x)\n"
			     "{\n"
			     "	sink = x;\n"
			     "	middle(x + 5);\n"
			     "	return sink;\n"
			     "}\n";

struct line_case {
	struct elf elf;
	struct line_index *index;
	u64 start, end; /* of outer() */
};

static void case_open(struct line_case *c, const char *name)
{
	struct str text = {0};
	struct err err;
	unsigned long long start, size;

	CHECK_EQ(outside_run(&text, "nm -S '%s' | grep ' T outer$'", test_path(name)), 0);
	CHECK_EQ(sscanf(str_text(&text), "%llx %llx", &start, &size), 2);
	c->start = start;
	c->end = start + size;
	str_fini(&text);
	if (elf_open(&c->elf, test_path(name), &err) || line_open(&c->index, &c->elf, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
}

static void case_close(struct line_case *c)
{
	line_close(c->index);
	elf_close(&c->elf);
}

static const char *last_part(const char *path)
{
	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

/* Somewhere in outer() there is code of line 8, in leaf(), in middle(), in outer(). */
static void check_chain(struct line_case *c)
{
	struct line_frame f[LINE_DEPTH_MAX];
	bool is_found = false;

	for (u64 at = c->start; at < c->end; at++) {
		size_t n = line_chain(c->index, at, f);

		CHECK(n >= 1);
		CHECK_STR(f[n - 1].function, "outer");
		CHECK_STR(last_part(f[0].file), "chain.c");
		if (n != 3 || f[0].line != 8)
			continue;
		is_found = true;
		CHECK_STR(f[0].function, "leaf");
		CHECK_STR(f[1].function, "middle");
		CHECK_EQ(f[1].line, 13);
		CHECK_STR(last_part(f[1].file), "chain.c");
		CHECK_EQ(f[2].line, 19);
		CHECK_STR(last_part(f[2].file), "chain.c");
	}
	if (!is_found)
		test_failed(__FILE__, __LINE__, "no code of line 8 in '%s'", c->elf.path);
	CHECK_EQ(line_chain(c->index, c->end + 0x1000000, f), 0);
	CHECK(!line_complaint(c->index));
}

/* Compiles the source with a compiler in each of these ways, and looks. */
static void check_compiler(const char *compiler)
{
	static const char *const ways[] = {"-O1 -gdwarf-2", "-O2 -gdwarf-3", "-O2 -gdwarf-4",
		"-O0 -gdwarf-5", "-O3 -gdwarf-5", "-O2 -gdwarf-5 -gz=zlib",
		"-O2 -gdwarf-4 -gsplit-dwarf", "-O2 -gdwarf-5 -gsplit-dwarf",
		"-O2 -g -ffunction-sections -Wl,--gc-sections"};

	outside_need(compiler);
	outside_need("nm");
	test_write(test_path("chain.c"), source, sizeof(source) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct line_case c;
		struct str said = {0};

		if (outside_run(&said, "cd '%s' && %s %s -shared -fPIC -o chain.so chain.c 2>&1",
			    test_dir(), compiler, ways[i]))
			test_failed(__FILE__, __LINE__, "%s %s: %s", compiler, ways[i],
				str_text(&said));
		str_fini(&said);
		case_open(&c, "chain.so");
		check_chain(&c);
		case_close(&c);
	}
}

TEST(line_knows_lines_and_inlined_calls_in_all_that_gcc_writes)
{
	check_compiler("gcc");
}

TEST(line_knows_lines_and_inlined_calls_in_all_that_clang_writes)
{
	check_compiler("clang");
}

/* As packaged by newer distributions; libdw 0.188 alone cannot unpack it. */
TEST(line_knows_lines_in_sections_packed_with_zstd)
{
	struct str said = {0};
	struct line_case c;

	outside_need("gcc");
	outside_need("objcopy");
	test_write(test_path("chain.c"), source, sizeof(source) - 1);
	if (outside_run(&said,
		    "cd '%s' && gcc -O2 -g -shared -fPIC -o chain.so chain.c && "
		    "objcopy --compress-debug-sections=zstd chain.so 2>&1",
		    test_dir()))
		SKIP("this objcopy cannot pack with zstd");
	str_fini(&said);
	case_open(&c, "chain.so");
	CHECK(elf_section(&c.elf, ".debug_info")->flags & SHF_COMPRESSED);
	check_chain(&c);
	case_close(&c);
}

/* What is wrong in there is told, whatever it is. */
static void check_wrong_bytes(const char *packing)
{
	struct str file = {0}, said = {0};
	struct spoil spoil = {{1}, 0};

	outside_need("gcc");
	outside_need("objcopy");
	test_write(test_path("chain.c"), source, sizeof(source) - 1);
	if (outside_run(&said,
		    "cd '%s' && gcc -O2 -g -shared -fPIC -o chain.so chain.c && "
		    "objcopy --compress-debug-sections=%s chain.so 2>&1",
		    test_dir(), packing))
		SKIP("this objcopy cannot pack so");
	outside_run(&file, "cat '%s'", test_path("chain.so"));
	for (int round = 0; round < 300; round++) {
		struct line_frame f[LINE_DEPTH_MAX];
		struct line_index *l;
		struct elf elf;
		struct err err;

		spoil_bytes(&spoil, file.at, 0, file.n, 1);
		test_write(test_path("wrong.so"), file.at, file.n);
		if (!elf_open(&elf, test_path("wrong.so"), &err)) {
			if (!line_open(&l, &elf, &err)) {
				for (u64 a = 0x1000; a < 0x1200; a += 3)
					line_chain(l, a, f);
				line_close(l);
			} else {
				CHECK(*err.msg);
			}
			elf_close(&elf);
		}
		spoil_mend(&spoil, file.at);
	}
	str_fini(&file);
	str_fini(&said);
}

TEST(line_survives_wrong_bytes_in_sections_packed_with_zstd)
{
	check_wrong_bytes("zstd");
}

TEST(line_survives_wrong_bytes_in_sections_packed_with_zlib)
{
	check_wrong_bytes("zlib");
}

/* The file with its debug sections packed; where one of them is. */
static struct elf_section pack_debug(struct str *ret_file, const char *options, const char *name)
{
	struct elf_section place;
	struct str said = {0};
	struct elf elf;
	struct err err;

	outside_need("gcc");
	outside_need("nm");
	test_write(test_path("chain.c"), source, sizeof(source) - 1);
	CHECK_EQ(outside_run(&said, "cd '%s' && gcc -O2 -g %s -shared -fPIC -o chain.so chain.c",
			 test_dir(), options),
		0);
	outside_run(ret_file, "cat '%s'", test_path("chain.so"));
	CHECK_EQ(elf_open(&elf, test_path("chain.so"), &err), 0);
	if (!elf_section(&elf, name) && !strncmp(name, ".zdebug", 7))
		SKIP("this compiler packs no sections as it was done before: %s", options);
	if (!elf_section(&elf, name))
		test_failed(__FILE__, __LINE__, "no %s", name);
	place = *elf_section(&elf, name);
	elf_close(&elf);
	str_fini(&said);
	return place;
}

TEST(line_leaves_out_a_packed_section_that_is_damaged)
{
	struct line_frame f[LINE_DEPTH_MAX];
	struct str file = {0};
	struct elf_section place = pack_debug(&file, "-gz=zlib", ".debug_line");
	struct line_case c;

	if (!(place.flags & SHF_COMPRESSED))
		SKIP("this compiler did not compress .debug_line");
	file.at[place.offset + place.size - 1] ^= 1; /* the checksum */
	test_write(test_path("wrong.so"), file.at, file.n);
	case_open(&c, "wrong.so");
	CHECK_HAS(line_complaint(c.index), "its zlib data is damaged");
	CHECK(line_chain(c.index, c.start, f) >= 1);
	CHECK_STR(f[0].function, "outer");
	CHECK(!f[0].file);
	case_close(&c);
	str_fini(&file);
}

/* Of units, which nothing can be said without. */
TEST(line_says_what_is_wrong_with_a_packed_section_that_all_depends_on)
{
	static const struct {
		u64 size;
		const char *said;
	} cases[] = {{1ull << 30, "it is too small to hold the 1024 MB that it claims"},
		{4ull << 30, "no more than 4096 MB"}, {12345, "its zlib data is damaged"}};
	struct str file = {0};
	struct elf_section place = pack_debug(&file, "-gz=zlib", ".debug_info");

	if (!(place.flags & SHF_COMPRESSED))
		SKIP("this compiler did not compress .debug_info");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct line_index *l;
		struct elf elf;
		struct err err;

		memcpy(file.at + place.offset + 8, &cases[i].size, sizeof(cases[i].size));
		test_write(test_path("wrong.so"), file.at, file.n);
		CHECK_EQ(elf_open(&elf, test_path("wrong.so"), &err), 0);
		CHECK(line_open(&l, &elf, &err) != 0);
		CHECK_HAS(err.msg, cases[i].said);
		elf_close(&elf);
	}
	str_fini(&file);
}

TEST(line_does_not_unpack_what_claims_to_be_huge_as_it_was_packed_before)
{
	static const u8 huge[] = {0, 0, 0, 2, 0, 0, 0, 0};
	struct str file = {0};
	struct elf_section place = pack_debug(&file, "-gz=zlib-gnu", ".zdebug_info");
	struct line_index *l;
	struct line_case c;
	struct elf elf;
	struct err err;

	case_open(&c, "chain.so");
	check_chain(&c);
	case_close(&c);
	memcpy(file.at + place.offset + 4, huge, sizeof(huge));
	test_write(test_path("huge.so"), file.at, file.n);
	CHECK_EQ(elf_open(&elf, test_path("huge.so"), &err), 0);
	CHECK_EQ(line_open(&l, &elf, &err), ERR_LIMIT);
	CHECK_HAS(err.msg, "no more than 4096 MB");
	elf_close(&elf);
	str_fini(&file);
}

/* A package that has all .dwo files, which are gone. */
static bool make_package(const char *compiler, const char *options, const char *packer)
{
	struct str said = {0};
	bool is_made;

	test_write(test_path("chain.c"), source, sizeof(source) - 1);
	test_write(test_path("more.c"), "int more(int x) { return x * 3; }", 33);
	is_made = !outside_run(&said,
		"cd '%s' && rm -f *.dwo *.dwp && %s %s -O2 -g -gsplit-dwarf -fPIC -c chain.c more.c && "
		"%s -shared -o chain.so chain.o more.o && timeout 20 %s -e chain.so -o chain.so.dwp && "
		"rm *.dwo 2>&1",
		test_dir(), compiler, options, compiler, packer);
	str_fini(&said);
	return is_made;
}

static void check_packages(const char *compiler, const char *packer)
{
	static const char *const ways[] = {"-gdwarf-4", "-gdwarf-5",
		"-gdwarf-4 -ffunction-sections"};
	unsigned n = 0;

	outside_need(compiler);
	outside_need(packer);
	outside_need("nm");
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct line_case c;

		/* binutils 2.40's dwp crashes on version 5. */
		if (!make_package(compiler, ways[i], packer))
			continue;
		n++;
		case_open(&c, "chain.so");
		check_chain(&c);
		case_close(&c);
	}
	CHECK(n > 0);
}

TEST(line_finds_split_units_in_a_package_by_binutils)
{
	check_packages("gcc", "dwp");
}

TEST(line_finds_split_units_in_a_package_by_llvm)
{
	check_packages("clang", "llvm-dwp");
}

TEST(line_says_that_a_package_is_of_another_build)
{
	struct line_frame f[LINE_DEPTH_MAX];
	struct str said = {0};
	struct line_case c;

	outside_need("gcc");
	outside_need("dwp");
	if (!make_package("gcc", "-gdwarf-4", "dwp"))
		SKIP("this dwp makes no package");
	CHECK_EQ(outside_run(&said,
			 "cd '%s' && mv chain.so.dwp old && sed -i 's/leaf/twig/' chain.c && "
			 "gcc -O2 -gdwarf-4 -gsplit-dwarf -fPIC -shared -o chain.so chain.c && "
			 "rm *.dwo && mv old chain.so.dwp",
			 test_dir()),
		0);
	case_open(&c, "chain.so");
	CHECK_EQ(line_chain(c.index, c.start, f), 1);
	CHECK_EQ(line_gap(c.index, c.start), LINE_GAP_ELSEWHERE);
	CHECK_HAS(line_gap_text(c.index, LINE_GAP_ELSEWHERE), "chain.so.dwp' does not contain it");
	case_close(&c);
	str_fini(&said);
}

TEST(line_survives_packages_with_wrong_bytes)
{
	struct str file = {0};
	struct spoil spoil = {{1}, 0};

	outside_need("gcc");
	outside_need("dwp");
	if (!make_package("gcc", "-gdwarf-4", "dwp"))
		SKIP("this dwp makes no package");
	outside_run(&file, "cat '%s'", test_path("chain.so.dwp"));
	for (int round = 0; round < 600; round++) {
		struct line_frame f[LINE_DEPTH_MAX];
		struct line_index *l;
		struct elf elf;
		struct err err;

		spoil_bytes(&spoil, file.at, 0, file.n, 3);
		test_write(test_path("chain.so.dwp"), file.at,
			round % 10 ? file.n : file.n - spoil.at[0] % 200);
		CHECK_EQ(elf_open(&elf, test_path("chain.so"), &err), 0);
		CHECK_EQ(line_open(&l, &elf, &err), 0);
		for (u64 a = 0x1000; a < 0x1200; a += 3)
			line_chain(l, a, f);
		line_close(l);
		elf_close(&elf);
		spoil_mend(&spoil, file.at);
	}
	str_fini(&file);
}

TEST(line_follows_names_into_a_file_that_dwz_shares)
{
	struct str said = {0};
	struct line_case c;

	outside_need("gcc");
	outside_need("dwz");
	test_write(test_path("chain.c"), source, sizeof(source) - 1);
	/* Two files are needed for there to be something to share. */
	CHECK_EQ(outside_run(&said,
			 "cd '%s' && gcc -O2 -g -shared -fPIC -o chain.so chain.c && "
			 "cp chain.so other.so && dwz -m shared.debug -r chain.so other.so 2>&1",
			 test_dir()),
		0);
	str_fini(&said);
	case_open(&c, "chain.so");
	if (!elf_section(&c.elf, ".gnu_debugaltlink"))
		SKIP("this dwz found nothing to share");
	check_chain(&c);
	case_close(&c);
}

TEST(line_says_that_a_file_has_no_debug_information)
{
	struct line_index *l;
	struct elf elf;
	struct err err;

	outside_need("gcc");
	CHECK(outside_compile("int f(void) { return 1; }", "bare.so", "-shared -fPIC"));
	CHECK_EQ(elf_open(&elf, test_path("bare.so"), &err), 0);
	CHECK_EQ(line_open(&l, &elf, &err), ERR_NOENT);
	CHECK_HAS(err.msg, "no debug information");
	elf_close(&elf);
}

/* Whatever stands in the file, asking it ends, and the sanitizers find nothing. */
TEST(line_survives_files_with_wrong_bytes)
{
	struct str file = {0}, said = {0};
	size_t begin, end;
	struct spoil spoil = {{1}, 0};

	outside_need("gcc");
	test_write(test_path("chain.c"), source, sizeof(source) - 1);
	CHECK_EQ(outside_run(&said, "cd '%s' && gcc -O2 -g -shared -fPIC -o chain.so chain.c",
			 test_dir()),
		0);
	outside_run(&file, "cat '%s'", test_path("chain.so"));
	{
		struct elf elf;
		struct err err;

		CHECK_EQ(elf_open(&elf, test_path("chain.so"), &err), 0);
		begin = elf_section(&elf, ".debug_aranges")->offset;
		end = elf_section(&elf, ".symtab")->offset;
		elf_close(&elf);
	}
	CHECK(begin < end && end <= file.n);
	for (int round = 0; round < 400; round++) {
		struct line_frame f[LINE_DEPTH_MAX];
		struct line_index *l;
		struct elf elf;
		struct err err;

		spoil_bytes(&spoil, file.at, begin, end, 4);
		test_write(test_path("wrong.so"), file.at, file.n);
		CHECK_EQ(elf_open(&elf, test_path("wrong.so"), &err), 0);
		if (!line_open(&l, &elf, &err)) {
			for (u64 a = 0x1000; a < 0x1200; a += 3) {
				size_t n = line_chain(l, a, f);

				for (size_t i = 0; i < n; i++)
					CHECK(!f[i].function || strlen(f[i].function) < file.n);
			}
			line_close(l);
		}
		elf_close(&elf);
		spoil_mend(&spoil, file.at);
	}
	str_fini(&file);
	str_fini(&said);
}

/* A compressed section that says it holds 8 GB is not unpacked. */
TEST(line_does_not_unpack_what_claims_to_be_huge)
{
	struct str file = {0}, said = {0};
	struct line_index *l;
	struct elf elf;
	struct err err;
	u64 at, huge = 8ull << 30;

	outside_need("gcc");
	test_write(test_path("chain.c"), source, sizeof(source) - 1);
	CHECK_EQ(outside_run(&said,
			 "cd '%s' && gcc -O2 -g -gz=zlib -shared -fPIC -o chain.so chain.c",
			 test_dir()),
		0);
	CHECK_EQ(elf_open(&elf, test_path("chain.so"), &err), 0);
	CHECK(elf.is_64);
	/* Small sections stay as they are. */
	at = elf_section(&elf, ".debug_info")->flags & SHF_COMPRESSED
		? elf_section(&elf, ".debug_info")->offset
		: 0;
	elf_close(&elf);
	if (!at)
		SKIP("this compiler did not compress .debug_info");
	outside_run(&file, "cat '%s'", test_path("chain.so"));
	memcpy(file.at + at + 8, &huge, sizeof(huge));
	test_write(test_path("huge.so"), file.at, file.n);
	CHECK_EQ(elf_open(&elf, test_path("huge.so"), &err), 0);
	CHECK_EQ(line_open(&l, &elf, &err), ERR_LIMIT);
	CHECK_HAS(err.msg, "MB unpacked: no more than 4096 MB");
	elf_close(&elf);
	str_fini(&file);
	str_fini(&said);
}

/* A line table that says it is larger than any is left out; functions are still known. */
TEST(line_leaves_out_a_line_table_that_claims_to_be_huge)
{
	struct line_frame f[LINE_DEPTH_MAX];
	struct str file = {0}, said = {0};
	u32 huge = 100 << 20;
	struct line_case c;
	u64 at;

	outside_need("gcc");
	outside_need("nm");
	test_write(test_path("chain.c"), source, sizeof(source) - 1);
	CHECK_EQ(outside_run(&said, "cd '%s' && gcc -O2 -g -shared -fPIC -o chain.so chain.c",
			 test_dir()),
		0);
	case_open(&c, "chain.so");
	at = elf_section(&c.elf, ".debug_line")->offset;
	case_close(&c);
	outside_run(&file, "cat '%s'", test_path("chain.so"));
	memcpy(file.at + at, &huge, sizeof(huge));
	test_write(test_path("huge.so"), file.at, file.n);
	case_open(&c, "huge.so");
	CHECK_EQ(line_chain(c.index, c.start, f), 1);
	CHECK_STR(f[0].function, "outer");
	CHECK(!f[0].file);
	CHECK_HAS(line_complaint(c.index), "a line table of 100 MB is left out");
	case_close(&c);
	str_fini(&file);
	str_fini(&said);
}

/* Where the units behind one begin is not known then. */
TEST(line_says_that_a_unit_is_damaged_in_front_of_others)
{
	static const char second[] = "int later(int x) { return x + 1; }\n";
	struct line_frame f[LINE_DEPTH_MAX];
	struct str file = {0}, said = {0};
	u32 size, none = 0xfffffff1;
	struct line_case c;
	u64 at;

	outside_need("gcc");
	outside_need("nm");
	test_write(test_path("chain.c"), source, sizeof(source) - 1);
	test_write(test_path("later.c"), second, sizeof(second) - 1);
	CHECK_EQ(outside_run(&said,
			 "cd '%s' && gcc -O2 -g -shared -fPIC -o chain.so chain.c later.c",
			 test_dir()),
		0);
	case_open(&c, "chain.so");
	CHECK(!line_complaint(c.index));
	at = elf_section(&c.elf, ".debug_info")->offset;
	case_close(&c);
	outside_run(&file, "cat '%s'", test_path("chain.so"));
	memcpy(&size, file.at + at, sizeof(size));
	memcpy(file.at + at + sizeof(size) + size, &none, sizeof(none));
	test_write(test_path("wrong.so"), file.at, file.n);
	case_open(&c, "wrong.so");
	CHECK(line_chain(c.index, c.start, f) >= 1);
	CHECK_HAS(line_complaint(c.index), "its debug information is damaged, a unit");
	case_close(&c);
	str_fini(&file);
	str_fini(&said);
}

/* Each thing that can be missing is told by its own name. */
TEST(line_says_why_an_address_has_no_line)
{
	struct line_frame f[LINE_DEPTH_MAX];
	struct str said = {0}, text = {0};
	unsigned long long bare;
	struct line_case c;

	outside_need("gcc");
	outside_need("nm");
	test_write(test_path("chain.c"), source, sizeof(source) - 1);
	test_write(test_path("bare.c"), "int bare(int x) { return x * 3; }", 33);
	CHECK_EQ(
		outside_run(&said,
			"cd '%s' && gcc -O2 -c -fPIC -o bare.o bare.c && gcc -O2 -gdwarf-5 -gsplit-dwarf "
			"-shared -fPIC -o chain.so chain.c bare.o 2>&1",
			test_dir()),
		0);
	CHECK_EQ(outside_run(&text, "nm '%s' | grep ' T bare$'", test_path("chain.so")), 0);
	CHECK_EQ(sscanf(str_text(&text), "%llx", &bare), 1);
	case_open(&c, "chain.so");
	CHECK_EQ(line_chain(c.index, c.start, f) > 0, true);
	CHECK_EQ(line_gap(c.index, c.start), LINE_GAP_NONE);
	CHECK_EQ(line_chain(c.index, bare, f), 0);
	CHECK_EQ(line_gap(c.index, bare), LINE_GAP_UNDESCRIBED);
	CHECK_HAS(line_gap_text(c.index, LINE_GAP_UNDESCRIBED), "compiled without -g");
	CHECK(!line_complaint(c.index));
	case_close(&c);
	/* Lines are in the file itself, what was inlined is not. */
	CHECK_EQ(outside_run(&said, "cd '%s' && rm *.dwo", test_dir()), 0);
	case_open(&c, "chain.so");
	CHECK_EQ(line_chain(c.index, c.start, f), 1);
	CHECK_STR(last_part(f[0].file), "chain.c");
	CHECK(!f[0].function);
	CHECK_EQ(line_gap(c.index, c.start), LINE_GAP_ELSEWHERE);
	CHECK_HAS(line_gap_text(c.index, LINE_GAP_ELSEWHERE), ".dwo' is not at its recorded path");
	case_close(&c);
	str_fini(&said);
	str_fini(&text);
}

/* Threads ask for addresses of one file at once, after its units were fetched. */
static void ask_all(void *ctx, size_t i, unsigned worker)
{
	struct line_case *c = ctx;
	struct line_frame f[LINE_DEPTH_MAX];

	(void)worker;
	(void)i;
	for (u64 at = c->start; at < c->end; at++) {
		size_t n = line_chain(c->index, at, f);

		CHECK(n >= 1);
		CHECK_STR(f[n - 1].function, "outer");
	}
}

TEST(line_is_for_many_threads_once_units_were_fetched)
{
	line_wishes wishes = {0};
	struct str said = {0};
	struct line_case c;

	outside_need("gcc");
	outside_need("nm");
	test_write(test_path("chain.c"), source, sizeof(source) - 1);
	CHECK_EQ(outside_run(&said, "cd '%s' && gcc -O2 -g -shared -fPIC -o chain.so chain.c",
			 test_dir()),
		0);
	case_open(&c, "chain.so");
	line_want(c.index, c.start, true, &wishes);
	line_want(c.index, c.start + 1, true, &wishes);
	line_want(c.index, UINT64_MAX, true, &wishes);
	CHECK_EQ(wishes.n, 1);
	line_fetch(&wishes, 4, NULL);
	vec_fini(&wishes);
	line_want(c.index, c.start, true, &wishes);
	CHECK_EQ(wishes.n, 0);
	workers_run(4, 16, ask_all, &c);
	case_close(&c);
	str_fini(&said);
}

/* Lines first, functions later: what was handed out before stays. */
TEST(line_reads_a_unit_again_if_functions_are_wanted_too)
{
	struct line_frame first, f[LINE_DEPTH_MAX];
	struct str said = {0};
	struct line_case c;

	outside_need("gcc");
	outside_need("nm");
	test_write(test_path("chain.c"), source, sizeof(source) - 1);
	CHECK_EQ(outside_run(&said, "cd '%s' && gcc -O2 -g -shared -fPIC -o chain.so chain.c",
			 test_dir()),
		0);
	case_open(&c, "chain.so");
	CHECK(line_find(c.index, c.start, &first));
	check_chain(&c);
	CHECK_STR(last_part(first.file), "chain.c");
	CHECK(line_find(c.index, c.start, f));
	CHECK_STR(f[0].file, first.file);
	case_close(&c);
	str_fini(&said);
}

TEST(line_files_that_take_too_long_to_unpack_are_left_and_units_that_were_read_are_ready)
{
	struct str said = {0};
	line_wishes wishes = {0};
	struct line_case c = {0};
	struct line_index *l;
	struct err err;

	outside_need("gcc");
	test_write(test_path("chain.c"), source, sizeof(source) - 1);
	CHECK_EQ(outside_run(&said,
			 "cd '%s' && gcc -O2 -g -gz=zlib -shared -fPIC -o chain.so chain.c",
			 test_dir()),
		0);
	case_open(&c, "chain.so");
	if (!(elf_section(&c.elf, ".debug_info")->flags & SHF_COMPRESSED))
		SKIP("this compiler did not compress .debug_info");
	/* Who has opened it has unpacked it. */
	CHECK_EQ(line_unpack_bytes(c.index), 0);
	CHECK_EQ(line_open_within(&l, &c.elf, 1, &err), ERR_LIMIT);
	CHECK_HAS(err.msg, "which takes too long");
	CHECK_EQ(line_open_within(&l, &c.elf, 1 << 20, &err), 0);
	line_close(l);

	CHECK(!line_is_ready(c.index, c.start, true));
	CHECK(line_is_ready(c.index, 1, true));
	line_want(c.index, c.start, false, &wishes);
	line_fetch(&wishes, 1, NULL);
	CHECK(line_is_ready(c.index, c.start, false) && !line_is_ready(c.index, c.start, true));
	vec_fini(&wishes);
	case_close(&c);
	str_fini(&said);
}
