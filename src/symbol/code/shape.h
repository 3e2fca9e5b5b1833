/*
 * shape.h - normalizes an instruction for comparing two builds of a function.
 *
 * Another build has other addresses, and maybe other registers or another stack layout. An instruction therefore
 * has two keys: `exact` is equal if only addresses of code and data differ; `loose` is also equal if registers,
 * places on the stack, or numbers that are so large that they can only be addresses differ.
 * In       an instruction's text, in the format of symbol/code/listing, and what its addresses mean
 * Out      two keys
 * Owns     nothing
 */
#ifndef PACE_SYMBOL_SHAPE_H
#define PACE_SYMBOL_SHAPE_H

#include "base/str.h"
#include "base/types.h"

struct shape_text {
	const char *text;
	bool is_bytes;      /* not an instruction: its text is compared unchanged */
	bool has_target;    /* the last operand is a jump's target: */
	const char *target; /* the function there; NULL: unknown, or a place in the same function */
	bool has_reference; /* it refers to data by a relative address: */
	const char *reference; /* its name; NULL: unknown */
};

struct shape {
	u64 exact, loose;
};

/* `scratch` is overwritten. */
struct shape shape_of(const struct shape_text *t, struct str *scratch);

#endif
