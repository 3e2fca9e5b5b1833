/*
 * report.h - all stages of report, for commands that have other options than report's.
 *
 * In       options; a file to write, NULL: stdout
 * Out      the report; messages on stderr
 * Owns     the file: what was there before becomes NAME.old, and comes back if there is nothing to write
 */
#ifndef PACE_CMD_REPORT_H
#define PACE_CMD_REPORT_H

#include "cmd/report/report_options.h"
#include "view/svg/picture.h"

struct cmd;

/* Opens the input that was chosen. */
int report_open(struct recorded *r, const struct report_options *o, struct log *log,
	struct err *err);

/* What messages call the input. */
static inline const char *report_name(const struct report_options *o)
{
	return o->input_name ? o->input_name : o->input;
}

/* Returns the exit status; messages are the command's. The options stay the caller's. */
int report_run(const struct cmd *cmd, struct report_options *o, const char *output);

/* A line on stderr: what was written to `path`, and what the picture says about itself. */
void report_say_written(const struct cmd *cmd, const char *path, const struct picture *p);

#endif
