/*
 * workers.h - the same work on many pieces, on all cores.
 *
 * In       n pieces numbered from 0; a function that does one piece
 * Threads  the function runs on up to n_workers threads at once; `worker` (0 .. n_workers - 1)
 *          tells them apart, so each can own what it writes. Free threads take the pieces in order.
 *          If memory runs out and the caller is inside mem_try(), no more pieces are taken, and
 *          workers_run() calls mem_exhausted() after all threads have ended
 */
#ifndef PACE_BASE_WORKERS_H
#define PACE_BASE_WORKERS_H

#include "base/types.h"

enum { WORKERS_MAX = 256 };

/* Cores this process may run on, 1 .. WORKERS_MAX. */
unsigned workers_available(void);

/* Returns when all pieces are done. One worker or one piece runs on the caller's thread. */
void workers_run(unsigned n_workers, size_t n_pieces,
	void (*piece)(void *ctx, size_t i, unsigned worker), void *ctx);

#endif
