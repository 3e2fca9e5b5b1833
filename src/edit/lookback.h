/*
 * lookback.h - reads a complete recording once more, for what its sections say about it and what it
 * needs to be read elsewhere.
 *
 * In       a recording's file, and the files of this machine
 * Out      members of struct file_info: build-ids, times, the embedded section
 * Owns     its trace
 * Errors   those of trace_open() and of reading
 */
#ifndef PACE_EDIT_LOOKBACK_H
#define PACE_EDIT_LOOKBACK_H

#include "edit/embed.h"
#include "trace/trace.h"

struct lookback {
	struct trace trace;
	struct hits hits;
};

struct lookback_wishes {
	bool has_hits;   /* find out which files were sampled */
	bool has_all;    /* treat all files as sampled */
	bool has_places; /* find out where, too: for lookback_embed() */
	unsigned n_workers;
	const struct roots *roots; /* of containers that may have ended; NULL: none */
};

/* Reads the whole recording. The caller keeps `path`. */
int lookback_open(struct lookback *b, const char *path, const struct lookback_wishes *wishes,
	struct log *log, struct err *err);
void lookback_close(struct lookback *b);

/* Fills in times and build-ids; the paths are copied into the info's arena. */
void lookback_describe(struct lookback *b, struct file_info *info);

/*
 * Makes the embedded section from this machine's files. What is gone from here comes from `older`,
 * which an earlier look back made (NULL: none).
 */
int lookback_embed(struct lookback *b, const struct embedded *older,
	const struct embed_options *options, struct str *ret_section, struct embed_tally *ret_tally,
	struct err *err);

#endif
