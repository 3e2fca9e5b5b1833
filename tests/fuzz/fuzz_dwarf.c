/*
 * Debug information that is read without libdw: a line table, a list of ranges, a tree of functions,
 * a package of split units, or the relocations of a kernel module; the first byte says which.
 */
#include "fuzz/fuzz.h"

#include <elf.h>

#include "symbol/dwarf/dietree.h"
#include "symbol/dwarf/dwp.h"
#include "symbol/dwarf/linetable.h"
#include "symbol/dwarf/rangelist.h"
#include "symbol/elf/reloc.h"
#include "symbol/dwarf/scopehead.h"

static void read_lines(struct bytes b, bool is_wide)
{
	struct linetable_sections s = {b, b, b};
	struct linetable t = {0};
	struct arena texts = {0};
	struct linetable_row row;
	struct err err;
	u64 rows = 0;

	if (!linetable_open(&t, &s, 0, "/build", is_wide ? 8 : 4, &texts, &err)) {
		while (linetable_next(&t, &row)) {
			const char *path = linetable_path(&t, row.file);

			FUZZ_CHECK(!path || strlen(path) <= 2 * bytes_left(&b) + 8);
			rows++;
		}
		FUZZ_CHECK(rows <= bytes_left(&b));
	}
	linetable_fini(&t);
	arena_fini(&texts);
}

static void read_ranges(struct bytes b, u8 how)
{
	struct rangelist_source s = {.lists = b,
		.addresses = b,
		.base = 0x1000,
		.version = how & 1 ? 5 : 4,
		.address_bytes = how & 2 ? 8 : 4};
	struct rangelist l;
	u64 start, end, n = 0;

	rangelist_open(&l, &s, how >> 3, how & 4);
	while (rangelist_next(&l, &start, &end))
		n++;
	FUZZ_CHECK(n <= bytes_left(&b));
}

/* All sections are the same bytes. */
static void read_tree(struct bytes b, u8 how)
{
	struct dietree_unit unit = {.end = bytes_left(&b),
		.abbrev_offset = how >> 4,
		.address_bytes = how & 1 ? 8 : 4,
		.offset_bytes = how & 2 ? 8 : 4,
		.version = how & 4 ? 5 : 3};
	struct dietree t = {.info = b, .abbrevs = b};
	struct dieform_texts texts = {b, b};
	struct dietree_entry entry;
	const char *name;
	u64 n = 0;

	dietree_begin(&t, &unit);
	while (dietree_next(&t, &entry)) {
		FUZZ_CHECK(entry.offset < bytes_left(&b));
		if (scopehead_name(&t, &texts, entry.offset, &name) && name)
			FUZZ_CHECK((const u8 *)name + strlen(name) < b.end);
		n++;
	}
	FUZZ_CHECK(n <= bytes_left(&b));
	dietree_fini(&t);
}

static void read_package(const char *path)
{
	struct dwp_unit unit;
	struct dwp d;
	struct err err;

	if (dwp_open(&d, path, &err))
		return;
	for (u32 i = 0; i < MIN(d.n_slots, 64u); i++) {
		struct bytes b = d.signatures;
		u64 id;

		if (!bytes_skip(&b, 8ull * i) || !bytes_u64(&b, &id) || !dwp_find(&d, id, &unit))
			continue;
		for (int k = 0; k < DWP_SECTIONS; k++)
			FUZZ_CHECK(bytes_left(&unit.parts[k]) <= bytes_left(&d.sections[k]));
	}
	dwp_close(&d);
}

static void read_relocations(const u8 *data, size_t n)
{
	u8 *exact = fuzz_exact(data, n);
	struct elf elf;
	struct err err;

	if (!elf_of_memory(&elf, exact, n, &err)) {
		reloc_apply(&elf, exact, &err);
		elf_close(&elf);
	}
	free(exact);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct bytes b;
	u8 *exact;

	if (n < 2)
		return 0;
	exact = fuzz_exact(data + 2, n - 2);
	b = bytes_of(exact, n - 2);
	b.swap = data[0] & 0x80;
	switch (data[0] % 5) {
	case 0:
		read_lines(b, data[1] & 1);
		break;
	case 1:
		read_ranges(b, data[1]);
		break;
	case 2:
		read_tree(b, data[1]);
		break;
	case 3:
		read_package(fuzz_file(data + 2, n - 2));
		break;
	case 4:
		read_relocations(data + 2, n - 2);
	}
	free(exact);
	return 0;
}
