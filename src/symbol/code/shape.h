/*
 * shape.h - what is left of an instruction when two builds of a function are compared.
 *
 * Another build has other addresses; if the compiler assigned registers or laid out the stack otherwise, those differ too. An
 * instruction therefore has two keys: `exact` is the same if only addresses of code and data may differ, `loose` also if other
 * registers, other places on the stack, or other numbers that are too big to be anything but addresses are used.
 * In       an instruction's text, in the shape of symbol/code/listing, and what its addresses mean
 * Out      two keys
 * Owns     nothing
 */
#ifndef PACE_SYMBOL_SHAPE_H
#define PACE_SYMBOL_SHAPE_H

#include "base/str.h"
#include "base/types.h"

struct shape_text {
	const char *text;
	bool is_bytes;      /* no instruction: compared as it stands */
	bool has_target;    /* the last operand is where it goes: */
	const char *target; /* the function there; NULL: unknown, or a place in the same function */
	bool has_reference; /* it refers to data relative to itself: */
	const char *reference; /* its name; NULL: unknown */
};

struct shape {
	u64 exact, loose;
};

/* `scratch` is overwritten. */
struct shape shape_of(const struct shape_text *t, struct str *scratch);

#endif
