/*
 * datatype.h - the type of data that an instruction accesses, and which member of it.
 *
 * In       the ELF file of a DSO, and the one that has its DWARF; addresses of instructions of x86-64 or i386
 * Out      type, offset and member; or what the instruction does instead, or why that is not known
 * Owns     an open file with its libdw handle; texts
 * Life     both files must stay; texts until datatypes_close()
 * Units    addresses as in the file's symbol table (rva)
 * Errors   datatypes_open(): as dwarf_open(). What is damaged behind that is not known
 * Threads  one for each struct datatypes
 *
 * For each function that is asked about: its variables (symbol/types/dwarfvars), what its registers point to
 * (symbol/types/dataflow), what lies there (symbol/types/dwarftype).
 */
#ifndef PACE_SYMBOL_DATATYPE_H
#define PACE_SYMBOL_DATATYPE_H

#include "base/err.h"
#include "symbol/elf/elf.h"
#include "symbol/types/typelayout.h"

enum datatype_outcome {
	DATATYPE_FOUND,
	DATATYPE_NO_ACCESS,   /* it accesses no memory */
	DATATYPE_STACK,       /* its stack frame, where no variable is */
	DATATYPE_CANARY,      /* the value that shows whether the stack was overwritten */
	DATATYPE_CONSTANT,    /* what compilers put beside the code: numbers, tables of switches */
	DATATYPE_LINKER,      /* addresses that are filled in when a program starts */
	DATATYPE_NO_DEBUG,    /* the file has no debug information; datatypes_open() says it */
	DATATYPE_UNDESCRIBED, /* that code has none */
	DATATYPE_ASSEMBLER,   /* written in assembler: there are no variables */
	DATATYPE_NO_CODE,     /* the instruction is not here, or is none */
	DATATYPE_THREAD,      /* memory of the thread's own */
	DATATYPE_WAYS, /* several ways lead there: which instruction ran before, is not known */
	DATATYPE_UNTRACKED, /* what its registers point to is not known */
	DATATYPE_TOO_LARGE, /* more code or more jumps than what is followed */
	DATATYPE_OUTSIDE,   /* the address lies outside of what they point to */
	DATATYPE_OUTCOMES,
};

struct datatype_answer {
	u8 outcome; /* enum datatype_outcome */
	/* DATATYPE_FOUND: "struct node", the bytes into it, the member there; "": none, or a scalar */
	const char *type, *member;
	u64 offset, size; /* size: of the type */
	u32 layout;       /* datatypes_layouts(): its first line there, + 1; 0: it has no members */
};

/* What is said instead of a type: "(stack operation)"; of all whose reason is in the notes "(unknown)". */
const char *datatype_outcome_name(enum datatype_outcome outcome);

/* Why it is not known: what comes behind "N samples". NULL of what is known. */
const char *datatype_outcome_reason(enum datatype_outcome outcome);

struct datatypes;

int datatypes_open(struct datatypes **ret, const struct elf *image, const struct elf *debug,
	struct err *err);
void datatypes_close(struct datatypes *t); /* NULL-safe */

/* The members of all types that were found, one type after the other. */
const struct typelayout *datatypes_layouts(const struct datatypes *t);

/*
 * n instructions, by ascending address. befores, if not NULL: what the instruction accessed that ran
 * before each, see symbol/types/predecessor.h.
 */
void datatypes_find(struct datatypes *t, const u64 *pcs, size_t n, struct datatype_answer *answers,
	struct datatype_answer *befores);

#endif
