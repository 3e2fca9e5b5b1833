/*
 * livestack.h - brings stack pages that the kernel could not copy into memory, for the samples to come.
 *
 * A copy of a stack ends at the first page that is not in memory: a program may not have touched all of a large
 * array on the stack. Reading such a page of the running process maps a page of zeros there (the kernel's shared
 * one, which costs the process no memory), and the next copy continues past it.
 *
 * In       a process, the address where a copy ended, and how far it should have gone
 * Out      nothing: the stack's contents at another moment are of no use
 * Owns     the list of pages that it has read in this round of records
 * Errors   none: unreadable pages stay as they are
 * Threads  one
 * Source   process_vm_readv(2); Linux, mm/memory.c: do_anonymous_page()
 */
#ifndef PACE_TRACE_LIVESTACK_H
#define PACE_TRACE_LIVESTACK_H

#include "base/types.h"

enum { LIVESTACK_PLACES = 64 };

struct livestack {
	struct {
		u64 from;
		u32 pid, round;
	} places[LIVESTACK_PLACES]; /* by a hash of both */
	u32 round;
	u64 n_touched; /* calls that touched pages, so far */
};

void livestack_init(struct livestack *l);
void livestack_touch(struct livestack *l, u32 pid, u64 from, u64 to);
void livestack_next_round(struct livestack *l);

#endif
