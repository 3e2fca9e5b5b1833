#include "symbol/frameptr.h"

#include <elf.h>

#include "symbol/elfcfi.h"
#include "symbol/gotab.h"
#include "unwind/rows.h"

enum {
	PLACES = 512,
	PLACES_LEAST = 16,   /* that must have call frame information */
	KEPT_LEAST_PCT = 50, /* others may be assembler's, or leaves */
};

/* DWARF's number of the frame pointer. */
static const struct {
	u16 machine;
	u8 reg;
	bool is_saved; /* the CFA counts from the stack pointer, but the frame pointer is kept with it */
} archs[] = {
	{EM_X86_64, 6, false},
	{EM_386, 5, false},
	{EM_AARCH64, 29, true},
};

static bool row_has_frame(const struct rows *rows, const struct row *row, u8 reg, bool is_saved)
{
	if (row->cfa.kind == ROW_REGISTER && row->cfa.from == reg)
		return true;
	for (u32 i = 0; is_saved && i < row->n_rules; i++) {
		const struct row_rule *rule = &rows->rules.at[row->first_rule + i];

		if (rule->reg == reg && rule->kind == ROW_OFFSET)
			return true;
	}
	return false;
}

/* In its first instructions and in its last ones no function has one. */
static bool has_frame(const struct rows *rows, const struct rows_function *f, u8 reg, bool is_saved)
{
	for (u32 i = 0; i < f->n_rows; i++)
		if (row_has_frame(rows, &rows->at.at[f->first_row + i], reg, is_saved))
			return true;
	return false;
}

/* A function that never moves the stack pointer has no use for a frame, whatever it was compiled with. */
static bool takes_stack(const struct rows *rows, const struct rows_function *f)
{
	for (u32 i = 1; i < f->n_rows; i++) {
		const struct row *first = &rows->at.at[f->first_row], *row = first + i;

		if (row->cfa.kind != first->cfa.kind || row->cfa.from != first->cfa.from ||
			row->cfa.value != first->cfa.value)
			return true;
	}
	return false;
}

/* Go does, since 1.7 and 1.12, and says nothing of it in call frame information. */
static bool is_go(const struct elf *elf)
{
	struct gotab g;

	return (elf->machine == EM_X86_64 || elf->machine == EM_AARCH64) && gotab_open(&g, elf) &&
		g.version != GOTAB_1_2;
}

static enum frameptr judge(const struct elf *elf, u8 reg, bool is_saved)
{
	const struct elf_section *text = elf_section(elf, ".text");
	unsigned n = 0, n_frames = 0;
	struct rows rows = {0};
	struct cfi_input in;
	struct cfi cfi;

	if (!text)
		return FRAMEPTR_UNKNOWN;
	if (is_go(elf))
		return FRAMEPTR_KEPT;
	elfcfi_find(elf, &in);
	cfi_init(&cfi, &in);
	for (unsigned i = 0; i < PLACES; i++) {
		u64 va = text->addr + text->size / PLACES * i + text->size % PLACES * i / PLACES;
		bool is_cleared;
		u32 function, row;

		if (!rows_find(&rows, &cfi, va, &function, &row, &is_cleared))
			continue;
		if (!takes_stack(&rows, &rows.functions.at[function]))
			continue;
		n++;
		n_frames += has_frame(&rows, &rows.functions.at[function], reg, is_saved);
	}
	rows_fini(&rows);
	cfi_fini(&cfi);
	if (n < PLACES_LEAST)
		return FRAMEPTR_UNKNOWN;
	return n_frames * 100 >= n * KEPT_LEAST_PCT ? FRAMEPTR_KEPT : FRAMEPTR_OMITTED;
}

enum frameptr frameptr_of_file(const char *path)
{
	enum frameptr found = FRAMEPTR_UNKNOWN;
	struct elf elf;
	struct err ignored;

	if (elf_open(&elf, path, &ignored))
		return FRAMEPTR_UNKNOWN;
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++)
		if (archs[i].machine == elf.machine)
			found = judge(&elf, archs[i].reg, archs[i].is_saved);
	elf_close(&elf);
	return found;
}
