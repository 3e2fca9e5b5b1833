/*
 * blockdiff.h - straight runs of code between two branches, in several recordings: how many cycles a run takes.
 *
 * A run is the same in two recordings if it begins and ends as far behind the beginning of its function: in other builds of the
 * same code, too. Functions are matched as profile/diff/delta matches them.
 * In       profiles that count runs (has_blocks), with LABEL_BLOCK and LABEL_BRANCH; a paired delta of them
 * Out      means, spread and differences of rows
 * Owns     nothing
 * Units    cycles
 * Source   B. L. Welch, The generalization of Student's problem when several different population variances are
 *          involved (1947): differences of means
 */
#ifndef PACE_PROFILE_BLOCKDIFF_H
#define PACE_PROFILE_BLOCKDIFF_H

#include "profile/diff/delta.h"
#include "profile/maths/variance.h"

/* What identifies a run within its function; the second with the function's name, where no other key tells it. */
extern const struct key blockdiff_key, blockdiff_key_named;

/*
 * Drops runs whose beginning is not known, because the branch before them was not recorded, and adds how many there were to the
 * numbers of their events.
 */
void blockdiff_keep_known(struct profile *p, u64 *n);

/* The cycles of a row's runs in one recording. */
struct variance blockdiff_of(const struct delta_row *row, size_t recording);

/* Those in all recordings of a side. */
struct variance blockdiff_of_side(const struct delta *d, const struct delta_row *row, int side);

/* b's mean less a's, and half of its 95% interval; NAN: not known. */
struct blockdiff {
	double diff, half;
};

/* How much longer a run takes in `recording` than in the first one. */
struct blockdiff blockdiff_compare(const struct delta_row *row, size_t recording);

/* Of side B than of side A. Where both have several recordings, these tell how much runs differ by chance. */
struct blockdiff blockdiff_compare_sides(const struct delta *d, const struct delta_row *row);

enum { BLOCKDIFF_BINS = 8 };

/* How many runs took how long. The bins are of one width, and the same for all recordings: those of the row begin and end here. */
struct blockdiff_range {
	u64 low, high; /* the shortest and the longest run */
};

struct blockdiff_range blockdiff_range(const struct delta *d, const struct delta_row *row);
void blockdiff_bins(const struct delta_row *row, size_t recording, struct blockdiff_range range,
	u64 bins[BLOCKDIFF_BINS]);

#endif
