/*
 * record_options.h - what 'record' is told on its command line.
 *
 * Owns     the words of events; other strings are argv's
 */
#ifndef PACE_CMD_RECORD_OPTIONS_H
#define PACE_CMD_RECORD_OPTIONS_H

#include "base/opts.h"
#include "cmd/events.h"
#include "collect/sampling.h"
#include "event/target.h"

struct record_options {
	struct event_words events; /* first: see cmd/events.h */
	const char *frequency, *pages;
	u64 period;
	struct target_words target;
	const char *output;
	const char *call_graph;
	const char *compat;
	u64 stack_bytes, max_stack;
	bool keeps_stacks, has_branches;
	bool has_chains, has_data, is_quiet, has_timestamps, has_no_build_ids;
	bool has_no_embedding;
	unsigned verbose;
	bool is_compressed;
	u64 level;
	bool has_clock;
	s32 clock;
};

/* The rows, ended by OPT_END; they fill in a struct record_options. */
extern const struct opt record_option_rows[];

/* How often to sample: -F, -c. ERR_INVAL. */
int record_parse_frequency(const struct record_options *o, struct sampling *s, struct err *err);

/* -m: a number of pages, or bytes with a letter; a power of two either way. 0: it is not said. */
int record_parse_pages(const struct record_options *o, u64 *ret_pages, struct err *err);

#endif
