/*
 * reporting.h - report, everything between the file and the output: one recording, read as the options say.
 *
 * In       a recording that is open, options, and the choices made from both
 * Out      a named and filtered profile, and its call tree
 * Owns     all of it, until reporting_close()
 * Errors   those of the file; ERR_INVAL: options that it cannot do
 */
#ifndef PACE_CMD_REPORTING_H
#define PACE_CMD_REPORTING_H

#include "cmd/report/report_answer.h"
#include "cmd/report/report_choice.h"
#include "cmd/report/report_options.h"
#include "profile/check/recorded.h"
#include "profile/code/ipc.h"
#include "view/stat/threadcounts_text.h"

struct reporting {
	const struct report_options *options;
	struct log log;
	struct recorded recorded;
	struct choice choice;
	struct calls calls;
	struct blocks blocks; /* runs of code between branches, if functions' ipc is wanted */
	struct ipc ipc;
	struct answer answer;
	struct threadcounts thread_counts;
	u64 more_labels;   /* LABEL_BIT()s that the rows must have, besides those of the options */
	u64 timeline_most; /* if not 0, the profile has a timeline, as in struct recorded_options */
	bool is_silent;    /* shows no progress on the terminal, which shows something else */
};

/* Reads the samples into a named profile, and filters it: after answer_open() and choice_make(). */
int reporting_read(struct reporting *r, struct err *err);

void reporting_close(struct reporting *r);

#endif
