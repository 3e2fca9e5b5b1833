/*
 * watch_odd.h - watch: the samples of the last minute, kept in memory; when the minute was odd they become a recording.
 *
 * Another process adds to the recording what it needs to be read anywhere ('pace data pack'), so that measuring goes on.
 * In       what the recorder reads (file/window.h); batches
 * Out      recordings in the store's folder "odd", and why; facts of batches
 * Owns     the window, what is usual, the folder
 * Limits   WATCH_ODD_WINDOW bytes of a window; recordings have at most a quarter of the store
 * Errors   a recording that cannot be written is said once, and counting goes on
 */
#ifndef PACE_CMD_WATCH_ODD_H
#define PACE_CMD_WATCH_ODD_H

#include "cmd/watch/watch_options.h"
#include "file/window.h"
#include "fleet/oddfolder.h"
#include "profile/batch/usual.h"

enum { WATCH_ODD_WINDOW = 8 << 20 };

struct watch_odd {
	const struct watch_options *options;
	struct feed *feed;
	struct log *log;
	struct window window;
	bool has_window;           /* the first record has come */
	struct sink keeping, sink; /* keeping: the window's; sink: for the feed */
	u64 advanced_ns;
	struct usual usual;
	struct oddfolder folder;
	double allowed; /* recordings that may be made now */
	pid_t packing;  /* the process that completes the last one; 0: none */
	bool is_failure_said;
};

/* With --odd 0 nothing is kept, and w->folder.fd stays -1. */
int watch_odd_open(struct watch_odd *w, const struct watch_options *o, const char *store,
	struct feed *feed, struct log *log, struct err *err);
void watch_odd_close(struct watch_odd *w);

/* Whether the batch is odd: then it gets a fact, and its samples are kept. */
void watch_odd_look(struct watch_odd *w, struct batch *b);

/* Bytes of the recordings, as struct storewriter asks for them. */
u64 watch_odd_bytes(void *ctx);

#endif
