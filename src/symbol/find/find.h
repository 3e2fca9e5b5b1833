/*
 * find.h - finds the files that hold a DSO's code and names.
 *
 * In       a DSO's recorded path and build-id; the processes that still have it mapped
 * Out      an opened ELF file whose build-id agrees with the recorded one
 * Owns     nothing; the caller closes what is opened
 * Belief   a file with the recorded build-id is the right one. If the recording has no build-id, a file is
 *          used if it can be the right one: its code lies where code was mapped from (loadmap.h). Unless the
 *          user names the place (symfs), the recording must also have been made on this machine, and the
 *          inode must be the recorded one; where inodes cannot be compared, all of the file's code must
 *          have been mapped
 * Errors   ERR_NOENT: no such file in any of the places; ERR_FORMAT: there is one, but it is
 *          another build, or has replaced the recorded one
 *
 * The image:      <symfs>PATH; below /proc of a process that has it mapped (containers, deleted
 *                 files); by build-id ID, whose first two digits are XX and the others YYYY:
 *                 ~/.debug/.build-id/XX/YYYY/elf and .../YYYY (perf's cache, new and old; PERF_BUILDID_DIR names another folder),
 *                 /usr/lib/debug/.build-id/XX/YYYY, ~/.cache/debuginfod_client/ID/executable
 * Debug symbols:  /usr/lib/debug/.build-id/XX/YYYY.debug, ~/.debug/.build-id/XX/YYYY/debug,
 *                 ~/.cache/debuginfod_client/ID/debuginfo; by the name in .gnu_debuglink, checksum
 *                 compared: beside the image, in .debug/, below /usr/lib/debug
 * If all of these fail, either file is fetched from debuginfod's servers (find_fetch()), for DSOs with at
 * least FIND_SHARE_MIN of the samples.
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

/* Where a recording was made. */
enum find_origin {
	FIND_ANYWHERE, /* unknown */
	FIND_HERE,     /* on this machine */
	FIND_ELSEWHERE,
};

struct find_places {
	const char *symfs;             /* prefix of recorded paths; "" for none */
	bool is_flat;                  /* files are in symfs itself, not below it at their paths */
	struct log *log;               /* what was tried, as LOG_DEBUG */
	struct liveproc *liveproc;     /* NULL: processes are not searched */
	struct debuginfod *debuginfod; /* NULL: no servers are asked */
	struct roots *kept;            /* the found images are added to it; NULL: not kept */
	const double *shares;          /* of all samples, by DSO id: which are worth a download */
	bool is_now;                   /* the recording is being made right now, on this machine */
	/*
	 * Otherwise, what the recording says of its machine: this decides whether files without build-ids are
	 * used.
	 */
	enum find_origin origin;
	const char *hostname;    /* the machine's name; NULL: unknown */
	bool is_of_this_release; /* it ran this kernel's release, on this kind of processor */
};

/* Fills in what the recording says of its machine. `recorded` must outlive `places`. */
void find_set_recording(struct find_places *places, const struct host *recorded);

/* Whether no file of this machine found by its path alone can be the right one; err says why. */
bool find_is_elsewhere(const struct find_places *places, const char *path, struct err *err);

/* Whether the vdso of this kernel is the one that was recorded. */
bool find_is_own_vdso(const struct find_places *places, const struct dso *dso);

/* What follows symfs in the name of a recorded file: its path, or only the last part of it. */
const char *find_path_below(const struct find_places *places, const char *path);

int find_image(const struct find_places *places, const struct dso *dso, struct elf *ret_elf,
	struct err *err);

/* `image` is the DSO's image, or NULL if there is none. */
int find_debug(const struct find_places *places, const struct dso *dso, const struct elf *image,
	struct elf *ret_elf, struct err *err);

/*
 * Files that are missing here, from debuginfod's servers. find_may_fetch() says whether the servers may be asked
 * for the files of a DSO. find_ask() asks and does not wait. find_fetch() waits and opens the received file; it
 * leaves err alone if no server was asked. If the recording has no build-id, that of `image` is used (NULL:
 * there is no image).
 */
bool find_may_fetch(const struct find_places *places, const struct dso *dso,
	const struct elf *image);
void find_ask(const struct find_places *places, const struct dso *dso, enum debuginfod_kind kind);
int find_fetch(const struct find_places *places, const struct dso *dso, const struct elf *image,
	enum debuginfod_kind kind, struct elf *ret_elf, struct err *err);

#endif
