/*
 * uniques.h - samples as they come, counted where they are literally the same.
 *
 * A unique sample is one distinct sample: an address in an address space, the callers' addresses, and the
 * labels that are asked for. Nothing is looked up in maps: that is done afterwards, once for each.
 * In       addresses and labels of samples
 * Owns     copies of the callers' addresses; not the spaces, nor what labels point to
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
	/* where the branches before the sample are: of profile/gather/history, a copy; n: words */
	const u64 *history;
	u64 n_history;
	u32 mode; /* in which its first address ran if no marker tells */
	/* how it ended: STACK_ENDINGS if nothing tells it before its addresses are looked up */
	struct stack_end end;
	/* profile/gather/mapresolve: what it is in the profile; how it ended, now that its addresses are known */
	u32 stack, end_dso;
	enum stack_ending ending;
};

/*
 * One distinct sample: the same in all that is counted apart. The labels that are asked for stand
 * behind it; with histories, behind these, the position of what is known of its branches.
 */
struct unique {
	u64 ip;
	const struct space *space; /* in which ip is looked up */
	u32 chain;                 /* TABLE_NONE: no callers */
	u16 event;
	u8 mode;
	u64 n_samples, period;
	u64 labels[];
};

/* A place that labels name by its number here, until it is a frame. */
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
	/* Of stacks that were told to end so; DSOs by their ids. Until profile/gather/mapresolve counts them. */
	VEC(struct profile_ending) endings;
	size_t size; /* of a unique sample: bytes, labels included */
	VEC(u8) at;  /* size each */
	u32 n;
	struct table index;
	bool has_history;
	/* Of each unique sample, as many as its history has branches; n_passes, or none: profile/gather/mapresolve has them. */
	VEC(struct profile_pass) passes;
	u64 n_passes;
	VEC(struct uniques_place) places;
	struct table place_index;
	/* The one that comes next. In here: no other worker's data may be that near. */
	struct unique *next;
	u64 next_room[UNIQUE_WORDS];
	/*
	 * Those that came last are counted a little later, when what they are compared with has come from
	 * memory; a ring of which n_queued went through. 10 million samples at 70,000 places take a third
	 * of the time so.
	 */
	u64 queue[UNIQUES_QUEUED][UNIQUE_WORDS];
	u64 hashes[UNIQUES_QUEUED];
	u64 n_queued;
	/* What profile/gather/mapresolve has put into the profile, in this order; where the first of them are there. */
	u32 n_placed, n_placed_chains;
	size_t first_row, first_pass;
};

void uniques_init(struct uniques *s, u8 n_labels, bool has_chains, bool has_history);
void uniques_fini(struct uniques *s);

/* per sample: the number of this list of callers, whose words are copied if they are new */
u32 uniques_chain(struct uniques *s, const struct uniques_chain *chain);

/* per sample: the number of this place */
u32 uniques_place(struct uniques *s, const struct uniques_place *place);

/* per sample: how its stack ended, as far as the DSO only where that is to blame */
void uniques_add_ending(struct uniques *s, struct stack_end *end);

/* per sample: s->next is counted; it stays what it is */
void uniques_count(struct uniques *s);

/* The same with what is known of the branches before it, whose places its chain has. Of those that have histories. */
void uniques_count_history(struct uniques *s, const struct history *h);

/* After the last one, before any is looked at. */
void uniques_settle(struct uniques *s);

/* As if none had come; the memory is kept. */
void uniques_clear(struct uniques *s);

/* How much memory they take. */
u64 uniques_bytes(const struct uniques *s);

/* The i-th distinct sample. */
struct unique *uniques_at(const struct uniques *s, u32 i);

/* Of those with histories: the position in s->passes of the first. */
static inline u64 *uniques_passes(const struct uniques *s, struct unique *unique)
{
	return &unique->labels[s->n_labels];
}

#endif
