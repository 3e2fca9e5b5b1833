/*
 * report_choice.h - report, between options and samples: which samples, which rows, which options go together.
 *
 * In       what the options say, what the recording has
 * Out      keys, columns, graphs and filters for the later stages
 * Owns     its lists and the expression of --ignore-callees
 * Errors   ERR_INVAL: options that contradict each other, or need what the recording lacks
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
	bool forgets; /* ignore callees of functions that match `forgotten` */
	regex_t forgotten;
};

/* choice_fini() must be called even after an error. */
int choice_make(struct choice *c, const struct report_options *o, struct recorded *in,
	struct err *err);

/* Says how to read the recording for these choices and for the answer. */
void choice_tell(const struct choice *c, const struct answer *a, struct recorded_options *reading);

void choice_fini(struct choice *c);

#endif
