/*
 * datascope.h - what lies in memory as the code of one function sees it: at addresses that the file
 * itself has, and in the function's frame.
 *
 * In       the variables of a function and of its unit (symbol/types/dwarfvars); the file's symbols, and its
 *          call frame information
 * Out      the object at a place, as far as it is described
 * Owns     the variables, its table of names, rows of call frame information
 * Life     the files and the libdw handle must stay
 * Units    addresses as the file counts (rva)
 * Errors   false: there is none that is known
 * Threads  one
 */
#ifndef PACE_SYMBOL_DATASCOPE_H
#define PACE_SYMBOL_DATASCOPE_H

#include "symbol/types/datanames.h"
#include "symbol/types/dwarfvars.h"
#include "symbol/types/typemembers.h"
#include "unwind/rows.h"

/* A place in memory, told by what is there: `offset` into an object. */
struct dataobject {
	Dwarf_Die type;
	s64 offset;
	bool is_array; /* more of that type lie before or behind it */
};

struct datascope {
	struct dwarfvars function, unit;
	struct dwarfvars_calls functions; /* of the unit: where each begins, what it returns */
	struct dwarfvars_names declared;  /* in the unit */
	Dwarf_Die unit_entry;
	const struct elf *image, *debug; /* what is mapped; what has the DWARF: may be the same */
	struct datanames names;
	struct typemembers members; /* of the file's types */
	struct cfi cfi;
	struct rows rows;
};

void datascope_init(struct datascope *s, const struct elf *image, const struct elf *debug);
void datascope_fini(struct datascope *s);

/* The unit, what functions it has, the one that is looked at from now on. */
void datascope_enter_unit(struct datascope *s, Dwarf_Die *unit);
void datascope_add_function(struct datascope *s, Dwarf_Die *function); /* of the unit */
void datascope_enter(struct datascope *s, Dwarf_Die *function);

/* What a call returns that leads there, and comes back there; false: that is not known. */
bool datascope_result(struct datascope *s, u64 to, u64 back, Dwarf_Die *ret_type);

/* At an address; pc: which instruction asks. */
bool datascope_find(struct datascope *s, u64 pc, u64 address, struct dataobject *ret);

/* In the frame, or wherever a register points that variables are told by. */
bool datascope_find_near(struct datascope *s, u64 pc, u8 reg, s64 disp, struct dataobject *ret);

/* Whether a register points into the frame there, and how far the place is from its address (CFA). */
bool datascope_frame(struct datascope *s, u64 pc, u8 reg, s64 disp, s64 *ret_offset);

/*
 * An object's innermost array element: its type, and the offset in that. False: the offset leads out
 * of it.
 */
bool dataobject_settle(const struct dataobject *o, Dwarf_Die *ret_type, u64 *ret_offset);

#endif
