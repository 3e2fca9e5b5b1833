#include "test.h"

#include "symbol/types/predecessor.h"

/* Instructions of two bytes: what each accesses is its address, in the answer's offset. */
struct line {
	u8 flow;
	s64 to; /* address */
	bool is_compare;
};

static void run(const struct line *lines, size_t n, const u64 *pcs, size_t n_pcs,
	struct datatype_answer *answers)
{
	struct predecessor f;

	predecessor_begin(&f, pcs, n_pcs);
	for (size_t i = 0; i < n; i++) {
		struct operand o = {.size = 2,
			.flow = lines[i].flow,
			.access = OPERAND_MEMORY,
			.is_compare = lines[i].is_compare,
			.to = lines[i].to - (s64)(2 * i + 2)};
		struct datatype_answer a = {DATATYPE_FOUND, "int", "", 2 * i, 4, 0, 2 * i};

		if (!predecessor_needs(&f, 2 * i, &o))
			a.outcome = DATATYPE_OUTCOMES; /* must not come out */
		predecessor_take(&f, 2 * i, &o, &a);
	}
	predecessor_finish(&f, answers);
}

TEST(predecessor_is_the_instruction_in_front)
{
	const struct line lines[] = {{OPERAND_ON, 0, 0}, {OPERAND_ON, 0, 0}, {OPERAND_ON, 0, 0}};
	struct datatype_answer answers[3];

	run(lines, 3, (const u64[]){0, 2, 4}, 3, answers);
	CHECK_EQ(answers[0].outcome, DATATYPE_NO_ACCESS);
	CHECK(answers[1].outcome == DATATYPE_FOUND && answers[1].offset == 0);
	CHECK(answers[2].outcome == DATATYPE_FOUND && answers[2].offset == 2);
	CHECK_EQ(answers[2].pc, 2);
}

TEST(predecessor_of_what_is_behind_a_branch_is_the_comparison)
{
	const struct line lines[] = {{OPERAND_ON, 0, 1}, {OPERAND_BRANCH, 100, 0},
		{OPERAND_ON, 0, 0}, {OPERAND_BRANCH, 100, 0}, {OPERAND_ON, 0, 0}};
	struct datatype_answer answers[2];

	run(lines, 5, (const u64[]){4, 8}, 2, answers);
	CHECK(answers[0].outcome == DATATYPE_FOUND && answers[0].offset == 0);
	CHECK_EQ(answers[1].outcome, DATATYPE_NO_ACCESS);
	/* Of two instructions that are one to the processor, it is the comparison; a branch alone is itself. */
	CHECK_EQ(answers[0].pc, 0);
	CHECK_EQ(answers[1].pc, 6);
}

TEST(predecessor_of_a_loops_beginning_is_its_end)
{
	/* 0: before it; 2: loop; 4: compare; 6: back to 2 */
	const struct line lines[] = {{OPERAND_ON, 0, 0}, {OPERAND_ON, 0, 0}, {OPERAND_ON, 0, 1},
		{OPERAND_BRANCH, 2, 0}};
	struct datatype_answer answers[1];

	run(lines, 4, (const u64[]){2}, 1, answers);
	CHECK(answers[0].outcome == DATATYPE_FOUND && answers[0].offset == 4);
}

TEST(predecessor_is_not_known_where_ways_meet_that_differ)
{
	/* 0: compare; 2: to 8; 4: load; 6: load; 8: both lead here; 10: away; 12: only from 14, backwards is none */
	const struct line lines[] = {{OPERAND_ON, 0, 1}, {OPERAND_BRANCH, 8, 0}, {OPERAND_ON, 0, 0},
		{OPERAND_ON, 0, 0}, {OPERAND_ON, 0, 0}, {OPERAND_END, 0, 0}, {OPERAND_ON, 0, 0}};
	struct datatype_answer answers[2];

	run(lines, 7, (const u64[]){8, 12}, 2, answers);
	CHECK_EQ(answers[0].outcome, DATATYPE_WAYS);
	CHECK_EQ(answers[0].pc, 0);
	CHECK_EQ(answers[1].outcome, DATATYPE_NO_ACCESS);
}

TEST(predecessor_of_an_address_that_is_asked_twice_is_said_twice)
{
	const struct line lines[] = {{OPERAND_ON, 0, 0}, {OPERAND_ON, 0, 0}};
	struct datatype_answer answers[2];

	run(lines, 2, (const u64[]){2, 2}, 2, answers);
	CHECK(answers[0].outcome == DATATYPE_FOUND && answers[1].outcome == DATATYPE_FOUND);
	CHECK(answers[0].offset == 0 && answers[1].offset == 0);
}
