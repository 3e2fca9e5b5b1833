/*
 * disasm.h - disassembles code with the best disassembler available.
 *
 * In       the bytes of one function
 * Out      a listing that covers all of them; the disassembler used; why a better one was not used
 * Owns     what it returns
 * Errors   only if a certain disassembler was requested: those of llvm.h and objdump.h. Otherwise bytes are
 *          the last resort, which always works
 *
 * The order: LLVM (in this process, some ms for a big function), objdump (a program), bytes.
 */
#ifndef PACE_SYMBOL_DISASM_H
#define PACE_SYMBOL_DISASM_H

#include "base/err.h"
#include "symbol/code/code.h"
#include "symbol/code/listing.h"

enum disasm_engine { DISASM_ANY, DISASM_LLVM, DISASM_OBJDUMP, DISASM_RAW, DISASM_ENGINES };

struct disasm_options {
	enum disasm_engine engine;
	bool is_intel;
	const char *objdump; /* path of the program; NULL: the usual places */
};

struct disasm {
	struct listing listing;
	enum disasm_engine engine;
	struct str by;  /* "libLLVM-14.so.1" */
	struct str why; /* why LLVM was not used; "" if it was, or was not requested */
};

int disasm(struct disasm *d, const struct code *c, const struct disasm_options *options,
	struct err *err);
void disasm_fini(struct disasm *d);

/* The engine with that name; ERR_INVAL lists the names. */
int disasm_choose(const char *name, enum disasm_engine *ret, struct err *err);

#endif
