/*
 * dwarfvars.h - where the variables of functions are: in which register, in memory at which distance
 * from which register or from the frame, at which address, and from where to where in the code.
 *
 * In       a unit's entry, or a function's in it, through libdw
 * Out      places of its variables and parameters, also of what was inlined; what calls return
 * Owns     vectors, which the caller frees
 * Units    addresses as the file counts (rva); ranges half-open
 * Errors   none: places that only an expression tells are left out
 * Threads  as the libdw handle
 * Source   DWARF 5, 2.6 (locations), 3.4 (call sites), 4.1 (variables)
 */
#ifndef PACE_SYMBOL_DWARFVARS_H
#define PACE_SYMBOL_DWARFVARS_H

#include <elfutils/libdw.h>

#include "base/types.h"
#include "base/vec.h"

enum dwarfvars_kind {
	VARS_REGISTER, /* in register `reg`: what lies at `offset` of the variable */
	VARS_NEAR,     /* in memory, at register `reg` + offset */
	VARS_FRAME,    /* in memory, at the frame's address (CFA) + offset */
	VARS_ADDRESS,  /* in memory, at the address `offset` */
};

struct dwarfvars_place {
	u64 start, end; /* of the code where that holds */
	s64 offset;
	Dwarf_Die type; /* of the whole variable */
	u32 depth;      /* of its block; what is deeper hides what is not */
	u8 kind;        /* enum dwarfvars_kind */
	u8 reg;         /* its DWARF number */
};

struct dwarfvars_call {
	u64 at;         /* where it returns to */
	Dwarf_Die type; /* of what it returns; addr NULL: nothing, or it is not known */
};

typedef VEC(struct dwarfvars_call) dwarfvars_calls;

struct dwarfvars {
	VEC(struct dwarfvars_place) places;
	dwarfvars_calls calls;
};

/* Variables that are at the same place all the time: of the unit, outside of functions. */
void dwarfvars_add_unit(struct dwarfvars *v, Dwarf_Die *unit);

/* All of a function. */
void dwarfvars_add_function(struct dwarfvars *v, Dwarf_Die *function);

/* A variable of the unit that is only declared there, by its name; false: there is none. */
bool dwarfvars_find_declared(Dwarf_Die *unit, const char *name, Dwarf_Die *ret_type);

void dwarfvars_fini(struct dwarfvars *v);

#endif
