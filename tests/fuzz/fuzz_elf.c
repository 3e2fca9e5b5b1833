/*
 * An ELF file: its sections, packed ones too, notes, link, and the table of its functions.
 */
#include "fuzz/fuzz.h"

#include <elf.h>

#include "symbol/elf/crt.h"
#include "symbol/elf/elfstarts.h"
#include "symbol/go/gocfi.h"
#include "symbol/go/gotab.h"
#include "symbol/dwarf/line.h"
#include "symbol/elf/symtab.h"

static volatile u8 sum; /* of all bytes: each is touched */

static void read_symbols(const struct elf *elf)
{
	struct symtab t = {0};
	u64 last = 0;

	symtab_add_elf(&t, elf, SHT_SYMTAB);
	gotab_add(&t, elf);
	symtab_finish(&t);
	symtab_merge_elf(&t, elf, SHT_DYNSYM);
	symtab_add_plt(&t, elf);
	vec_each(s, &t.symbols) {
		const struct symbol *found = symtab_find(&t, s->start);

		/* One symbol for each start, ascending; who asks for it finds it, unless it is empty. */
		FUZZ_CHECK(s == t.symbols.at || s->start > last);
		FUZZ_CHECK(s->end >= s->start);
		FUZZ_CHECK(s->end == s->start || found == s);
		FUZZ_CHECK(*s->name && strlen(s->name) < (size_t)1 << 30);
		last = s->start;
	}
	symtab_find(&t, 0);
	symtab_find(&t, UINT64_MAX);
	symtab_fini(&t);
}

static void read_beginning(const struct elf *elf)
{
	struct crt crt = crt_of(elf);
	struct elfstarts starts = {0};
	u64 start, end;

	for (u32 i = 0; i < elf->n_segments && i < 64; i++) {
		u64 va = elf->segments[i].va + elf->segments[i].file_size / 2;

		if (elfstarts_around(&starts, elf, va, &start, &end))
			FUZZ_CHECK(start <= va && va < end);
	}
	elfstarts_fini(&starts);

	FUZZ_CHECK(!crt.start == !crt.start_end);
	FUZZ_CHECK(!crt.main || crt.start);
}

/* A Go program's table: the lines of some functions, and how deep all have the stack. */
static void read_go(const struct elf *elf)
{
	struct line_frame frames[LINE_DEPTH_MAX];
	struct line_index *lines;
	struct gotab_function f;
	struct str section = {0};
	struct gotab g;
	struct err err;

	gocfi_make(elf, &section);
	str_fini(&section);
	if (!gotab_open(&g, elf) || line_open_go(&lines, elf, &err))
		return;
	for (u64 i = 0; i < 64 && gotab_function(&g, i, &f); i++) {
		FUZZ_CHECK(line_chain(lines, f.start, frames) <= LINE_DEPTH_MAX);
		line_chain(lines, f.start + (f.end - f.start) / 2, frames);
	}
	line_close(lines);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	u8 *copy = fuzz_exact(data, n), id[BUILD_ID_MAX];
	struct elf elf, inner;
	const char *link;
	struct err err;
	u64 va;
	u32 crc;

	if (!elf_of_memory(&elf, copy, n, &err)) {
		for (u32 i = 0; i < elf.n_sections && i < 64; i++) {
			struct bytes b;

			if (!elf_contents(&elf, elf_section_at(&elf, i), &b))
				continue;
			for (; b.at < b.end; b.at++)
				sum += *b.at;
		}
		FUZZ_CHECK(elf_build_id(&elf, id) <= BUILD_ID_MAX);
		if (elf_debug_link(&elf, &link, &crc))
			FUZZ_CHECK(strlen(link) < n);
		elf_address_of_offset(&elf, n / 2, &va);
		read_symbols(&elf);
		read_beginning(&elf);
		read_go(&elf);
		if (!elf_open_debugdata(&inner, &elf, &err)) {
			read_symbols(&inner);
			elf_close(&inner);
		}
		elf_close(&elf);
	}
	free(copy);
	return 0;
}
