/*
 * memory.h - what c2c and mem share: recording memory accesses, which is 'record' with this machine's events for them.
 *
 * In       options; the arguments after them: options of record after a "--", and the command
 * Out      the exit status of record
 */
#ifndef PACE_CMD_MEMORY_H
#define PACE_CMD_MEMORY_H

#include "cmd/cmd.h"
#include "event/memevents.h"

struct memory_record {
	const char *event; /* NULL: this machine's memory events */
	const char *sysfs; /* "/sys" */
	unsigned what;     /* enum memevents_what */
	u64 latency;       /* cycles that a load takes at least */
	bool has_user_only, has_kernel_only;
	bool has_no_phys; /* they need privileges */
	bool has_page_sizes;
	const char *cpus;   /* NULL: all */
	const char *output; /* NULL: record's own default */
	unsigned verbose;
	bool shows; /* only print the words of 'record' */
};

int memory_run_record(const struct cmd *cmd, const struct memory_record *m, int argc, char **argv);

#endif
