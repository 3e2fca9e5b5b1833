/*
 * event.h - the events of a session, in order, and which of them are scheduled together.
 *
 * Made by event/parse from what the user wrote, or by file/reader from what a file says; opened by
 * collect/open/open; named in reports. A group is a run of neighbours: its leader comes first.
 * Owns     struct event_list everything its events point to (one arena)
 * Life     the session's
 */
#ifndef PACE_EVENT_EVENT_H
#define PACE_EVENT_EVENT_H

#include "base/err.h"
#include "base/mem.h"
#include "base/types.h"
#include "base/vec.h"
#include "event/attr.h"
#include "event/cpus.h"

/* What the user asked for beyond what an attr can say. */
enum event_wish {
	EVENT_MAX_PRECISE = 1 << 0, /* P: as little skid as the machine can do */
	EVENT_WEAK_GROUP = 1 << 1,  /* W: open one by one if the group does not fit */
	EVENT_SAMPLE_READ = 1 << 2, /* S: the leader samples and reads the others */
	EVENT_USE_BPF = 1 << 3,     /* b */
	EVENT_OWN_PERIOD = 1 << 4,  /* period= or freq= was given for this event */
	EVENT_GUEST_SAID = 1 << 5,  /* G or H was given: no default for exclude_guest */
	EVENT_PER_PKG = 1 << 6,     /* one counter of a package counts for all of it */
	EVENT_SNAPSHOT = 1 << 7,   /* the value is a state, not a sum: intervals show it as it is */
	EVENT_PERCORE = 1 << 8,    /* percore: the threads of a core are added up */
	EVENT_NO_INHERIT = 1 << 9, /* no-inherit: children are not counted */
	EVENT_WEAK_PERIOD = 1 << 10, /* attr.sample_period is its table's default: -F and -c win */
	EVENT_RETIRE_LATENCY = 1 << 11, /* R: not how often, but how long it took to retire */
	EVENT_NO_TASKS = 1 << 12,       /* its PMU counts packages or CPUs, whatever runs there */
	EVENT_LEFT_OUT = 1 << 13,       /* not opened in this run: another run counts it */
	EVENT_CPUS_SAID = 1 << 15,      /* cpu=: only what runs on these CPUs */
	EVENT_TRACKER = 1 << 14,        /* added by pace: carries records of tasks, not samples */
};

enum event_chain {
	EVENT_CHAIN_AS_ALL, /* the session's */
	EVENT_CHAIN_NONE,
	EVENT_CHAIN_FP,
	EVENT_CHAIN_DWARF,
	EVENT_CHAIN_LBR,
};

/* What an event's own terms say about its samples, where they differ from the session's. */
struct event_own {
	enum event_chain chain; /* call-graph= */
	u32 stack_bytes;        /* stack-size=; 0: the session's */
	u16 max_stack;          /* max-stack=; 0: the session's */
	bool has_no_time;       /* time=0 */
	bool is_overwritten;    /* overwrite: the ring keeps the newest samples */
	bool is_kept;           /* no-overwrite: it does not, whatever the session says */
	bool has_user_regs;     /* registers are wanted for themselves, not only to find callers */
	bool is_aux_output; /* aux-output: its records go to the AUX area of the group's leader */
	bool has_aux_size;  /* aux-sample-size= was given, even if it is 0 */
	u32 aux_bytes;
	u64 max_samples; /* nr=; 0: no limit */
};

/*
 * The type of events that no kernel counts: stat takes them from its own clocks. The same number as
 * perf uses.
 */
#define EVENT_TYPE_TOOL 0xfffffffeu

enum event_tool {
	EVENT_TOOL_DURATION = 1, /* nanoseconds from start to end */
	EVENT_TOOL_USER,         /* nanoseconds in user space, by the command and its children */
	EVENT_TOOL_SYSTEM,       /* nanoseconds in the kernel, likewise */
	/* Facts about the machine, which attr.config1 has. */
	EVENT_TOOL_NUM_CPUS,
	EVENT_TOOL_NUM_CPUS_ONLINE,
	EVENT_TOOL_NUM_CORES,
	EVENT_TOOL_NUM_DIES,
	EVENT_TOOL_NUM_PACKAGES,
	EVENT_TOOL_SMT_ON,
	EVENT_TOOL_SYSTEM_TSC_FREQ,
	EVENT_TOOL_HAS_PMEM,
	/* Facts about what is counted: 1 or 0. */
	EVENT_TOOL_CORE_WIDE,  /* everything that runs, on all threads of a core */
	EVENT_TOOL_TARGET_CPU, /* CPUs are counted, not tasks */
};

static inline bool event_is_fact(const struct event_attr *a)
{
	return a->type == EVENT_TYPE_TOOL && a->config > EVENT_TOOL_SYSTEM;
}

struct event {
	struct event_attr attr;
	const char *name;      /* as the user wrote it, or as the file says */
	u32 leader;            /* position of its group's leader; its own if it is alone */
	u32 n_members;         /* for a leader: how many belong to it, itself included; else 0 */
	unsigned wishes;       /* enum event_wish */
	struct cpus cpus;      /* where it must be opened; empty: anywhere */
	const char *pmu;       /* its name in sysfs; NULL: one of the kernel's generic types */
	double scale;          /* count * scale is in `unit`; 1 unless its PMU says otherwise */
	const char *unit;      /* "Joules"; NULL: events */
	double retire_latency; /* its usual mean, in cycles, by its table; 0: not known */
	const char *filter;    /* for PERF_EVENT_IOC_SET_FILTER; NULL: none */
	const char *cgroup;    /* count only its tasks: a path below the cgroup mount; NULL: all */
	struct event_own own;
	u32 n_addr_filters; /* how many filters on addresses its PMU takes */
	u64 *ids; /* the kernel's numbers for its counters; samples name their event by them */
	u32 n_ids;
	u32 n_more_ids; /* ids that may come during recording: a file keeps room for them */
};

struct event_list {
	struct event *at;
	size_t n, cap;
	size_t last; /* where the events of the last item that was parsed begin */
	struct arena arena;
};

/* Appends an event that leads itself; `name` is copied. The address is valid until the next one is appended. */
struct event *event_add(struct event_list *events, const struct event_attr *attr, const char *name);
void event_list_fini(struct event_list *events);

/* Appends a copy of an event that leads itself and has no ids. */
struct event *event_add_copy(struct event_list *events, size_t i);

/*
 * --filter: sets `text` on each event of the last item (a glob makes several); a second filter is joined
 * by &&. ERR_INVAL, with nothing changed, if there is no event or one of them takes no filter.
 */
int event_set_filter(struct event_list *events, const char *text, struct err *err);

/* Whether this is Intel's mem-loads-aux (Sapphire Rapids), which must lead loads that are sampled with a latency. */
bool event_is_loads_aux(const struct event *e);

/* Makes all of them one group, which the first one leads. */
void event_make_group(struct event_list *events);

static inline bool event_is_group_member(const struct event_list *events, size_t i)
{
	return events->at[i].leader != i;
}

#endif
