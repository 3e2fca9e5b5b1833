/*
 * cut.h - a part of a recording as a recording of its own.
 *
 * In       a recording; which samples are wanted
 * Out      these samples, all records that say who ran where, and what the kernel reported during the
 *          wanted time; the sections unchanged
 * Errors   those of reading and writing
 */
#ifndef PACE_EDIT_CUT_H
#define PACE_EDIT_CUT_H

#include "file/copier.h"
#include "session/spans.h"

struct cut_wish {
	const char *time;                       /* see session/spans; NULL: all */
	const char *pids, *tids, *comms, *cpus; /* lists; NULL: all */
};

struct cut_tally {
	u64 n_samples, n_kept;
};

int cut_write(const char *path, const struct cut_wish *wish, struct fresh *to, struct log *log,
	struct cut_tally *ret_tally, struct err *err);

#endif
