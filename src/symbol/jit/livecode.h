/*
 * livecode.h - code that no file has, read out of the process that made it, while that runs.
 *
 * In       a process, the address that a function in it returns to
 * Out      the instructions from there on, a few dozen bytes
 * Owns     what it read. In another round it is read again, as the process may have put other code there;
 *          if it has ended meanwhile, what was there before is the answer
 * Errors   none: of a process that has ended, or is closed to this user, nothing is known
 * Threads  one
 * Source   process_vm_readv(2)
 */
#ifndef PACE_SYMBOL_LIVECODE_H
#define PACE_SYMBOL_LIVECODE_H

#include "base/types.h"

enum { LIVECODE_BYTES = 40, LIVECODE_PIECES = 1 << 10 };

struct livecode_piece {
	u64 ip; /* 0: none */
	u32 pid, n;
	u32 round; /* when it was read */
	u8 at[LIVECODE_BYTES];
};

struct livecode {
	struct livecode_piece
		*pieces; /* by a hash of process and address; NULL: nothing was asked */
	u32 round;
};

/* How many bytes are known; they stay until the next call. */
u32 livecode_read(struct livecode *l, u32 pid, u64 ip, const u8 **ret_at);
void livecode_next_round(struct livecode *l);
void livecode_fini(struct livecode *l);

#endif
