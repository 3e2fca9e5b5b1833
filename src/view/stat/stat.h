/*
 * stat.h - counts as a table for people, as CSV and as JSON.
 *
 * The text has perf stat's layout. CSV has a row of names and always the same columns; JSON is one
 * object a line with the same names: pace-stat(1) lists them. Both are in the C locale, and a number
 * that is unknown is left out (CSV) or null (JSON), with the reason next to it.
 *
 * In       counts; what was measured and how it ended
 * Out      text, appended to a struct str
 * Threads  one
 */
#ifndef PACE_VIEW_STAT_H
#define PACE_VIEW_STAT_H

#include "base/str.h"
#include "profile/diff/metric.h"
#include "profile/diff/metricvalue.h"
#include "profile/diff/counts.h"
#include "view/forms/forms.h"

struct stat_options {
	const struct form *form; /* how rows are shown; that for people is perf's layout */
	const char *separator;   /* of CSV */
	bool has_perfs_columns;  /* rows for programs are those of perf stat */
	bool has_perf7_columns;  /* ... with the members of -j that perf has since 6.16 */
	bool has_summary_column; /* of these: rows of the whole run say so where intervals have their time */
	bool is_plain;           /* no thousands separators */
	bool is_metric_only;
	const struct metricset *metrics; /* -M; NULL: none were asked for */
	bool has_table;                  /* every run's time */
	bool has_no_merge;               /* a row for each PMU that has an event of a name */
	bool has_colours;                /* on a terminal */
	bool has_no_defaults;            /* unsupported events of the defaults are left out */
};

/* One event in one place. */
struct stat_line {
	const struct counts_place *place;
	const struct event *event;
	struct count count;
	enum count_state state;
	const char *reason;   /* why there is no count, or only a part of it; NULL */
	double deviation;     /* of the mean of runs, as a fraction of it; < 0: there was one run */
	double scaling_error; /* see counts_scaling_error() */
	struct metric *metrics; /* the lines' */
	unsigned n_metrics;
};

struct stat_lines {
	struct stat_line *at;
	size_t n, cap;
	struct arena arena;
};

/* What was measured, and what is known about it besides counts. */
struct stat_facts {
	const char *what;  /* "'make -j2'", "process id '12'", "system wide" */
	const char *ended; /* why it is incomplete: "SIGTERM"; NULL: it is complete */
	bool has_usage;    /* of a command; the following members: */
	u64 max_rss_kb, n_blocks_in, n_blocks_out;
	/* Our own memory, which the kernel also counts for a child of ours. */
	u64 own_rss_kb;
	bool has_switches; /* no event has counted these: */
	u64 n_waits, n_preempted;
	u64 queue_ns;          /* how long its first thread waited for a CPU; UINT64_MAX: unknown */
	const double *runs_ns; /* n_runs of them, in order, with has_table */
};

struct stat_column { /* of --metric-only */
	const struct event *event;
	const char *metric; /* the name of one that was asked for; NULL: the event's own by `row` */
	const struct metric_row *row;
	u32 nth; /* of --topdown */
	double factor;
	char *name;
};

enum { STAT_HEADER_EACH = 25 }; /* rows of intervals */

struct stat_view {
	const struct counts *counts;
	const struct stat_options *options;
	bool has_header; /* names of columns have been written */
	u32 n_since_header;
	VEC(struct stat_column) columns, shares; /* of metrics; of TopDown */
	/* Its groups are the first events, shown as shares; NULL: none. */
	const struct tma_plan *topdown;
	const char *
		on_what; /* with topdown: the words " -a -- sleep 1" for commands that look closer */
};

/* The lines of the last interval (`is_interval`), or of all runs; `elapsed_ns` is their time. */
void stat_lines_make(struct stat_lines *lines, const struct counts *stat, bool is_interval,
	double elapsed_ns, const struct stat_options *options);
void stat_lines_fini(struct stat_lines *lines);
void stat_view_fini(struct stat_view *v);

/* Adds an interval's lines, `time_ns` after the start. */
void stat_add_interval(struct stat_view *v, const struct stat_lines *lines, u64 time_ns,
	struct str *text);

/* Adds the result at the end. */
void stat_add_result(struct stat_view *v, const struct stat_lines *lines,
	const struct stat_facts *facts, struct str *text);

/* ---- a file for each format; called by the two above. time_ns UINT64_MAX: the whole run ---- */

void stat_text_rows(struct stat_view *v, const struct stat_lines *lines, u64 time_ns,
	struct str *text);
void stat_text_result(struct stat_view *v, const struct stat_lines *lines,
	const struct stat_facts *facts, struct str *text);
void stat_metrics_rows(struct stat_view *v, const struct stat_lines *lines, u64 time_ns,
	struct str *text);
void stat_perf_rows(const struct stat_view *v, const struct stat_lines *lines, u64 time_ns,
	struct str *text);
void stat_perf_columns(struct stat_view *v, const struct stat_lines *lines, bool is_interval,
	u64 time_ns, struct str *text);
void stat_make_rows(const struct stat_view *v, const struct stat_lines *lines,
	const struct stat_facts *facts, u64 time_ns, struct rowmaker *m);
void stat_make_flat_rows(const struct stat_view *v, const struct stat_lines *lines,
	const struct stat_facts *facts, u64 time_ns, struct rowmaker *m);

/* Adds rows for programs in their form, with names before the first row where the form has these. */
void stat_add_table(const struct stat_options *o, const struct rowmaker *rows, bool *has_head,
	struct str *text);

/* What a row of both texts begins with: the time, and the CPU, core or thread. */
void stat_add_time(u64 time_ns, struct str *text);
void stat_add_place(const struct counts *counts, const struct counts_place *place,
	struct str *text);
/* A count with its unit, and a metric, in columns. */
void stat_add_value(const struct stat_view *v, const struct stat_line *l, struct str *text);
void stat_add_metric(const struct stat_options *o, const struct metric *m, struct str *text);
/* "" if nothing is said. */
const char *stat_verdict_colour(enum metric_verdict verdict);
void stat_add_place_title(const struct counts *counts, struct str *text);

/* How perf calls the places of a scope, and whether the number of its counters follows. NULL: nothing stands there. */
struct stat_perf_place {
	const char *name;
	bool has_number;
};
const struct stat_perf_place *stat_perf_place(enum counts_scope scope);
/* The name of the member with this number. */
const char *stat_perf_number(const struct stat_view *v);

/* Counts are whole numbers, unless they have a unit or are means of several runs. */
unsigned stat_digits(const struct stat_view *v, const struct stat_line *l);

/* The event's control group as people write it: the root group is "/"; NULL: none. */
const char *stat_cgroup(const struct event *e);

#define STAT_APART   "not counted at the same time" /* why a ratio has no value */
#define STAT_UNKNOWN "a count that it needs is missing, or it divides by 0"

/* Why a metric has no value; NULL: it has one. */
const char *stat_metric_reason(const struct metric *m);

/* The words of what a threshold says: "notable", "unremarkable"; NULL: nothing. */
const char *stat_verdict_name(enum metric_verdict verdict);

/* The words of a state: "counted", "not counted", "not supported". */
const char *stat_state_name(enum count_state state);

#endif
