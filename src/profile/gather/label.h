/*
 * label.h - what a sample says beyond its place in the code, as numbers that distinguish rows.
 *
 * In       samples, and their machine
 * Out      enum profile_label as numbers, texts, or places of struct uniques
 * Owns     texts that it makes
 * Life     texts live as long as the label_maker
 * Errors   label_check(): fields that samples lack; label_facts_init(): tracepoint formats
 * Threads  facts are shared; a maker belongs to one thread
 */
#ifndef PACE_PROFILE_LABEL_H
#define PACE_PROFILE_LABEL_H

#include <pthread.h>

#include "base/err.h"
#include "file/tracepoints.h"
#include "machine/machine.h"
#include "profile/gather/sideband.h"
#include "profile/gather/profile.h"
#include "profile/gather/uniques.h"
#include "session/session.h"

/* Facts that all samples of a recording share. */
struct label_facts {
	const struct session *session;
	const struct machine *machine;
	u64 time_quantum;                 /* ns, for LABEL_TIME */
	const char *fields[LABEL_FIELDS]; /* tracepoint fields: LABEL_FIELD + i */
	bool has_raw_fields;              /* tracepoint fields as raw values, not as text */
	const struct sideband *sideband;  /* for LABEL_CGROUP_NAMESPACE and LABEL_PARALLELISM */
	struct tracepoints tracepoints;
	pthread_mutex_t lock; /* of tracepoints */
};

/* `labels`: those that will be asked for. The caller sets the members from time_quantum to sideband afterwards. */
int label_facts_init(struct label_facts *f, const struct session *s, const struct machine *m,
	u64 labels, struct err *err);
void label_facts_fini(struct label_facts *f);

/* The PERF_SAMPLE_* fields that a label is made from; if there are several, any one of them is enough. */
u64 label_needs(enum profile_label label);

/* Whether any of these labels is made from label_facts.sideband. */
bool label_needs_sideband(u64 labels);

/* ERR_INVAL, with how to record it, if no event's samples have what the label is made from. */
int label_check(const struct session *s, enum profile_label label, struct err *err);

struct label_maker {
	struct label_facts *facts;
	struct uniques *uniques;
	struct intern *strings;
	struct str scratch;
};

struct label_sample {
	const struct visit *in;
	const char *comm;
	const struct space *user, *kernel;
	const u8 *branch; /* the entry of the branch stack to label; NULL: none */
	const u8 *before; /* the entry of the branch taken before it; NULL: not recorded */
};

/* Sets `text` to a thread's name with <N> for each number in it. */
void label_set_nodigit(const char *comm, struct str *text);

/* per sample */
u64 label_of(struct label_maker *m, enum profile_label label, const struct label_sample *s);

/* The place of an address, in the kernel's space if the address is in the kernel's half. */
struct uniques_place label_place(const struct label_sample *s, u64 address);

#endif
