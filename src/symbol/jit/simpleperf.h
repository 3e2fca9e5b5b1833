/*
 * simpleperf.h - the names of functions that recordings of Android's simpleperf have with them, in their
 * sections FILE and FILE2.
 *
 * In       the sections
 * Out      by the path of a file: its functions, and how addresses in it are counted
 * Owns     copies of all of it
 * Errors   what is damaged ends the section there; what stood before is used
 * Units    va: addresses as the file's own symbols have them; of the kernel and of generated code those of
 *          the machine that recorded
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
	u32 type;       /* simpleperf's: see simpleperf.c */
	u64 min_va;     /* where its code begins */
	u64 min_offset; /* the same in the file, if has_offset */
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

/* The file that a DSO is, if it has functions; or NULL. */
const struct simpleperf_file *simpleperf_find(const struct simpleperf *s, const struct dso *dso);

/* Adds its functions to a table, which is finished then. */
void simpleperf_add(const struct simpleperf *s, const struct simpleperf_file *file,
	struct symtab *to);

/* The address of a place in a DSO, as the file's symbols count. */
u64 simpleperf_address(const struct simpleperf_file *file, const struct dso *dso, u64 address);

#endif
