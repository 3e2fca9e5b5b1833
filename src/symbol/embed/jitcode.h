/*
 * jitcode.h - the code that processes generated while they were recorded, from their jitdumps.
 *
 * A JIT maps its dump once, executable, so that a recording has a record of it: /some/where/jit-PID.dump.
 * From then on the events of the dump go into the machine, each piece of code at its own time, as maps of
 * a DSO that is the dump itself. So an address that was used twice has the right name at each moment,
 * and no other file has to be made first.
 *
 * A recording may also contain such a dump made from a perf map: which function was where, and when
 * (symbol/embed/mapcut.h). If a process has both, the dump with code counts where it has code; elsewhere the
 * names come from the perf map.
 *
 * In       calls from a machine, as its coder; dumps on this machine
 * Out      machine_add_code(); dumps for look-ups
 * Owns     the opened dumps
 * Life     longer than the machine and the resolver that use it
 * Errors   none: unreadable dumps are logged, and their code has the names of the perf map, or none. No
 *          warning is given if the dump of a process from before the recording is gone: its samples, if
 *          there are any, are reported as nameless
 * Threads  one, until the machine is complete; then look-ups by any number
 */
#ifndef PACE_SYMBOL_JITCODE_H
#define PACE_SYMBOL_JITCODE_H

#include "base/log.h"
#include "event/event.h"
#include "machine/machine.h"
#include "symbol/embed/embedded.h"
#include "symbol/jit/jitdump.h"

struct jitcode_file {
	const struct dso *marker; /* the map of the dump */
	struct dso *dso;          /* the DSO of its code's maps */
	u32 pid;
	struct jitdump dump;
	bool is_timed; /* its times are in the recording's clock */
	/* In a dump with code: the dump made from the process' perf map, which is read in parallel. */
	struct jitcode_file *names;
	bool is_beside; /* it is the `names` of another file */
	bool has_next, is_over;
	struct jitdump_event next; /* not in effect yet */
	u64 n_loaded, n_replaced;
	u64 retry_ns; /* when to read again after the end of the file: the program may write more */
};

struct jitcode {
	const char *symfs;
	struct log *log;
	const struct event_list *events; /* of the recording, for its clock */
	const struct embedded *embedded; /* its dumps are preferred; NULL: none */
	struct machine_coder coder;      /* for the machine */
	VEC(struct jitcode_file *) files;
	u64 idle_until_ns; /* no file has an event before this */
};

/* Events may still be added to `events` until the first dump is met. */
void jitcode_init(struct jitcode *j, const struct event_list *events, const char *symfs,
	struct log *log);
void jitcode_fini(struct jitcode *j);

/* Whether that process reports all its code, not just names for some of it. */
bool jitcode_has_code(const struct jitcode *j, u32 pid);

/* Whether a map's path is one of a dump: ".../jit-123.dump". */
bool jitcode_is_dump_name(const char *path);

/* Opens a process' dump: as the recording carries it, or else the file itself. The errors are foreign_open()'s. */
int jitcode_open_dump(const struct embedded *e, const char *symfs, const char *path, u32 pid,
	int *ret_fd, bool *ret_is_embedded, struct err *err);

/* Whether the dump's times and those of a recording of these events are from the same clock. */
bool jitcode_is_timed(const struct event_list *events, const struct jitdump *d);

/* The dump of a DSO, or NULL. */
const struct jitdump *jitcode_find(const struct jitcode *j, const struct dso *dso);

#endif
