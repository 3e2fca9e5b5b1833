/*
 * jitimage.h - a function of a jitdump as an ELF file, so that any reader can name, unwind and disassemble it.
 *
 * In       a dump of this machine's byte order, which was read to its end; one of its functions
 * Out      the file: .text at JITIMAGE_TEXT, as address and as offset, a symbol, the dump's tables for unwinding as far from the
 *          code as the dump says, its lines as debug information, a build-id made from the contents
 * Owns     nothing; the caller frees the file and the build-id is its to copy
 * Errors   ERR_UNSUPPORTED: the other byte order; ERR_LIMIT: far too much code; those of reading the dump
 * Source   tools/perf/Documentation/jitdump-specification.txt of Linux: .eh_frame follows the code at the next multiple of 8
 */
#ifndef PACE_SYMBOL_JITIMAGE_H
#define PACE_SYMBOL_JITIMAGE_H

#include "symbol/jit/jitdump.h"

enum { JITIMAGE_TEXT = 0x100, JITIMAGE_BUILD_ID = 16 };

struct jitimage {
	struct str file;
	u8 build_id[JITIMAGE_BUILD_ID];
};

int jitimage_make(const struct jitdump *d, const struct jitdump_code *code,
	struct jitimage *ret_image, struct err *err);

#endif
