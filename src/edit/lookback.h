/*
 * lookback.h - a recording read once more when it is complete: what its sections have to say of it,
 * and what it needs to be read elsewhere.
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
	bool has_hits;   /* which files are sampled */
	bool has_all;    /* as if all were */
	bool has_places; /* and where: for lookback_embed() */
	unsigned n_workers;
	const struct roots *roots; /* of containers that may have ended; NULL: none */
};

/* Reads all of it; `path` stays the caller's. */
int lookback_open(struct lookback *b, const char *path, const struct lookback_wishes *wishes,
	struct log *log, struct err *err);
void lookback_close(struct lookback *b);

/* Times and build-ids; the paths are copied into the info's arena. */
void lookback_describe(struct lookback *b, struct file_info *info);

/*
 * Makes the section out of this machine's files, and of `older`, which an earlier look back made, for
 * what is not here any more (NULL: there is none).
 */
int lookback_embed(struct lookback *b, const struct embedded *older,
	const struct embed_options *options, struct str *ret_section, struct embed_tally *ret_tally,
	struct err *err);

#endif
