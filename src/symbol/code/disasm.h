/*
 * disasm.h - from code to instructions, by the best disassembler that is here.
 *
 * In       the bytes of one function
 * Out      a listing that covers all of them; by whom; why not by a better one
 * Owns     what it returns
 * Errors   only if one disassembler was asked for: those of llvm.h and objdump.h. Otherwise bytes are
 *          the last resort and always work
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
	const char *objdump; /* this program; NULL: where it usually is */
};

struct disasm {
	struct listing listing;
	enum disasm_engine engine;
	struct str by;  /* "libLLVM-14.so.1" */
	struct str why; /* not LLVM: the reasons; "" if it was, or was not wanted */
};

int disasm(struct disasm *d, const struct code *c, const struct disasm_options *options,
	struct err *err);
void disasm_fini(struct disasm *d);

/* By name: llvm, objdump, raw; DISASM_ANY if it is none. */
enum disasm_engine disasm_engine(const char *name);

#endif
