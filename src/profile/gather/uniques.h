/*
 * uniques.h - counts samples that are literally the same.
 *
 * A unique sample is one distinct sample: an address in an address space, the callers' addresses, and the
 * labels that are asked for. Map resolution comes later, once for each unique sample.
 * In       addresses and labels of samples
 * Owns     copies of the callers' addresses; not the spaces, nor the targets of labels
 * Life     a unique sample or chain is valid until the next is added; its number until uniques_clear()
 * Errors   none
 * Threads  one
 */
#ifndef PACE_PROFILE_UNIQUES_H
#define PACE_PROFILE_UNIQUES_H

#include "base/table.h"
#include "base/vec.h"
#include "machine/machine.h"
#include "profile/gather/history.h"
#include "profile/gather/profile.h"
#include "record/sample.h"
#include "unwind/stack.h"

/* One distinct list of callers' addresses. */
struct uniques_chain {
	const struct space *user, *kernel, *guest;
	struct sample_words words; /* a copy */
	/* the branches before the sample, a copy from profile/gather/history; n_history words */
	const u64 *history;
	u64 n_history;
	u32 mode; /* CPU mode of its first address if no marker tells */
	bool has_gap; /* STACK_GAP_ABORT lies between the sample and its first address, which is no caller's */
	/* how it ended: STACK_ENDINGS if that is unknown until its addresses are resolved */
	struct stack_end end;
	/* set by profile/gather/mapresolve: its stack in the profile, and how it ended */
	u32 stack, end_dso;
	enum stack_ending ending;
};

/*
 * One distinct sample. Its labels follow it; with has_history the position of its first branch in
 * uniques.branches follows the labels.
 */
struct unique {
	u64 ip;
	const struct space *space; /* the maps in which ip is looked up */
	u32 chain;                 /* TABLE_NONE: no callers */
	u16 event;
	u8 mode;
	u64 n_samples, period;
	u64 labels[];
};

/* A place that labels refer to by number until map resolution makes it a frame. */
struct uniques_place {
	const struct space *space;
	u64 address;
	u8 mode;
};

enum { UNIQUES_QUEUED = 16, UNIQUE_WORDS = sizeof(struct unique) / 8 + LABEL_COUNT + 1 };

struct uniques {
	u8 n_labels; /* of each unique sample */
	VEC(struct uniques_chain) chains;
	struct table chain_index;
	struct arena words;
	/* Stacks whose ending is known, DSOs by id, until profile/gather/mapresolve adds them to the profile. */
	VEC(struct profile_ending) endings;
	size_t size; /* bytes of a unique sample, labels included */
	VEC(u8) at;  /* n samples of `size` bytes */
	u32 n;
	struct table index;
	bool has_history;
	/* One for each branch in each unique sample's history; empty once profile/gather/mapresolve has taken them. */
	VEC(struct profile_branch) branches;
	u64 n_branches;
	VEC(struct uniques_place) places;
	struct table place_index;
	/* The sample to count next. It lies in this struct so that workers do not share cache lines. */
	struct unique *next;
	u64 next_room[UNIQUE_WORDS];
	/* Whether `next` is noted: the numbers of noted samples, in the order in which they were counted, go to `noted`. */
	bool is_noted;
	VEC(u32) noted;
	/*
	 * A ring of the latest samples, which are counted a little later, when the entries they are compared
	 * with have been prefetched. n_queued samples went through it. With it, 10 million samples at 70,000
	 * places take a third of the time.
	 */
	u64 queue[UNIQUES_QUEUED][UNIQUE_WORDS];
	u64 hashes[UNIQUES_QUEUED];
	bool notes[UNIQUES_QUEUED];
	u64 n_queued;
	/* How many profile/gather/mapresolve has added to the profile, in order, and where the first of them are there. */
	u32 n_placed, n_placed_chains;
	size_t first_row, first_branch;
};

void uniques_init(struct uniques *s, u8 n_labels, bool has_chains, bool has_history);
void uniques_fini(struct uniques *s);

/* per sample: the number of this list of callers, which is copied if it is new */
u32 uniques_chain(struct uniques *s, const struct uniques_chain *chain);

/* per sample: the number of this place */
u32 uniques_place(struct uniques *s, const struct uniques_place *place);

/* per sample: counts how its stack ended; with the DSO only if that is the cause */
void uniques_add_ending(struct uniques *s, struct stack_end *end);

/* per sample: counts s->next, which stays unchanged */
void uniques_count(struct uniques *s);

/* per sample, with has_history: counts s->next and adds the notes of the branches before it, which are in its chain. */
void uniques_count_history(struct uniques *s, const struct history *h);

/* Counts the samples still in the queue; call this before looking at any. */
void uniques_settle(struct uniques *s);

/* Forgets all samples but keeps the memory. */
void uniques_clear(struct uniques *s);

/* The bytes of memory in use. */
u64 uniques_bytes(const struct uniques *s);

/* The i-th distinct sample. */
struct unique *uniques_at(const struct uniques *s, u32 i);

/* With has_history: the position in s->branches of the sample's first branch. */
static inline u64 *uniques_branches(const struct uniques *s, struct unique *unique)
{
	return &unique->labels[s->n_labels];
}

#endif
