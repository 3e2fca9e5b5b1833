/*
 * find.h - where the files are that hold a DSO's code and names.
 *
 * In       a DSO's recorded path and build-id; the processes that still have it mapped
 * Out      an opened ELF file whose build-id agrees with the recorded one
 * Owns     nothing; the caller closes what is opened
 * Errors   ERR_NOENT: no such file in any of the places; ERR_FORMAT: there is one, but it is
 *          another build, or took the place of the one that was recorded
 *
 * The image:      <symfs>PATH; below /proc of a process that has it mapped (containers, deleted
 *                 files); by build-id ID, of which XX are the first two digits and YYYY the others:
 *                 ~/.debug/.build-id/XX/YYYY/elf and .../YYYY (perf's cache, new and old),
 *                 /usr/lib/debug/.build-id/XX/YYYY, ~/.cache/debuginfod_client/ID/executable
 * Debug symbols:  /usr/lib/debug/.build-id/XX/YYYY.debug, ~/.debug/.build-id/XX/YYYY/debug,
 *                 ~/.cache/debuginfod_client/ID/debuginfo; by the name in .gnu_debuglink, checksum
 *                 compared: beside the image, in .debug/, below /usr/lib/debug
 * If all that fails, either from debuginfod's servers, for DSOs with FIND_SHARE_MIN of the samples.
 * Source   gdb manual, Separate Debug Files; perf-buildid-cache(1); debuginfod_find_debuginfo(3)
 */
#ifndef PACE_SYMBOL_FIND_H
#define PACE_SYMBOL_FIND_H

#include "base/err.h"
#include "base/log.h"
#include "machine/dso.h"
#include "symbol/debuginfod.h"
#include "symbol/elf.h"
#include "symbol/living.h"

#define FIND_SHARE_MIN 0.01

struct find_places {
	const char *symfs;             /* put in front of recorded paths; "" for none */
	struct log *log;               /* what was tried, as LOG_DEBUG */
	struct living *living;         /* NULL: nobody is asked */
	struct debuginfod *debuginfod; /* likewise */
	struct roots *kept;            /* gets the images that are found; NULL: none are kept */
	const double *shares; /* of all samples, by DSO id: of which it is worth asking servers */
	/*
	 * The recording is being made, here: a file with another inode than was mapped is another file.
	 * Else that is looked at only of files that had one path one after the other.
	 */
	bool is_now;
};

/*
 * Asks servers for what of a DSO is not here, as find_image() and find_debug() will when they are
 * called, but waits for no answer.
 */
void find_ask(const struct find_places *places, const struct dso *dso);

int find_image(const struct find_places *places, const struct dso *dso, struct elf *ret_elf,
	struct err *err);

/* `image` is the DSO's image, or NULL if there is none. */
int find_debug(const struct find_places *places, const struct dso *dso, const struct elf *image,
	struct elf *ret_elf, struct err *err);

#endif
