/*
 * pager.h - text for a terminal goes through a pager: PACE_PAGER, else PAGER, else less.
 *
 * In       the text of standard output, which base/out writes; nothing if that is no terminal
 * Out      a process that shows the text. It starts with the first text, so that what was said or asked before
 *          stands on the terminal as always. From then on standard error goes there too
 * Owns     the process, until pager_end()
 * Errors   a pager that cannot be run, or that ends without having read anything: the text follows without it,
 *          and a note says so. If the user leaves early, what writes sees EPIPE, which is no failure
 * Signals  while the pager runs, SIGINT, SIGTERM, SIGHUP and SIGQUIT end this process only after it; SIGPIPE does
 *          nothing
 * Source   git and perf do the same, with GIT_PAGER and PERF_PAGER
 */
#ifndef PACE_BASE_PAGER_H
#define PACE_BASE_PAGER_H

#include "base/types.h"

/* Takes all further text of standard output, if that is a terminal that can page. */
void pager_begin(void);
/* The same for commands that are not paged by themselves: the user asks for it. */
void pager_ask(void);
bool pager_is_asked_for(void);
/* Nothing is paged, whoever asks for it later. */
void pager_never(void);
/* Waits until the user has left the pager. */
void pager_end(void);

#endif
