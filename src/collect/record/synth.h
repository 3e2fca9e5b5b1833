/*
 * synth.h - what was already there when recording began, told as records: kernel, modules, tasks,
 * maps.
 *
 * In       /proc and /lib/modules (or a test's copies of them)
 * Out      MMAP, FORK, COMM, NAMESPACES, MMAP2 and CGROUP records in `out`; the caller takes them when it likes
 * Owns     its buffers
 * Units    times are 0: synthesized state holds from the beginning
 * Errors   ERR_SYS if /proc itself cannot be read. A process that ends meanwhile is skipped; kernel
 *          addresses that are hidden are said in the log
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

/* Of what was there before: all by default. The kernel's own maps are told in any case. */
enum synth_what {
	SYNTH_TASKS = 1 << 0,
	SYNTH_MAPS = 1 << 1, /* makes no sense without tasks */
	SYNTH_CGROUPS = 1 << 2,
	SYNTH_ALL = SYNTH_TASKS | SYNTH_MAPS | SYNTH_CGROUPS,
};

struct synth {
	const char *proc;    /* "/proc" */
	const char *modules; /* "/lib/modules/<release>", where module files lie */
	u32 trailer;         /* bytes of id trailer behind each record */
	unsigned what;       /* enum synth_what */
	bool has_namespaces; /* of each task its namespaces */
	bool has_data_maps;  /* maps that are not executable too */
	bool has_no_maps;    /* none at all: the process will exec before it is measured */
	/* The build-id of what is mapped, which maps then carry; 0 bytes: unknown. NULL: they do not. */
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

/* The control groups there are, if perf events know any. */
void synth_cgroups(struct synth *s);

/* One process with all its threads. */
void synth_process(struct synth *s, pid_t pid);

/* Every process; flush(ctx) is called now and then so that `out` stays small. */
int synth_all(struct synth *s, int (*flush)(void *ctx, struct err *err), void *ctx,
	struct err *err);

#endif
