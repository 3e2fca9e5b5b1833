#include "profile/tree/ignore.h"

#include "profile/gather/matching.h"

void ignore_callees(struct profile *p, const regex_t *expression)
{
	u8 slot = p->slots[LABEL_FRAME];
	bool *matches = matching_symbols(p, expression);
	u32 *outermost = mem_zalloc((p->stacks.n + 1) * sizeof(*outermost)); /* 0: none matches */

	/* Parents come before their children. */
	for (u32 i = 1; i < p->stacks.n; i++) {
		const struct profile_stack *stack = &p->stacks.at[i];

		outermost[i] = outermost[stack->parent];
		if (!outermost[i] && matches[profile_frame_function(p, stack->frame)])
			outermost[i] = i;
	}
	for (size_t i = 0; i < p->rows.n; i++) {
		struct profile_row *row = &p->rows.at[i];
		u32 stack = outermost[row->callers];

		if (!stack)
			continue;
		row->frame = p->stacks.at[stack].frame;
		row->callers = p->stacks.at[stack].parent;
		if (slot)
			p->cells.at[i * p->n_labels + slot - 1] = row->frame;
	}
	mem_free(matches);
	mem_free(outermost);
}
