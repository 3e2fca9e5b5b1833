/*
 * byrow.h - a caller by call frame information: one frame up by a row.
 *
 * In       a walk, the row that holds at its instruction
 * Out      the walk in the caller
 * Errors   an ending; the walk has changed all the same
 */
#ifndef PACE_UNWIND_BYROW_H
#define PACE_UNWIND_BYROW_H

#include "unwind/walk.h"

/* STACK_ENDINGS: it is done; else why it is not. */
enum stack_ending byrow_step(struct walk *w, const struct rows_function *code,
	const struct row *row);

#endif
