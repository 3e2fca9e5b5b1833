/* unithead and dwarf_list(): where units have their code, as libdw says. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "outside.h"
#include "symbol/dwarf/dwarf.h"
#include "symbol/dwarf/dwarffile.h"
#include "symbol/dwarf/unithead.h"
#include "test.h"

static const char source[] =
	"#include <stdio.h>\n"
	"__attribute__((cold, noinline)) int cold(int x) { puts(\"cold\"); return x; }\n"
	"static inline int leaf(int x) { return x / 3; }\n"
	"int f(int x) { return x > 7 ? cold(x) : leaf(x); }\n"
	"int main(int argc, char **argv) { (void)argv; return f(argc); }\n";

struct seen {
	unsigned n_quick, n_units;
	u64 sum; /* of all that is said */
};

/* Each unit as both see it; what is left to libdw is not compared. */
static void compare(const char *path, const char *how, struct seen *seen)
{
	Dwarf_Off at = 0, next;
	struct dwarf_handle *h;
	struct dwarf_file *f;
	struct elf elf;
	struct err err;
	size_t header;

	CHECK_EQ(elf_open(&elf, path, &err), 0);
	CHECK_EQ(dwarf_open(&f, &elf, &err), 0);
	h = dwarf_handle_new(f, &err);
	CHECK(h != NULL);
	for (; !dwarf_nextcu(h->dwarf, at, &next, &header, NULL, NULL, NULL); at = next) {
		struct unithead u;
		Dwarf_Addr low, high;
		Dwarf_Word place;
		Dwarf_Die die;

		seen->n_units++;
		if (!unithead_read(h->tree.info, h->tree.abbrevs, at, &u))
			continue;
		seen->n_quick++;
		CHECK(dwarf_offdie(h->dwarf, at + header, &die) != NULL);
		if (u.unit.end != next || u.unit.first != at + header ||
			u.tag != (u32)dwarf_tag(&die) || u.has_low != !dwarf_lowpc(&die, &low) ||
			u.has_high != !dwarf_highpc(&die, &high) ||
			u.has_ranges != dwarf_hasattr(&die, DW_AT_ranges) ||
			u.has_lines != dwarf_number(&die, DW_AT_stmt_list, &place) ||
			(u.has_low && u.low != low) || (u.has_high && u.high != high) ||
			(u.has_lines && u.lines != place))
			test_failed(__FILE__, __LINE__, "%s: the unit at 0x%llx is read otherwise",
				how, (unsigned long long)at);
		if (u.has_ranges) {
			CHECK(dwarf_number(&die, DW_AT_ranges, &place));
			CHECK_EQ(u.ranges, place);
		}
		seen->sum += u.low + u.high + u.ranges + u.lines;
	}
	dwarf_close(f);
	elf_close(&elf);
}

TEST(unithead_reads_units_of_any_version_as_libdw_does)
{
	static const char *const ways[] = {"-O2 -gdwarf-2", "-O2 -gdwarf-3", "-O2 -gdwarf-4",
		"-O2 -gdwarf-5", "-O0 -gdwarf-5 -gdwarf64", "-O2 -gdwarf-5 -ffunction-sections",
		"-O2 -gdwarf-5 -gz", "-O2 -g -flto", "-m32 -O2 -gdwarf-4", "-m32 -O2 -gdwarf-5"};
	unsigned n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct seen seen = {0};

		if (!outside_compile(source, "program", ways[i]))
			continue;
		compare(test_path("program"), ways[i], &seen);
		/* What gcc writes is not left to libdw. */
		CHECK(seen.n_quick > 0);
		n++;
	}
	if (!n)
		SKIP("the compiler makes no programs");
}

TEST(unithead_reads_or_leaves_what_clang_writes)
{
	static const char *const ways[] = {"-gdwarf-4", "-gdwarf-5", "-gdwarf-4 -gsplit-dwarf"};

	outside_need("clang");
	test_write(test_path("source.c"), source, sizeof(source) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct seen seen = {0};
		struct str out = {0};

		CHECK_EQ(outside_run(&out, "cd '%s' && clang -O2 %s -o program source.c 2>&1",
				 test_dir(), ways[i]),
			0);
		str_fini(&out);
		compare(test_path("program"), ways[i], &seen);
		CHECK(seen.n_units > 0);
	}
}

TEST(unithead_reads_the_units_of_this_program)
{
	struct seen seen = {0};

	compare("/proc/self/exe", "this program", &seen);
	CHECK(seen.n_units > 0 && seen.sum > 0);
}

TEST(unithead_survives_units_and_abbreviations_with_wrong_bytes)
{
	/* A unit of version 4: its own entry has low_pc, high_pc, stmt_list. */
	static const u8 info[] = {28, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 2, 0, 0x10, 0, 0, 0, 0, 0, 0,
		0x20, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0},
			abbrevs[] = {1, 0x2e, 0, 0x3f, 0x21, 5, 0, 0, 2, 0x11, 1, 0x11, 1, 0x12, 6,
				0x10, 0x17, 0, 0, 0};
	struct unithead u;
	u32 seed = 7;

	CHECK(unithead_read(bytes_of(info, sizeof(info)), bytes_of(abbrevs, sizeof(abbrevs)), 0,
		&u));
	CHECK_EQ(u.low, 0x1000);
	CHECK_EQ(u.high, 0x1020);
	CHECK_EQ(u.lines, 5);
	CHECK_EQ(u.unit.end, 32);
	CHECK_EQ(u.unit.first, 11);
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
		if (unithead_read(bytes_of(i, sizeof(i) - (round % 5 == 0)), bytes_of(a, sizeof(a)),
			    0, &u))
			CHECK(u.unit.end <= sizeof(i) && u.unit.first <= u.unit.end);
	}
}

/* 200 units that name one list of 70,000 ranges. */
static const char many[] =
	"asm(\".section .debug_abbrev,\\\"\\\",@progbits; .byte 1,0x11,0, 0x11,1, 0x55,0x17, 0,0, 0\\n\"\n"
	"\".section .debug_ranges,\\\"\\\",@progbits\\n.set at, 0x1000\\n"
	".rept 70000; .quad at, at + 8; .set at, at + 8; .endr; .quad 0,0\\n\"\n"
	"\".section .debug_info,\\\"\\\",@progbits\\n"
	".rept 200; .long 20; .value 4; .long 0; .byte 8; .byte 1; .quad 0; .long 0; .endr\\n\"\n"
	"\".text\\n.globl _start\\n_start: .fill 600000, 1, 0x90\");\n";

TEST(dwarf_list_of_real_files_is_far_from_the_most_that_it_takes)
{
	struct dwarf_handle *h;
	struct dwarf_file *f;
	dwarf_units units = {0};
	range_list ranges = {0};
	struct err err, complaint;
	struct elf elf;

	CHECK_EQ(elf_open(&elf, "/proc/self/exe", &err), 0);
	if (dwarf_open(&f, &elf, &err))
		SKIP("this was built without debug information");
	h = dwarf_handle_new(f, &err);
	CHECK(h != NULL);
	dwarf_list(h, &units, &ranges, &complaint);
	CHECK_EQ(complaint.code, 0);
	/* Units without code have none. */
	CHECK(units.n > 10 && ranges.n * 2 >= units.n);
	CHECK(ranges.n * 100 < h->ranges_max);
	vec_fini(&units);
	vec_fini(&ranges);
	dwarf_close(f);
	elf_close(&elf);
}

TEST(dwarf_list_says_that_there_are_more_ranges_than_it_takes)
{
	struct dwarf_handle *h;
	struct dwarf_file *f;
	dwarf_units units = {0};
	range_list ranges = {0};
	struct err err, complaint;
	struct elf elf;

	if (!outside_compile(many, "many", "-nostdlib -static -no-pie -Wl,-Ttext=0x1000 -g0"))
		SKIP("the compiler takes no assembler's text of this kind");
	CHECK_EQ(elf_open(&elf, test_path("many"), &err), 0);
	CHECK_EQ(dwarf_open(&f, &elf, &err), 0);
	h = dwarf_handle_new(f, &err);
	CHECK(h != NULL);
	dwarf_list(h, &units, &ranges, &complaint);
	CHECK_EQ(complaint.code, ERR_LIMIT);
	/* A list of 70,000 pairs of addresses and its end, and 200 units of 24 bytes. */
	CHECK_STR(complaint.msg,
		"its units claim to have more than 1124816 pieces of code, more than the file has bytes for: the rest is left out");
	CHECK_EQ(ranges.n, 1124816);
	vec_fini(&units);
	vec_fini(&ranges);
	dwarf_close(f);
	elf_close(&elf);
}
