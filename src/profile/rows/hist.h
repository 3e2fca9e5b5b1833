/*
 * hist.h - the rows of a report: the samples of an event, or of several, grouped by the sort keys.
 *
 * In       a profile with names, its call tree, the keys to group by
 * Out      entries, sorted; each with what was sampled in it (self) and below it (total), of each event
 * Owns     its entries and the working arrays of struct hist_view
 * Units    period as in the profile
 * Threads  one
 *
 * Invariant: the selves of all entries sum to the event's totals. A function that calls itself
 * counts once in its total.
 */
#ifndef PACE_PROFILE_HIST_H
#define PACE_PROFILE_HIST_H

#include "base/sort.h"
#include "profile/tree/calls.h"
#include "profile/gather/profile.h"

struct key;
struct confidence;
struct ipc;

enum { HIST_KEYS_MAX = 16, HIST_SUMS_MAX = 48 };

/* A number that each row of the profile has, to be summed up for each entry. */
struct hist_sum {
	enum profile_label label; /* the rows need it; LABEL_NONE: they need none */
	/* NULL: the label, times the number of the row's samples */
	u64 (*of)(const struct profile *p, size_t row, u32 what);
	u32 what; /* for `of` */
};

struct hist_options {
	const struct key *keys[HIST_KEYS_MAX]; /* what to group by, most important first */
	size_t n_keys;
	bool has_children;    /* entries for callers too, and order by total */
	bool prefers_callers; /* among equal totals, the one nearer to the root first */
	const char *part;     /* only entries with this in their function's name; NULL: all */
	bool is_relative;     /* shares are of the entries that `part` leaves */
	/* What entries are sorted by, most important first; none: shares, then the keys. */
	const struct key *order[HIST_KEYS_MAX];
	size_t n_order;
	struct hist_sum sums[HIST_SUMS_MAX]; /* what is summed up for each entry: hist_sum() */
	size_t n_sums;
	bool has_row_groups;   /* hist->group_of_row is wanted */
	bool is_verbose;       /* files by their paths, functions with an address in them */
	bool has_ns;           /* times are shown to the nanosecond */
	const struct ipc *ipc; /* of the profile's symbols; NULL: not known */
	bool has_history; /* stacks begin with branches: call graphs show lines and branch statistics */
};

struct hist_value {
	u64 n_samples, period;
};

/* Where counts decay, samples are used up before periods. */
static inline bool hist_value_is_zero(const struct hist_value *v)
{
	return !v->n_samples && !v->period;
}

enum hist_mode { HIST_SYSTEM, HIST_USER, HIST_GUEST_SYSTEM, HIST_GUEST_USER, HIST_MODES };

/* An entry's values of one event. */
struct hist_values {
	struct hist_value self, total;
	u64 *sums, *total_sums;  /* of self and of total, by position in options->sums */
	u64 self_in[HIST_MODES]; /* period of self by CPU mode */
};

struct hist_entry {
	u32 group;              /* number of the group of rows with the same labels */
	u32 ident;              /* hist->ident of its symbols */
	u32 symbol;             /* one of these */
	u32 depth;              /* of its node nearest to the root */
	struct hist_values *of; /* by event of the table: hist->n_events of them */
};

/* What one node of the call tree holds for one group of rows. */
struct hist_own {
	u32 node;
	struct hist_value value;
};

struct hist_group {
	size_t first, n; /* in hist->owns */
};

/* Which events' values the entries of a table hold. */
struct hist_events {
	u32 first, n; /* neighbours in the profile */
	u32 order;    /* which of these, from 0, rows are sorted by first */
	/*
	 * True: each event is a column of its own, and rows are those of the first event. False: each
	 * figure has a part for every event, and rows are those that any event has.
	 */
	bool are_columns;
};

/* All events of wall-clock time, for the rows of the first of them; `order`: enum aggregate_wall. */
struct hist_events hist_events_of_wall(u32 order);

/* One of these events. */
struct hist_event {
	u32 event;             /* in the profile */
	struct hist_value all; /* the event's totals, or those of the entries with is_relative */
	u64 latency;           /* sum over all entries of LABEL_LATENCY */
	double averages;       /* sum over all entries of their average period per sample */
	VEC(struct hist_group) groups; /* by group; groups past the end have none of its rows */
};

struct hist {
	const struct profile *profile;
	const struct calls *calls;
	const struct hist_options *options;
	struct hist_events table;
	struct hist_event *events; /* n_events of them */
	u32 n_events;
	VEC(struct hist_entry) entries;
	u32 n_groups;
	VEC(u64) values; /* n_values for each group: one for each key with a label */
	u8 n_values;
	VEC(struct hist_own) owns;
	VEC(u64) own_sums; /* options->n_sums for each of the owns */
	u32 *group_of_row; /* by position in profile->rows; NULL: not wanted */
	const struct confidence
		*confidence; /* of the entries, for their columns; NULL: not known */
	u32 *ident;          /* by symbol: symbols with the same ident share an entry */
	/* by node of the call tree: the nearest caller with the same ident, 0 if there is none */
	u32 *outer;
	/* If is_verbose, by function: where in its file it was sampled most; of functions without samples, a call in it. */
	u64 *addresses;
	struct table group_index; /* by the groups' values */
	struct arena arena;       /* holds the entries' values */
};

void hist_init(struct hist *h, const struct profile *p, const struct calls *c, u32 event,
	const struct hist_options *options);
/* The same for several events in one table. Call graphs are of the first event. */
void hist_init_table(struct hist *h, const struct profile *p, const struct calls *c,
	const struct hist_events *table, const struct hist_options *options);
void hist_fini(struct hist *h);

/* The number of parts, one for each event, that a figure has. */
static inline u32 hist_n_parts(const struct hist *h)
{
	return h->table.are_columns ? 1 : h->n_events;
}

/*
 * The entry's share of the whole, in percent: of the event that decides the order if events are columns,
 * else of the first event.
 */
double hist_percent(const struct hist *h, const struct hist_entry *e);

/* The group with these values, created without rows if new. */
u32 hist_group(struct hist *h, const u64 *values);

/* The value of a key with a label that all rows of the group have. */
u64 hist_label(const struct hist *h, u32 group, const struct key *key);

/*
 * A sum over an entry's own samples of event k, or over those below it, too; 0 if the options do not ask for it.
 */
u64 hist_sum(const struct hist *h, const struct hist_entry *e, u32 k, const struct hist_sum *sum);
u64 hist_total_sum(const struct hist *h, const struct hist_entry *e, u32 k,
	const struct hist_sum *sum);

/* Asks for a sum, if nobody has yet; false: there are too many. */
bool hist_ask_sum(struct hist_options *o, const struct hist_sum *sum);

/* An entry's values with room for its sums, all of them 0. */
struct hist_values *hist_new_values(const struct hist *h, struct arena *arena);

/*
 * The call tree with the samples of one group: in each node (own), and in it and below it (total), of the
 * first event.
 */
struct hist_view {
	const struct hist *hist;
	u32 group, event;       /* UINT32_MAX: none yet */
	struct hist_value *own; /* by node of the call tree */
	struct hist_value *total;
	VEC(u32) touched;               /* nodes with a total, ascending: parents first */
	VEC(struct sort_item) by_ident; /* the same nodes by ident; built on demand */
	struct hist_value *scratch; /* by node, all 0: callers that use it must clear it again */
};

void hist_view_init(struct hist_view *v, const struct hist *h);
void hist_view_show(struct hist_view *v, u32 group);
/* The nodes of the shown group that belong to an entry: the items' values, ascending. */
const struct sort_item *hist_view_nodes(struct hist_view *v, u32 ident, size_t *ret_n);
void hist_view_fini(struct hist_view *v);

#endif
