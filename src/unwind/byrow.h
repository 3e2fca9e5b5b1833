/*
 * byrow.h - finds a caller by call frame information: steps one frame up by a row.
 *
 * In       a walk, and the row that is valid at its instruction
 * Out      the walk, moved to the caller
 * Errors   an ending; the walk has been changed even so
 */
#ifndef PACE_UNWIND_BYROW_H
#define PACE_UNWIND_BYROW_H

#include "unwind/walk.h"

/* Returns STACK_ENDINGS after a step, otherwise the reason why there was none. */
enum stack_ending byrow_step(struct walk *w, const struct rows_function *code,
	const struct row *row);

#endif
