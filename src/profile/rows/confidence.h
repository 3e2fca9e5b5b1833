/*
 * confidence.h - how certain the rows of a report are: the interval of each share, and whether a row comes
 * before the next one by more than chance.
 *
 * In       the rows of an event, in a profile with LABEL_TIME
 * Out      for each entry of the histogram the 95 % confidence interval of its share
 * Owns     what it allocates
 * Units    shares are parts of the whole, 0..1
 * Threads  one
 *
 * The true share is the one that the same program would have if it went on in the same way, or was run
 * again with the same phases. See batchmeans.h for the assumptions.
 */
#ifndef PACE_PROFILE_CONFIDENCE_H
#define PACE_PROFILE_CONFIDENCE_H

#include "profile/rows/batchmeans.h"
#include "profile/rows/hist.h"
#include "profile/rows/key.h"

/* What was sampled in each quantum of time, before anything was filtered. */
struct confidence_quantum {
	u32 event;
	u64 time;
	struct hist_value value;
};

struct confidence_whole {
	VEC(struct confidence_quantum) quanta; /* by event, then by time */
};

void confidence_whole_init(struct confidence_whole *w, const struct profile *p);
void confidence_whole_fini(struct confidence_whole *w);

struct confidence_row {
	struct batchmeans_range self, total;
	bool is_decided; /* it comes before the next one by more than chance */
};

struct confidence {
	struct confidence_row *rows; /* by position in hist->entries */
	u32 n_blocks; /* of time; fewer than CONFIDENCE_BLOCKS_MIN: samples count as independent */
};

enum { CONFIDENCE_BLOCKS_MIN = 4, CONFIDENCE_BLOCKS_MAX = 64 };

/* The histogram must have hist_options.has_row_groups. */
void confidence_init(struct confidence *c, const struct hist *h, const struct confidence_whole *w);
void confidence_fini(struct confidence *c);

/* "11.20-13.55% ~": the interval of the share that rows are sorted by; ~ if !is_decided. */
extern const struct key confidence_column;

#endif
