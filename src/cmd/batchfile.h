/*
 * batchfile.h - the batches of an input: a file of them, or a recording, which becomes one.
 *
 * In       a path
 * Out      batches, one after the other, with the host's name and labels as facts
 * Owns     the file's bytes, or the batch of a recording
 * Errors   those of the file; damaged batches are said to the log and left out
 */
#ifndef PACE_CMD_BATCHFILE_H
#define PACE_CMD_BATCHFILE_H

#include "base/opts.h"
#include "cmd/symbols.h"
#include "profile/batch/batchbytes.h"

struct batchfile_options {
	const char *host;       /* NULL: what the input says, else this machine */
	struct opt_list labels; /* NAME=VALUE */
	struct symbol_options symbols;
	double debuginfod_s;
};

struct batchfile {
	const struct batchfile_options *options;
	struct log *log;
	struct str bytes;
	struct batch_reader reader;
	bool is_recording, is_read;
	struct batch recorded;
	u64 n_damaged;
};

int batchfile_open(struct batchfile *f, const char *path, const struct batchfile_options *o,
	struct log *log, struct err *err);
void batchfile_close(struct batchfile *f);

/* The next batch, which must not be initialized: 1; 0 at the end. */
int batchfile_next(struct batchfile *f, struct batch *ret, struct err *err);

#endif
