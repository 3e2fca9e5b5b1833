/*
 * synth.h - describes, as records, what already existed when recording began: kernel, modules, tasks,
 * maps.
 *
 * In       /proc and /lib/modules (or a test's copies of them)
 * Out      MMAP, FORK, COMM, NAMESPACES, MMAP2 and CGROUP records in `out`, which the caller may empty
 * Owns     its buffers
 * Units    times are 0: synthesized state holds from the beginning
 * Errors   ERR_SYS if /proc itself cannot be read. A process that ends meanwhile is skipped; hidden
 *          kernel addresses are logged
 * Source   proc(5): /proc/PID/{stat,maps}, /proc/PID/task/TID/comm, /proc/modules, /proc/kallsyms,
 *          /proc/iomem
 */
#ifndef PACE_COLLECT_SYNTH_H
#define PACE_COLLECT_SYNTH_H

#include <sys/types.h>

#include "base/err.h"
#include "base/log.h"
#include "base/str.h"
#include "base/types.h"
#include "record/record.h"

/* What to describe; all by default. The kernel's own maps are always described. */
enum synth_what {
	SYNTH_TASKS = 1 << 0,
	SYNTH_MAPS = 1 << 1, /* needs SYNTH_TASKS */
	SYNTH_CGROUPS = 1 << 2,
	SYNTH_ALL = SYNTH_TASKS | SYNTH_MAPS | SYNTH_CGROUPS,
};

struct synth {
	const char *proc;    /* "/proc" */
	const char *modules; /* "/lib/modules/<release>", where module files are */
	u32 trailer;         /* bytes of id trailer behind each record */
	unsigned what;       /* enum synth_what */
	bool has_namespaces; /* describe each task's namespaces */
	bool has_data_maps;  /* include maps that are not executable */
	bool has_hidden; /* the kernel's and its modules' maps also where their addresses are hidden: from 0 on */
	bool has_no_maps; /* no maps at all: the process will exec before it is measured */
	/*
	 * Returns the build-id of a mapped file, which its maps then carry; 0 bytes: unknown. NULL:
	 * maps carry none.
	 */
	u8 (*build_id)(const char *path, u8 id[BUILD_ID_MAX]);
	struct log *log;
	struct str out;
	struct str text; /* the file being read */
	u64 n_processes;
};

void synth_init(struct synth *s, u32 trailer, struct log *log);
void synth_fini(struct synth *s);

void synth_kernel(struct synth *s);
void synth_modules(struct synth *s);

/* The existing control groups, if perf events support them. */
void synth_cgroups(struct synth *s);

/* One process with all its threads. */
void synth_process(struct synth *s, pid_t pid);

/* Every process; flush(ctx) is called now and then so that `out` stays small. */
int synth_all(struct synth *s, int (*flush)(void *ctx, struct err *err), void *ctx,
	struct err *err);

#endif
