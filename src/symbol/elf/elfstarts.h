/*
 * elfstarts.h - finds the functions of a stripped file that has no call frame information either (musl's
 * libc.so, programs built without it): runs unwind/starts on an ELF file's code.
 *
 * In       an ELF file of x86 without a table of its own functions
 * Out      the function around an address
 * Owns     the list, which is made at the first call
 * Units    rva, half-open
 * Errors   none: nothing is found in other files, nor in those with so much code that it would take long
 * Threads  one at a time
 */
#ifndef PACE_SYMBOL_ELFSTARTS_H
#define PACE_SYMBOL_ELFSTARTS_H

#include "symbol/elf/elf.h"
#include "unwind/starts.h"

struct elfstarts {
	struct starts starts;
	bool was_read;
};

bool elfstarts_around(struct elfstarts *e, const struct elf *elf, u64 rva, u64 *ret_start,
	u64 *ret_end);

/*
 * Whether another function begins between the start of a symbol without size and an address. Symbols of
 * hand-written assembly often have no size, and functions that follow them in a stripped file have no name. Places
 * within a function that are called (x264: trellis_coefn.entry1) do not count as another function.
 */
bool elfstarts_is_beyond(struct elfstarts *e, const struct elf *elf, u64 start, u64 rva);

void elfstarts_fini(struct elfstarts *e);

#endif
