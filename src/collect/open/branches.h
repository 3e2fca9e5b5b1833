/*
 * branches.h - which branches the CPU is to record: the words of -j.
 *
 * In       words separated by commas: a kind of branch (any, any_call, ...), the level it led to
 *          (u, k, hv), how it is stored (save_type, priv)
 * Out      bits of event_attr.branch_sample_type
 * Errors   ERR_INVAL with the known words
 * Source   linux/perf_event.h: perf_branch_sample_type; perf-record(1)
 */
#ifndef PACE_COLLECT_BRANCHES_H
#define PACE_COLLECT_BRANCHES_H

#include "base/err.h"
#include "base/types.h"

/* Adds the bits of `text` to *bits. No kind means any branch; no level means the event's. */
int branches_parse(const char *text, u64 *bits, struct err *err);

#endif
