/*
 * userread.h - reads this thread's counter without a system call, from the page the kernel keeps for it.
 *
 * While a counter of this thread is on the PMU, its page says which register holds the lower bits
 * and what to add. The kernel may change the page at any moment, under a sequence lock: reading is
 * repeated until no change came between.
 *
 * In       the fd of a counter that the calling thread opened on itself
 * Out      the same value and times that read(2) gives; or false: then the caller has to use read(2).
 *          The result is false where registers mean nothing (another thread, a child after fork, a
 *          counter that is not on the PMU, a software event) and where the page holds less than
 *          read(2) gives (no clock, a register that is not a count)
 * Owns     two mappings
 * Errors   userread_open(): ERR_UNSUPPORTED, ERR_SYS
 * Threads  only the thread that opened it gets values
 * Source   linux/perf_event.h: struct perf_event_mmap_page, the loop in its comments;
 *          Documentation/arch/arm64/perf.rst: user space access; Intel's SDM: RDPMC
 */
#ifndef PACE_COLLECT_USERREAD_H
#define PACE_COLLECT_USERREAD_H

#include "base/err.h"
#include "base/types.h"
#include "collect/counter/counter.h"
#include "event/abi.h"

struct userread {
	struct ring_page *page;       /* NULL: not open */
	struct userread_owner *owner; /* memory that is wiped in children */
};

int userread_open(struct userread *u, int fd, struct err *err);
void userread_close(struct userread *u); /* also if not open */

/* Fills value, time_enabled and time_running. */
bool userread_value(const struct userread *u, struct counter_value *ret_value);

/* How a machine's registers are read. */
struct userread_registers {
	u64 (*counter)(u32 number);
	u64 (*clock)(void);
};

/* Those of this machine; NULL: programs cannot read its counters, or pace does not know how. */
const struct userread_registers *userread_registers(void);

/* The loop itself, on any page. The caller guarantees that the counter is the calling thread's own. */
bool userread_page(const struct ring_page *page, const struct userread_registers *registers,
	struct counter_value *ret_value);

/* Whether the calling thread is the one that opened it, and no child. */
bool userread_is_own(const struct userread *u);

/* Whether the kernel lets programs read this page's register at all; the page's lock is the caller's affair. */
bool userread_may(const struct ring_page *page);

/* Sets what the event's attr needs so that programs may read its register. */
void userread_allow(struct event_attr *attr);

#endif
