/*
 * rows.c - the rows of call frame information that pace compiles, for the comparison with readelf.
 *
 *     rows FILE
 *
 * For each row: address, the CFA, then the rules of the registers that have any.
 */
#include <stdio.h>
#include <stdlib.h>

#include "symbol/elf.h"
#include "unwind/rows.h"

static struct bytes section(const struct elf *elf, const char *name)
{
	const struct elf_section *s = elf_section(elf, name);
	struct bytes b = {0};

	if (s && elf_contents(elf, s, &b))
		b.offset = s->addr;
	return b;
}

static void print_rule(const char *name, const struct row_rule *rule)
{
	switch (rule->kind) {
	case ROW_UNDEFINED:
		printf(" %s=u", name);
		break;
	case ROW_OFFSET:
		printf(" %s=c%+lld", name, (long long)rule->value);
		break;
	case ROW_VAL_OFFSET:
		printf(" %s=v%+lld", name, (long long)rule->value);
		break;
	case ROW_REGISTER:
		printf(" %s=r%u", name, rule->from);
		break;
	case ROW_EXPRESSION:
		printf(" %s=exp", name);
		break;
	case ROW_VAL_EXPRESSION:
		printf(" %s=vexp", name);
		break;
	}
}

static void print_function(struct rows *rows, const struct cfi *cfi, u64 start)
{
	bool is_cleared;
	u32 code, row;

	if (!rows_find(rows, cfi, start, &code, &row, &is_cleared)) {
		printf("%llx none\n", (unsigned long long)start);
		return;
	}
	for (u32 i = 0; i < rows->functions.at[code].n_rows; i++) {
		const struct row *r = &rows->at.at[rows->functions.at[code].first_row + i];

		printf("%llx", (unsigned long long)r->start);
		if (r->cfa.kind == ROW_REGISTER)
			printf(" cfa=%u%+lld", r->cfa.from, (long long)r->cfa.value);
		else
			printf(" cfa=exp");
		for (u32 k = 0; k < r->n_rules; k++) {
			const struct row_rule *rule = &rows->rules.at[r->first_rule + k];
			char name[16];

			snprintf(name, sizeof(name), "%u", rule->reg);
			print_rule(name, rule);
		}
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	struct rows rows = {0};
	struct cfi_input in;
	struct cfi cfi;
	struct elf elf;
	struct err err;

	if (argc != 2 || elf_open(&elf, argv[1], &err)) {
		fprintf(stderr, "rows: %s\n", argc == 2 ? err.msg : "which file?");
		return EXIT_FAILURE;
	}
	/* Without the search table: the index has all functions in it. */
	in = (struct cfi_input){.eh_frame = section(&elf, ".eh_frame"), .is_64 = elf.is_64};
	cfi_init(&cfi, &in);
	vec_each(f, &cfi.index)
		print_function(&rows, &cfi, f->start);
	rows_fini(&rows);
	cfi_fini(&cfi);
	elf_close(&elf);
	return EXIT_SUCCESS;
}
