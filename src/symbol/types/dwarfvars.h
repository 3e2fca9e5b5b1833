/*
 * dwarfvars.h - the locations of variables: in a register, in memory relative to a register or to the
 * frame, or at an address, each for a range of code.
 *
 * In       a unit's entry, or a function's in it, through libdw
 * Out      places of its variables and parameters, including inlined functions; the result types of calls
 * Owns     vectors, which the caller frees
 * Units    addresses as in the file (rva); ranges half-open
 * Errors   none: places that need an expression are left out
 * Threads  like the libdw handle
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
	VARS_REGISTER, /* register `reg` holds the part of the variable at `offset` */
	VARS_NEAR,     /* in memory, at register `reg` + offset */
	VARS_FRAME,    /* in memory, at the frame's address (CFA) + offset */
	VARS_ADDRESS,  /* in memory, at the address `offset` */
};

struct dwarfvars_place {
	u64 start, end; /* the code for which the place is valid */
	s64 offset;
	Dwarf_Die type; /* of the whole variable */
	u32 depth;      /* of its block; deeper variables hide the others */
	u8 kind;        /* enum dwarfvars_kind */
	u8 reg;         /* numbered like operands */
};

struct dwarfvars_call {
	u64 at;         /* the return address */
	Dwarf_Die type; /* the result type; addr NULL: void or unknown */
};

struct dwarfvars_calls {
	VEC(struct dwarfvars_call) at;
	VEC(struct sort_item) order; /* by return address; for the first order.n of them */
};

/* A place in memory, sorted by its start. */
struct dwarfvars_spot {
	u32 group; /* its kind and register */
	u32 place;
	s64 start, end, reach; /* reach: the highest end in the group up to here */
};

struct dwarfvars {
	bool is_64; /* x86-64, not i386, which numbers registers differently */
	VEC(struct dwarfvars_place) places;
	VEC(struct dwarfvars_spot) spots; /* of all places not in registers, after indexing */
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

/* Adds the variables of a unit, outside of functions, that have a constant address. */
void dwarfvars_add_unit(struct dwarfvars *v, Dwarf_Die *unit);

/* Adds all variables of a function. */
void dwarfvars_add_function(struct dwarfvars *v, Dwarf_Die *function);

/* Call after all were added, and before the first look-up. */
void dwarfvars_index(struct dwarfvars *v);

/*
 * The variable in memory that covers `at`, which is relative to what its kind says; if there are several, the one
 * in the innermost block. NULL: there is none at that address of code.
 */
const struct dwarfvars_place *dwarfvars_find(const struct dwarfvars *v, u64 pc, u8 kind, u8 reg,
	s64 at);

/* The result type of a call that returns to `at`, or of a function that begins there. False: unknown. */
bool dwarfvars_find_call(struct dwarfvars_calls *calls, u64 at, Dwarf_Die *ret_type);

void dwarfvars_clear(struct dwarfvars *v);

/*
 * Finds a variable of the unit by its name; the unit may have just its declaration. Returns false if there is
 * none. The names are read at the first call.
 */
bool dwarfvars_find_declared(struct dwarfvars_names *names, Dwarf_Die *unit, const char *name,
	Dwarf_Die *ret_type);
void dwarfvars_forget_names(struct dwarfvars_names *names);

void dwarfvars_fini(struct dwarfvars *v);

#endif
