/*
 * rows.c - the rows of call frame information that pace compiles, for the comparison with readelf.
 *
 *     rows FILE
 *
 * For each row: address, the CFA, then the rules of the registers that have any.
 *
 *     rows --go FILE
 *
 * The same of what the table of a Go program says instead.
 *
 *     rows --check FILES...
 *
 * How many functions there are, and of how many the rows do not reach to the end; how many
 * expressions, and how many of them cannot be worked out.
 */
#include <stdio.h>
#include <stdlib.h>

#include "symbol/elf/elf.h"
#include "symbol/go/gocfi.h"
#include "unwind/expression.h"
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

static void open_cfi(struct cfi *cfi, const struct elf *elf)
{
	/* Without the search table: the index has all functions in it. */
	struct cfi_input in = {.eh_frame = section(elf, ".eh_frame"),
		.debug_frame = section(elf, ".debug_frame"),
		.is_64 = elf->is_64};

	cfi_init(cfi, &in);
}

/* ---- the check ---- */

struct tally {
	u64 n_functions, n_broken, n_expressions, n_unknown;
};

static bool read_something(void *ctx, u64 va, unsigned size, u64 *ret_v)
{
	(void)ctx, (void)va, (void)size;
	*ret_v = 0x1000;
	return true;
}

static void check_rule(const struct row_rule *rule, struct tally *tally)
{
	u64 regs[ROW_REGS] = {0}, first = 0x2000, v;
	struct expression_world world = {regs, UINT64_MAX, ROW_REGS, 8, read_something, NULL, 0};

	if (rule->kind != ROW_EXPRESSION && rule->kind != ROW_VAL_EXPRESSION)
		return;
	tally->n_expressions++;
	tally->n_unknown += !expression_eval(bytes_of(rule->expression, rule->size), &world,
		rule->reg == UINT8_MAX ? NULL : &first, &v);
}

static void check_function(struct rows *rows, const struct cfi *cfi, u64 start, struct tally *tally)
{
	const struct rows_function *function;
	bool is_cleared = false;
	struct entry_fde fde;
	u32 code, row;

	tally->n_functions++;
	if (!cfi_find(cfi, start, &fde) || !rows_find(rows, cfi, start, &code, &row, &is_cleared) ||
		rows->functions.at[code].end != fde.end) {
		tally->n_broken++;
		printf("broken: %llx\n", (unsigned long long)start);
		return;
	}
	function = &rows->functions.at[code];
	for (u32 i = 0; i < function->n_rows; i++) {
		const struct row *r = &rows->at.at[function->first_row + i];
		struct row_rule cfa = r->cfa;

		cfa.reg = UINT8_MAX;
		check_rule(&cfa, tally);
		for (u32 k = 0; k < r->n_rules; k++)
			check_rule(&rows->rules.at[r->first_rule + k], tally);
	}
}

/* Whether there is anything in the files that rows and expressions cannot express. */
static int check(char **files, int n)
{
	struct tally all = {0};
	u64 n_files = 0;

	for (int i = 0; i < n; i++) {
		struct rows rows = {0};
		struct tally tally = {0};
		struct cfi cfi;
		struct elf elf;
		struct err err;

		if (elf_open(&elf, files[i], &err))
			continue;
		open_cfi(&cfi, &elf);
		n_files += cfi.index.n > 0;
		vec_each(f, &cfi.index)
			check_function(&rows, &cfi, f->start, &tally);
		if (tally.n_broken || tally.n_unknown)
			printf("%s: %llu functions, %llu broken, %llu expressions, %llu unknown\n",
				files[i], (unsigned long long)tally.n_functions,
				(unsigned long long)tally.n_broken,
				(unsigned long long)tally.n_expressions,
				(unsigned long long)tally.n_unknown);
		all.n_functions += tally.n_functions;
		all.n_broken += tally.n_broken;
		all.n_expressions += tally.n_expressions;
		all.n_unknown += tally.n_unknown;
		rows_fini(&rows);
		cfi_fini(&cfi);
		elf_close(&elf);
	}
	printf("files %llu functions %llu broken %llu expressions %llu unknown %llu\n",
		(unsigned long long)n_files, (unsigned long long)all.n_functions,
		(unsigned long long)all.n_broken, (unsigned long long)all.n_expressions,
		(unsigned long long)all.n_unknown);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	bool is_go = argc == 3 && !strcmp(argv[1], "--go");
	struct rows rows = {0};
	struct str made = {0};
	struct cfi cfi;
	struct elf elf;
	struct err err;

	if (argc > 1 && !strcmp(argv[1], "--check"))
		return check(argv + 2, argc - 2);
	if (argc != 2 + is_go || elf_open(&elf, argv[argc - 1], &err)) {
		fprintf(stderr, "rows: %s\n", argc == 2 + is_go ? err.msg : "which file?");
		return EXIT_FAILURE;
	}
	if (is_go && gocfi_make(&elf, &made))
		cfi_init(&cfi,
			&(struct cfi_input){.debug_frame = bytes_of(made.at, made.n),
				.is_64 = elf.is_64});
	else
		open_cfi(&cfi, &elf);
	vec_each(f, &cfi.index)
		print_function(&rows, &cfi, f->start);
	rows_fini(&rows);
	cfi_fini(&cfi);
	str_fini(&made);
	elf_close(&elf);
	return EXIT_SUCCESS;
}
