/*
 * packer.h - packs records into COMPRESSED records, or into the COMPRESSED2 that perf writes since 6.16.
 *
 * All of them are one zstd stream, flushed at the end of each COMPRESSED record, so that a recording
 * that ends early can be unpacked up to its last one.
 * In       runs of whole records
 * Out      COMPRESSED records
 * Owns     the stream and its output
 * Source   perf.data-file-format.txt, PERF_RECORD_COMPRESSED; zstd(3)
 */
#ifndef PACE_FILE_PACKER_H
#define PACE_FILE_PACKER_H

#include <sys/uio.h>

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"

/* What one COMPRESSED record unpacks to at most. */
enum { PACKER_CHUNK = 60 << 10, PACKER_LEVEL = 1 };

struct packer {
	void *stream;   /* ZSTD_CStream */
	struct str out; /* what packer_add() produced */
	u64 n_in, n_out;
	bool is_padded; /* COMPRESSED2, whose sizes are multiples of 8; earlier perfs do not read them */
};

int packer_init(struct packer *p, int level, struct err *err);
void packer_fini(struct packer *p);

/* Replaces the contents of p->out by COMPRESSED records that hold the runs. */
int packer_add(struct packer *p, const struct iovec *runs, int n, struct err *err);

#endif
