#include "symbol/jit/livecode.h"

#include <string.h>
#include <sys/uio.h>

#include "base/hash.h"
#include "base/mem.h"

u32 livecode_read(struct livecode *l, u32 pid, u64 ip, const u8 **ret_at)
{
	struct livecode_piece *piece;

	if (!l->pieces)
		l->pieces = mem_zalloc(LIVECODE_PIECES * sizeof(*l->pieces));
	piece = &l->pieces[hash_mix(ip, pid) % LIVECODE_PIECES];
	if (piece->ip != ip || piece->pid != pid)
		*piece = (struct livecode_piece){.ip = ip, .pid = pid, .round = l->round - 1};
	if (piece->round != l->round) {
		u8 bytes[LIVECODE_BYTES];
		struct iovec here = {bytes, sizeof(bytes)},
			     there = {(void *)(uintptr_t)ip, sizeof(bytes)};
		ssize_t n = process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0);

		/* A failed read is remembered, too. */
		piece->round = l->round;
		if (n > 0) {
			piece->n = (u32)n;
			memcpy(piece->at, bytes, (size_t)n);
		}
	}
	*ret_at = piece->at;
	return piece->n;
}

void livecode_next_round(struct livecode *l)
{
	l->round++;
}

void livecode_fini(struct livecode *l)
{
	mem_free(l->pieces);
	l->pieces = NULL;
}
