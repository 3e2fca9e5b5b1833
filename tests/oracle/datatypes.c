/*
 * datatypes.c - what each instruction of some functions accesses, as pace finds out.
 *
 *     datatypes FILE [FUNCTION...]
 *
 * A line an instruction: its address, its function, its type with offset and member, or what is said instead; the same of
 * the instruction before it.
 * Without functions only how often each outcome is, over all of the file's.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/types/datatype.h"
#include "symbol/elf/symtab.h"
#include "unwind/operand.h"

typedef VEC(u64) pc_list;

static void add_instructions(const struct elf *elf, const struct symbol *s, pc_list *pcs)
{
	const u8 *at = elf_bytes_at(elf, s->start, s->end - s->start);
	struct operand o;

	for (u64 i = 0; at && i < s->end - s->start; i += o.size) {
		if (!operand_decode(at + i, (u32)(s->end - s->start - i), elf->is_64, &o))
			return;
		vec_add(pcs, s->start + i);
	}
}

static void print_answer(const struct datatype_answer *a)
{
	struct str text = {0};

	if (a->outcome == DATATYPE_FOUND) {
		datatype_add_place(&text, a->type, a->offset, a->member);
		printf("%s", str_text(&text));
		str_fini(&text);
	} else if (datatype_outcome_reason(a->outcome)) {
		printf("%s %s", datatype_outcome_name(a->outcome),
			datatype_outcome_reason(a->outcome));
	} else {
		printf("%s", datatype_outcome_name(a->outcome));
	}
}

static void print(u64 pc, const char *function, const struct datatype_answer *a,
	const struct datatype_answer *before)
{
	printf("%llx\t%s\t", (unsigned long long)pc, function);
	print_answer(a);
	putchar('\t');
	print_answer(before);
	putchar('\n');
}

static bool is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc == 2;
}

static bool is_same(const struct datatype_answer *a, const struct datatype_answer *b)
{
	return a->outcome == b->outcome && a->offset == b->offset && !strcmp(a->type, b->type) &&
		!strcmp(a->member, b->member);
}

/* Whatever else is asked, an address has the same answers: recordings have some of a function's. */
static void check_alone(struct datatypes *types, u64 pc, const struct datatype_answer *together,
	const struct datatype_answer *together_before)
{
	struct datatype_answer answer, before;

	datatypes_find(types, &pc, 1, &answer, &before);
	if (is_same(&answer, together) && is_same(&before, together_before))
		return;
	printf("%llx alone\t", (unsigned long long)pc);
	print(pc, "together", together, together_before);
	print(pc, "alone", &answer, &before);
	exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	unsigned long long counts[DATATYPE_OUTCOMES] = {0};
	struct datatypes *types;
	struct symtab symbols = {0};
	struct elf elf;
	struct err err;

	if (argc < 2 || elf_open(&elf, argv[1], &err) || datatypes_open(&types, &elf, &elf, &err)) {
		fprintf(stderr, "%s\n", argc < 2 ? "datatypes FILE [FUNCTION...]" : err.msg);
		return EXIT_FAILURE;
	}
	symtab_add_elf(&symbols, &elf, SHT_SYMTAB);
	symtab_finish(&symbols);
	vec_each(s, &symbols.symbols) {
		pc_list pcs = {0};
		struct datatype_answer *answers, *befores;

		if (!is_wanted(s->name, argc, argv))
			continue;
		add_instructions(&elf, s, &pcs);
		answers = calloc(pcs.n + 1, sizeof(*answers));
		befores = calloc(pcs.n + 1, sizeof(*befores));
		datatypes_find(types, pcs.at, pcs.n, answers, befores);
		for (size_t i = 0; i < pcs.n; i++) {
			counts[answers[i].outcome]++;
			if (argc > 2)
				print(pcs.at[i], s->name, &answers[i], &befores[i]);
		}
		for (size_t i = 0; argc > 2 && i < pcs.n; i++)
			check_alone(types, pcs.at[i], &answers[i], &befores[i]);
		free(answers);
		free(befores);
		vec_fini(&pcs);
	}
	for (int i = 0; i < DATATYPE_OUTCOMES; i++)
		printf("# %llu %s %s\n", counts[i], datatype_outcome_name(i),
			datatype_outcome_reason(i) ? datatype_outcome_reason(i) : "");
	symtab_fini(&symbols);
	datatypes_close(types);
	elf_close(&elf);
	return EXIT_SUCCESS;
}
