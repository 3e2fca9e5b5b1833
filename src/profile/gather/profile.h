/*
 * profile.h - samples, counted: the narrow waist between every reader and every view.
 *
 * A row says: this stack, in this context, was sampled so often for so much. Stacks are paths in a
 * tree, frames are places in DSOs, symbols are their names. Nobody right of here knows where it
 * came from.
 * In       from profile/gather/gather (perf.data), from the importers of profile/import/import (of other programs)
 * Owns     everything it points to, except names of symbols (the resolver's) until
 *          profile_own_names()
 * Life     the command's
 * Units    period in the event's unit (ns for clocks, events for counters)
 *
 * Invariant: the rows of an event sum to its totals. Several rows may say the same.
 */
#ifndef PACE_PROFILE_PROFILE_H
#define PACE_PROFILE_PROFILE_H

#include "base/str.h"
#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"

/*
 * What a row may say about a sample's context. A profile has only the columns that somebody asked
 * for.
 */
enum profile_label {
	LABEL_NONE, /* of who needs none */
	LABEL_COMM, /* const char *, interned in the profile */
	LABEL_PID,
	LABEL_TID,
	LABEL_CPU,
	LABEL_TIME, /* ns: the beginning of the quantum that it was taken in */
	LABEL_WEIGHT,
	LABEL_CODE_PAGE, /* bytes; 0: not known */
	LABEL_DATA_PAGE,
	LABEL_SOCKET,      /* (u32)-1: not known */
	LABEL_INS_LATENCY, /* cycles */
	LABEL_STAGE, /* the third part of the weight: cycles, of what depends on the processor */
	LABEL_TRANSACTION,      /* PERF_TXN_* */
	LABEL_CGROUP,           /* const char *; NULL: none is known */
	LABEL_CGROUP_NAMESPACE, /* the same: "dev/0xinode" */
	LABEL_USE,              /* of profile/memory/sharers: a number of a use of a cache line */
	LABEL_PARALLELISM,      /* threads that were on a CPU */
	LABEL_MAP_BYTES,        /* of the map that the code lies in; 0: there is none */
	LABEL_IP,               /* as it was sampled, before maps */
	LABEL_FRAME,            /* the row's own */
	LABEL_PARENT,           /* a symbol, see profile/tree/parent.h; 0: none */
	LABEL_ACCESS,           /* which of profile.accesses, see profile/gather/typing.h */
	LABEL_FROM,             /* frame: where a branch is */
	LABEL_TO,               /* frame: where it goes */
	LABEL_BRANCH,           /* its flags, as recorded */
	LABEL_BLOCK,            /* two frames, see profile_block(): a straight run of code */
	LABEL_DATA,             /* frame: the memory that was accessed */
	LABEL_DATA_SOURCE,      /* PERF_SAMPLE_DATA_SRC */
	LABEL_PHYSICAL,         /* address of that memory */
	LABEL_TRACE,            /* const char *: what a tracepoint says */
	LABEL_FIELD,            /* const char *: a field of a tracepoint; and so many more: */
	LABEL_FIELD_LAST = LABEL_FIELD + 7,
	LABEL_COUNT,
};

#define LABEL_BIT(label) ((u64)1 << (label))

enum { LABEL_FIELDS = LABEL_FIELD_LAST - LABEL_FIELD + 1 };

/* What the number that a label is stands for. */
enum profile_kind { PROFILE_NUMBER, PROFILE_TEXT, PROFILE_FRAME, PROFILE_FRAMES };
enum profile_kind profile_kind(enum profile_label label);

struct profile_dso {
	const char *path, *name; /* interned */
	u8 kind;                 /* enum dso_kind */
	u32 source;              /* its number in whatever it came from */
	/* interned: addresses in two of the same one are the same places; NULL: not known */
	const char *build;
};

struct profile_frame {
	u32 dso;
	u32 symbol;     /* 0 until names are resolved */
	u64 address;    /* a file offset, or absolute where there is no file */
	u64 at;         /* the same, counted as its symbol's start is; set with the symbol */
	u8 mode;        /* PERF_RECORD_MISC_USER, _KERNEL ... */
	bool is_return; /* a return address: the call is just before it */
	bool is_data;   /* an address that code accessed: its symbol is a variable */
	/* what was inlined into `symbol` there, outermost first: symbols, in profile->inlined */
	u32 first_inlined, n_inlined;
	/*
	 * enum stack_ending: not 0 for what stands in the place of callers that were not found. Its
	 * DSO is the one that is to blame, its address means nothing.
	 */
	u8 ending;
	/* enum line_gap: if the source was asked for, why there may be no line or inlined functions */
	u8 line_gap;
	u8 branch; /* enum profile_end: of a branch before the sample, which end of it; else 0 */
};

enum profile_end { PROFILE_NO_BRANCH, PROFILE_BRANCH_TO, PROFILE_BRANCH_FROM };

/* What is known of a branch, summed over a row's samples. */
struct profile_pass {
	u64 n_told, n_predicted, n_aborts;     /* where it went */
	u64 cycles, n_iterations, loop_cycles; /* where it was; see struct history_note */
};

struct profile_symbol {
	u32 dso;
	u64 start, end;   /* in the DSO; without a name both are the address */
	const char *name; /* interned; NULL: none is known */
	const char *mark; /* what folded text has behind the name, "_[k]"; NULL: nothing */
	u8 mode;          /* PROFILE_NO_MODE: it is not known whether that is the kernel's code */
	u8 outcome;       /* enum resolver_outcome: why there is no name; 0: there is */
	bool is_inlined;  /* the code is in another function; start and end are 0 */
	/*
	 * If lines were asked for, a function has a symbol for each of its lines (or files). Interned;
	 * has_line: `line` names one, else it is what stands for it.
	 */
	bool has_line;
	const char *line, *file;
	u32 function; /* the symbol of the same function's first line; 0: this one */
};

/* A line of a type's layout, see symbol/types/typelayout.h. Texts are interned. */
struct profile_member {
	u8 kind; /* enum typelayout_kind */
	u32 depth;
	u64 offset, size, element;
	const char *type, *name;
};

/* A struct, class or union: its lines in profile.members, the first of them its own. */
struct profile_type {
	const char *name; /* interned */
	u64 size;
	u32 first, n;
};

/* What an instruction accesses. */
struct profile_access {
	u8 outcome; /* enum datatype_outcome */
	/* Interned: a type, or what is said instead; its member there, or "". */
	const char *type, *member;
	u64 offset, size; /* of the member in the type, of the type */
	u32 whole;        /* in profile.types, + 1; 0: it has no members, or is none */
};

/* Beside PERF_RECORD_MISC_USER and its like, which are smaller. */
enum { PROFILE_NO_MODE = 0xff };

/* Node 0 is the empty stack; parents come before their children. */
struct profile_stack {
	u32 parent;
	u32 frame; /* innermost */
};

struct profile_task {
	u32 pid, tid;
	const char *comm; /* the last one it had */
};

/* Samples whose stacks, out of stack dumps, ended so. */
struct profile_ending {
	u8 ending; /* enum stack_ending */
	u32 dso;   /* to blame; [unknown] where none is */
	u64 n_samples;
};

struct profile_event {
	const char *name;
	u64 n_samples, period;
	u64 n_lost;  /* samples of this event that the kernel dropped */
	u32 n_group; /* so many from here on were counted as a group; 0: it is in the group before */
	const char *group; /* its name; NULL: it has none */
	bool is_repeated;  /* its samples are another event's, counted otherwise */
};

struct profile_row {
	u32 event;
	u32 frame;   /* what was running */
	u32 callers; /* the stack above it; 0: none, or not recorded */
	u32 passes;  /* of the branches at its end, the newest first, in profile.passes */
	u64 n_samples, period;
};

struct profile {
	struct intern strings;
	VEC(struct profile_dso) dsos;
	VEC(struct profile_frame) frames;
	VEC(struct profile_symbol) symbols; /* [0] is unused: no symbol yet */
	VEC(u32) inlined;
	VEC(struct profile_stack) stacks;
	VEC(struct profile_event) events;
	VEC(struct profile_row) rows;
	VEC(u64) cells; /* the labels of each row, n_labels of them: profile_label() */
	VEC(struct profile_pass) passes; /* as many for a row as its stack has branches */
	VEC(struct profile_type) types;
	VEC(struct profile_member) members;
	VEC(struct profile_access)
	accesses; /* told apart by all they say, [0]: not known; with LABEL_ACCESS */
	VEC(struct profile_ending) endings; /* also of the stacks that are complete */
	u64 enough_dump; /* bytes that most dumps that were too small would have needed; 0: unknown */
	VEC(struct profile_task) tasks; /* by tid; only with LABEL_PID or LABEL_TID */
	u64 labels;                     /* LABEL_BIT()s of those asked for */
	u8 n_labels;
	u8 label_at[LABEL_COUNT]; /* which they are, in ascending order */
	u8 slots[LABEL_COUNT];    /* where each is among them, + 1; 0: not asked for */
	bool has_stacks;          /* some row has callers */
	bool is_imported;  /* of profile/import/import: periods are the numbers that the file has */
	u64 n_cut;         /* distinct call chains that were longer than asked for */
	u64 n_passed_over; /* samples of CPUs and times that nobody asked for */
	bool has_branches; /* rows are of the branches in samples */
	bool has_blocks;   /* rows are of the runs before them; periods are cycles */
	u64 n_walked;      /* then: samples whose branches were counted */
	struct table frame_index, stack_index;
};

/* What it takes, more or less, and its symbols, their names and tables of both will. */
static inline u64 profile_bytes(const struct profile *p)
{
	enum { EACH_FRAME = 280, EACH_STACK = 64, EACH_ROW = 96 };

	return p->frames.n * EACH_FRAME + p->stacks.n * EACH_STACK + p->rows.n * EACH_ROW;
}

/* The function that a symbol is of, which may have one for each of its lines. */
static inline u32 profile_function(const struct profile *p, u32 symbol)
{
	u32 function = p->symbols.at[symbol].function;

	return function ? function : symbol;
}

static inline u32 profile_frame_function(const struct profile *p, u32 frame)
{
	return profile_function(p, p->frames.at[frame].symbol);
}

/* Whether its name is known: what is made of where it begins, fun_4220, is none. */
static inline bool profile_is_named(const struct profile_symbol *s)
{
	return s->name && !s->outcome;
}

void profile_init(struct profile *p, u64 labels);
void profile_fini(struct profile *p);

/* Adds a row with its labels: n_labels of them, in the order of label_at. */
void profile_add_row(struct profile *p, const struct profile_row *row, const u64 *labels);

/* A label of a row, by the row's position; 0 if nobody asked for that. */
static inline u64 profile_label(const struct profile *p, size_t row, enum profile_label label)
{
	u8 slot = p->slots[label];

	return slot ? p->cells.at[row * p->n_labels + slot - 1] : 0;
}

/* The text of a label that is one. */
static inline const char *profile_text(u64 label)
{
	return (const char *)(uintptr_t)label;
}

/* Leaves only those rows for which `is_kept` is true. */
void profile_keep_rows(struct profile *p, bool (*is_kept)(void *ctx, size_t row), void *ctx);

/*
 * A straight run of code: the frame of its first instruction, PROFILE_NO_FRAME if that is not known, and
 * of the branch that ends it.
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

/* The frame, the stack with these contents, created if new. */
u32 profile_frame(struct profile *p, const struct profile_frame *frame);
u32 profile_stack(struct profile *p, u32 parent, u32 frame);

/* Counts n samples whose stacks ended so. */
void profile_add_ending(struct profile *p, u8 ending, u32 dso, u64 n);

void profile_add_pass(struct profile_pass *pass, const struct profile_pass *more);

/* Of a profile without names: multiplies all that is counted by a factor from 0 to 1; less than one is nothing. */
void profile_scale(struct profile *p, double factor);

/*
 * Of a profile without names: rows that say the same are one; those that count nothing are dropped, and the stacks,
 * frames, DSOs and strings that no row has.
 */
void profile_compact(struct profile *p);

/*
 * Adds everything in `from` to p, both without names. DSOs with the same source number, strings with the same text are
 * the same.
 */
void profile_merge(struct profile *p, const struct profile *from);

#endif
