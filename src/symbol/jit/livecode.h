/*
 * livecode.h - reads code that no file has from the process that generated it, while the process runs.
 *
 * In       a process, and a return address in it
 * Out      the instructions from there on, a few dozen bytes
 * Owns     what it has read. In the next round it reads again, as the process may have put other code there;
 *          if the process has ended by then, the earlier bytes are used
 * Errors   none: there are no bytes of a process that has ended or may not be read by this user
 * Threads  one
 * Source   process_vm_readv(2)
 */
#ifndef PACE_SYMBOL_LIVECODE_H
#define PACE_SYMBOL_LIVECODE_H

#include "base/types.h"

enum { LIVECODE_BYTES = 40, LIVECODE_PIECES = 1 << 10 };

struct livecode_piece {
	u64 ip; /* 0: unused */
	u32 pid, n;
	u32 round; /* in which it was read */
	u8 at[LIVECODE_BYTES];
};

struct livecode {
	struct livecode_piece *pieces; /* by a hash of process and address; NULL: not used yet */
	u32 round;
};

/* Returns how many bytes are known; they are valid until the next call. */
u32 livecode_read(struct livecode *l, u32 pid, u64 ip, const u8 **ret_at);
void livecode_next_round(struct livecode *l);
void livecode_fini(struct livecode *l);

#endif
