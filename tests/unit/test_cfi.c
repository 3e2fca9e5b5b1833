#include "test.h"

#include <link.h>

#include "symbol/elf/elf.h"
#include "unit/cfimaker.h"
#include "unwind/rows.h"

/* x86-64: the CFA is 8 above the stack pointer, the return address below the CFA. */
#define CFA_AT_ENTRY 0x0c, 7, 8, 0x90, 1

static struct row row_at(struct rows *rows, const struct cfi *cfi, u64 rva)
{
	u32 code, row;
	bool is_cleared;

	CHECK(rows_find(rows, cfi, rva, &code, &row, &is_cleared));
	return rows->at.at[row];
}

static const struct row_rule *rule_of(const struct rows *rows, const struct row *row, u8 reg)
{
	for (u32 i = 0; i < row->n_rules; i++)
		if (rows->rules.at[row->first_rule + i].reg == reg)
			return &rows->rules.at[row->first_rule + i];
	return NULL;
}

TEST(cfi_rows_follow_the_instructions_of_a_function)
{
	struct cfimaker m = {0};
	struct rows rows = {0};
	struct cfi cfi;
	struct cfi_input in;
	struct row row;

	cfimaker_cie(&m, "", -8, 16, CODE(CFA_AT_ENTRY));
	/* push rbp; mov rbp,rsp; remember; pop; restore; a long advance */
	cfimaker_fde(&m, 0x1000, 0x400,
		CODE(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x4a, 0x0a, 0x0c, 7, 8, 0xc6, 0x41,
			0x0b, 0x03, 0x00, 0x01, 0x07, 16));
	in = cfimaker_input(&m);
	cfi_init(&cfi, &in);
	row = row_at(&rows, &cfi, 0x1000);
	CHECK(row.cfa.from == 7 && row.cfa.value == 8);
	CHECK_EQ(rule_of(&rows, &row, 16)->value, -8);
	CHECK(!rule_of(&rows, &row, 6));
	row = row_at(&rows, &cfi, 0x1003);
	CHECK(row.cfa.from == 7 && row.cfa.value == 16);
	CHECK_EQ(rule_of(&rows, &row, 6)->value, -16);
	row = row_at(&rows, &cfi, 0x1004);
	CHECK(row.cfa.from == 6 && row.cfa.value == 16);
	row = row_at(&rows, &cfi, 0x100e);
	CHECK(row.cfa.from == 7 && row.cfa.value == 8 && !rule_of(&rows, &row, 6));
	row = row_at(&rows, &cfi, 0x10ff);
	CHECK(row.cfa.from == 6 && row.cfa.value == 16 && rule_of(&rows, &row, 6));
	row = row_at(&rows, &cfi, 0x13ff);
	CHECK_EQ(rule_of(&rows, &row, 16)->kind, ROW_UNDEFINED);
	CHECK_EQ(rows.functions.n, 1);
	rows_fini(&rows);
	cfi_fini(&cfi);
	str_fini(&m.bytes);
}

TEST(cfi_remembers_the_offset_while_the_cfa_is_an_expression)
{
	struct cfimaker m = {0};
	struct rows rows = {0};
	struct cfi_input in;
	struct row row;
	struct cfi cfi;

	cfimaker_cie(&m, "", -8, 16, CODE(CFA_AT_ENTRY));
	cfimaker_fde(&m, 0x1000, 0x400, CODE(0x0e, 56, 0x44, 0x0f, 2, 0x77, 8, 0x44, 0x0d, 7));
	in = cfimaker_input(&m);
	cfi_init(&cfi, &in);
	row = row_at(&rows, &cfi, 0x1004);
	CHECK_EQ(row.cfa.kind, ROW_VAL_EXPRESSION);
	row = row_at(&rows, &cfi, 0x1008);
	CHECK(row.cfa.kind == ROW_REGISTER && row.cfa.from == 7 && row.cfa.value == 56);
	rows_fini(&rows);
	cfi_fini(&cfi);
	str_fini(&m.bytes);
}

TEST(cfi_covers_functions_from_their_first_to_their_last_byte)
{
	struct cfimaker m = {0};
	struct entry_fde f;
	struct cfi_input in;
	struct cfi cfi;

	cfimaker_cie(&m, "", -8, 16, CODE(CFA_AT_ENTRY));
	cfimaker_fde(&m, 0x3000, 0x10, CODE(0));
	cfimaker_fde(&m, 0x1000, 0x10, CODE(0));
	/* dropped by the linker */
	cfimaker_fde(&m, 0, 0x10, CODE(0));
	in = cfimaker_input(&m);
	cfi_init(&cfi, &in);
	CHECK_EQ(cfi.index.n, 2);
	CHECK(!cfi_find(&cfi, 0xfff, &f));
	CHECK(cfi_find(&cfi, 0x1000, &f) && f.start == 0x1000);
	CHECK(cfi_find(&cfi, 0x100f, &f) && f.end == 0x1010);
	CHECK(!cfi_find(&cfi, 0x1010, &f));
	CHECK(cfi_find(&cfi, 0x3008, &f) && f.start == 0x3000);
	CHECK(!cfi_find(&cfi, 0x3010, &f));
	cfi_fini(&cfi);
	str_fini(&m.bytes);
}

TEST(cfi_of_a_damaged_function_ends_where_the_damage_begins)
{
	struct cfimaker m = {0};
	struct rows rows = {0};
	struct cfi_input in;
	struct cfi cfi;
	u32 code, row;
	bool is_cleared;

	cfimaker_cie(&m, "", -8, 16, CODE(CFA_AT_ENTRY));
	/* from 0x1004 on: a state restored that was never remembered */
	cfimaker_fde(&m, 0x1000, 0x100, CODE(0x44, 0x0e, 16, 0x44, 0x0b));
	in = cfimaker_input(&m);
	cfi_init(&cfi, &in);
	CHECK(rows_find(&rows, &cfi, 0x1003, &code, &row, &is_cleared));
	CHECK(rows_find(&rows, &cfi, 0x1007, &code, &row, &is_cleared));
	CHECK(!rows_find(&rows, &cfi, 0x1008, &code, &row, &is_cleared));
	rows_fini(&rows);
	cfi_fini(&cfi);
	str_fini(&m.bytes);
}

static void try_all(const u8 *bytes, size_t n)
{
	u8 *copy = mem_alloc(n + 1);
	struct cfi_input in = {.eh_frame = bytes_of(memcpy(copy, bytes, n), n), .is_64 = true};
	struct rows rows = {0};
	struct cfi cfi;
	u32 code, row;
	bool is_cleared;

	in.eh_frame.offset = CFIMAKER_AT;
	in.debug_frame = in.eh_frame;
	cfi_init(&cfi, &in);
	for (u64 rva = 0x1000; rva < 0x1100; rva += 4)
		rows_find(&rows, &cfi, rva, &code, &row, &is_cleared);
	rows_fini(&rows);
	cfi_fini(&cfi);
	mem_free(copy);
}

TEST(cfi_survives_cuts_and_changes_everywhere)
{
	struct cfimaker m = {0};
	u8 *bytes;
	size_t n;

	cfimaker_cie(&m, "z", -8, 16, CODE(CFA_AT_ENTRY));
	cfimaker_fde(&m, 0x1000, 0x100,
		CODE(0x41, 0x0f, 3, 0x77, 8, 6, 0x10, 6, 2, 0x76, 0, 0x0a, 0x0b, 0x2e, 0x90, 1));
	n = m.bytes.n;
	bytes = mem_alloc(n);
	memcpy(bytes, m.bytes.at, n);
	for (size_t i = 0; i < n; i++)
		try_all(bytes, i);
	for (size_t i = 0; i < n; i++) {
		for (unsigned v = 0; v < 256; v += 5) {
			u8 was = bytes[i];

			bytes[i] = (u8)v;
			try_all(bytes, n);
			bytes[i] = was;
		}
	}
	mem_free(bytes);
	str_fini(&m.bytes);
}

/* ---- a real file ---- */

static struct bytes section(const struct elf *elf, const char *name)
{
	const struct elf_section *s = elf_section(elf, name);
	struct bytes b = {0};

	if (s && elf_contents(elf, s, &b))
		b.offset = s->addr;
	return b;
}

static int note_libc(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (strstr(info->dlpi_name, "libc.so"))
		snprintf(path, 256, "%s", info->dlpi_name);
	return 0;
}

TEST(cfi_finds_the_same_in_libc_with_and_without_its_search_table)
{
	char path[256] = "";
	struct cfi with, without;
	struct cfi_input in;
	struct entry_fde a, b;
	struct elf elf;
	struct err err;

	dl_iterate_phdr(note_libc, path);
	if (!*path || elf_open(&elf, path, &err))
		SKIP("this program has no libc.so");
	in = (struct cfi_input){section(&elf, ".eh_frame"), section(&elf, ".eh_frame_hdr"),
		.is_64 = elf.is_64};
	cfi_init(&with, &in);
	in.eh_frame_hdr = (struct bytes){0};
	cfi_init(&without, &in);
	CHECK(with.n_in_table > 1000 && !with.index.n);
	CHECK_EQ(without.index.n, with.n_in_table);
	vec_each(f, &without.index) {
		CHECK(cfi_find(&with, f->start, &a) && cfi_find(&without, f->start, &b));
		CHECK(a.start == b.start && a.end == b.end &&
			a.instructions.at == b.instructions.at);
		CHECK(cfi_find(&with, f->end - 1, &a) && a.start == f->start);
	}
	cfi_fini(&with);
	cfi_fini(&without);
	elf_close(&elf);
}
