/*
 * progress.h - one line on standard error about work that takes long, and Ctrl-C to end the work early.
 *
 *     [ reading 'perf.data': 43%, 3 s left, Ctrl-C shows what was read ]
 *
 * In       how much work there is, and what is done of it
 * Out      the line, if standard error is a terminal that can erase it and this process is in its foreground: half a
 *          second after the work began, from then on ten times a second, and erased when the work ends. While it
 *          stands there, progress_make_room() makes room for another sentence
 * Owns     a thread that writes the line, and the reaction to SIGINT, from progress_begin() to progress_end()
 * Errors   none: without a thread there is no line
 * Threads  any number may call progress_add(), progress_set(), progress_say() and progress_is_stopped(); one
 *          thread calls the rest. One work at a time: a second one is not shown until the first one ends
 * Signals  SIGINT stops the work as soon as the line offers it; before that, and when it comes again before the work
 *          has noticed, it ends the process
 */
#ifndef PACE_BASE_PROGRESS_H
#define PACE_BASE_PROGRESS_H

#include <stdatomic.h>

#include "base/str.h"
#include "base/types.h"

struct progress {
	const char *what;    /* "reading" */
	const char *subject; /* shown in quotes; NULL: none */
	const char *offer;   /* what Ctrl-C does: "skips it"; NULL: it is not mentioned */
	bool leaves_signal;  /* the caller reacts to Ctrl-C itself */
	bool hears_always; /* Ctrl-C stops the work from its beginning on, also where no line is shown */
	_Atomic u64 done, all; /* of the work; all 0: nobody knows how much it is */
};

/* All functions accept NULL, for work that is not shown. */
void progress_begin(struct progress *p);
void progress_end(struct progress *p);

/* Says how much work there is altogether. */
void progress_expect(struct progress *p, u64 all);
static inline void progress_expect_more(struct progress *p, u64 more)
{
	if (p)
		p->all += more;
}

void progress_set(struct progress *p, u64 done);

static inline void progress_add(struct progress *p, u64 done)
{
	if (p)
		atomic_fetch_add_explicit(&p->done, done, memory_order_relaxed);
}

void progress_rename(struct progress *p, const char *what);

/* The line's text for the next second, in place of the work's own. */
void progress_say(struct progress *p, const char *text);

/* Whether the user stopped this work, and nobody has called progress_heed() since. */
bool progress_is_stopped(const struct progress *p);
/* The work stops here: from now on Ctrl-C means what comes next. */
void progress_heed(struct progress *p);

/* Erases the line, because something else is written to the terminal now. */
void progress_make_room(void);

/* While a screen shows something there are no lines. */
void progress_hide(bool hides);

/*
 * For screens that show the progress themselves, from another thread than the one that works: adds the text of the work that is
 * under way, if there is one, without what Ctrl-C does where there is no screen.
 */
void progress_tell(struct str *text);
/* While it is given up, all work stops as soon as it looks, as if the user had stopped it; progress_heed() changes nothing. */
void progress_give_up(bool gives_up);

/*
 * From now on each work stops by itself, as if the user stopped it, after `ns` of this process's CPU time, or PROGRESS_PATIENCE times as long
 * by the clock: on a busy machine no work is cut off before it began. After progress_heed() it has as long again. 0: no limit.
 */
enum { PROGRESS_PATIENCE = 5 };
void progress_limit(u64 ns);

/* ---- for tests ---- */

/* The text of the line, without brackets, after `passed_ns` of work. */
void progress_add_text(const struct progress *p, u64 passed_ns, struct str *text);

#endif
