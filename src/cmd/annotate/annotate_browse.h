/*
 * annotate_browse.h - annotate on a terminal: the code of functions, to walk through with keys.
 *
 * In       a recording whose samples are counted by function
 * Out      the terminal
 * Owns     nothing afterwards
 * Errors   ERR_INVAL: options for something else than code; those of the terminal
 */
#ifndef PACE_CMD_ANNOTATE_BROWSE_H
#define PACE_CMD_ANNOTATE_BROWSE_H

#include "cmd/annotate/annotating.h"

/* Refuses options that ask for something that --tui does not show. */
int annotate_browse_check(const struct annotate_command *o, struct err *err);

/* Whether the code is shown on the screen; notes if that is wanted but there is no terminal for it. */
bool annotate_browse_is_wanted(struct annotating *r, const struct out *out);

/* Until a key ends it, beginning with a function of the annotation. */
int annotate_browse(struct annotating *r, u32 function, struct err *err);

#endif
