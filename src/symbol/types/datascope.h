/*
 * datascope.h - the objects in memory as the code of one function sees them: at constant addresses in the file,
 * and in the function's frame.
 *
 * In       the variables of a function and of its unit (symbol/types/dwarfvars); the file's symbols, and its
 *          call frame information
 * Out      the object at a place, if debug information describes it
 * Owns     the variables, its table of names, rows of call frame information
 * Life     the files and the libdw handle must stay
 * Units    addresses as in the file (rva)
 * Errors   false: no object is known
 * Threads  one
 */
#ifndef PACE_SYMBOL_DATASCOPE_H
#define PACE_SYMBOL_DATASCOPE_H

#include "symbol/types/datanames.h"
#include "symbol/types/dwarfvars.h"
#include "symbol/types/typemembers.h"
#include "unwind/rows.h"

/* A place in memory: `offset` into an object. */
struct dataobject {
	Dwarf_Die type;
	s64 offset;
	bool is_array; /* more objects of that type are before or after it */
};

struct datascope {
	struct dwarfvars function, unit;
	struct dwarfvars_calls functions; /* of the unit: where each begins, and its result type */
	struct dwarfvars_names declared;  /* in the unit */
	Dwarf_Die unit_entry;
	const struct elf *image,
		*debug; /* the mapped file; the one with the DWARF; may be the same */
	struct datanames names;
	struct typemembers members; /* of the file's types */
	struct cfi cfi;
	struct rows rows;
};

void datascope_init(struct datascope *s, const struct elf *image, const struct elf *debug);
void datascope_fini(struct datascope *s);

/* Set the current unit, the functions of the unit, and the current function. */
void datascope_enter_unit(struct datascope *s, Dwarf_Die *unit);
void datascope_add_function(struct datascope *s, Dwarf_Die *function); /* of the unit */
void datascope_enter(struct datascope *s, Dwarf_Die *function);

/* The result type of a call to `to` that returns to `back`. Returns false if it is unknown. */
bool datascope_result(struct datascope *s, u64 to, u64 back, Dwarf_Die *ret_type);

/* The object at an address; pc: the instruction that accesses it. */
bool datascope_find(struct datascope *s, u64 pc, u64 address, struct dataobject *ret);

/* The object in the frame, or at any register that locates variables. */
bool datascope_find_near(struct datascope *s, u64 pc, u8 reg, s64 disp, struct dataobject *ret);

/*
 * Whether a register points into the frame at pc, and the distance of the place from the frame's address
 * (CFA).
 */
bool datascope_frame(struct datascope *s, u64 pc, u8 reg, s64 disp, s64 *ret_offset);

/*
 * Finds the innermost array element in an object: its type, and the offset in it. Returns false if the offset is
 * outside.
 */
bool dataobject_settle(const struct dataobject *o, Dwarf_Die *ret_type, u64 *ret_offset);

#endif
