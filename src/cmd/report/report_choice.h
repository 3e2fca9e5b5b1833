/*
 * report_choice.h - report, between options and samples: which samples, which rows, what goes together.
 *
 * In       what the options say, what the recording has
 * Out      keys, columns, graphs and filters for the stages behind
 * Owns     its lists and the expression of --ignore-callees
 * Errors   ERR_INVAL: what makes no sense together, and what the recording has nothing for
 */
#ifndef PACE_CMD_REPORT_CHOICE_H
#define PACE_CMD_REPORT_CHOICE_H

#include <regex.h>

#include "base/num.h"
#include "cmd/report/report_options.h"
#include "cmd/which.h"
#include "profile/gather/filter.h"
#include "profile/rows/hist.h"
#include "view/rows/histrows.h"
#include "view/forms/text.h"

struct choice {
	const struct report_options *options;
	struct recorded *recorded;
	struct keys keys;
	struct hist_options hist;
	struct text_options text;
	struct histrows_options rows;
	bool has_wall;
	u64 time_quantum; /* ns */
	struct which which;
	struct profile_filter filter;
	bool forgets; /* callees of what `forgotten` matches */
	regex_t forgotten;
};

/* To be closed by choice_fini() also after an error. */
int choice_make(struct choice *c, const struct report_options *o, struct recorded *in,
	struct err *err);

/* How to read for that, and for what the answer needs beyond it. */
void choice_tell(const struct choice *c, const struct answer *a, struct recorded_options *reading);

void choice_fini(struct choice *c);

#endif
