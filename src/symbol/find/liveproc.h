/*
 * liveproc.h - the processes of a recording that still run, and the files as they see them.
 *
 * A container has other files under the same names, and a deleted or replaced file is still available to the
 * processes that have it mapped.
 * In       a machine; /proc
 * Out      paths below /proc/PID that open a DSO: root/PATH, map_files/START-END. Only from processes that
 *          have a file of that name mapped at that place now: the pid may belong to another process by
 *          now, or come from another machine. Then PATH below the roots that were kept, and the file
 *          itself if it was kept
 * Owns     its list
 * Errors   none: a process that the user may not look into is not seen
 * Threads  liveproc_each_path() by any number
 * Source   proc(5): /proc/PID/root, map_files, maps, ns
 */
#ifndef PACE_SYMBOL_LIVEPROC_H
#define PACE_SYMBOL_LIVEPROC_H

#include <pthread.h>

#include "collect/record/roots.h"
#include "machine/machine.h"

struct liveproc_process {
	const struct process *process;
	bool is_elsewhere; /* its root or its mounts are not ours */
};

/* The first map of a DSO in a living process. */
struct liveproc_map {
	u32 dso, process; /* process: index in `processes` */
	u64 start;
};

struct liveproc {
	const struct machine *machine;
	const char *proc; /* "/proc" */
	const struct roots
		*roots; /* of containers, which may have ended, and files; NULL: none were kept */
	pthread_mutex_t lock;
	bool is_known;
	size_t n_known; /* number of the machine's processes when the list was made */
	VEC(struct liveproc_process) processes;
	u64 version; /* of the machine's maps at the last request for a path */
	/*
	 * By DSO and process. Made at the second request without a change: a recorder's machine changes all
	 * the time.
	 */
	bool has_maps;
	VEC(struct liveproc_map) maps;
};

void liveproc_init(struct liveproc *l, const struct machine *machine, const char *proc);
void liveproc_fini(struct liveproc *l);

/* Call when the machine has forgotten processes: the list is made again. */
void liveproc_forget(struct liveproc *l);

/*
 * Calls `take` with each path until it returns true. Returns whether it did. With `elsewhere_only`,
 * processes that see the same files as we do are left out.
 */
bool liveproc_each_path(struct liveproc *l, const struct dso *dso, bool elsewhere_only,
	bool (*take)(void *ctx, const char *path), void *ctx);

#endif
