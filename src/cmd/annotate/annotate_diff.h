/*
 * annotate_diff.h - annotate --diff: the code of one function in two recordings.
 *
 * In       options; the paths of both recordings, the old one first; the function's name, or NULL: the one whose share of the run
 *          changed most
 * Out      text or JSON
 * Errors   ERR_INVAL, ERR_NOENT: the function is not in both, or its code is not here; those of annotating_open()
 */
#ifndef PACE_CMD_ANNOTATE_DIFF_H
#define PACE_CMD_ANNOTATE_DIFF_H

#include "cmd/annotate/annotating.h"

int annotate_diff(const struct annotate_command *o, char *const paths[2], const char *name,
	struct out *out, struct annotate_result *ret, struct err *err);

#endif
