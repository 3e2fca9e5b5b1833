/*
 * datatype.h - finds the type of the data that an instruction accesses, and the member.
 *
 * In       the ELF file of a DSO, and the one that has its DWARF; addresses of instructions of x86-64 or i386
 * Out      type, offset and member; or what the instruction does instead, or why the type is unknown
 * Owns     an open file with its libdw handle; texts
 * Life     both files must stay; texts until datatypes_close()
 * Units    addresses as in the file's symbol table (rva)
 * Errors   datatypes_open(): see dwarf_open(). Later damage makes types unknown
 * Threads  one for each struct datatypes
 *
 * For each function in question: its variables (symbol/types/dwarfvars), what its registers point to
 * (symbol/types/dataflow), and the objects there (symbol/types/dwarftype).
 */
#ifndef PACE_SYMBOL_DATATYPE_H
#define PACE_SYMBOL_DATATYPE_H

#include "base/err.h"
#include "base/str.h"
#include "symbol/elf/elf.h"
#include "symbol/types/typelayout.h"

enum datatype_outcome {
	DATATYPE_FOUND,
	DATATYPE_NO_ACCESS, /* it accesses no memory */
	DATATYPE_STACK,     /* its stack frame, where no variable is */
	DATATYPE_CANARY,    /* the stack protector's value */
	DATATYPE_CONSTANT, /* data that compilers put beside the code: numbers, tables of switches */
	DATATYPE_LINKER,   /* addresses that the dynamic linker fills in */
	DATATYPE_NO_DEBUG,    /* the file has no debug information; an error of datatypes_open() */
	DATATYPE_UNDESCRIBED, /* this code has no debug information */
	DATATYPE_ASSEMBLER,   /* written in assembly: there are no variables */
	DATATYPE_NO_CODE,     /* the instruction is not available, or not valid */
	DATATYPE_THREAD,      /* thread-local memory */
	DATATYPE_WAYS,        /* several paths lead there: the previous instruction is unknown */
	DATATYPE_UNTRACKED,   /* what its registers point to is unknown */
	DATATYPE_TOO_LARGE,   /* more code or more jumps than can be followed */
	DATATYPE_OUTSIDE,     /* the address is outside of the object that they point to */
	DATATYPE_OUTCOMES,
};

struct datatype_answer {
	u8 outcome; /* enum datatype_outcome */
	/* DATATYPE_FOUND: "struct node", the offset into it, and the member there; "": none, or a scalar */
	const char *type, *member;
	u64 offset, size; /* size: of the type */
	u32 layout; /* number of its first line in datatypes_layouts(), + 1; 0: it has no members */
	/* The instruction whose access this is; 0: there is none, or it is one of several. */
	u64 pc;
};

/* What is shown instead of a type: "(stack operation)"; "(unknown)" if the notes have the reason. */
const char *datatype_outcome_name(enum datatype_outcome outcome);

/* Why the type is unknown: the text after "N samples". NULL for known ones. */
const char *datatype_outcome_reason(enum datatype_outcome outcome);

/* "struct node +0x18 (pos.y)", "long int +0". The texts are untrusted. */
void datatype_add_place(struct str *text, const char *type, u64 offset, const char *member);

struct datatypes;

int datatypes_open(struct datatypes **ret, const struct elf *image, const struct elf *debug,
	struct err *err);
void datatypes_close(struct datatypes *t); /* NULL-safe */

/* The members of all types found, one type after the other. */
const struct typelayout *datatypes_layouts(const struct datatypes *t);

/*
 * n instructions, in ascending order. befores, if not NULL, gets what the instruction that ran before each
 * accessed, see symbol/types/predecessor.h.
 */
void datatypes_find(struct datatypes *t, const u64 *pcs, size_t n, struct datatype_answer *answers,
	struct datatype_answer *befores);

#endif
