/*
 * cfimaker.h - an .eh_frame made by hand: one CIE, and FDEs of some functions.
 *
 * Owns     its bytes
 * Units    rva; the section lies at CFIMAKER_AT
 */
#ifndef PACE_TESTS_UNIT_CFIMAKER_H
#define PACE_TESTS_UNIT_CFIMAKER_H

#include "base/str.h"
#include "unwind/cfi.h"

enum { CFIMAKER_AT = 0x100000 };

struct cfimaker {
	struct str bytes;
	size_t cie; /* where the newest CIE begins */
};

/* A CIE with 64-bit absolute pointers; `code` are its n instructions. */
void cfimaker_cie(struct cfimaker *m, const char *letters, s64 data_align, u8 return_reg,
	const u8 *code, size_t n);
void cfimaker_fde(struct cfimaker *m, u64 start, u64 size, const u8 *code, size_t n);
struct cfi_input cfimaker_input(const struct cfimaker *m);

#define CODE(...) (const u8[]){__VA_ARGS__}, sizeof((const u8[]){__VA_ARGS__})

#endif
