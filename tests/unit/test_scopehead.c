/* scopehead: functions and inlined calls, as libdw reads them. */
#include <dwarf.h>
#include <elfutils/libdw.h>

#include "outside.h"
#include "symbol/dwarf/dwarf.h"
#include "symbol/dwarf/dwarffile.h"
#include "symbol/dwarf/scopehead.h"
#include "symbol/dwarf/unithead.h"
#include "test.h"

static const char source[] =
	"#include <cstdio>\n"
	"#include <vector>\n"
	"#include <algorithm>\n"
	"namespace far {\n"
	"struct shape { virtual int area() const; virtual ~shape() {} int side; };\n"
	"int shape::area() const { return side * side; }\n"
	"template<class T> static inline T twice(T x) { return x + x; }\n"
	"__attribute__((cold, noinline)) int rare(int x) { puts(\"rare\"); return x; }\n"
	"}\n"
	"extern \"C\" int plain(int x) { return x > 7 ? far::rare(x) : far::twice(x); }\n"
	"int main(int argc, char **argv) {\n"
	"	std::vector<int> v(argc, 3); far::shape s; s.side = argc;\n"
	"	std::sort(v.begin(), v.end(), [](int a, int b) { return a % 5 < b % 5; });\n"
	"	return plain(v[0]) + s.area() + far::twice(argv[0][0]); }\n";

struct seen {
	unsigned n_entries, n_read, n_named, n_inlined;
};

static const char *name_by_libdw(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *name = dwarf_attr_integrate(die, DW_AT_linkage_name, &a) ||
			dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a)
		? dwarf_formstring(&a)
		: NULL;

	return name ? name : dwarf_diename(die);
}

static bool is_same_number(Dwarf_Die *die, unsigned name, u64 number)
{
	Dwarf_Word its;

	return (dwarf_number(die, name, &its) ? its : 0) == number;
}

static void compare_entry(const struct dwarf_handle *h, const struct dieform_texts *texts,
	u64 offset, const char *how, struct seen *seen)
{
	const char *name = NULL, *its;
	Dwarf_Addr low, high;
	struct scopehead e;
	Dwarf_Die die;

	seen->n_entries++;
	if (!scopehead_read(&h->tree, texts, offset, &e))
		return;
	seen->n_read++;
	CHECK(dwarf_offdie(h->dwarf, offset, &die) != NULL);
	seen->n_inlined += dwarf_tag(&die) == DW_TAG_inlined_subroutine;
	if (e.has_low != !dwarf_lowpc(&die, &low) || e.has_high != !dwarf_highpc(&die, &high) ||
		(e.has_low && e.low != low) || (e.has_high && e.high != high) ||
		e.has_ranges != dwarf_hasattr(&die, DW_AT_ranges) ||
		!is_same_number(&die, DW_AT_ranges, e.ranges) ||
		e.has_file != dwarf_hasattr(&die, DW_AT_call_file) ||
		!is_same_number(&die, DW_AT_call_file, e.call_file) ||
		!is_same_number(&die, DW_AT_call_line, e.call_line) ||
		!is_same_number(&die, DW_AT_call_column, e.call_column))
		test_failed(__FILE__, __LINE__, "%s: the entry at 0x%llx is read otherwise", how,
			(unsigned long long)offset);
	if (!scopehead_name(&h->tree, texts, offset, &name))
		return;
	seen->n_named++;
	its = name_by_libdw(&die);
	if (!name != !its || (name && strcmp(name, its)))
		test_failed(__FILE__, __LINE__, "%s: the entry at 0x%llx is called '%s', not '%s'",
			how, (unsigned long long)offset, its ? its : "", name ? name : "");
}

/* Each function as both see it; what is left to libdw is not compared. */
static void compare(const char *path, const char *how, struct seen *seen)
{
	struct dieform_texts texts;
	struct dietree_entry entry;
	struct dwarf_handle *h;
	struct dwarf_file *f;
	struct unithead u;
	struct elf elf;
	struct err err;

	CHECK_EQ(elf_open(&elf, path, &err), 0);
	CHECK_EQ(dwarf_open(&f, &elf, &err), 0);
	h = dwarf_handle_new(f, &err);
	CHECK(h != NULL);
	texts = (struct dieform_texts){h->lines.str, h->lines.line_str};
	for (u64 at = 0; unithead_read(h->tree.info, h->tree.abbrevs, at, &u); at = u.unit.end) {
		struct unithead again;

		CHECK(unithead_of_entry(h->tree.info, h->tree.abbrevs, u.unit.first, &again));
		CHECK_EQ(again.unit.begin, at);
		dietree_begin(&h->tree, &u.unit);
		while (dietree_next(&h->tree, &entry))
			compare_entry(h, &texts, entry.offset, how, seen);
		CHECK(!h->tree.is_wrong);
	}
	dwarf_close(f);
	elf_close(&elf);
}

static void compile(const char *compiler, const char *flags)
{
	struct str out = {0};

	test_write(test_path("source.cc"), source, sizeof(source) - 1);
	if (outside_run(&out, "cd '%s' && %s -O2 %s -o program source.cc 2>&1", test_dir(),
		    compiler, flags))
		test_failed(__FILE__, __LINE__, "%s %s: %s", compiler, flags, str_text(&out));
	str_fini(&out);
}

TEST(scopehead_reads_functions_of_gcc_as_libdw_does)
{
	static const char *const ways[] = {"-gdwarf-3", "-gdwarf-4", "-gdwarf-5",
		"-gdwarf-5 -gdwarf64", "-gdwarf-5 -gz", "-gdwarf-4 -fdebug-types-section"};

	outside_need("c++");
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct seen seen = {0};

		compile("c++", ways[i]);
		compare(test_path("program"), ways[i], &seen);
		/* Of what gcc writes nothing is left to libdw. */
		CHECK(seen.n_inlined > 20);
		CHECK_EQ(seen.n_read, seen.n_entries);
		CHECK_EQ(seen.n_named, seen.n_entries);
	}
}

TEST(scopehead_reads_or_leaves_functions_of_others)
{
	static const char *const ways[][2] = {{"c++", "-g -flto"},
		{"c++", "-gdwarf-2 -gstrict-dwarf"}, {"clang++", "-gdwarf-4"},
		{"clang++", "-gdwarf-5"}};
	struct seen seen = {0};

	outside_need("c++");
	outside_need("clang++");
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		compile(ways[i][0], ways[i][1]);
		compare(test_path("program"), ways[i][1], &seen);
	}
	CHECK(seen.n_read > 20);
}

TEST(scopehead_reads_the_functions_of_this_program)
{
	struct seen seen = {0};

	compare("/proc/self/exe", "this program", &seen);
	CHECK(seen.n_entries > 1000);
}

TEST(scopehead_survives_entries_and_abbreviations_with_wrong_bytes)
{
	/* A unit of version 4: its own entry, a function with a name, and a call of it that was inlined. */
	static const u8 info[] = {44, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1, 2, 'f', 0, 0, 0x10, 0, 0, 0,
		0, 0, 0, 0x20, 0, 0, 0, 3, 12, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 7, 0,
		0, 0},
			abbrevs[] = {1, 0x11, 1, 0, 0, 2, 0x2e, 1, 3, 8, 0x11, 1, 0x12, 6, 0, 0, 3,
				0x1d, 0, 0x31, 0x13, 0x11, 1, 0x12, 6, 0x59, 0x0b, 0, 0, 0};
	struct dieform_texts none = {0};
	struct dietree t = {.info = bytes_of(info, sizeof(info)),
		.abbrevs = bytes_of(abbrevs, sizeof(abbrevs))};
	struct dietree_unit unit = {.first = 11,
		.end = sizeof(info),
		.address_bytes = 8,
		.offset_bytes = 4,
		.version = 4};
	struct scopehead e;
	const char *name;
	u32 seed = 7;

	dietree_begin(&t, &unit);
	CHECK(scopehead_read(&t, &none, 27, &e));
	CHECK_EQ(e.low, 0x1000);
	CHECK_EQ(e.high, 0x1004);
	CHECK_EQ(e.call_line, 7);
	CHECK_EQ(e.origin, 12);
	CHECK(scopehead_name(&t, &none, 27, &name));
	CHECK_STR(name, "f");
	/* Neither the unit's own entry nor what is beyond the unit. */
	CHECK(!scopehead_read(&t, &none, 11, &e) && !scopehead_read(&t, &none, 5, &e) &&
		!scopehead_read(&t, &none, sizeof(info), &e));
	dietree_fini(&t);
	for (int round = 0; round < 20000; round++) {
		u8 i[sizeof(info)], a[sizeof(abbrevs)];
		u8 *p = round & 1 ? i : a;
		size_t n = round & 1 ? sizeof(i) : sizeof(a);

		memcpy(i, info, sizeof(i));
		memcpy(a, abbrevs, sizeof(a));
		for (int k = 0; k < 1 + round % 3; k++) {
			seed = seed * 1664525 + 1013904223;
			p[(seed >> 16) % n] = (u8)(seed >> 8);
		}
		t = (struct dietree){.info = bytes_of(i, sizeof(i)),
			.abbrevs = bytes_of(a, sizeof(a))};
		dietree_begin(&t, &unit);
		for (u64 at = 0; at <= sizeof(info); at++)
			if (scopehead_name(&t, &none, at, &name) && name)
				CHECK((const u8 *)name >= i && (const u8 *)name < i + sizeof(i));
		dietree_fini(&t);
	}
}
