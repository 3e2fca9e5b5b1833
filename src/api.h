/*
 * api.h - shared by the files of the public functions.
 */
#ifndef PACE_API_H
#define PACE_API_H

#include "base/err.h"
#include "collect/counter/counter.h"
#include "collect/counter/presence.h"
#include "collect/record/synth.h"
#include "collect/counter/userread.h"
#include "pace.h"
#include "record/formats.h"
#include "record/sample.h"
#include "symbol/resolve/location.h"
#include "trace/visit.h"

#define PUBLIC __attribute__((visibility("default")))

struct pace_group {
	size_t n;
	struct pace_counter *members;
	struct counter_value *values; /* those of one read */
};

struct pace_counter {
	struct counter counter;
	struct event_attr attr; /* as it was opened */
	struct userread user;
	struct presence presence; /* the leader's, if it is in a group */
	char *name, *unit;
	double scale;
	struct pace_group *group; /* its owner; NULL: it is not in a group */
};

/* Copies an error to its public form; returns its code. */
int api_give_error(const struct err *from, struct pace_error *to);

/*
 * Makes the error of a function that mem_try() has left. No slot of the host program runs inside mem_try(): a host that
 * jumps out of a slot, or throws, would leave us in there.
 */
int api_exhausted(size_t size, struct err *err, const char *fmt, ...) PRINTF(3, 4);

/* The fields from which a sample's callers and their places are found. */
enum {
	CALLERS_FIELDS = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN |
		PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
};

/* The public form of a counter's value. `has_times`: the counter reports its times. */
struct pace_value api_public_value(const struct counter_value *v, bool has_times);

/* ---- options (api_options.c) ---- */

/* Checks what the options alone can show to be wrong. */
int api_check_options(const struct pace_options *o, struct err *err);

/* Checks the target: everything that the kernel would refuse with a bare EINVAL. */
int api_check_target(const struct pace_options *o, pid_t pid, int cpu, struct err *err);

/* Completes the attr of an event. `leads`: the event is alone or leads its group, and is what is switched and sampled. */
int api_complete(const struct pace_options *o, bool leads, bool is_group, struct event_attr *a,
	struct err *err);

/* ---- events and samples in their public form ---- */

struct pace_event api_public_event(const struct event *e);

/* The lists of one sample, aligned for 64-bit words. */
struct api_lists {
	const void *chain, *branches, *user_regs, *intr_regs;
	struct pace_value *values; /* room for as many as the sample has */
};

/*
 * The public form of a sample. A NULL list is taken from the sample, where it must be aligned for words: it is in a
 * ring, but need not be in a file.
 */
struct pace_sample api_public_sample(const struct sample_format *format, const struct sample *s,
	const struct pace_record *record, const struct api_lists *lists);

/* ---- records of rings (api_ring.c) ---- */

struct pace_source;

/* How to hand out the records of one event's ring. */
struct api_handing {
	const struct pace_slots *slots;
	const struct sample_format *format;
	u64 period;                /* of samples that do not have their own */
	struct pace_value *values; /* room for n_values; NULL: no sample has any */
	size_t n_values;
	struct pace_source *source; /* NULL: samples have no names */
};

/* `record` holds what else is known about `rec`. Returns what the slot returned, or 0 if there is no slot. */
int api_hand_out(const struct api_handing *h, struct pace_record *record, const struct record *rec);

/* Calls the slot for losses with a sentence. */
void api_tell(const struct pace_slots *slots, const char *fmt, ...) PRINTF(2, 3);

/* ---- names (api_place.c) ---- */

/*
 * What finds names and callers, for a recording, a ring or a session. Threads: one. `visit` is the sample that is being
 * handed out: outside of its slot there is none, and no names.
 */
struct pace_source {
	struct trace trace;
	struct visits visits; /* used by rings */
	struct locator locator;
	struct intern strings;
	struct synth synth;  /* while existing tasks and maps are read */
	struct visit *visit; /* of the sample that is handed out; NULL: none */
	struct visit own;    /* of a ring's sample */
	bool is_open;
	/* Opens the source when a name is first asked for; NULL: it is open, or stays closed. */
	void (*open)(struct pace_source *s, void *owner);
	void *open_owner;
	bool has_refreshed; /* maps that no record told of were read in this round */
	bool is_spent; /* memory ran out in the middle of something: the source can only be closed */
	struct err exhaustion;
	const char *unnamed; /* why samples have no names; NULL: they have, in their slots */
	char *owner;         /* what the source belongs to, for messages */
};

/* For live records of this machine. Borrows `events`. */
void api_source_open_live(struct pace_source *s, const struct event_list *events);

/* Reads what exists already: the tasks and maps of a process, or of all processes (pid -1). */
void api_source_begin(struct pace_source *s, pid_t pid, bool has_kernel);

/* Begins a round of records: what was read about processes may have changed since the last one. */
void api_source_next_round(struct pace_source *s);

/* Takes in a record that is not a sample; ignores those that do not change tasks or maps. Allocates. */
void api_source_take(struct pace_source *s, const struct sample_format *format,
	const struct record *rec, u64 time);

/* Names a ring's sample while it is handed out; NULL afterwards. */
void api_source_point(struct pace_source *s, const struct sample *sample,
	const struct sample_format *format, u64 time, u16 misc);

/* Closes whatever was opened; a source that was not opened is fine. */
void api_source_close(struct pace_source *s);

#endif
