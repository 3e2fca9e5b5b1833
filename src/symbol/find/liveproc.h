/*
 * liveproc.h - the processes of a recording that still run, and files as they see them.
 *
 * A container has other files under the same names, and a file that was deleted or replaced is still
 * there for whoever has it mapped.
 * In       a machine; /proc
 * Out      paths below /proc/PID by which a DSO can be opened: root/PATH, map_files/START-END. Only
 *          of processes that have a file of that name mapped at that place now: a number may belong
 *          to another process by now, or be of another machine. Behind them PATH below roots that were kept,
 *          and the file itself if that was
 * Owns     its list
 * Errors   none: who has no right to look into a process does not see it
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
	u32 dso, process; /* in `processes` */
	u64 start;
};

struct liveproc {
	const struct machine *machine;
	const char *proc; /* "/proc" */
	const struct roots
		*roots; /* of containers, that may have ended, and files; NULL: none are kept */
	pthread_mutex_t lock;
	bool is_known;
	size_t n_known; /* processes the machine had when the list was made */
	VEC(struct liveproc_process) processes;
	u64 version; /* of the machine's maps, when a path was asked for last */
	/* By DSO and process, when that was asked for a second time: recorders' machines change all the time. */
	bool has_maps;
	VEC(struct liveproc_map) maps;
};

void liveproc_init(struct liveproc *l, const struct machine *machine, const char *proc);
void liveproc_fini(struct liveproc *l);

/* The machine has forgotten processes: they are looked for again. */
void liveproc_forget(struct liveproc *l);

/*
 * Calls `take` with each path until it returns true; whether it did. With `elsewhere_only` the
 * processes that see the same files as we do are left out.
 */
bool liveproc_each_path(struct liveproc *l, const struct dso *dso, bool elsewhere_only,
	bool (*take)(void *ctx, const char *path), void *ctx);

#endif
