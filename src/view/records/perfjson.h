/*
 * perfjson.h - a recording as perf's `data convert --to-json` writes it.
 *
 * In       a trace that is followed, visit by visit
 * Out      one JSON object: "linux-perf-json-version" 1, "headers", "samples" with time, task, callers, tracepoint fields
 * Owns     strings, the tracepoints' formats
 * Errors   none: damaged formats leave fields out
 * Source   the members that perf 6.1 and 7.2 write; tests/oracle/test_perfcommands.py compares them
 */
#ifndef PACE_VIEW_PERFJSON_H
#define PACE_VIEW_PERFJSON_H

#include "base/str.h"
#include "file/tracepoints.h"
#include "symbol/resolve/location.h"
#include "trace/visit.h"

struct perfjson {
	struct trace *trace;
	struct locator locator;
	struct intern strings;
	struct tracepoints tracepoints;
	u64 n_samples;
	u64 shift_ns; /* of times: to the time of day; set it after perfjson_begin() */
};

void perfjson_begin(struct perfjson *p, struct trace *trace, struct str *text);
void perfjson_add(struct perfjson *p, struct visit *v, struct str *text);
void perfjson_end(struct perfjson *p, struct str *text);

#endif
