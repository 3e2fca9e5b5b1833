/*
 * unbox.h - writes the embedded contents of a recording as files into a folder.
 *
 * In       an opened section; the name of a folder that does not exist yet
 * Out      files with the paths they had on the machine that recorded, below the folder: ELF stubs, perf
 *          maps, jitdumps; kallsyms
 * Errors   ERR_SYS; ERR_LIMIT: the files exceed what a recording of its size may unpack to
 *          (file/allowance.h): entries that share names and bytes could make any amount. A file that cannot
 *          be written is logged, and the others are still written
 *
 * The paths come from an untrusted file: all of them stay below the folder, no link is followed, no
 * existing file is overwritten.
 */
#ifndef PACE_SYMBOL_UNBOX_H
#define PACE_SYMBOL_UNBOX_H

#include "base/log.h"
#include "symbol/embed/embedded.h"

int unbox_write(const struct embedded *e, const struct reader *from, const char *folder,
	struct log *log, u64 *ret_n_files, struct err *err);

#endif
