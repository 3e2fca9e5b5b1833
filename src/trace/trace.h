/*
 * trace.h - a recording, opened so that it can be walked: its records, the tasks and maps they tell of,
 * the code it carries, and what finds names and callers.
 *
 *     trace_open() -> trace_scan()  -> pass_run() (pass.h), as often as wanted, by all cores
 *                  -> trace_begin() -> follow_next() (follow.h), in the order of time, also from a pipe
 *
 * In       a file or a pipe; with trace_begin_live() only records that are applied to its machine
 * Out      the members of struct trace, ready for use
 * Owns     all of them, until trace_close()
 * Life     options' strings, the log and the roots stay the caller's, and outlive the trace
 * Errors   those of the file: ERR_NOENT, ERR_FORMAT, ERR_SYS; damage after the header is in
 *          session.tally
 * Threads  one opens, scans and follows; a pass uses several
 */
#ifndef PACE_TRACE_TRACE_H
#define PACE_TRACE_TRACE_H

#include "base/log.h"
#include "machine/machine.h"
#include "session/session.h"
#include "symbol/resolve/callers.h"
#include "symbol/embed/embedded.h"
#include "symbol/kernel/guest.h"
#include "symbol/embed/jitcode.h"
#include "symbol/resolve/resolver.h"

/* Where names come from; all zero: as for a command without options. */
struct trace_options {
	const char *symfs, *vmlinux, *kallsyms;   /* NULL: none */
	bool symfs_is_flat;                       /* as in struct find_places */
	bool ignores_vmlinux, ignores_made_names; /* as in struct resolver */
	bool ignores_embedded;                    /* ignores what the recording carries */
	bool ignores_jit;                         /* no dump of generated code is read */
	bool stitches; /* completes branch stacks that are too short from the previous sample */
	struct guest_files guest;
	double debuginfod_s;
	const struct roots *roots; /* of containers that may have ended; NULL: none */
};

struct trace {
	struct log *log;
	struct session session;
	struct machine machine;
	struct embedded embedded; /* what the recording carries for readers on other machines */
	struct jitcode jitcode;
	struct dso_files files; /* the files that give names and callers, each opened once */
	struct resolver resolver;
	struct callers callers;
	struct trace_options options;
	VEC(struct intern) names; /* names like ":123" that its visits gave to threads */
	size_t n_visits;          /* struct visits that are open */
	bool is_walked;           /* by a pass, so the session's tally is complete */
};

int trace_open(struct trace *t, const char *path, struct log *log, struct err *err);

/* From a descriptor that stays the caller's; -1: `name` is the path. */
int trace_open_fd(struct trace *t, int fd, const char *name, struct log *log, struct err *err);

/* May also be called for a trace whose opening failed, or that is all zero. */
void trace_close(struct trace *t);

/* Whether samples have callers; whether these have to be unwound from stack dumps or branch records. */
bool trace_has_chains(const struct trace *t);
bool trace_has_dumps(const struct trace *t);

/*
 * Makes the first pass over all records: who was where, at every moment. Observers of the session see all
 * records. Sets up what finds names afterwards, even if the pass fails half way.
 */
int trace_scan(struct trace *t, const struct trace_options *options, struct err *err);

/*
 * Sets everything up for follow.h, at the beginning of the recording, and forgets what was known of later
 * moments. A recording without times is scanned for its tasks and maps (machine_foresee()).
 */
int trace_begin(struct trace *t, const struct trace_options *options, struct err *err);

/*
 * Sets up a trace without a file, of a machine that is measured now. Records are applied as they come, or pushed
 * to follow.h, which puts them in order; addresses are looked up in the files and processes of this moment,
 * or where `places` says; NULL: nowhere else. `events`, as they were opened, are borrowed.
 */
void trace_begin_live(struct trace *t, const struct event_list *events,
	const struct find_places *places);

#endif
