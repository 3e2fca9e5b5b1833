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

/* Returns the exit status; messages are the command's. The options stay the caller's. */
int report_run(const struct cmd *cmd, struct report_options *o, const char *output);

/* A line on stderr: what was written to `path`, and what the picture says about itself. */
void report_say_written(const struct cmd *cmd, const char *path, const struct picture *p);

#endif
