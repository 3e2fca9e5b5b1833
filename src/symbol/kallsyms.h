/*
 * kallsyms.h - the running kernel's functions, modules and BPF programs included.
 *
 * In       a text like /proc/kallsyms
 * Out      a symtab of absolute addresses
 * Errors   ERR_PERM if all addresses are zero: kptr_restrict hides them
 * Source   Documentation/admin-guide/sysctl/kernel.rst (kptr_restrict), nm(1) for the type letters
 */
#ifndef PACE_SYMBOL_KALLSYMS_H
#define PACE_SYMBOL_KALLSYMS_H

#include "base/err.h"
#include "symbol/symtab.h"

/* Fills the symtab, not yet finished; *ret_text is the address of _text. */
int kallsyms_read(const char *path, struct symtab *t, u64 *ret_text, struct err *err);

/* The running kernel's build-id from /sys/kernel/notes; its size, 0 if it cannot be read. */
u8 kallsyms_build_id(u8 id[BUILD_ID_MAX]);

#endif
