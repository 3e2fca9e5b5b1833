/*
 * account.h - accounts for the samples of a recording: each is shown, or left out for a reason.
 *
 * In       the tally of a session; the profile before and after filters; the rows that were printed
 * Out      one line; the number of samples missing without a reason, which would be a defect of pace
 * Owns     nothing
 * Units    samples; if the branches in samples are counted, shown and left-out numbers are branches
 *
 * Invariant: recorded = shown + below + filtered + unread + stopped + foreign. Each is counted where it
 * happens, none by subtraction from the whole. With branches: recorded = walked + passed + unread + stopped +
 * foreign, and branches = shown + below + filtered.
 */
#ifndef PACE_PROFILE_ACCOUNT_H
#define PACE_PROFILE_ACCOUNT_H

#include "profile/gather/profile.h"
#include "session/session.h"

struct account {
	u64 n_recorded; /* SAMPLE records in the file */
	u64 n_shown;
	u64 n_below;    /* in rows below --percent-limit */
	u64 n_filtered; /* of CPUs, times, threads, files or functions that were not asked for */
	u64 n_unread;   /* without the fields that their event says they have */
	u64 n_stopped;  /* that the user did not wait for */
	u64 n_foreign;  /* of events that the file does not describe */
	u64 n_dropped;  /* by the kernel: they are not in the file */
	u64 n_left;     /* counted, but neither shown nor left out yet */
	bool is_of_branches, is_of_blocks; /* the latter: only branches whose cycles were counted */
	u64 n_branches;
	u64 n_walked, n_passed; /* samples whose branches were counted, or not wanted */
};

/* Starts with all samples that were read. */
void account_open(struct account *a, const struct session_tally *t, const struct profile *p);

/* Counts the samples that filters removed from p. */
void account_filter(struct account *a, const struct profile *p);

/* Accounts for the rows of an event: n_in_rows samples are in rows, n_shown of them in rows that are shown. */
void account_rows(struct account *a, u64 n_in_rows, u64 n_shown);

/* After all rows were shown: samples that are left were in none. */
void account_close(struct account *a);

/* How many samples are missing (negative: too many); 0 unless pace has a defect. */
s64 account_missing(const struct account *a);

/* "# 9,000 samples recorded: 8,000 shown, 1,000 filtered out." */
void account_add_text(const struct account *a, struct str *text);

/* Members of a JSON object. */
void account_add_json(const struct account *a, struct str *text);

#endif
