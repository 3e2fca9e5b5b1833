/*
 * livestack.h - pages of stacks that the kernel could not copy, brought into memory for the samples to come.
 *
 * A copy of a stack ends at the first page that is not in memory: of a large array on the stack not all has
 * been touched. Reading such a page of the process, while that runs, maps a page of zeros there (the kernel's
 * one, which takes no memory of the process), and the next copy goes through it.
 *
 * In       a process, an address where a copy has ended, and how far it should have gone
 * Out      nothing: what lies there at another moment is of no use
 * Owns     which pages it has read in this round of records
 * Errors   none: what cannot be read stays as it is
 * Threads  one
 * Source   process_vm_readv(2); Linux, mm/memory.c: do_anonymous_page()
 */
#ifndef PACE_SYMBOL_LIVESTACK_H
#define PACE_SYMBOL_LIVESTACK_H

#include "base/types.h"

enum { LIVESTACK_PLACES = 64 };

struct livestack {
	struct {
		u64 from;
		u32 pid, round;
	} places[LIVESTACK_PLACES]; /* by a hash of both */
	u32 round;
	u64 n_touched; /* places so far */
};

void livestack_init(struct livestack *l);
void livestack_touch(struct livestack *l, u32 pid, u64 from, u64 to);
void livestack_next_round(struct livestack *l);

#endif
