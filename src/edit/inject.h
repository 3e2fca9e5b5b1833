/*
 * inject.h - a recording with something put into it that its recorder left out.
 *
 * In       a recording, or a pipe, which is read to its end before anything is written; files of this machine
 * Out      a recording, or the same as a pipe. Build-ids: a table of those of all sampled files (or all files), or in the
 *          records of maps. Sleeping: samples of sched_stat events take the place of the sched_switch samples with which
 *          their threads went to sleep, so that stacks of the switch have the time of the sleep. Generated code: files of
 *          functions, and their maps (edit/jitmaps.h)
 * Owns     nothing
 * Errors   those of reading and writing; ERR_UNSUPPORTED for instruction traces
 * Source   perf-inject(1)
 */
#ifndef PACE_EDIT_INJECT_H
#define PACE_EDIT_INJECT_H

#include "base/log.h"
#include "file/fresh.h"

struct inject_wish {
	bool has_build_ids;     /* of files that samples hit */
	bool has_all_build_ids; /* of all files */
	bool has_map_build_ids; /* in the maps' records, in place of inodes */
	bool drops_unused_maps; /* leaves out the records of other files' maps, too */
	bool merges_sleep;      /* -s */
	const char *jit_folder; /* -j: of the output, absolute; NULL: no */
	bool rebases;           /* other addresses: edit/rebase.h */
	bool wants_chains; /* callers are to be call chains: they are, unless there are copies of stacks */
	const char *known; /* "ID PATH,ID PATH"; NULL: none */
	unsigned n_workers;
};

struct inject_tally {
	u64 n_build_ids, n_maps, n_sleeps;
	u64 n_jitted, n_jit_maps;         /* functions, and times that one was loaded or moved */
	u64 n_blanked, n_dropped, n_lost; /* of rebase.h */
	u64 n_nameless;                   /* files that samples hit whose build-ids are not known */
};

/* `to` NULL: writes a pipe to the descriptor `fd`, which is closed at the end. */
int inject_write(const char *path, const struct inject_wish *wish, struct fresh *to, int fd,
	struct log *log, struct inject_tally *ret_tally, struct err *err);

#endif
