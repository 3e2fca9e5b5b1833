/*
 * find.h - where the files are that hold a DSO's code and names.
 *
 * In       a DSO's recorded path and build-id; the processes that still have it mapped
 * Out      an opened ELF file whose build-id agrees with the recorded one
 * Owns     nothing; the caller closes what is opened
 * Belief   a file of the same build-id is the one. Where the recording has none, a file is used if it can
 *          have been the one: its code lies where code was mapped from (loadmap.h); and, unless the
 *          user names the place (symfs), the recording was not made on another machine, the inode is
 *          the recorded one as far as it can be compared, and if it cannot be, all of the code was
 *          mapped
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
 * If all that fails, either from debuginfod's servers (find_fetch()), for DSOs with FIND_SHARE_MIN of the samples.
 * Source   gdb manual, Separate Debug Files; perf-buildid-cache(1); debuginfod_find_debuginfo(3)
 */
#ifndef PACE_SYMBOL_FIND_H
#define PACE_SYMBOL_FIND_H

#include "base/err.h"
#include "base/log.h"
#include "collect/around/host.h"
#include "machine/dso.h"
#include "symbol/find/debuginfod.h"
#include "symbol/elf/elf.h"
#include "symbol/find/liveproc.h"

#define FIND_SHARE_MIN 0.01

/* Where a recording was made, as far as it says. */
enum find_origin {
	FIND_ANYWHERE, /* it does not say */
	FIND_HERE,     /* on this machine */
	FIND_ELSEWHERE,
};

struct find_places {
	const char *symfs;             /* put in front of recorded paths; "" for none */
	struct log *log;               /* what was tried, as LOG_DEBUG */
	struct liveproc *liveproc;     /* NULL: nobody is asked */
	struct debuginfod *debuginfod; /* likewise */
	struct roots *kept;            /* gets the images that are found; NULL: none are kept */
	const double *shares; /* of all samples, by DSO id: of which it is worth asking servers */
	bool is_now;          /* the recording is being made, here */
	/* Else what it says of its machine: files without build-ids are believed by that. */
	enum find_origin origin;
	const char *hostname;    /* its name, NULL: unknown */
	bool is_of_this_release; /* this kernel's release was running, on such a processor */
};

/* Fills in what the recording says of its machine. `recorded` has to live as long. */
void find_set_recording(struct find_places *places, const struct host *recorded);

/* Why no file of this machine, found by its path only, can be meant; false: that may be. */
bool find_is_elsewhere(const struct find_places *places, const char *path, struct err *err);

/* Whether the vdso of this kernel is the one that was recorded. */
bool find_is_own_vdso(const struct find_places *places, const struct dso *dso);

int find_image(const struct find_places *places, const struct dso *dso, struct elf *ret_elf,
	struct err *err);

/* `image` is the DSO's image, or NULL if there is none. */
int find_debug(const struct find_places *places, const struct dso *dso, const struct elf *image,
	struct elf *ret_elf, struct err *err);

/*
 * What is not here, from debuginfod's servers: whether they may be asked for files of a DSO; asks, and waits
 * for no answer; waits, and opens what they have. That leaves err alone if nobody was asked. Without a recorded
 * build-id that of the image tells, NULL: there is none.
 */
bool find_may_fetch(const struct find_places *places, const struct dso *dso,
	const struct elf *image);
void find_ask(const struct find_places *places, const struct dso *dso, enum debuginfod_kind kind);
int find_fetch(const struct find_places *places, const struct dso *dso, const struct elf *image,
	enum debuginfod_kind kind, struct elf *ret_elf, struct err *err);

#endif
