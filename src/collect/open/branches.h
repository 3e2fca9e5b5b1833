/*
 * branches.h - which branches a CPU is to remember: the words of -j.
 *
 * In       words with commas between them: a kind of branch (any, any_call, ...), where it led to
 *          (u, k, hv), how it is stored (save_type, priv)
 * Out      bits of event_attr.branch_sample_type
 * Errors   ERR_INVAL with the words there are
 * Source   linux/perf_event.h: perf_branch_sample_type; perf-record(1)
 */
#ifndef PACE_COLLECT_BRANCHES_H
#define PACE_COLLECT_BRANCHES_H

#include "base/err.h"
#include "base/types.h"

/* Adds the bits of `text` to *bits. Without a kind of branch it is any; without a level the event's. */
int branches_parse(const char *text, u64 *bits, struct err *err);

#endif
