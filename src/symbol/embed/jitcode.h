/*
 * jitcode.h - the code that processes made while they were recorded, from their jitdumps.
 *
 * A JIT maps its dump once, executable, so that a recording has a record of it: /some/where/jit-PID.dump.
 * From then on what the dump says goes into the machine, each piece of code at its own time, as maps of
 * a DSO that is the dump itself: so an address that was used twice has the right name at each moment,
 * and no file of another kind has to be made first.
 *
 * Of a perf map a recording may carry such a dump too: what was where, one after the other
 * (symbol/embed/mapcut.h). Of a process that has both, the dump with the code counts where it has some; what
 * it leaves out has the names of the perf map.
 *
 * In       the coder's calls of a machine; dumps on this machine
 * Out      machine_add_code(); dumps for look-ups
 * Owns     the opened dumps
 * Life     longer than the machine and the resolver that use it
 * Errors   none: what cannot be read is said in the log, and its code has the names of the perf map,
 *          or none. That a process which was there before recording has no dump any more is no
 *          warning: its samples, if there are any, are told as nameless
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
	const struct dso *marker; /* the map that told of it */
	struct dso *dso;          /* what its code is maps of */
	u32 pid;
	struct jitdump dump;
	bool is_timed; /* by the clock of the recording */
	/* Of a dump with code: what its process' perf map came to, which goes through time with it. */
	struct jitcode_file *names;
	bool is_beside; /* it is such names of another */
	bool has_next, is_over;
	struct jitdump_event next; /* not reached yet */
	u64 n_loaded, n_replaced;
	u64 retry_ns; /* the file has ended, but the program may go on writing */
};

struct jitcode {
	const char *symfs;
	struct log *log;
	const struct event_list *events; /* of the recording: by which clock it counts */
	const struct embedded
		*embedded;          /* dumps that the recording carries come first; NULL: none */
	struct machine_coder coder; /* for the machine */
	VEC(struct jitcode_file *) files;
	u64 idle_until_ns; /* before that no file has anything to say */
};

/* `events` may get more until the first dump is met. */
void jitcode_init(struct jitcode *j, const struct event_list *events, const char *symfs,
	struct log *log);
void jitcode_fini(struct jitcode *j);

/* Whether that process says where all its code is, and not only what some of it is called. */
bool jitcode_has_code(const struct jitcode *j, u32 pid);

/* The dump behind a DSO, or NULL. */
const struct jitdump *jitcode_find(const struct jitcode *j, const struct dso *dso);

#endif
