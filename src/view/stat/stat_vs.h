/*
 * stat_vs.h - two commands side by side: text for people, CSV, JSON. The names are in pace-stat(1).
 *
 * In       pairs; what was compared, and how it ended
 * Out      text, appended to a struct str
 * Threads  one
 */
#ifndef PACE_VIEW_STAT_VS_H
#define PACE_VIEW_STAT_VS_H

#include "profile/diff/pairs.h"
#include "view/stat/stat.h"

enum stat_vs_end {
	STAT_VS_ASKED,   /* as many pairs as -r asked for */
	STAT_VS_PRECISE, /* the interval is narrow enough */
	STAT_VS_TIME,    /* the time is up */
	STAT_VS_LIMIT,   /* the largest number of pairs without -r */
	STAT_VS_SIGNAL,
};

struct stat_vs_facts {
	const char *commands[2]; /* as given */
	u64 seed;
	bool uses_shell;
	enum stat_vs_end end;
	const char *signal; /* with STAT_VS_SIGNAL: "SIGINT" */
	double limit_s;     /* with STAT_VS_TIME */
	u64 n_failed[2];    /* runs that ended with a status other than 0 */
};

/* A row with the result of its comparison. */
struct stat_vs_line {
	const struct pairs_row *row;
	struct versus versus;
};

struct stat_vs_lines {
	struct stat_vs_line *at;
	size_t n, cap;
};

/* Adds everything, in the format of `o`. */
void stat_vs_add(const struct pairs *pairs, const struct stat_vs_facts *facts,
	const struct stat_options *o, struct str *text);

/* ---- for people, for programs ---- */

void stat_vs_text(const struct pairs *pairs, const struct stat_vs_lines *lines,
	const struct stat_vs_facts *facts, const struct stat_options *o, struct str *text);
void stat_vs_add_rows(const struct pairs *pairs, const struct stat_vs_lines *lines,
	const struct stat_vs_facts *facts, const struct stat_options *o, struct str *text);

const char *stat_vs_verdict_name(enum versus_verdict verdict);
const char *stat_vs_end_name(enum stat_vs_end end);

#endif
