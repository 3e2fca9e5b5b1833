/*
 * report_answer.h - report, the last stage: the rows of each event, in the requested form.
 *
 * In       a named profile, its call tree, what to group by and which columns
 * Out      text
 * Owns     the times of samples, for intervals
 * Errors   ERR_INVAL: options that contradict each other
 */
#ifndef PACE_CMD_REPORT_ANSWER_H
#define PACE_CMD_REPORT_ANSWER_H

#include "base/log.h"
#include "base/opts.h"
#include "base/out.h"
#include "cmd/symbols.h"
#include "profile/check/account.h"
#include "profile/check/recorded.h"
#include "profile/rows/confidence.h"
#include "profile/check/assertion.h"
#include "view/forms/forms.h"
#include "view/rows/histrows.h"
#include "view/forms/text.h"

struct answer_options {
	struct form_choice forms;
	const char *html;  /* the file that gets the page; NULL: no page, or on stdout */
	const char *flame; /* likewise the flame graph */
	struct picture_options picture;
	bool is_hierarchy; /* rows below rows, a level for each key */
	bool has_intervals;
	bool is_whole;   /* text may be wider than the terminal */
	int groups;      /* events in one table: 1: all, -1: those that were counted as a group */
	u64 group_order; /* the event of a table, from 0, that rows are sorted by */
	int skips_empty; /* events without samples are not shown; else each has a heading */
	struct opt_list assertions; /* --fail-if */
	u64 budget;                 /* lines of a call tree instead of rows; 0: rows */
	const char *node;           /* show only this node of the tree */
};

struct answer {
	const struct answer_options *options;
	struct recorded *recorded; /* where the profile is from */
	const struct symbol_options *symbols;
	const char *path; /* likewise */
	const struct profile *profile;
	const struct calls *calls;
	struct hist_options *hist;
	const struct text_options *text;
	const struct histrows_options *rows;
	struct confidence_whole whole;
	struct account account;
	bool has_groups; /* the profile has groups of events */
	struct picture picture;
	VEC(struct assertion) assertions;
};

/* Reads what can be read before the recording is known. */
int answer_open(struct answer *a, const struct answer_options *o, struct err *err);

/* The labels that the output needs; whether it needs callers. */
u64 answer_labels(const struct answer *a);
bool answer_needs_stacks(const struct answer *a);

/* Whether it shows data types and other things about the recording, as far as they are known, beside samples. */
bool answer_wants_documents(const struct answer *a);

/* How many samples it shows in the order of time at most; 0: it shows none. */
u64 answer_timeline(const struct answer *a);

/* Whether it shows the lines of source of stacks. */
bool answer_needs_lines(const struct answer *a);

/* Whether the output is for a program: it must hold nothing but data. */
bool answer_is_data(const struct answer_options *o);

/* The file that is written instead of stdout; NULL: none. */
static inline const char *answer_file(const struct answer_options *o)
{
	return o->html ? o->html : o->flame;
}

/* Called before anything is filtered, and afterwards. */
void answer_note_whole(struct answer *a, const struct session_tally *t);
void answer_note_filtered(struct answer *a);

/* The tables of plain text one by one, for views that show one at a time. It must stay where it is while it is open. */
struct answer_table {
	struct hist hist;
	struct confidence confidence;
	struct histrows rows;
};

size_t answer_n_tables(const struct answer *a);
/* Adds the names of the events of a table, and how many samples they have. */
void answer_add_table_name(const struct answer *a, size_t table, struct str *text);
/* Whether a table has several events, if there are several. */
bool answer_is_side_by_side(const struct answer *a);
void answer_table_open(struct answer *a, size_t table, struct answer_table *t);
void answer_table_close(struct answer_table *t);

/* ERR_INVAL: there is no such --node, no such event. */
int answer_show(struct answer *a, struct out *out, struct err *err);
/*
 * Reports which assertions of --fail-if are true; *ret_fails: one is. ERR_INVAL: one has a name that only this build
 * has.
 */
int answer_assertions(const struct answer *a, struct log *log, bool *ret_fails, struct err *err);

void answer_fini(struct answer *a);

#endif
