#include "test.h"

#include <elf.h>

#include "arch/arch.h"

TEST(arch_is_found_by_each_of_its_names_and_its_machine)
{
	const struct arch *a;

	for (size_t i = 0; (a = arch_at(i)) != NULL; i++) {
		CHECK(a->names[0]);
		for (size_t k = 0; k < ARRAY_SIZE(a->names) && a->names[k]; k++)
			CHECK(arch_of_name(a->names[k]) == a);
		CHECK(arch_of_machine(a->machine) == a);
	}
	CHECK(!arch_of_name("vax"));
	CHECK(!arch_of_machine(EM_VAX));
	CHECK(!arch_of_machine(EM_NONE));
	CHECK(arch_of_name(NULL) == arch_of_host());
}

TEST(arch_has_siblings_that_name_each_other)
{
	const struct arch *a;

	for (size_t i = 0; (a = arch_at(i)) != NULL; i++) {
		CHECK(arch_with_word(a, a->word) == a);
		CHECK(!arch_with_word(a, 2));
		if (!a->sibling)
			continue;
		CHECK(a->sibling->sibling == a && a->sibling->word != a->word);
		CHECK(arch_with_word(a, a->sibling->word) == a->sibling);
	}
	CHECK(!arch_with_word(NULL, 8));
}

static bool has_register(const struct arch *a, u8 dwarf, u64 mask)
{
	for (unsigned i = 0; i < a->n_regs; i++)
		if (a->regs[i].dwarf == dwarf)
			return mask >> i & 1;
	return false;
}

/* Whose stacks are walked has a name for each register, and records those that a walk begins with. */
TEST(arch_records_the_registers_that_it_walks_with)
{
	const struct arch *a;

	for (size_t i = 0; (a = arch_at(i)) != NULL; i++) {
		CHECK_EQ(!a->n_regs, !a->caller_regs);
		if (!a->n_regs)
			continue;
		CHECK(has_register(a, a->sp, a->caller_regs));
		CHECK(has_register(a, a->ip, a->caller_regs));
		if (a->fp != ARCH_NO_FP)
			CHECK(has_register(a, a->fp, a->caller_regs));
		if (a->link != ARCH_NO_REG)
			CHECK(has_register(a, a->link, a->caller_regs));
		CHECK(a->n_regs == 64 || !(a->caller_regs >> a->n_regs));
		for (unsigned k = 0; k < a->n_regs; k++)
			CHECK(a->regs[k].name);
	}
}

/* Only what tells nothing of an architecture may lack a slot (arch/arch.h). */
TEST(arch_that_reads_code_reads_all_of_it)
{
	const struct arch *a;

	for (size_t i = 0; (a = arch_at(i)) != NULL; i++) {
		const struct arch_code *c = a->code;

		CHECK(!c ||
			(c->size && c->op && c->entry && c->frame && c->is_call_before &&
				c->callee && c->is_behind_system_call && c->is_exit));
		CHECK(!a->plt || (a->plt->slot && a->irelative && (!a->plt->size || a->plt->step)));
		CHECK(!a->is_x86 || c);
	}
}
