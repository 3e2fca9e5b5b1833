/*
 * sink.h - where the records go that a recorder takes out of its rings: a file, a window, a reader in this process.
 *
 * In       runs of whole records, in the order of their rings; behind those of each round FINISHED_ROUND
 * Life     runs are valid until append() returns
 * Errors   append(), sync(): what keeps the sink from taking more; the recorder ends with it
 */
#ifndef PACE_COLLECT_SINK_H
#define PACE_COLLECT_SINK_H

#include <sys/uio.h>

#include "base/err.h"

struct sink {
	void *ctx;
	/* A record may go on from one run into the next. */
	int (*append)(void *ctx, const struct iovec *runs, int n, struct err *err);
	/* Whoever reads what the sink makes of the records is to see all of them. NULL: sees them at once. */
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
