#include "profile/forget.h"

static u32 function_at(const struct profile *p, u32 frame)
{
	u32 symbol = p->frames.at[frame].symbol, function = p->symbols.at[symbol].function;

	return function ? function : symbol;
}

void forget_callees(struct profile *p, const regex_t *expression)
{
	u8 slot = p->slots[LABEL_FRAME];
	bool *matches = mem_zalloc(p->symbols.n + 1);
	u32 *outermost = mem_zalloc((p->stacks.n + 1) * sizeof(*outermost)); /* 0: none matches */

	for (size_t i = 1; i < p->symbols.n; i++)
		matches[i] = p->symbols.at[i].name &&
			!regexec(expression, p->symbols.at[i].name, 0, NULL, 0);
	/* Parents come before their children. */
	for (u32 i = 1; i < p->stacks.n; i++) {
		const struct profile_stack *stack = &p->stacks.at[i];

		outermost[i] = outermost[stack->parent];
		if (!outermost[i] && matches[function_at(p, stack->frame)])
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
