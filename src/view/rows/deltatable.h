/*
 * deltatable.h - what tables of a comparison have in common: columns for people and for programs, facts in front, the order of rows.
 *
 * In       the comparison (profile/diff/delta); the columns, facts and rows that diffrows and blockrows make
 * Out      struct rowset
 * Owns     everything here, the order included, until deltatable_fini()
 */
#ifndef PACE_VIEW_DELTATABLE_H
#define PACE_VIEW_DELTATABLE_H

#include "profile/rows/rowmaker.h"
#include "view/diff/diff.h"

struct deltatable {
	struct rowset rows, head;
	struct rowmaker made, facts; /* made: builds rows lazily */
	u32 *order;                  /* from mem_alloc: the place of each row in the comparison */
	VEC(struct rowset_column) columns, shown; /* for programs, for people */
	struct arena titles;
};

/* Adds a column for people. recording: whose it is; with several ones the title says so; -1: of no single one. */
void deltatable_show(struct deltatable *t, const struct delta *d, const struct diff_options *o,
	struct rowset_column column, long recording);
/* Adds the column of a key of rows, for both. */
void deltatable_add_key(struct deltatable *t, const struct key *key);
/* Once columns, facts and the lazy rows are there. shows: which rows people get; NULL: all. */
void deltatable_close(struct deltatable *t, const struct delta *d,
	const struct rowset_column *facts, size_t n_facts,
	bool (*shows)(const struct rowset *rows, size_t row));
void deltatable_fini(struct deltatable *t);

#endif
