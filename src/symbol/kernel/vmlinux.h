/*
 * vmlinux.h - a kernel's functions from its ELF file, for kernels that do not run here or hide their
 * addresses.
 *
 * In       a file somebody named, or the build-id and release of the recorded kernel
 * Out      the function at an address as the file counts; where the file has _text
 * Owns     the opened file and its table
 * Errors   ERR_NOENT: none is here; ERR_FORMAT: it is another build, or has no symbols
 * Threads  vmlinux_find() by any number
 * Source   perf-report(1), -k; where distributions install them
 */
#ifndef PACE_SYMBOL_VMLINUX_H
#define PACE_SYMBOL_VMLINUX_H

#include "base/log.h"
#include "symbol/elf/symtab.h"

/* The kernel that is looked for. */
struct vmlinux_wish {
	const u8 *build_id;
	u8 build_id_size;    /* 0: unknown */
	const char *release; /* NULL: unknown */
	const char *symfs;   /* "" for none */
	struct log *log;     /* what was tried, as LOG_DEBUG */
};

struct vmlinux {
	struct elf elf;
	struct symtab symtab;
	u64 text; /* the address of the symbol that recordings name: _text, on arm64 _stext */
};

/* That file, which must be of the wished build if both have an id. */
int vmlinux_open(struct vmlinux *v, const char *path, const struct vmlinux_wish *wish,
	struct err *err);

/* The first that fits in the usual places; only by build-id if it is known. */
int vmlinux_search(struct vmlinux *v, const struct vmlinux_wish *wish, struct err *err);

/* The first file of those that hold a copy of kallsyms by build-id (perf's cache); false: none. */
bool vmlinux_kallsyms_copy(const struct vmlinux_wish *wish, struct str *ret_path);

void vmlinux_close(struct vmlinux *v);

#endif
