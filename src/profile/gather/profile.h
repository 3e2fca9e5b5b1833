/*
 * profile.h - samples, counted: the narrow waist between every reader and every view.
 *
 * A row says: this stack, in this context, was sampled so many times, with this period. Stacks are paths in
 * a tree, frames are places in DSOs, symbols are their names. Stages after this one do not know which
 * format a profile came from.
 * In       samples from profile/gather/gather (perf.data) or an importer of profile/import/import (other formats)
 * Owns     everything it points to
 * Life     the command's
 * Units    period in the event's unit (ns for clocks, events for counters)
 *
 * Invariant: the rows of an event sum to its totals. Several rows may be equal in all but their counts.
 */
#ifndef PACE_PROFILE_PROFILE_H
#define PACE_PROFILE_PROFILE_H

#include "base/str.h"
#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"
#include "profile/gather/timeline.h"

/*
 * What a row may say about a sample's context. A profile has only the columns that were asked for.
 */
enum profile_label {
	LABEL_NONE, /* for a key that needs no label */
	LABEL_COMM, /* const char *, interned in the profile */
	LABEL_PID,
	LABEL_TID,
	LABEL_CPU,
	LABEL_TIME, /* ns: the start of the quantum in which the sample was taken */
	LABEL_WEIGHT,
	LABEL_CODE_PAGE, /* bytes; 0: not known */
	LABEL_DATA_PAGE,
	LABEL_SOCKET,      /* (u32)-1: not known */
	LABEL_INS_LATENCY, /* cycles */
	LABEL_STAGE, /* the weight's third field: cycles in a pipeline stage, which one varies by CPU */
	LABEL_TRANSACTION,      /* PERF_TXN_* */
	LABEL_CGROUP,           /* const char *; NULL: not known */
	LABEL_CGROUP_NAMESPACE, /* the same: "dev/0xinode" */
	LABEL_USE,         /* for profile/memory/sharers: the number of a use of a cache line */
	LABEL_PARALLELISM, /* threads that were on a CPU */
	LABEL_LATENCY, /* ns or events: the sample's period, shared by the threads that were on a CPU */
	LABEL_COMM_NODIGIT, /* const char *: the thread's name, <N> for the numbers in it */
	LABEL_MAP_BYTES,    /* size of the map that has the code; 0: there is none */
	LABEL_IP,           /* the sampled address, before map resolution */
	LABEL_FRAME,        /* the row's own frame */
	LABEL_PARENT,       /* a symbol, see profile/tree/parent.h; 0: none */
	LABEL_ACCESS,       /* position in profile.accesses, see profile/gather/typing.h */
	LABEL_FROM,         /* frame: the source of a branch */
	LABEL_TO,           /* frame: the target of a branch */
	LABEL_BRANCH,       /* the branch's flags, as recorded */
	LABEL_BLOCK,        /* two frames, see profile_block(): a straight run of code */
	LABEL_DATA,         /* frame: the memory that was accessed */
	LABEL_DATA_SOURCE,  /* PERF_SAMPLE_DATA_SRC */
	LABEL_PHYSICAL,     /* address of that memory */
	LABEL_TRACE,        /* const char *: the formatted text of a tracepoint */
	LABEL_FIELD,        /* const char *: a field of a tracepoint; more of them up to: */
	LABEL_FIELD_LAST = LABEL_FIELD + 15,
	LABEL_COUNT,
};

#define LABEL_BIT(label) ((u64)1 << (label))

enum { LABEL_FIELDS = LABEL_FIELD_LAST - LABEL_FIELD + 1 };

/* What a label's number is. */
enum profile_kind { PROFILE_NUMBER, PROFILE_TEXT, PROFILE_FRAME, PROFILE_FRAMES };
enum profile_kind profile_kind(enum profile_label label);

struct profile_dso {
	const char *path, *name; /* interned */
	u8 kind;                 /* enum dso_kind */
	u32 source;              /* its number in the recording or file it came from */
	/* interned: equal builds have the same code at the same addresses; NULL: not known */
	const char *build;
};

struct profile_frame {
	u32 dso;
	u32 symbol;     /* 0 until names are resolved */
	u64 address;    /* a file offset, or absolute where there is no file */
	u64 at;         /* the same place in the units of symbol.start; set with the symbol */
	u8 mode;        /* PERF_RECORD_MISC_USER, _KERNEL ... */
	bool is_return; /* a return address: the call is just before it */
	bool is_data;   /* an address that code accessed: its symbol is a variable */
	/* symbols of the functions inlined into `symbol` there, outermost first, in profile->inlined */
	u32 first_inlined, n_inlined;
	/*
	 * If the places in the source were asked for: the position in profile->sites, + 1, of `symbol`'s; those of
	 * the inlined functions follow, in their order. 0: not known.
	 */
	u32 first_site;
	/*
	 * enum stack_ending: not 0 for a frame that stands in for callers that were not found. Its DSO
	 * is the cause, its address means nothing.
	 */
	u8 ending;
	/* enum line_gap: if source was asked for, why there may be no line or inlined functions */
	u8 line_gap;
	u8 branch; /* enum profile_end: which end of a branch before the sample this is; 0: no branch */
};

enum profile_end { PROFILE_NO_BRANCH, PROFILE_BRANCH_TO, PROFILE_BRANCH_FROM };

/* What is known of a branch, summed over a row's samples. */
struct profile_branch {
	u64 n_told, n_predicted, n_aborts;     /* at the target */
	u64 cycles, n_iterations, loop_cycles; /* at the source; see struct history_note */
};

struct profile_symbol {
	u32 dso;
	u64 start, end;   /* in the DSO; without a name both are the address */
	const char *name; /* interned; NULL: not known */
	const char *mark; /* the suffix that folded text gives the name, "_[k]"; NULL: none */
	u8 mode;          /* PROFILE_NO_MODE: not known whether this is kernel code */
	u8 outcome;       /* enum resolver_outcome: why there is no name; 0: there is */
	bool is_inlined;  /* the code is in another function; start and end are 0 */
	/*
	 * If lines were asked for, a function has a symbol for each of its lines (or files). Interned;
	 * has_line: `line` is a real line, else the text shown in its place.
	 */
	bool has_line;
	const char *line, *file;
	const char *
		source; /* with inlined functions: the file that the function is written in; interned, NULL: unknown */
	u32 function; /* the symbol of the same function's first line; 0: this one */
};

/* A line of a type's layout, see symbol/types/typelayout.h; the texts are interned. */
struct profile_member {
	u8 kind; /* enum typelayout_kind */
	u32 depth;
	u64 offset, size, element;
	const char *type, *name;
};

/* A struct, class or union. Its lines are in profile.members; the first one is the type itself. */
struct profile_type {
	const char *name; /* interned */
	u64 size;
	u32 first, n;
};

/* The data that an instruction accesses. */
struct profile_access {
	u8 outcome; /* enum datatype_outcome */
	/* Interned: the type, or the text shown instead; the accessed member, or "". */
	const char *type, *member;
	u64 offset, size;  /* the member's offset in the type; the type's size */
	u32 whole;         /* position in profile.types, + 1; 0: no type, or one without members */
	u32 first_of_line; /* position of the first access to the same cache line of the same type */
};

enum { PROFILE_CACHE_LINE = 64 };

/* In addition to PERF_RECORD_MISC_USER and the other modes, which are smaller. */
enum { PROFILE_NO_MODE = 0xff };

/* Where a frame is in the source of its function, or of one inlined there. */
struct profile_site {
	const char *file; /* interned, with its path; NULL: not known */
	u32 line;         /* 0: not known */
};

/* Node 0 is the empty stack; parents come before their children. */
struct profile_stack {
	u32 parent;
	u32 frame; /* innermost */
};

struct profile_task {
	u32 pid, tid;
	const char *comm; /* the last one it had */
};

/* Samples whose stacks, unwound from stack dumps, have this ending. */
struct profile_ending {
	u8 ending; /* enum stack_ending */
	u32 dso;   /* the cause; [unknown] if no DSO is */
	u64 n_samples;
};

struct profile_event {
	const char *name;
	u64 n_samples, period;
	u64 dropped_latency; /* LABEL_LATENCY of rows that were left out and still are in the totals */
	u64 n_lost;          /* samples of this event that the kernel dropped */
	u32 n_group; /* this event and those after it, counted as one group; 0: not the leader */
	const char *group; /* the group's name; NULL: it has none */
	bool is_repeated;  /* its samples are another event's, counted in another way */
};

struct profile_row {
	u32 event;
	u32 frame;    /* what was running */
	u32 callers;  /* the stack above it; 0: none, or not recorded */
	u32 branches; /* position in profile.branches of its newest branch; the others follow */
	u64 n_samples, period;
};

struct profile {
	struct intern strings;
	VEC(struct profile_dso) dsos;
	VEC(struct profile_frame) frames;
	VEC(struct profile_symbol) symbols; /* [0] is unused: no symbol yet */
	VEC(u32) inlined;
	VEC(struct profile_site) sites;
	VEC(struct profile_stack) stacks;
	VEC(struct profile_event) events;
	VEC(struct profile_row) rows;
	VEC(u64) cells;                      /* n_labels labels for each row: profile_label() */
	VEC(struct profile_branch) branches; /* for each row as many as its stack has branches */
	VEC(struct profile_type) types;
	VEC(struct profile_member) members;
	VEC(struct profile_access)
	accesses;                           /* distinct; [0]: not known; with LABEL_ACCESS */
	VEC(struct profile_ending) endings; /* complete stacks included */
	u64 enough_dump; /* bytes that would have been enough for most dumps that were cut; 0: unknown */
	VEC(struct profile_task) tasks; /* by tid; only with LABEL_PID or LABEL_TID */
	u64 labels;                     /* LABEL_BIT()s of those asked for */
	u8 n_labels;
	u8 label_at[LABEL_COUNT]; /* the labels asked for, in ascending order */
	u8 slots[LABEL_COUNT];    /* position in label_at, + 1; 0: not asked for */
	bool has_stacks;          /* some row has callers */
	bool is_imported;         /* from profile/import/import: periods are the file's numbers */
	u64 n_cut;                /* distinct call chains that were longer than asked for */
	u64 n_passed_over;        /* samples of CPUs and times that were not asked for */
	bool has_branches;        /* rows count the branches in samples */
	bool has_blocks;          /* rows count the runs between branches; periods are cycles */
	u64 n_walked;             /* with has_branches: samples whose branches were counted */
	struct table frame_index, stack_index;
	/* The samples of the rows in the order of time; NULL: not asked for, or not known. */
	struct timeline *timeline;
};

/* Roughly the bytes of the profile, and of the symbols, names and tables it will get. */
static inline u64 profile_bytes(const struct profile *p)
{
	enum { EACH_FRAME = 280, EACH_STACK = 64, EACH_ROW = 96 };

	return p->frames.n * EACH_FRAME + p->stacks.n * EACH_STACK + p->rows.n * EACH_ROW;
}

/* The symbol that stands for the function: a function may have a symbol for each of its lines. */
static inline u32 profile_function(const struct profile *p, u32 symbol)
{
	u32 function = p->symbols.at[symbol].function;

	return function ? function : symbol;
}

static inline u32 profile_frame_function(const struct profile *p, u32 frame)
{
	return profile_function(p, p->frames.at[frame].symbol);
}

/* Whether its name is known. A name made from its address, such as fun_4220, does not count. */
static inline bool profile_is_named(const struct profile_symbol *s)
{
	return s->name && !s->outcome;
}

void profile_init(struct profile *p, u64 labels);
void profile_fini(struct profile *p);

/* Adds a row with its n_labels labels, in the order of label_at. */
void profile_add_row(struct profile *p, const struct profile_row *row, const u64 *labels);

/* A label of a row, by the row's position; 0 if that label was not asked for. */
static inline u64 profile_label(const struct profile *p, size_t row, enum profile_label label)
{
	u8 slot = p->slots[label];

	return slot ? p->cells.at[row * p->n_labels + slot - 1] : 0;
}

/* For rows that are left out while the event's totals stay. */
static inline void profile_drop_latency(struct profile *p, size_t row)
{
	p->events.at[p->rows.at[row].event].dropped_latency +=
		profile_label(p, row, LABEL_LATENCY) * p->rows.at[row].n_samples;
}

/* The text of a PROFILE_TEXT label. */
static inline const char *profile_text(u64 label)
{
	return (const char *)(uintptr_t)label;
}

/* Keeps only the rows for which `is_kept` is true. */
void profile_keep_rows(struct profile *p, bool (*is_kept)(void *ctx, size_t row), void *ctx);

/*
 * A straight run of code: the frame of its first instruction (PROFILE_NO_FRAME: not known) and the frame of
 * the branch that ends it.
 */
enum { PROFILE_NO_FRAME = UINT32_MAX };

struct profile_block {
	u32 start, end;
};

static inline struct profile_block profile_block(u64 label)
{
	return (struct profile_block){(u32)(label >> 32), (u32)label};
}

static inline u64 profile_block_label(struct profile_block block)
{
	return (u64)block.start << 32 | block.end;
}

/* The number of the frame, or stack, with these contents; created if new. */
u32 profile_frame(struct profile *p, const struct profile_frame *frame);
u32 profile_stack(struct profile *p, u32 parent, u32 frame);

/* Counts n samples whose stacks have this ending. */
void profile_add_ending(struct profile *p, u8 ending, u32 dso, u64 n);

void profile_add_branch(struct profile_branch *branch, const struct profile_branch *more);

/* Multiplies all counts by a factor from 0 to 1, rounding down. The profile must have no names yet. */
void profile_scale(struct profile *p, double factor);

/*
 * The same by n / of, for counts that fade again and again: what is lost by rounding a row is added to the next ones, so
 * that sums fade as they should, and rows of few samples vanish one after the other; the periods of a row follow its
 * samples. *rest, less than `of`, goes from call to call.
 */
void profile_fade(struct profile *p, u32 n, u32 of, u64 *rest);

/*
 * Merges equal rows; drops rows that count nothing, and stacks, frames, DSOs and strings that no row uses. The profile
 * must have no names yet.
 */
void profile_compact(struct profile *p);

/*
 * Adds everything in `from` to p, which may be empty; neither may have names yet. DSOs are matched by source number,
 * events by position, strings by their text.
 */
void profile_merge(struct profile *p, const struct profile *from);

#endif
