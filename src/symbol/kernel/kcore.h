/*
 * kcore.h - a kernel's memory as a core file: which address ranges exist, and their bytes.
 *
 * In       /proc/kcore of the running kernel (readable by root only, and not in lockdown), or the copy of
 *          its code that 'perf record --kcore' leaves in a recording: DIR/kcore_dir/kcore
 * Out      ranges of addresses; bytes as they are in memory (patched: jump labels, calls of
 *          tracers), not as they are in vmlinux
 * Owns     the descriptor and its ranges
 * Errors   ERR_NOENT, ERR_PERM, ERR_SYS; ERR_FORMAT: not a core file
 * Threads  kcore_read() by any number
 * Source   fs/proc/kcore.c of Linux; Documentation/admin-guide/kdump/vmcoreinfo.rst: BUILD-ID
 */
#ifndef PACE_SYMBOL_KCORE_H
#define PACE_SYMBOL_KCORE_H

#include "base/err.h"
#include "base/types.h"
#include "base/vec.h"
#include "record/record.h"

struct kcore_range {
	u64 start, end; /* va */
	u64 offset;     /* of start in the file */
};

struct kcore {
	int fd;
	VEC(struct kcore_range)
	ranges; /* ascending by start; of overlapping ones the first counts */
	u8 build_id[BUILD_ID_MAX];
	u8 build_id_size; /* 0: unknown */
};

int kcore_open(struct kcore *k, const char *path, struct err *err);
void kcore_close(struct kcore *k);

/*
 * Copies the bytes at an address to buf. Returns their number: at most n, and not beyond their range. If a read
 * fails, errno says why; otherwise errno is 0.
 */
size_t kcore_read(const struct kcore *k, u64 va, void *buf, size_t n);

#endif
