/*
 * batch.h - what one host measured in one stretch of time, in tables that travel: what a fleet is made of.
 *
 * A recorder makes one each minute; the store keeps them, a push sends them, an answer of a database becomes one
 * again, and profile/import reads them into a profile. Functions have names here: a stack is the names of its
 * functions, so that equal stacks of many hosts and builds are one, with the same hash everywhere.
 * In       rows one by one: of a profile by profile/tree/batching.h, of bytes by profile/batch/batchbytes.h
 * Out      tables of texts, frames, stacks and rows
 * Owns     everything in it
 * Units    times in ns since 1970; periods in the event's unit
 *
 * Invariant: parents come before their children; equal texts, frames and stacks are one; the rows of an event sum to
 * its totals.
 */
#ifndef PACE_PROFILE_BATCH_H
#define PACE_PROFILE_BATCH_H

#include "base/mem.h"
#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"

enum {
	BATCH_COLUMNS = 16, /* most columns of labels */
	BATCH_DEEPEST = 1024,
};

struct batch_text {
	const char *at; /* ends in NUL, which n does not count */
	u32 n;
};

struct batch_frame {
	u32 name; /* text; of a function without a name: its file and the address there, "[libx.so+0x12f0]" */
	u32 file; /* text: the file's name without its folder, or "[kernel.kallsyms]" */
	u32 build; /* text: build-id in hexadecimal, of a function without a name; 0 for others, whose stacks are
	                the same in all builds */
	u8 mode;     /* PERF_RECORD_MISC_USER, ..._KERNEL; PROFILE_NO_MODE */
	u8 is_named; /* else naming it later takes the file of that build */
	u8 is_inlined;
};

/* Stack 0 is the empty one. */
struct batch_stack {
	u32 parent, frame; /* frame: the innermost */
	u64 hash;          /* batch_hash: the same in every batch that has this stack */
};

struct batch_event {
	u32 name; /* text */
	u64 n_samples, period, n_lost;
};

struct batch_row {
	u32 event, stack;
	u32 build; /* text: build-id of the file that ran; 0: not known */
	u64 n_samples, period;
};

/* Something that is missing. */
struct batch_loss {
	u32 cause, where, unit; /* texts */
	u64 amount;
};

/* Whatever else is to be said of the batch: host, labels, kernel, who wrote it. */
struct batch_fact {
	u32 key, value; /* texts */
};

struct batch {
	u64 start_ns, end_ns;
	VEC(struct batch_text) texts; /* [0] is "" */
	VEC(struct batch_frame) frames;
	VEC(struct batch_stack) stacks;
	VEC(struct batch_event) events;
	VEC(struct batch_row) rows;
	VEC(u32) cells; /* for each row a text in each column */
	VEC(struct batch_loss) losses;
	VEC(struct batch_fact) facts;
	u32 columns[BATCH_COLUMNS]; /* texts: what they are called: "service", "comm" */
	u32 n_columns;
	struct arena arena;
	struct table text_index, frame_index, stack_index, row_index;
};

void batch_init(struct batch *b);
void batch_fini(struct batch *b);

static inline const char *batch_string(const struct batch *b, u32 text)
{
	return b->texts.at[text].at;
}

/* Bytes that it takes in memory. */
u64 batch_bytes(const struct batch *b);

/* The number of what equals this; added if new. */
u32 batch_text(struct batch *b, const char *at, size_t n);
u32 batch_add_string(struct batch *b, const char *text); /* NULL: 0 */
u32 batch_frame(struct batch *b, const struct batch_frame *frame);
u32 batch_stack(struct batch *b, u32 parent, u32 frame);
u32 batch_event(struct batch *b, const char *name);

/* The column of that name; BATCH_COLUMNS: there is none. */
u32 batch_find_column(const struct batch *b, const char *name);
/* The same, added if new; BATCH_COLUMNS: there are too many, or rows already. */
u32 batch_column(struct batch *b, const char *name);

/* Counts a row, and in its event. `cells`: n_columns texts. Rows that differ in their counts only become one. */
void batch_count(struct batch *b, const struct batch_row *row, const u32 *cells);

void batch_say(struct batch *b, const char *key, const char *value);
/* "" without such a fact. */
const char *batch_fact(const struct batch *b, const char *key);
void batch_lose(struct batch *b, const char *cause, const char *where, const char *unit,
	u64 amount);

/*
 * Adds the rows and losses of another batch, not its facts; the times become the union. Columns that this one lacks are
 * added if it has no rows yet, else left out.
 */
void batch_merge(struct batch *b, const struct batch *more);

#endif
