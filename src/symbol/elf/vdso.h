/*
 * vdso.h - the kernel's code for user mode, as it is mapped into this process.
 *
 * Source   vdso(7); getauxval(3), AT_SYSINFO_EHDR
 */
#ifndef PACE_SYMBOL_VDSO_H
#define PACE_SYMBOL_VDSO_H

#include "base/err.h"
#include "symbol/elf/elf.h"

int vdso_open(struct elf *ret_elf, struct err *err);
u8 vdso_build_id(u8 id[BUILD_ID_MAX]); /* its size; 0: none */

#endif
