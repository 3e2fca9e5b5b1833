/*
 * report_levels.h - what the browser of report shows, level on level: the recording as the options say, a part of it, the same
 * recording or another one read with other options.
 *
 * A level has the rows that the text would have with its options. A zoom takes rows away from the level below; anything else
 * is read again from the file, and the zooms below are applied to that too.
 * In       a report that is read; what to change
 * Out      reports; the level that is on top is shown
 * Owns     all levels but the first report
 * Errors   those of reports; the levels stay as they are
 */
#ifndef PACE_CMD_REPORT_LEVELS_H
#define PACE_CMD_REPORT_LEVELS_H

#include "cmd/report/reporting.h"
#include "profile/tree/zoom.h"

struct report_level {
	struct report_options options;
	struct reporting *reporting; /* that of the level below, unless it is read again */
	bool is_read;                /* owns the reporting */
	struct choice own;           /* other rows of the same samples */
	bool has_own;
	struct choice
		*choice; /* what is shown: its own, the reporting's, or that of the level below */
	struct str input, time, keys; /* what options point to, if they were changed */
	VEC(struct zoom) zooms;       /* those of the levels below included */
	struct part part;
	bool is_part;
	struct answer answer;      /* the reporting's, with the part's rows */
	struct answer_table table; /* that is open, or was when another level came on top */
	size_t n_table;            /* its number, + 1; 0: none is open */
	struct str crumb;          /* what is said of it */
	u32 key;                   /* that made it */
	u64 timeline_most;         /* as in struct reporting */
	size_t line;               /* where the cursor was when another came on top */
};

struct report_levels {
	VEC(struct report_level *) at; /* the first is the whole report */
	struct str said;               /* notes of the last reading */
};

void report_levels_init(struct report_levels *l, struct reporting *first);
void report_levels_fini(struct report_levels *l);

static inline struct report_level *report_levels_top(const struct report_levels *l)
{
	return l->at.at[l->at.n - 1];
}

/* Puts a part on top. */
int report_levels_zoom(struct report_levels *l, u32 key, const struct zoom *zoom, struct err *err);

/*
 * Puts a level on top: one that was read, or that needs no reading, because it shows the same samples in another way. Drops it
 * if that fails.
 */
int report_levels_put(struct report_levels *l, struct report_level *level, struct err *err);

/* A table of the top level; the one before is closed. */
struct answer_table *report_levels_table(struct report_levels *l, size_t table);

/* A level that is like the one on top, to be changed and then read, or dropped. */
struct report_level *report_level_like(const struct report_levels *l, u32 key);
void report_level_drop(struct report_level *level);
/*
 * For a level of the same file, filters and time as the one on top, with other keys or graphs: whether the samples that were read
 * have all that it shows. Then it needs no reading, only its own choice.
 */
bool report_levels_suffice(const struct report_levels *l, struct report_level *level);
/* Reads it, for the caller to look at and to drop, or to put on top. May run on another thread while the levels are shown. */
int report_level_read(struct report_levels *l, struct report_level *level, struct err *err);
/* Takes the top level away; NULL: it is the first. The caller drops it, when nothing shows it any more. */
struct report_level *report_levels_pop(struct report_levels *l);

#endif
