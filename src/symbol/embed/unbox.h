/*
 * unbox.h - what a recording carries, as files in a folder.
 *
 * In       an opened section; the name of a folder that is not there yet
 * Out      each file below it where it was on the machine that recorded: ELF stubs, perf maps,
 *          jitdumps; kallsyms
 * Errors   ERR_SYS; ERR_LIMIT: files that come to more than a recording of its size may (file/allowance.h):
 *          what shares names and bytes has no end otherwise; a file that cannot be made is said in the log, the others are made all the same
 *
 * Paths come from a file that nobody vouches for: all of them stay below the folder, no link is
 * followed, nothing that is there is written over.
 */
#ifndef PACE_SYMBOL_UNBOX_H
#define PACE_SYMBOL_UNBOX_H

#include "base/log.h"
#include "symbol/embed/embedded.h"

int unbox_write(const struct embedded *e, const struct reader *from, const char *folder,
	struct log *log, u64 *ret_n_files, struct err *err);

#endif
