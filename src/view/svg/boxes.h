/*
 * boxes.h - the largest nodes of a tree of stacks, at most so many, and what stands for all the others.
 *
 * The largest node that is left becomes a box until there is no more room; children of a box that did not become boxes are merged into one
 * box, its rest. So the boxes' own values always sum to those of the tree. Inverted, the tree begins with the functions that stacks end in,
 * and goes on with their callers; only as much of it is made as becomes boxes.
 * In       rows with nodes and places, like those of view/rows/stackrows.h; they must stay
 * Out      boxes in preorder, the root first; the same for the same tree, whatever the order of its nodes
 * Owns     its arrays, until boxes_fini()
 * Units    weights are sums of the column `period` over the parts that count
 */
#ifndef PACE_VIEW_BOXES_H
#define PACE_VIEW_BOXES_H

#include "base/vec.h"
#include "profile/rows/rowset.h"

enum {
	BOXES_ROOT = UINT32_MAX,     /* the place of all stacks */
	BOXES_REST = UINT32_MAX - 1, /* of what stands for several */
};

struct boxes_options {
	const bool *counts;            /* by part: whether its periods are weights */
	const u32 *bytes;              /* by place: what a box of it takes in the file */
	u64 n_elements, n_bytes;       /* at most; a box has two elements, and a label is one */
	double labelled;               /* share of the whole from which a box has a label */
	double least;                  /* share below which nodes are merged anyway */
	bool is_inverted, is_heaviest; /* the order of children; else by name */
};

struct box {
	u32 place;
	u32 parent;   /* position; the root's is 0 */
	u32 depth;    /* the root's is 0 */
	u32 n_merged; /* of a rest: how many functions were called here */
	u32 only;     /* of a rest of one: its place */
	u64 weight;
};

/* A function of parts that do not count, called by one that is a box. */
struct boxes_gone {
	u32 place, parent;
	u64 weight; /* in parts that do not count */
};

struct boxes {
	VEC(struct box) all;
	u64 *periods, *samples; /* by box, n_parts each */
	u32 n_parts, n_levels;
	u32 n_rests;
	u64 n_merged;      /* functions that rests stand for, where they were called */
	u64 merged_weight; /* theirs */
	VEC(struct boxes_gone) gone;
};

void boxes_init(struct boxes *b, const struct rowset *r, const struct boxes_options *o);
void boxes_fini(struct boxes *b);

static inline u64 boxes_period(const struct boxes *b, size_t box, u32 part)
{
	return b->periods[box * b->n_parts + part];
}

static inline u64 boxes_samples(const struct boxes *b, size_t box, u32 part)
{
	return b->samples[box * b->n_parts + part];
}

#endif
