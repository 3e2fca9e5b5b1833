/*
 * ring.h - one kernel ring buffer, read as whole records.
 *
 * In       the fd of an opened event; size in pages, a power of two
 * Out      runs of whole records in the order the kernel wrote them (at most two, because the ring
 *          wraps), or single records; one that wraps is copied to ring->scratch
 * Owns     the mapping; not the fd
 * Life     records and runs are valid until ring_release()
 * Units    bytes unless the name says _pages
 * Errors   only ring_open(): ERR_PERM when the mlock limit is reached, ERR_SYS. Reading cannot
 *          fail; a ring whose positions make no sense reads as empty and is_broken is set
 * Threads  one reader per ring
 * Source   linux/perf_event.h: perf_event_mmap_page: data_head is written by the kernel after the
 *          data, data_tail by the reader after it has read
 */
#ifndef PACE_COLLECT_RING_H
#define PACE_COLLECT_RING_H

#include <sys/uio.h>

#include "base/err.h"
#include "base/types.h"
#include "event/abi.h"
#include "record/record.h"

struct ring {
	struct ring_page *page;
	const u8 *data;
	u64 size;       /* of the data area */
	u64 head, tail; /* as of ring_acquire(); the reader's position */
	bool is_broken;
	bool is_backward;
	u8 *scratch; /* 64 KiB: room for the largest possible record */
};

int ring_open(struct ring *ring, int fd, u64 pages, struct err *err);
void ring_close(struct ring *ring);

/*
 * Opens a ring that the kernel fills from its end to its beginning (ATTR_WRITE_BACKWARD),
 * overwriting the oldest records. It is mapped read-only, so no space can be given back. Pause its
 * output (PERF_EVENT_IOC_PAUSE_OUTPUT) while reading it.
 */
int ring_open_backward(struct ring *ring, int fd, u64 pages, struct err *err);

/* Moves to the latest record of a backward ring: ring_next() goes from there to older records. */
void ring_acquire_backward(struct ring *ring);

/* Finds out how far the kernel has written. Returns how many bytes can be read. */
u64 ring_acquire(struct ring *ring);

/* All bytes between the reader and the acquired head, as 0, 1 or 2 runs; returns how many runs. */
int ring_runs(const struct ring *ring, struct iovec runs[2]);

/* The next record before the acquired head. */
bool ring_next(struct ring *ring, struct record *ret_rec);

/* Moves the reader to the acquired head (after ring_runs()) and gives the space back to the kernel. */
void ring_release(struct ring *ring);

/* Gives back the space of the records that ring_next() has returned; the others stay. */
void ring_release_read(struct ring *ring);

#endif
