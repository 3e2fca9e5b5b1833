/*
 * recorded.h - reads a recording into a profile with names: all stages from the file to struct profile. A file
 * of another program (profile/import/import.h) is a profile already, and has no trace.
 *
 * In       a file; which labels, stacks and parts of the source location are wanted
 * Out      struct profile, named; the ledger of what was lost on the way
 * Owns     everything between the file and the profile, until recorded_close()
 * Errors   those of the file: ERR_NOENT, ERR_FORMAT, ERR_SYS; damage after the header is in the ledger
 * Threads  one calls; reading and naming use n_workers
 */
#ifndef PACE_PROFILE_RECORDED_H
#define PACE_PROFILE_RECORDED_H

#include "base/log.h"
#include "base/progress.h"
#include "machine/machine.h"
#include "profile/gather/gather.h"
#include "profile/import/import.h"
#include "profile/gather/label.h"
#include "profile/check/ledger.h"
#include "profile/check/multiplexing.h"
#include "profile/gather/sideband.h"
#include "profile/gather/naming.h"
#include "profile/gather/typing.h"
#include "profile/gather/wallmarks.h"
#include "trace/pass.h"
#include "trace/trace.h"

enum { RECORDED_STACK = 127 }; /* addresses of a call chain: as many as the kernel records */

struct recorded_options {
	struct trace_options trace; /* where names come from */
	/*
	 * Called before and after names are looked up, with the share of the samples in each DSO, by its id,
	 * to show the progress of downloads. NULL: not shown.
	 */
	void (*servers_begin)(struct resolver *r, double seconds, const double *shares);
	void (*servers_end)(struct resolver *r);
	struct progress *
		progress; /* of the stages, one after the other; the user may stop them. NULL: not shown */
	u32 max_stack; /* addresses of a call chain; 0: RECORDED_STACK, or all in imported profiles */
	unsigned n_workers;
	u64 read_most; /* as in struct session */
	u64 labels;    /* LABEL_BIT()s */
	bool has_stacks;
	enum typing_skid skid;     /* of LABEL_ACCESS */
	bool has_multiplexing;     /* struct recorded gets it */
	bool may_lack_types;       /* what has no LABEL_ACCESS is neither noted nor in the ledger */
	bool has_wall;             /* the profile is of wall-clock time: see gather.h */
	const struct cpus *cpus;   /* only samples of these; NULL: of all */
	const struct spans *spans; /* only samples in these; NULL: in all */
	/* Only samples between events; not with has_wall. NULL or without names: all. */
	const struct switching_options *switching;
	u64 time_quantum;  /* ns, for LABEL_TIME; 0: the default */
	u64 timeline_most; /* as in struct aggregate_options; imported profiles have no timeline */
	bool has_history; /* with has_stacks, as in struct aggregate_options; also without chains */
	bool has_branches, has_blocks, is_weighed,
		has_raw_fields;       /* as in struct aggregate_options */
	const char *const *fields;    /* LABEL_FIELDS; NULL: none */
	struct naming_options naming; /* n_workers is filled in */
	/* Other visitors of the counted samples, in the same pass. */
	const struct visitor *visitors[GATHER_VISITORS];
	size_t n_visitors;
};

struct recorded {
	struct log *log;
	struct trace trace;   /* all zero for a profile of another program */
	struct import import; /* of another program; importer NULL: a recording, with a trace */
	struct wall wall;     /* with recorded_options.has_wall */
	struct switching switching;
	struct sideband sideband; /* if labels need them */
	struct multiplexing multiplexing;
	struct profile profile;
	struct ledger ledger;
	bool has_wall; /* the profile's events are those of wall-clock time, not the recording's */
	bool has_chains;       /* callers can be known */
	enum typing_skid skid; /* of LABEL_ACCESS */
	u32 dump_bytes;        /* size of the largest stack dumps */
	u64 stage_began_ns;
};

/* Opens the recording and reads its header: events, and whether it has call chains. */
int recorded_open(struct recorded *r, const char *path, struct log *log, struct err *err);

/* The same, but the file may also be a profile of another program. */
int recorded_open_any(struct recorded *r, const char *path, struct log *log, struct err *err);

/* What messages call the input, if that is not its path; borrowed. Before recorded_read(). */
void recorded_call(struct recorded *r, const char *name);

/* Whether it is known what was lost. */
static inline bool recorded_tells_losses(const struct recorded *r)
{
	return !r->import.importer || r->import.importer->tells_losses;
}

static inline bool recorded_has_trace(const struct recorded *r)
{
	return !r->import.importer;
}

/* Like label_check(), also for imported profiles. */
int recorded_check_label(const struct recorded *r, enum profile_label label, struct err *err);

/* What finding data types has to know of the events of r.profile. */
struct typing_events recorded_typing(const struct recorded *r);

/* Whether the periods of an event of r->profile are nanoseconds. */
bool recorded_is_time(const struct recorded *r, u32 event);

/* Reads it all into r->profile. */
int recorded_read(struct recorded *r, const struct recorded_options *options, struct err *err);

/* Logs, with -v, how long the stage that ends now took. */
void recorded_stage_ends(struct recorded *r, const char *stage);

void recorded_close(struct recorded *r);

#endif
