/*
 * mem_dump.h - mem report -D: each memory access on a line, as perf mem report -D prints them.
 *
 * In       options of 'mem report' that do not say what to print; the words behind them
 * Out      lines: process, thread, addresses of code and data, what the access cost and what it met, the function
 */
#ifndef PACE_CMD_MEM_DUMP_H
#define PACE_CMD_MEM_DUMP_H

#include "base/types.h"

struct mem_dump {
	bool has_phys, has_page_sizes; /* columns beside the usual ones */
};

/* Returns the exit status. argv[0] is the command's name. */
int mem_dump(const struct mem_dump *d, int argc, char **argv);

#endif
