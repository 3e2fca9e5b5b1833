/*
 * top_rows.h - top: which rows and columns there are, and the table of one event.
 *
 * In       options; moments
 * Out      tables of cells, the hottest rows first
 * Owns     nothing: a table borrows its moment until top_table_close()
 * Errors   ERR_INVAL: keys that contradict each other
 */
#ifndef PACE_CMD_TOP_ROWS_H
#define PACE_CMD_TOP_ROWS_H

#include "cmd/top/top_options.h"
#include "profile/rows/key_own.h"
#include "profile/tree/moment.h"
#include "view/forms/text.h"
#include "view/rows/histrows.h"

struct top_rows {
	const struct top_options *options;
	struct hist_options hist;
	struct histrows_options rows;
	struct text_options text;
	struct key_own own; /* labels of a fleet */
};

struct top_table {
	struct hist hist;
	struct histrows rows;
};

int top_rows_choose(struct top_rows *r, const struct top_options *o, struct err *err);

/* LABEL_BIT()s that the rows need; the part of the source location that they need. */
u64 top_rows_labels(const struct top_rows *r);
enum naming_source top_rows_source(const struct top_rows *r);

/* Whether time on and off CPUs is one table, whose columns are the events: programs get a table of each. */
static inline bool top_rows_has_columns(const struct top_rows *r)
{
	return r->options->record.records.has_wall && !r->options->is_json;
}

/* How many tables there may be. */
static inline u32 top_rows_n_tables(const struct top_rows *r, const struct moment *s)
{
	return top_rows_has_columns(r) ? 1 : (u32)s->profile.events.n;
}

/* `p`, `c`: of a moment, or a part of it; `most`: rows at most; 0: all. */
void top_table_open(struct top_table *t, const struct top_rows *r, const struct profile *p,
	const struct calls *c, u32 event, u64 most);
void top_table_close(struct top_table *t);

#endif
