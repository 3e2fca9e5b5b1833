/*
 * data.h - the subcommands of `pace data`: each reads a recording as a file, most write another one.
 */
#ifndef PACE_CMD_DATA_H
#define PACE_CMD_DATA_H

#include "cmd/cmd.h"
#include "file/fresh.h"

struct data_options {
	const char *input, *output, *time, *pids, *tids, *comms, *cpus;
	bool is_in_place;
	u64 n_workers;
	unsigned verbose;
};

/* `path` is the recording. Each returns the exit status. */
int data_pack(const struct data_options *o, const char *path);
int data_strip(const struct data_options *o, const char *path);
int data_unpack(const struct data_options *o, const char *path);
int data_cut(const struct data_options *o, const char *path);
int data_anonymise(const struct data_options *o, const char *path);
int data_merge(const struct data_options *o, int n, char **paths);

/* Prepares the output: -o, or the input itself with --in-place. */
int data_open_output(const struct data_options *o, const char *path, struct fresh *ret,
	struct err *err);

/* `data convert` has options of its own. argv[0] is "convert". */
extern const struct opt data_convert_options[];
int data_convert(int argc, char **argv);

#endif
