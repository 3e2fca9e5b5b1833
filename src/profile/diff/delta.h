/*
 * delta.h - several profiles side by side, row by row, even if a function has another name in another build.
 *
 * Rows are matched by the text of their cells. Rows on one side only are then paired by looser names:
 * functions without the suffixes of compilers (.isra.0, .constprop.0, .llvm.N, a Rust hash), files without
 * the version after .so, and files with other names that contain mostly the same functions.
 *
 * An address, or a name made from one because there is no other, identifies a function only within one build
 * of a file: in another build the same name is a different row, without a partner.
 * In       histograms (profile/rows/hist) of one event each, side by side: A, the baseline, and B
 * Out      rows with a value for each recording, of A and of B
 * Owns     all its text: the histograms may go
 * Units    periods as in the profiles
 * Threads  one
 */
#ifndef PACE_PROFILE_DELTA_H
#define PACE_PROFILE_DELTA_H

#include "profile/rows/hist.h"
#include "profile/rows/key.h"

enum { DELTA_A, DELTA_B, DELTA_SIDES };

/* Samples that stand for equally much. */
struct delta_amount {
	struct delta_amount *next;
	u64 each, n;
};

struct delta_value { /* of a row in one recording; without samples: it does not occur there */
	u64 period, n_samples;
	struct delta_amount *amounts; /* of all its samples, in no order; with delta.has_amounts */
};

struct delta_row {
	struct cell *cells;               /* by key; A's if the row is in A */
	struct cell about;                /* of delta.about, likewise */
	const char *names[HIST_KEYS_MAX]; /* the same as text, interned */
	const char *was; /* paired by a looser name: the function's name in B; else NULL */
	struct delta_value *values; /* by recording */
	bool is_in[DELTA_SIDES];
	bool is_gone; /* it became a part of another row */
	/* The file of a cell that shows an address, and its build, interned; NULL: no cell does. */
	const char *file, *build;
	bool is_unpaired; /* by delta_pair(): its build is on one side only, so its partner is unknown */
};

struct delta_recording {
	const char *name; /* the caller's */
	const char *path; /* that it is read from; NULL: its name */
	u8 side;
	/* The first earlier recording that is the same file or a copy, counted from 1; 0: none. */
	u32 same_as;
	u64 period, n_samples; /* of all rows */
	double per;            /* divisor of its periods for comparisons: 1 until it is set */
	double level; /* how much longer most of its rows are than the baseline's: 1 until it is set */
};

/* A build that recordings have samples of. */
struct delta_build {
	const char *build;
	bool is_in[DELTA_SIDES];
};

/* Rows of one side without a partner, because their builds are on that side only. */
struct delta_unpaired {
	u64 n_rows;
	double share; /* their mean share over the recordings */
	VEC(const char *) files;
};

struct delta {
	const struct key *keys[HIST_KEYS_MAX];
	size_t n_keys;
	/* Another cell of the first key's label, by which rows are not matched; set by the caller. NULL: none. */
	const struct key *about;
	/*
	 * Set by the caller, who sees to it that labels tell apart samples that stand for more and for less: histograms
	 * have row groups, one for each entry.
	 */
	bool has_amounts;
	bool is_time; /* periods are nanoseconds; set by the caller */
	/* Set by the caller if not all profiles mark kernel code: rows are then matched without the level. */
	bool ignores_modes;
	bool is_usual; /* A is what is usual: one recording of B is judged by how A's differ */
	VEC(struct delta_recording) recordings; /* A's first */
	VEC(struct delta_row) rows;
	VEC(struct delta_build) builds;
	struct table build_index;                    /* of builds, by the text's address */
	struct delta_unpaired unpaired[DELTA_SIDES]; /* of both sides or of none: by delta_pair() */
	struct table index;
	struct intern strings;
	struct arena arena;
};

/* All recordings must be known here, before the first delta_add(). */
void delta_init(struct delta *d, const struct key *const *keys, size_t n_keys,
	const struct delta_recording *recordings, size_t n);
void delta_fini(struct delta *d);

/* Adds the rows of one recording: the self periods, or the totals if the histogram has children. */
void delta_add(struct delta *d, size_t recording, const struct hist *h);

/* Pairs rows that have another name on the other side. Call it when all recordings are added. */
void delta_pair(struct delta *d);

/*
 * Sets the recordings' levels. A busy or slower machine makes all rows longer and would hide the row that
 * changed. The level is the median of the rows' ratios to their means over all recordings, where rows with more
 * samples weigh more, up to a tenth of all: no single row moves it. False, without a change, if too few rows are in all recordings.
 */
bool delta_level(struct delta *d);

/* A row's value in one recording, normalized for comparisons. */
static inline double delta_per(const struct delta *d, const struct delta_row *row, size_t recording)
{
	const struct delta_recording *r = &d->recordings.at[recording];

	return (double)row->values[recording].period / (r->per * r->level);
}

/* Its share of the recording, 0 to 1. */
double delta_share(const struct delta *d, const struct delta_row *row, size_t recording);

/* The mean of the row's shares in the recordings of a side. */
double delta_side_share(const struct delta *d, const struct delta_row *row, int side);

/* The position of the first key that groups by this property of frames, or n_keys. */
size_t delta_column(const struct delta *d, enum key_frame frame);

#endif
