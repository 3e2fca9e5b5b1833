/*
 * api.h - what the files of the public functions share.
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
	struct counter_value *values; /* of one read */
};

struct pace_counter {
	struct counter counter;
	struct event_attr attr; /* as it was opened */
	struct userread user;
	struct presence presence; /* of a group, the leader's */
	char *name, *unit;
	double scale;
	struct pace_group *group; /* that owns it; NULL: it is alone */
};

/* Copies an error to its public form; returns its code. */
int api_give_error(const struct err *from, struct pace_error *to);

/*
 * What mem_try() says when it was left. No slot of the host's runs inside of it: a host that jumps
 * out of one, or throws, would leave us there.
 */
int api_exhausted(size_t size, struct err *err, const char *fmt, ...) PRINTF(3, 4);

/* What a sample's callers are in, and where. */
enum {
	CALLERS_FIELDS = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN |
		PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
};

/* What a counter's value is worth. `has_times`: whether it tells them. */
struct pace_value api_public_value(const struct counter_value *v, bool has_times);

/* What options alone can have wrong. */
int api_check_options(const struct pace_options *o, struct err *err);

struct pace_event api_public_event(const struct event *e);

/* Lists of one sample, where 64-bit words may be. */
struct api_lists {
	const void *chain, *branches, *user_regs, *intr_regs;
	struct pace_value *values; /* room for as many as the sample has */
};

/*
 * A sample's public form. Lists NULL: those of the sample are where words may be, as in a ring; those
 * of a file need not.
 */
struct pace_sample api_public_sample(const struct sample_format *format, const struct sample *s,
	const struct pace_record *record, const struct api_lists *lists);

/* ---- records of rings (api_ring.c) ---- */

struct pace_source;

/* How the records of one event's ring are handed out. */
struct api_handing {
	const struct pace_slots *slots;
	const struct sample_format *format;
	u64 period;                /* of samples that do not tell theirs */
	struct pace_value *values; /* room for n_values; NULL: no sample has any */
	size_t n_values;
	struct pace_source *source; /* NULL: samples have no names */
};

/* `record` is what is known of rec besides; what the slot says, 0 if there is none. */
int api_hand_out(const struct api_handing *h, struct pace_record *record, const struct record *rec);

/* Into the slot for losses. */
void api_tell(const struct pace_slots *slots, const char *fmt, ...) PRINTF(2, 3);

/* ---- names (api_place.c) ---- */

/*
 * What names and callers are found with: of a recording, a ring or a session. Threads: one.
 * `visit` is the one that is handed out: outside of its slot there is none, and no names.
 */
struct pace_source {
	struct trace trace;
	struct visits visits; /* of rings */
	struct locator locator;
	struct intern strings;
	struct synth synth;  /* while it is looked what is there */
	struct visit *visit; /* of the sample that is handed out; NULL: none is */
	struct visit own;    /* of a ring's */
	bool is_open;
	/* Opens it when the first name is asked for; NULL: that was done, or it stays closed. */
	void (*open)(struct pace_source *s, void *owner);
	void *open_owner;
	bool has_refreshed; /* in this round, maps that no record told of were looked for */
	bool is_spent; /* there was no memory in the middle of something: it can only be closed */
	struct err exhaustion;
	const char *unnamed; /* why its samples have no names; NULL: they have, in their slots */
	char *owner;         /* what it is of, for messages */
};

/* For records of this machine, which are being made; `events`, how they were opened, are borrowed. */
void api_source_open_live(struct pace_source *s, const struct event_list *events);

/* What was there before: the tasks and maps of a process, or of all (pid -1). */
void api_source_begin(struct pace_source *s, pid_t pid, bool has_kernel);

/* A round of records begins: what was read of processes may have changed since. */
void api_source_next_round(struct pace_source *s);

/* Takes in a record that is no sample; those that say nothing of who runs where are left. Allocates. */
void api_source_take(struct pace_source *s, const struct sample_format *format,
	const struct record *rec, u64 time);

/* A ring's sample is handed out: its slot may ask. NULL: it has returned. */
void api_source_point(struct pace_source *s, const struct sample *sample,
	const struct sample_format *format, u64 time, u16 misc);

/* All that was opened and set up; what had not begun is nothing. */
void api_source_close(struct pace_source *s);

#endif
