/*
 * gosteps.h - a value that changes along the code of a Go function: a list of steps, each valid from one
 * instruction up to another.
 *
 * In       an offset in the table's steps (symbol/go/gotab)
 * Out      steps, ascending
 * Errors   none: malformed data ends the list
 * Source   Go: src/runtime/symtab.go (pcvalue, step)
 */
#ifndef PACE_SYMBOL_GOSTEPS_H
#define PACE_SYMBOL_GOSTEPS_H

#include "symbol/go/gotab.h"
#include "unwind/leb.h"

struct gosteps {
	struct bytes left;
	u64 from, end; /* of the step, and of the function */
	u64 to;        /* start of the next step */
	s32 value;
	u8 quantum;
	bool has_begun;
};

/* at: 0: the function has no such list. */
static inline struct gosteps gosteps_of(const struct gotab *g, const struct gotab_function *f,
	u32 at)
{
	return (struct gosteps){.left = at ? gotab_part(g, GOTAB_STEPS, at) : (struct bytes){0},
		.to = f->start,
		.end = f->end,
		.value = -1,
		.quantum = g->quantum};
}

/* Moves to the next step. Returns false after the last one, which ended at s->to. */
static inline bool gosteps_next(struct gosteps *s)
{
	u64 change, size;

	if (s->to >= s->end || !leb_u64(&s->left, &change) || (!change && s->has_begun) ||
		!leb_u64(&s->left, &size))
		return false;
	/* The lowest bit is the sign. */
	s->value = (s32)((u32)s->value + (u32)(change & 1 ? ~(change >> 1) : change >> 1));
	s->has_begun = true;
	s->from = s->to;
	s->to = MIN(s->end, s->from + (u64)(u32)size * s->quantum);
	return true;
}

#endif
