/*
 * vmlinux.h - reads a kernel's functions from its ELF file, for kernels that do not run here or hide their
 * addresses.
 *
 * In       a file that the user named, or the build-id and release of the recorded kernel
 * Out      the function at an address of the file; the address of _text in the file
 * Owns     the opened file and its table
 * Errors   ERR_NOENT: there is none here; ERR_FORMAT: another build, or no symbols
 * Threads  vmlinux_find() by any number
 * Source   perf-report(1), -k; the paths where distributions install the files
 */
#ifndef PACE_SYMBOL_VMLINUX_H
#define PACE_SYMBOL_VMLINUX_H

#include "base/log.h"
#include "symbol/elf/symtab.h"

/* Describes the wanted kernel. */
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
	u64 text; /* the address of the symbol that recordings refer to: _text, on arm64 _stext */
};

/* Opens this file. If both it and the wish have a build-id, they must be equal. */
int vmlinux_open(struct vmlinux *v, const char *path, const struct vmlinux_wish *wish,
	struct err *err);

/* Opens the first match in the usual places; if the build-id is known, only by build-id. */
int vmlinux_search(struct vmlinux *v, const struct vmlinux_wish *wish, struct err *err);

/* The first copy of kallsyms in perf's cache, by build-id. Returns false if there is none. */
bool vmlinux_kallsyms_copy(const struct vmlinux_wish *wish, struct str *ret_path);

void vmlinux_close(struct vmlinux *v);

#endif
