/*
 * stat_drill.h - a drill-down as text, or as rows for programs.
 *
 * In       its steps, in their order; what was found at its end
 * Out      text; cells
 */
#ifndef PACE_VIEW_STAT_DRILL_H
#define PACE_VIEW_STAT_DRILL_H

#include "base/str.h"
#include "profile/diff/drill.h"
#include "profile/rows/rowmaker.h"

struct stat_drill {
	const char *what; /* is measured: "'make'" */
	const char *pmu, *family;
	const char *unit; /* of measurements: "run", "interval" */
	VEC(struct drill_step) steps;
	const char *leaf;         /* the last branch; NULL: nothing was counted */
	const char *means, *todo; /* of the leaf; or NULL */
	const char *command;      /* that samples where; NULL: none */
	const char *
		sampled; /* the branch that the command is about: the leaf, or the nearest above it */
	const char *ended; /* why it ended before a leaf; NULL */
};

/* A step as it is known, with its number. */
void stat_drill_add_step(const struct stat_drill *d, size_t step, struct str *text);
void stat_drill_add_end(const struct stat_drill *d, struct str *text);

/* A row for each branch of each step; those of the leaf have the command. */
void stat_drill_rows(const struct stat_drill *d, struct rowmaker *m);

#endif
