/*
 * diffbranches.h - diff -c cycles and diff --stream: what they need of options and recordings, and what they show.
 *
 * In       the command's options; recordings
 * Out      how recordings are read; tables, or text
 * Owns     nothing
 * Errors   ERR_INVAL: options that do not go together; ERR_UNSUPPORTED: a recording without branches, or without their cycles
 */
#ifndef PACE_CMD_DIFFBRANCHES_H
#define PACE_CMD_DIFFBRANCHES_H

#include "cmd/diff/comparing.h"

/* The option that asks for something about branches; NULL: none. */
const char *diffbranches_option(const struct diff_command *o);

/* Fails if options ask for something that is not shown of branches. */
int diffbranches_check_options(const struct diff_command *o, size_t n_recordings, struct err *err);

/* How recordings are read, and by which keys runs of code are told apart. */
int diffbranches_choose(struct comparing *c, struct err *err);

/* The key that says where a run of code is. */
const struct key *diffbranches_key(void);

/* Before reading: fails if the recording has no branches, or they cannot have cycles. */
int diffbranches_check(const struct diff_command *o, const struct recorded *r, const char *path,
	struct err *err);

/* After reading: fails if the processor counted no cycles at all. */
int diffbranches_check_cycles(const struct diff_command *o, const struct recorded *r,
	const char *path, struct err *err);

void diffbranches_show(const struct comparing *c, struct compared *compared, bool is_first,
	struct page *p);

#endif
