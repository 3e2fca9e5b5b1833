/*
 * anonymise.h - a recording without the names of who made it and what ran.
 *
 * In       a recording
 * Out      the same recording under other names: commands, paths, functions, source files, host, cgroups.
 *          Equal names get equal replacements, and so do equal build-ids. What cannot be renamed is
 *          blanked (stack dumps, registers, the fields of tracepoints) or left out (the command line,
 *          code, jitdumps, BPF programs)
 * Errors   those of reading and writing
 *
 * Kept: counts, times, pids, CPUs, addresses, sizes and offsets of maps, line numbers; the names of the
 * kernel, its modules and their functions; the kernel's release, the machine's hardware; the events as
 * they were requested.
 */
#ifndef PACE_EDIT_ANONYMISE_H
#define PACE_EDIT_ANONYMISE_H

#include "base/log.h"
#include "file/fresh.h"

struct anonymise_tally {
	u64 n_comms, n_paths, n_functions;
	bool has_blanked_stacks, has_blanked_raw;
};

int anonymise_write(const char *path, struct fresh *to, struct log *log,
	struct anonymise_tally *ret_tally, struct err *err);

#endif
