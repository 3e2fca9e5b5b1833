/*
 * codediff.h - the code of one function in two builds, block by block, with what was sampled there.
 *
 * Instructions are aligned by their loose shapes (symbol/code/shape). Basic blocks that share most of their
 * instructions form a part: usually one block of each build, or several if one build has an additional jump. Blocks
 * without a partner are searched for elsewhere, because compilers move blocks.
 * In       two assemblies of the same function, and the events to compare
 * Out      parts in the order of A, with those that only B has at their place in B; each with its lines
 * Owns     parts, lines, counts; not the assemblies
 *
 * Invariant: each row of either assembly is in one line of one part, so the counts of the parts sum to the rows'.
 */
#ifndef PACE_PROFILE_CODEDIFF_H
#define PACE_PROFILE_CODEDIFF_H

#include "profile/code/assembly.h"

#define CODEDIFF_NONE UINT32_MAX

enum { CODEDIFF_A, CODEDIFF_B, CODEDIFF_SIDES };

enum codediff_how {
	CODEDIFF_SAME,  /* equal except for addresses */
	CODEDIFF_ALIKE, /* equal except for registers and stack slots, too */
	CODEDIFF_GONE,  /* only A has it */
	CODEDIFF_NEW,   /* only B has it */
	CODEDIFF_HOWS,
};

struct codediff_line {
	u32 rows[CODEDIFF_SIDES]; /* of the assemblies; CODEDIFF_NONE: not on that side */
	u8 how;
};

struct codediff_part {
	u32 first_line, n_lines;
	u32 n_blocks[CODEDIFF_SIDES];
	u32 n[CODEDIFF_HOWS]; /* lines */
	bool is_moved;        /* it has other neighbours than in A */
	size_t counts;        /* in codediff->counts: for each event A's and B's */
};

struct codediff_event {
	u32 of[CODEDIFF_SIDES]; /* events of the profiles */
};

struct codediff {
	const struct assembly *sides[CODEDIFF_SIDES];
	VEC(struct codediff_event) events;
	VEC(struct codediff_part) parts;
	VEC(struct codediff_line) lines;
	VEC(struct annotation_count) counts;
};

void codediff_init(struct codediff *d, const struct assembly *a, const struct assembly *b,
	const struct codediff_event *events, size_t n_events);
void codediff_fini(struct codediff *d);

/* The samples of event e in a part, in the whole function, in the whole recording. */
const struct annotation_count *codediff_part_count(const struct codediff *d,
	const struct codediff_part *part, size_t e, int side);
const struct annotation_count *codediff_function_count(const struct codediff *d, size_t e,
	int side);
const struct annotation_count *codediff_run_count(const struct codediff *d, size_t e, int side);

/* How much more something took in B than in A, and half its 95% interval, from sampling alone: runs may differ more. */
struct codediff_change {
	double more, half;
	bool is_beyond; /* more than chance explains */
};

/* The change in units of the period; with of_share, as a share of the whole, -1 to 1. */
struct codediff_change codediff_change(const struct annotation_count part[CODEDIFF_SIDES],
	const struct annotation_count *const whole[CODEDIFF_SIDES], bool of_share);

/*
 * The same for all parts and event e, to be freed. Of the parts with is_beyond, at most 1 of 20 is so by chance
 * (false_discovery()), however many there are.
 */
struct codediff_change *codediff_changes(const struct codediff *d, size_t e, bool of_share);

#endif
