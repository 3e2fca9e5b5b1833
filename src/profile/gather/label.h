/*
 * label.h - what a sample says of itself beyond its place, as numbers that rows are told apart by.
 *
 * In       samples, the machine they are of
 * Out      enum profile_label as numbers, texts, or places of struct uniques
 * Owns     texts that it makes
 * Life     texts: the label_maker's
 * Errors   label_check(): what samples lack; label_facts_init(): formats of tracepoints
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

/* What is the same for all samples of a recording. */
struct label_facts {
	const struct session *session;
	const struct machine *machine;
	u64 time_quantum;                 /* ns, of LABEL_TIME */
	const char *fields[LABEL_FIELDS]; /* of tracepoints: LABEL_FIELD + i */
	bool has_raw_fields;              /* tracepoints' fields as they are, not as text */
	const struct sideband *moments;   /* of LABEL_CGROUP_NAMESPACE and LABEL_PARALLELISM */
	struct tracepoints tracepoints;
	pthread_mutex_t lock; /* of tracepoints */
};

/* `labels`: which will be asked for. Of the others, members are set afterwards. */
int label_facts_init(struct label_facts *f, const struct session *s, const struct machine *m,
	u64 labels, struct err *err);
void label_facts_fini(struct label_facts *f);

/* The PERF_SAMPLE_* fields that a label is made of; of those with several any one will do. */
u64 label_needs(enum profile_label label);

/* Whether any of these is made of what moments know. */
bool label_needs_moments(u64 labels);

/* Whether any event's samples have what a label is made of; ERR_INVAL says how to record it. */
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
	const u8 *branch; /* the entry of the branch stack that this is about; NULL: none */
	const u8 *before; /* the one of the branch taken before it; NULL: not recorded */
};

/* per sample */
u64 label_of(struct label_maker *m, enum profile_label label, const struct label_sample *s);

/* The place of an address, in the kernel's space if it lies in that half. */
struct uniques_place label_place(const struct label_sample *s, u64 address);

#endif
