/*
 * tma.h - TopDown: what becomes of the places for operations ("slots") that a CPU's pipeline has in each cycle.
 *
 * The tables are pace's own: families of CPUs, the events each counts, the tree of its metrics. They need no vendor's
 * table. A metric is a share of all slots, 0 to 1; the metrics of level 1 add up to 1, and the children of a metric
 * to it. Metrics with one parent are counted together in one group, with all events that their formulas need; those
 * of the metrics register are in one group with slots, which leads it, whatever their parent is.
 *
 * In       a PMU of CPUs, as sysfs describes it, and the CPU's model
 * Out      events as -e takes them; shares, from the counts of these events
 * Owns     struct tma its strings and formulas
 * Errors   ERR_UNSUPPORTED if the PMU cannot count what level 1 needs: the reason, in a sentence
 * Source   see tmatable.c
 */
#ifndef PACE_EVENT_TOPDOWN_H
#define PACE_EVENT_TOPDOWN_H

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"
#include "event/cpuid.h"
#include "event/metricexpr.h"
#include "event/pmu.h"

enum { TMA_EVENTS_MAX = 16, TMA_NODES_MAX = 16, TMA_LEVELS = 2 };

struct tma_event {
	const char *name;   /* in formulas; in sysfs */
	const char *terms;  /* where sysfs has no such name; NULL: only sysfs can say */
	const char *models; /* of which CPUs the terms are true (cpuid.h); NULL: of the family's */
};

struct tma_node {
	const char *name;   /* "tma_retiring" */
	const char *parent; /* NULL: level 1 */
	const char *expr;   /* its share (metricexpr.h), over events and other nodes */
	const char *limit;  /* is not 0 where the share deserves attention, over nodes */
	const char *means;  /* one sentence */
	const char *todo;   /* what to look at if it dominates */
	/* What to record then: the event as -e takes it, "%s" is the PMU; or a whole command. NULL: nothing. */
	const char *sample;
	bool is_command;
};

struct tma_family {
	const char *name; /* "Intel, Ice Lake and later" */
	const char *pmus; /* names of PMUs, a regular expression; NULL: any */
	const char *
		models; /* whose events are encoded so (cpuid.h); NULL: told by sysfs' names only */
	bool is_for_models; /* and no other CPU is of this family, whatever sysfs names */
	bool has_register;  /* all metrics are parts of one register, of 8 bits each */
	bool counts_cores;  /* with SMT its events count both threads of a core */
	u32 width;          /* slots in a cycle, where sysfs does not say; 0: not known */
	const char *
		whole; /* what level 1 adds up to if all was counted together: 1, but for rounding */
	const struct tma_event *events;
	const struct tma_node *nodes; /* parents before their children */
	u32 n_events, n_nodes;
};

extern const struct tma_family tma_families[];
extern const size_t tma_families_n;

struct tma {
	const struct tma_family *family;
	const char *pmu;
	char cpuid[CPUID_SIZE];            /* with variant and revision, on Arm */
	u32 n_slots;                       /* in a cycle, as sysfs says; 0: it does not */
	u8 level[TMA_NODES_MAX];           /* 0: an event is missing here */
	u32 needs[TMA_NODES_MAX];          /* a bit for each event */
	const char *terms[TMA_EVENTS_MAX]; /* as the PMU has them; NULL: it has not */
	struct metricexpr expr[TMA_NODES_MAX], limit[TMA_NODES_MAX], whole;
	u32 levels; /* that it can count */
	struct arena arena;
};

/* Finds out what the PMU can count. */
int tma_open(struct tma *t, const char *sysfs, const char *pmu, struct err *err);
void tma_close(struct tma *t);

#define TMA_NONE 0xffffffffu

/* The next node after `i` (TMA_NONE: the first) that is a child of `parent`, or TMA_NONE. */
u32 tma_child(const struct tma *t, u32 parent, u32 i);
u32 tma_parent(const struct tma *t, u32 node);

/*
 * The events that the children of `parent` need (a bit for each), or the family's down to `level` if it has a
 * register.
 */
u32 tma_needs(const struct tma *t, u32 parent, u32 level);

/* Appends the group of these events for -e. Its events are in the order of their bits. */
void tma_add_group(const struct tma *t, u32 events, struct str *text);

/* A node's share from the counts of events (by number; NaN: not counted). NaN: not known. */
double tma_share(const struct tma *t, u32 node, const double *counts);

/* What the counts of level 1 add up to, of all slots: 1 if they were counted together. NaN: cannot be told. */
double tma_whole(const struct tma *t, const double *counts);

/* Whether a share deserves attention, given all shares (NaN: not known). */
bool tma_is_notable(const struct tma *t, u32 node, const double *shares);

/* Appends what records the places in the code where a node's slots go: a command without "pace ". */
void tma_add_command(const struct tma *t, u32 node, struct str *text);

#endif
