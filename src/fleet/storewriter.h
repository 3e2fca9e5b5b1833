/*
 * storewriter.h - appends minutes to a store of fixed size: one process at a time.
 *
 * Each batch is one write. One that was cut off by the end of its writer is removed when the next writer begins; a file
 * whose first batch is damaged is left alone, and a new one begun. When the store is full, or the disk, the oldest file
 * goes.
 * In       the folder, which is made if there is none; batches
 * Out      files of the store, mode 0600, in a folder that nobody else may write to
 * Owns     the lock, the open file
 * Errors   ERR_PERM: the folder is not ours alone; ERR_LIMIT: another watch writes to it, with its pid; ERR_SYS:
 *          a batch could not be written, the next one may be
 */
#ifndef PACE_FLEET_STOREWRITER_H
#define PACE_FLEET_STOREWRITER_H

#include "fleet/store.h"

#define STOREWRITER_BYTES (256ULL << 20) /* of the store, unless the user says otherwise */
#define STOREWRITER_LEAST (1ULL << 20)

struct storewriter {
	struct store store;
	struct log *log;
	u64 most; /* bytes of the store */
	int lock, fd;
	struct store_file current;
	struct batch_writer packing;
	bool is_full; /* the disk was, when it was written to last */
	/* Bytes of the store that are no batches; asked before files are dropped. NULL: there are none. */
	u64 (*besides)(void *ctx);
	void *ctx;
};

/* storewriter_close() even after an error. */
int storewriter_open(struct storewriter *w, const char *path, u64 most, struct log *log,
	struct err *err);

/* After an error the store is as before. */
int storewriter_append(struct storewriter *w, const struct batch *b, struct err *err);

/* Removes the oldest file, but not the one that is written; false: there is no other. */
bool storewriter_drop(struct storewriter *w);
void storewriter_close(struct storewriter *w);

#endif
