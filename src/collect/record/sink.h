/*
 * sink.h - takes the records that a recorder reads from its rings: a file, a window, a reader in this process.
 *
 * In       runs of whole records, in the order of their rings; after those of each round FINISHED_ROUND
 * Life     runs are valid until append() returns
 * Errors   append(), sync(): the reason why the sink can take no more; the recorder ends with it
 */
#ifndef PACE_COLLECT_SINK_H
#define PACE_COLLECT_SINK_H

#include <sys/uio.h>

#include "base/err.h"

struct sink {
	void *ctx;
	/* A record may continue in the next run. */
	int (*append)(void *ctx, const struct iovec *runs, int n, struct err *err);
	/* Makes all records visible to readers of the sink's output. NULL: they are visible at once. */
	int (*sync)(void *ctx, struct err *err);
};

static inline int sink_append(const struct sink *s, const void *records, size_t n, struct err *err)
{
	struct iovec run = {(void *)records, n};

	return n ? s->append(s->ctx, &run, 1, err) : 0;
}

static inline int sink_sync(const struct sink *s, struct err *err)
{
	return s->sync ? s->sync(s->ctx, err) : 0;
}

#endif
