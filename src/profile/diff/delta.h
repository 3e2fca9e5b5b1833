/*
 * delta.h - several profiles side by side: the same row of each, whatever it was called in another
 * build.
 *
 * A row is told by what its cells read as. What is in one side only is paired once more by looser
 * names: functions without what a compiler hangs behind them (.isra.0, .constprop.0, .llvm.N, a
 * Rust hash), files without the number behind .so, and files of other names that hold mostly the
 * same functions.
 *
 * Addresses, and names that were made of them for want of others, tell functions only within one
 * build of a file: in other builds the same name is another row, and nobody's partner.
 * In       histograms (profile/rows/hist) of one event each, side by side: A, the baseline, and B
 * Out      rows with a value for each recording; what A and B differ by
 * Owns     all its text: the histograms may go
 * Units    periods as in the profiles
 * Threads  one
 */
#ifndef PACE_PROFILE_DELTA_H
#define PACE_PROFILE_DELTA_H

#include "profile/rows/hist.h"
#include "profile/rows/key.h"

enum { DELTA_A, DELTA_B, DELTA_SIDES };

struct delta_value { /* of a row in one recording; without samples: it is not there */
	u64 period, n_samples;
};

struct delta_row {
	struct cell *cells;               /* by key; of A if it is there */
	const char *names[HIST_KEYS_MAX]; /* the same as text, interned */
	const char *was;                  /* a B that is paired by a looser name: its function */
	struct delta_value *values;       /* by recording */
	bool is_in[DELTA_SIDES];
	bool is_gone; /* it became a part of another row */
	/* What a cell that is made of an address is of, interned; NULL: all names are names. */
	const char *file, *build;
	bool is_unpaired; /* by delta_pair(): its build is on one side only, so its partner is unknown */
};

struct delta_recording {
	const char *name; /* the caller's */
	u8 side;
	/* The first recording that is the same one, or a copy, counted from 1; 0: there is none before it. */
	u32 same_as;
	u64 period, n_samples; /* of all rows */
	double per;   /* what its periods are divided by to be compared: 1 until it is set */
	double level; /* how much longer most of its rows are than the baseline's; 1 until then */
};

/* A build that recordings have samples of. */
struct delta_build {
	const char *build;
	bool is_in[DELTA_SIDES];
};

/* Rows of one side that have no partner because their builds are on that side only. */
struct delta_unpaired {
	u64 n_rows;
	double share; /* the mean of the recordings' */
	VEC(const char *) files;
};

struct delta {
	const struct key *keys[HIST_KEYS_MAX];
	size_t n_keys;
	bool is_time; /* periods are nanoseconds: who compares sets it */
	/* Likewise: not all tell the kernel's code from others, so that rows are not told apart by that. */
	bool ignores_modes;
	VEC(struct delta_recording) recordings; /* A's first */
	VEC(struct delta_row) rows;
	VEC(struct delta_build) builds;
	struct table build_index;                    /* of builds, by the text's address */
	struct delta_unpaired unpaired[DELTA_SIDES]; /* of both sides or of none: by delta_pair() */
	struct table index;
	struct intern strings;
	struct arena arena;
};

/* The recordings must be known before the first is added: all that follow are as many. */
void delta_init(struct delta *d, const struct key *const *keys, size_t n_keys,
	const struct delta_recording *recordings, size_t n);
void delta_fini(struct delta *d);

/* The rows of one recording: its self periods, or the totals if the histogram has children. */
void delta_add(struct delta *d, size_t recording, const struct hist *h);

/* When all are added: pairs what has another name on the other side. */
void delta_pair(struct delta *d);

/*
 * Sets the recordings' levels: a machine that was busy, or slower, makes all rows longer, and would
 * hide the one that changed. The level is the median of the rows' ratios to their means over all
 * recordings, so that no single row moves it. False, and nothing is changed, if too few rows are in
 * all of them.
 */
bool delta_level(struct delta *d);

/* A row's value in one recording, by what it is compared by. */
static inline double delta_per(const struct delta *d, const struct delta_row *row, size_t recording)
{
	const struct delta_recording *r = &d->recordings.at[recording];

	return (double)row->values[recording].period / (r->per * r->level);
}

/* Its share of the recording, 0 to 1. */
double delta_share(const struct delta *d, const struct delta_row *row, size_t recording);

/* The mean of its shares in the recordings of a side. */
double delta_side_share(const struct delta *d, const struct delta_row *row, int side);

/* Whether something in an entry's cells is told by its address alone: the DSO it is in, or NULL. */
const struct profile_dso *delta_addressed(const struct delta *d, const struct hist *h,
	const struct hist_entry *e);

/* The position of the first key that tells frames apart in this way, or n_keys. */
size_t delta_column(const struct delta *d, enum key_frame frame);

#endif
