/*
 * account.h - where the samples of a recording went: each is shown, or left out for a reason.
 *
 * In       the tally of a session; what was counted, what filters left, what rows were printed
 * Out      one line; whether anything is missing without a reason, which would be a defect of ours
 * Owns     nothing
 * Units    samples; where the branches in them are counted, what is shown and left out are branches
 *
 * Invariant: recorded = shown + below + filtered + unread + foreign. Each is counted where it happens,
 * none by subtraction from the whole. Of branches: recorded = walked + passed + unread + foreign, and
 * branches = shown + below + filtered.
 */
#ifndef PACE_PROFILE_ACCOUNT_H
#define PACE_PROFILE_ACCOUNT_H

#include "profile/gather/profile.h"
#include "session/session.h"

struct account {
	u64 n_recorded; /* SAMPLE records in the file */
	u64 n_shown;
	u64 n_below;    /* in rows below --percent-limit */
	u64 n_filtered; /* of other CPUs, times, threads, files, functions than were asked for */
	u64 n_unread;   /* without the fields that their event says they have */
	u64 n_foreign;  /* of events that the file does not describe */
	u64 n_dropped;  /* by the kernel: they are not in the file */
	u64 n_left;     /* counted, and neither shown nor left out yet */
	bool is_of_branches, is_of_blocks; /* the latter: only branches whose cycles were counted */
	u64 n_branches;
	u64 n_walked, n_passed; /* samples whose branches were counted, or not wanted */
};

/* All that was read. */
void account_open(struct account *a, const struct session_tally *t, const struct profile *p);

/* What filters have left of it. */
void account_filter(struct account *a, const struct profile *p);

/* Rows of an event: so many samples in them, so many of these in rows that are shown. */
void account_rows(struct account *a, u64 n_in_rows, u64 n_shown);

/* When all rows were shown: what is left was in none. */
void account_close(struct account *a);

/* 0, or how many samples more (fewer: negative) there should be. */
s64 account_missing(const struct account *a);

/* "# 9,000 samples recorded: 8,000 shown, 1,000 filtered out." */
void account_add_text(const struct account *a, struct str *text);

/* Members of a JSON object. */
void account_add_json(const struct account *a, struct str *text);

#endif
