/*
 * top_code.h - top: the code of functions, with their samples of one moment, while measuring goes on.
 *
 * In       a feed; a function of the rows that are shown
 * Out      the view of codeview.h, until a key ends it
 * Owns     a moment with a row for each address, and a resolver for it: that of the feed has another thread
 * Errors   a function that has no samples any more: said on the screen
 * Threads  made by the thread that measures, or after its end; used by any one thread
 */
#ifndef PACE_CMD_TOP_CODE_H
#define PACE_CMD_TOP_CODE_H

#include "cmd/live/feed.h"
#include "cmd/top/top_options.h"
#include "view/screen/browser.h"

struct top_code {
	struct trace trace; /* with the feed's DSOs */
	struct moment moment;
	u64 time_ns; /* CLOCK_REALTIME */
};

struct top_code *top_code_new(struct feed *f);
void top_code_free(struct top_code *c);

/* `symbol`: of another profile of the same feed. */
void top_code_show(struct top_code *c, const struct top_options *o, const struct profile *of,
	u32 symbol, struct browser *b);

#endif
