#include "test.h"

#include "symbol/kernel/kmodule.h"
#include "symbol/dwarf/line.h"
#include "unit/outside.h"
#include "unit/spoil.h"

/* The line of the only division is 6; code for initialization, and other code before it. */
static const char source[] =
	"volatile unsigned sink;\n"
	"__attribute__((section(\".text.unlikely\"), noinline)) void cold(unsigned x) { sink = x; }\n"
	"__attribute__((section(\".init.text\"), noinline)) int begin(void) { return sink; }\n"
	"static inline __attribute__((always_inline)) void leaf(unsigned x)\n"
	"{\n"
	"	sink = 1000003 / x;\n"
	"}\n"
	"__attribute__((noinline)) unsigned outer(unsigned x)\n"
	"{\n"
	"	sink = x;\n"
	"	leaf(x + 5); /* 11 */\n"
	"	return sink;\n"
	"}\n";

struct kmodule_case {
	struct log log;
	struct find_places places;
	struct dso dso;
	struct elf elf, debug;
	struct symtab symtab;
	struct line_index *lines;
};

static void case_open(struct kmodule_case *c)
{
	struct err err;

	*c = (struct kmodule_case){.dso = {.path = "/m.ko", .name = "[m]"}};
	c->places = (struct find_places){.symfs = test_dir(), .log = &c->log};
	if (kmodule_open(&c->places, &c->dso, NULL, &c->elf, &c->symtab, &err) ||
		kmodule_open_debug(&c->places, &c->dso, NULL, &c->debug, &err) ||
		line_open(&c->lines, &c->debug, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
}

static void case_close(struct kmodule_case *c)
{
	line_close(c->lines);
	symtab_fini(&c->symtab);
	elf_close(&c->elf);
	elf_close(&c->debug);
}

/* Every address of cold() and outer() has its function, and somewhere the division was inlined. */
static void check_case(const char *how)
{
	struct line_frame f[LINE_DEPTH_MAX];
	unsigned functions = 0, divisions = 0;
	struct kmodule_case c;

	case_open(&c);
	vec_each(s, &c.symtab.symbols) {
		if (strcmp(s->name, "cold") && strcmp(s->name, "outer"))
			continue;
		functions++;
		for (u64 at = s->start; at < s->end; at++) {
			size_t n = line_chain(c.lines, at, f);

			if (!n || !f[n - 1].function || strcmp(f[n - 1].function, s->name))
				test_failed(__FILE__, __LINE__, "%s: %s+%u is in %s", how, s->name,
					(unsigned)(at - s->start), n ? f[n - 1].function : "?");
			if (n != 2 || f[0].line != 6)
				continue;
			divisions++;
			CHECK_STR(f[0].function, "leaf");
			CHECK_EQ(f[1].line, 11);
		}
	}
	CHECK_EQ(functions, 2);
	CHECK(divisions > 0);
	if (line_complaint(c.lines))
		test_failed(__FILE__, __LINE__, "%s: %s", how, line_complaint(c.lines));
	case_close(&c);
}

static void build(const char *compiler, const char *options, const char *then)
{
	struct str said = {0};

	test_write(test_path("m.c"), source, sizeof(source) - 1);
	if (outside_run(&said, "cd '%s' && %s %s -O2 -c -o m.ko m.c && %s 2>&1", test_dir(),
		    compiler, options, then))
		test_failed(__FILE__, __LINE__, "%s %s: %s", compiler, options, str_text(&said));
	str_fini(&said);
}

static void check_compiler(const char *compiler)
{
	static const char *const ways[] = {"-gdwarf-3", "-gdwarf-4", "-gdwarf-5",
		"-gdwarf-5 -gz=zlib", "-gdwarf-4 -ffunction-sections"};

	outside_need(compiler);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		build(compiler, ways[i], "true");
		check_case(ways[i]);
	}
}

TEST(kmodule_has_lines_where_gcc_wrote_them)
{
	check_compiler("gcc");
}

TEST(kmodule_has_lines_where_clang_wrote_them)
{
	check_compiler("clang");
}

TEST(kmodule_has_lines_on_arm64)
{
	check_compiler("aarch64-linux-gnu-gcc");
}

/* As distributions install them. */
TEST(kmodule_has_lines_in_a_separate_file)
{
	outside_need("gcc");
	outside_need("objcopy");
	build("gcc", "-g",
		"objcopy --only-keep-debug m.ko m.debug && objcopy -g --add-gnu-debuglink=m.debug m.ko");
	check_case("objcopy --only-keep-debug");
}

TEST(kmodule_without_debug_information_says_what_to_install)
{
	struct find_places places = {.symfs = test_dir()};
	struct dso dso = {.path = "/m.ko", .name = "[m]"};
	struct elf elf;
	struct err err;

	outside_need("gcc");
	CHECK_EQ(kmodule_open_debug(&places, &dso, NULL, &elf, &err), ERR_NOENT);
	build("gcc", "-g0", "true");
	CHECK_EQ(kmodule_open_debug(&places, &dso, NULL, &elf, &err), ERR_NOENT);
	CHECK_HAS(err.msg, "the module has no debug information: install the package");
}

TEST(kmodule_without_symbols_has_no_names)
{
	struct find_places places = {.symfs = test_dir()};
	struct dso dso = {.path = "/m.ko", .name = "[m]"};
	struct symtab symtab = {0};
	struct elf elf;
	struct err err;

	outside_need("gcc");
	outside_need("strip");
	build("gcc", "-g0", "strip -s m.ko");
	CHECK_EQ(kmodule_open(&places, &dso, NULL, &elf, &symtab, &err), ERR_FORMAT);
	CHECK_HAS(err.msg, "m.ko' has no symbol table");
	CHECK_EQ(symtab.symbols.n, 0);
}

TEST(kmodule_lines_survive_wrong_bytes)
{
	struct str file = {0};
	struct spoil spoil = {{1}, 0};

	outside_need("gcc");
	build("gcc", "-g", "true");
	outside_run(&file, "cat '%s'", test_path("m.ko"));
	for (int round = 0; round < 1500; round++) {
		struct find_places places = {.symfs = test_dir()};
		struct dso dso = {.path = "/m.ko", .name = "[m]"};
		struct line_frame f[LINE_DEPTH_MAX];
		struct line_index *lines;
		struct elf elf;
		struct err err;

		spoil_bytes(&spoil, file.at, 0, file.n, 1);
		test_write(test_path("m.ko"), file.at, file.n);
		spoil_mend(&spoil, file.at);
		if (kmodule_open_debug(&places, &dso, NULL, &elf, &err))
			continue;
		if (!line_open(&lines, &elf, &err)) {
			for (u64 a = 0; a < 64; a += 3)
				line_chain(lines, a, f);
			line_close(lines);
		} else {
			CHECK(*err.msg);
		}
		elf_close(&elf);
	}
	str_fini(&file);
}
