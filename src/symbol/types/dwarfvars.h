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

#include "base/sort.h"
#include "base/table.h"
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
	u8 reg;         /* as operands have it */
};

struct dwarfvars_call {
	u64 at;         /* where it returns to */
	Dwarf_Die type; /* of what it returns; addr NULL: nothing, or it is not known */
};

struct dwarfvars_calls {
	VEC(struct dwarfvars_call) at;
	VEC(struct sort_item) order; /* by where they return to; of the first order.n of them */
};

/* A place in memory, by where it begins. */
struct dwarfvars_spot {
	u32 group; /* its kind and register */
	u32 place;
	s64 start, end, reach; /* reach: the furthest end of all of the group up to here */
};

struct dwarfvars {
	bool is_64; /* x86-64, not i386: whose registers are numbered otherwise */
	VEC(struct dwarfvars_place) places;
	VEC(struct dwarfvars_spot) spots; /* of all places but those in registers, once indexed */
	struct dwarfvars_calls calls;
};

struct dwarfvars_name {
	const char *text;
	Dwarf_Die type;
};

struct dwarfvars_names {
	VEC(struct dwarfvars_name) at;
	struct table index;
	bool is_read;
};

/* Variables that are at the same place all the time: of the unit, outside of functions. */
void dwarfvars_add_unit(struct dwarfvars *v, Dwarf_Die *unit);

/* All of a function. */
void dwarfvars_add_function(struct dwarfvars *v, Dwarf_Die *function);

/* When all are there, and before one is looked for. */
void dwarfvars_index(struct dwarfvars *v);

/*
 * The variable in memory that covers `at`, counted as its kind says; of several the one in the
 * innermost block. NULL: there is none there at that address of code.
 */
const struct dwarfvars_place *dwarfvars_find(const struct dwarfvars *v, u64 pc, u8 kind, u8 reg,
	s64 at);

/* What a call returns that comes back there, or a function that begins there; false: not known. */
bool dwarfvars_find_call(struct dwarfvars_calls *calls, u64 at, Dwarf_Die *ret_type);

void dwarfvars_clear(struct dwarfvars *v);

/*
 * A variable of the unit by its name, which may be only declared there; false: there is none. The
 * names are read when one is asked for first.
 */
bool dwarfvars_find_declared(struct dwarfvars_names *names, Dwarf_Die *unit, const char *name,
	Dwarf_Die *ret_type);
void dwarfvars_forget_names(struct dwarfvars_names *names);

void dwarfvars_fini(struct dwarfvars *v);

#endif
