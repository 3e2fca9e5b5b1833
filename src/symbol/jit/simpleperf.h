/*
 * simpleperf.h - the names of functions that recordings of Android's simpleperf contain, in their sections
 * FILE and FILE2.
 *
 * In       the sections
 * Out      by a file's path: its functions, and how to convert addresses to those of its symbols
 * Owns     copies of all of it
 * Errors   damage ends the section there; everything before it is used
 * Units    va: addresses as in the file's own symbols; for the kernel and generated code, those of the
 *          machine that recorded
 * Threads  read-only after simpleperf_init()
 * Source   AOSP system/extras/simpleperf: doc of record_file_format.h, record_file.proto
 */
#ifndef PACE_SYMBOL_SIMPLEPERF_H
#define PACE_SYMBOL_SIMPLEPERF_H

#include "base/mem.h"
#include "base/table.h"
#include "file/feature.h"
#include "machine/dso.h"
#include "symbol/elf/symtab.h"

struct simpleperf_file {
	const char *path;
	u32 type;       /* simpleperf's number, see simpleperf.c */
	u64 min_va;     /* start of its code */
	u64 min_offset; /* offset of the code in the file, if has_offset */
	bool has_offset;
	size_t first_symbol, n_symbols;
};

struct simpleperf {
	VEC(struct simpleperf_file) files;
	symbol_list symbols;
	struct table by_path;
	struct arena arena;
};

void simpleperf_init(struct simpleperf *s, const struct file_info *info);
void simpleperf_fini(struct simpleperf *s);

/* The file of a DSO if it has functions, or NULL. */
const struct simpleperf_file *simpleperf_find(const struct simpleperf *s, const struct dso *dso);

/* Adds the file's functions to a table and finishes the table. */
void simpleperf_add(const struct simpleperf *s, const struct simpleperf_file *file,
	struct symtab *to);

/* Converts an address in a DSO to one of the file's symbols. */
u64 simpleperf_address(const struct simpleperf_file *file, const struct dso *dso, u64 address);

#endif
