#include "profile/diff/codediff.h"

#include <math.h>

#include "base/hash.h"
#include "profile/maths/align.h"
#include "profile/diff/delta.h"
#include "profile/diff/significance.h"
#include "profile/maths/tdist.h"
#include "profile/diff/loosename.h"
#include "symbol/code/shape.h"

/* Two unaligned blocks are one block that moved if they have this share of their instructions in common. */
#define MOVED_SHARE 0.7

struct code_block {
	u32 first, n; /* rows */
};

struct code_side {
	const struct assembly *assembly;
	struct shape *shapes; /* by row */
	u64 *loose;           /* their loose shapes, for align_add() */
	VEC(struct code_block) blocks;
	u32 *block_of; /* by row */
};

/* How many rows two blocks have in common. */
struct code_vote {
	u32 a, b;
	u32 n;
};

struct code_group {
	u32 parent; /* equal to its own number: a root, with n blocks in its group */
	u32 n;
};

struct comparing {
	struct codediff *d;
	struct code_side sides[CODEDIFF_SIDES];
	struct align align;
	VEC(struct code_vote) votes;
	VEC(struct code_group) groups; /* union-find: A's blocks, then B's */
};

/* ---- one side ---- */

static u32 n_rows(const struct code_side *s)
{
	return (u32)s->assembly->rows.n;
}

/* A function's name without what differs between builds, and without the offset. */
static const char *loose_name(const char *name, struct str *text)
{
	struct str whole = {0};

	if (!name)
		return NULL;
	str_addn(&whole, name, strcspn(name, "+"));
	str_clear(text);
	loosename_add_function(str_text(&whole), text);
	str_fini(&whole);
	return str_text(text);
}

static void take_shapes(struct code_side *s)
{
	const struct assembly *a = s->assembly;
	struct str scratch = {0}, target = {0};

	s->shapes = mem_alloc((a->rows.n + 1) * sizeof(*s->shapes));
	s->loose = mem_alloc((a->rows.n + 1) * sizeof(*s->loose));
	for (size_t i = 0; i < a->rows.n; i++) {
		const struct assembly_row *row = &a->rows.at[i];
		const struct instruction *ins = &a->disasm.listing.instructions.at[i];

		s->shapes[i] =
			shape_of(&(struct shape_text){.text = assembly_text(a, i),
					 .is_bytes = ins->is_bad,
					 .has_target = ins->has_target,
					 .target = row->to == ASSEMBLY_NONE && !row->is_target_made
						 ? loose_name(row->target, &target)
						 : NULL,
					 .has_reference = ins->has_reference,
					 .reference = row->reference && !row->is_reference_made
						 ? row->reference
						 : row->literal},
				&scratch);
		s->loose[i] = s->shapes[i].loose;
	}
	str_fini(&scratch);
	str_fini(&target);
}

/* Finds basic blocks: one begins at each jump target, and after each jump, branch or return. */
static void take_blocks(struct code_side *s)
{
	const struct assembly *a = s->assembly;
	bool *begins = mem_zalloc(a->rows.n + 1);

	s->block_of = mem_alloc((a->rows.n + 1) * sizeof(*s->block_of));
	begins[0] = true;
	for (size_t i = 0; i < a->rows.n; i++) {
		u8 flow = a->disasm.listing.instructions.at[i].flow;

		if (a->rows.at[i].to != ASSEMBLY_NONE)
			begins[a->rows.at[i].to] = true;
		if (flow == ISA_JUMP || flow == ISA_BRANCH || flow == ISA_RETURN)
			begins[i + 1] = true;
	}
	for (size_t i = 0; i < a->rows.n; i++) {
		if (begins[i])
			vec_add(&s->blocks, ((struct code_block){.first = (u32)i}));
		s->blocks.at[s->blocks.n - 1].n++;
		s->block_of[i] = (u32)s->blocks.n - 1;
	}
	mem_free(begins);
}

static void side_init(struct code_side *s, const struct assembly *a)
{
	s->assembly = a;
	take_shapes(s);
	take_blocks(s);
}

static void side_fini(struct code_side *s)
{
	mem_free(s->shapes);
	mem_free(s->loose);
	mem_free(s->block_of);
	vec_fini(&s->blocks);
}

/* ---- groups of blocks ---- */

static u32 group_of(struct comparing *c, u32 i)
{
	while (c->groups.at[i].parent != i)
		i = c->groups.at[i].parent = c->groups.at[c->groups.at[i].parent].parent;
	return i;
}

static u32 b_at(const struct comparing *c, u32 block)
{
	return (u32)c->sides[CODEDIFF_A].blocks.n + block;
}

/* Joins two groups; the earlier root, A's block, stays the root. */
static void join(struct comparing *c, u32 a, u32 b)
{
	u32 x = group_of(c, a), y = group_of(c, b_at(c, b));

	if (x == y)
		return;
	c->groups.at[MAX(x, y)].parent = MIN(x, y);
	c->groups.at[MIN(x, y)].n += c->groups.at[MAX(x, y)].n;
}

/* Counts aligned pairs by blocks. Pairs are ascending on both sides, so those of two blocks are adjacent. */
static void take_votes(struct comparing *c)
{
	vec_each(pair, &c->align.pairs) {
		u32 a = c->sides[CODEDIFF_A].block_of[pair->a],
		    b = c->sides[CODEDIFF_B].block_of[pair->b];
		struct code_vote *last = c->votes.n ? &c->votes.at[c->votes.n - 1] : NULL;

		if (last && last->a == a && last->b == b)
			last->n++;
		else
			vec_add(&c->votes, ((struct code_vote){a, b, 1}));
	}
}

static void join_by_votes(struct comparing *c)
{
	vec_each(vote, &c->votes) {
		u32 n = c->sides[CODEDIFF_A].blocks.at[vote->a].n,
		    m = c->sides[CODEDIFF_B].blocks.at[vote->b].n;

		if (2 * vote->n >= MIN(n, m))
			join(c, vote->a, vote->b);
	}
}

/* `i` counts A's blocks, then B's. */
static bool is_alone(struct comparing *c, u32 i)
{
	return c->groups.at[group_of(c, i)].n == 1;
}

static bool was_sampled(const struct code_side *s, const struct code_block *b)
{
	const struct assembly *a = s->assembly;

	for (u32 i = b->first; i < b->first + b->n; i++)
		for (size_t e = 0; e < a->annotation->profile->events.n; e++)
			if (a->counts.at[a->rows.at[i].counts + e].n_samples)
				return true;
	return false;
}

/* 0 to 1: the share of instructions that two blocks have in common. */
static double likeness(struct comparing *c, const struct code_block *a, const struct code_block *b)
{
	struct align align = {0};
	double share;

	if (MIN(a->n, b->n) < MOVED_SHARE * MAX(a->n, b->n))
		return 0;
	align_add(&align, c->sides[CODEDIFF_A].loose + a->first, a->n,
		c->sides[CODEDIFF_B].loose + b->first, b->n);
	share = 2.0 * (double)align.pairs.n / (double)(a->n + b->n);
	align_fini(&align);
	return share;
}

/* The *ret_n blocks of B without a partner; the first *ret_n_hot of them were sampled. */
static u32 *find_alone(struct comparing *c, size_t *ret_n, size_t *ret_n_hot)
{
	const struct code_side *b = &c->sides[CODEDIFF_B];
	u32 *found = mem_alloc((b->blocks.n + 1) * sizeof(*found));
	size_t n = 0;

	for (int wants_hot = 1; wants_hot >= 0; wants_hot--) {
		for (u32 k = 0; k < b->blocks.n; k++)
			if (is_alone(c, b_at(c, k)) &&
				was_sampled(b, &b->blocks.at[k]) == (wants_hot == 1))
				found[n++] = k;
		if (wants_hot)
			*ret_n_hot = n;
	}
	*ret_n = n;
	return found;
}

/* The block of B, among n, that is most like a block of A; CODEDIFF_NONE: none is similar enough. */
static u32 find_like(struct comparing *c, const struct code_block *block, const u32 *among,
	size_t n)
{
	double best = MOVED_SHARE;
	u32 found = CODEDIFF_NONE;

	for (size_t k = 0; k < n; k++) {
		double like = is_alone(c, b_at(c, among[k]))
			? likeness(c, block, &c->sides[CODEDIFF_B].blocks.at[among[k]])
			: 0;

		if (like > best) {
			best = like;
			found = among[k];
		}
	}
	return found;
}

/* Joins blocks without a partner that are alike, if at least one of the two was sampled. */
static void join_moved(struct comparing *c)
{
	/* For functions that have nothing in common, more trials are not worth the time. */
	enum { LENGTH_MIN = 3, TRIALS_MAX = 1 << 22 };
	const struct code_side *a = &c->sides[CODEDIFF_A];
	size_t n, n_hot, n_trials = 0;
	u32 *alone = find_alone(c, &n, &n_hot);

	for (u32 i = 0; i < a->blocks.n && n_trials < TRIALS_MAX; i++) {
		const struct code_block *block = &a->blocks.at[i];
		size_t n_among;
		u32 found;

		if (block->n < LENGTH_MIN || !is_alone(c, i))
			continue;
		n_among = was_sampled(a, block) ? n : n_hot;
		n_trials += n_among;
		found = find_like(c, block, alone, n_among);
		if (found != CODEDIFF_NONE)
			join(c, i, found);
	}
	mem_free(alone);
}

/* ---- parts ---- */

/*
 * All blocks, A's and then B's, sorted by part: by the first row in A; a part that only B has follows the block before
 * it in B. The blocks of a part have equal keys.
 */
static struct sort_item *order_blocks(struct comparing *c)
{
	size_t n = c->groups.n, n_a = c->sides[CODEDIFF_A].blocks.n;
	struct sort_item *order = mem_alloc((n + 1) * sizeof(*order));
	u64 before = 0;

	for (u32 i = 0; i < n; i++) {
		u32 group = group_of(c, i);

		/* The root is the first block of a group, so its key is set already. */
		if (group != i)
			order[i] = (struct sort_item){order[group].key, i};
		else if (i < n_a)
			order[i] = (struct sort_item){(u64)(i + 1) << 32, i};
		else
			order[i] = (struct sort_item){(before & ~(u64)UINT32_MAX) | (i + 1), i};
		if (i >= n_a)
			before = order[i].key;
	}
	sort_by_key(order, n);
	return order;
}

static void add_line(struct codediff *d, struct codediff_part *part, u32 a, u32 b,
	enum codediff_how how)
{
	vec_add(&d->lines, ((struct codediff_line){{a, b}, (u8)how}));
	part->n_lines++;
	part->n[how]++;
}

/* The rows of a group's blocks on one side. */
struct code_rows {
	VEC(u32) rows;
	VEC(u64) keys;
};

static void add_lines(struct comparing *c, struct codediff_part *part,
	const struct code_rows rows[CODEDIFF_SIDES])
{
	const struct shape *a = c->sides[CODEDIFF_A].shapes, *b = c->sides[CODEDIFF_B].shapes;
	const struct code_rows *of_a = &rows[CODEDIFF_A], *of_b = &rows[CODEDIFF_B];
	struct align align = {0};
	u32 x = 0, y = 0;

	align_add(&align, of_a->keys.at, (u32)of_a->keys.n, of_b->keys.at, (u32)of_b->keys.n);
	/* One more pair at the end, for the rows after the last one. */
	vec_add(&align.pairs, ((struct align_pair){(u32)of_a->rows.n, (u32)of_b->rows.n}));
	vec_each(pair, &align.pairs) {
		for (; x < pair->a; x++)
			add_line(c->d, part, of_a->rows.at[x], CODEDIFF_NONE, CODEDIFF_GONE);
		for (; y < pair->b; y++)
			add_line(c->d, part, CODEDIFF_NONE, of_b->rows.at[y], CODEDIFF_NEW);
		if (x == of_a->rows.n || y == of_b->rows.n)
			break;
		add_line(c->d, part, of_a->rows.at[x], of_b->rows.at[y],
			a[of_a->rows.at[x]].exact == b[of_b->rows.at[y]].exact ? CODEDIFF_SAME
									       : CODEDIFF_ALIKE);
		x++;
		y++;
	}
	align_fini(&align);
}

static void add_counts(struct comparing *c, struct codediff_part *part)
{
	struct codediff *d = c->d;

	part->counts = d->counts.n;
	vec_each(e, &d->events)
		for (int side = 0; side < CODEDIFF_SIDES; side++) {
			const struct assembly *a = d->sides[side];
			struct annotation_count sum = {0};

			for (u32 i = part->first_line; i < part->first_line + part->n_lines; i++) {
				u32 row = d->lines.at[i].rows[side];
				const struct annotation_count *count;

				if (row == CODEDIFF_NONE)
					continue;
				count = &a->counts.at[a->rows.at[row].counts + e->of[side]];
				sum.n_samples += count->n_samples;
				sum.period += count->period;
			}
			vec_add(&d->counts, sum);
		}
}

static void add_block(struct comparing *c, u32 i, struct codediff_part *part,
	struct code_rows rows[CODEDIFF_SIDES])
{
	u32 n_a = (u32)c->sides[CODEDIFF_A].blocks.n;
	int side = i < n_a ? CODEDIFF_A : CODEDIFF_B;
	const struct code_side *s = &c->sides[side];
	const struct code_block *block = &s->blocks.at[side == CODEDIFF_A ? i : i - n_a];

	part->n_blocks[side]++;
	for (u32 row = block->first; row < block->first + block->n; row++) {
		vec_add(&rows[side].rows, row);
		vec_add(&rows[side].keys, s->loose[row]);
	}
}

static void add_parts(struct comparing *c)
{
	struct sort_item *order = order_blocks(c);
	size_t n = c->groups.n;
	u32 furthest = 0; /* the latest row of B that a part so far begins with */

	for (size_t first = 0, end; first < n; first = end) {
		struct code_rows rows[CODEDIFF_SIDES] = {0};
		struct codediff_part part = {.first_line = (u32)c->d->lines.n};

		for (end = first; end < n && order[end].key == order[first].key; end++)
			add_block(c, (u32)order[end].value, &part, rows);
		if (rows[CODEDIFF_B].rows.n) {
			u32 begin = rows[CODEDIFF_B].rows.at[0];

			part.is_moved = part.n_blocks[CODEDIFF_A] && begin < furthest;
			furthest = MAX(furthest, begin);
		}
		add_lines(c, &part, rows);
		add_counts(c, &part);
		vec_add(&c->d->parts, part);
		for (int side = 0; side < CODEDIFF_SIDES; side++) {
			vec_fini(&rows[side].rows);
			vec_fini(&rows[side].keys);
		}
	}
	mem_free(order);
}

void codediff_init(struct codediff *d, const struct assembly *a, const struct assembly *b,
	const struct codediff_event *events, size_t n_events)
{
	const struct assembly *sides[CODEDIFF_SIDES] = {a, b};
	struct comparing c = {.d = d};

	memset(d, 0, sizeof(*d));
	for (size_t e = 0; e < n_events; e++)
		vec_add(&d->events, events[e]);
	for (int side = 0; side < CODEDIFF_SIDES; side++) {
		d->sides[side] = sides[side];
		side_init(&c.sides[side], sides[side]);
	}
	for (u32 i = 0; i < c.sides[CODEDIFF_A].blocks.n + c.sides[CODEDIFF_B].blocks.n; i++)
		vec_add(&c.groups, ((struct code_group){i, 1}));
	align_add(&c.align, c.sides[CODEDIFF_A].loose, n_rows(&c.sides[CODEDIFF_A]),
		c.sides[CODEDIFF_B].loose, n_rows(&c.sides[CODEDIFF_B]));
	take_votes(&c);
	join_by_votes(&c);
	join_moved(&c);
	add_parts(&c);
	align_fini(&c.align);
	vec_fini(&c.votes);
	vec_fini(&c.groups);
	side_fini(&c.sides[CODEDIFF_A]);
	side_fini(&c.sides[CODEDIFF_B]);
}

void codediff_fini(struct codediff *d)
{
	vec_fini(&d->events);
	vec_fini(&d->parts);
	vec_fini(&d->lines);
	vec_fini(&d->counts);
}

/* ---- what was sampled ---- */

const struct annotation_count *codediff_part_count(const struct codediff *d,
	const struct codediff_part *part, size_t e, int side)
{
	return &d->counts.at[part->counts + CODEDIFF_SIDES * e + (size_t)side];
}

const struct annotation_count *codediff_function_count(const struct codediff *d, size_t e, int side)
{
	const struct assembly *a = d->sides[side];

	return &a->annotation->counts.at[a->function->counts + d->events.at[e].of[side]];
}

const struct annotation_count *codediff_run_count(const struct codediff *d, size_t e, int side)
{
	return &d->sides[side]->annotation->totals[d->events.at[e].of[side]];
}

struct codediff_change codediff_change(const struct annotation_count part[CODEDIFF_SIDES],
	const struct annotation_count *const whole[CODEDIFF_SIDES], bool of_share)
{
	double amount[CODEDIFF_SIDES] = {0}, variance = 0;
	struct codediff_change change;

	for (int side = 0; side < CODEDIFF_SIDES; side++) {
		double n = (double)whole[side]->n_samples, k = (double)part[side].n_samples, one;

		if (!whole[side]->period || !whole[side]->n_samples)
			continue;
		amount[side] = (double)part[side].period;
		/* The period of one sample. Zero samples are uncertain too, hence the half sample more. */
		one = part[side].n_samples ? amount[side] / k : (double)whole[side]->period / n;
		k += 0.5;
		if (of_share) {
			amount[side] /= (double)whole[side]->period;
			one /= (double)whole[side]->period;
			k *= MAX(1 - k / (n + 1), 0);
		}
		variance += one * one * k;
	}
	change.more = amount[CODEDIFF_B] - amount[CODEDIFF_A];
	change.half = 1.96 * sqrt(variance);
	change.is_beyond = fabs(change.more) > change.half;
	return change;
}

struct codediff_change *codediff_changes(const struct codediff *d, size_t e, bool of_share)
{
	struct codediff_change *changes = mem_alloc((d->parts.n + 1) * sizeof(*changes));
	double *p = mem_alloc((d->parts.n + 1) * sizeof(*p)),
	       *q = mem_alloc((d->parts.n + 1) * sizeof(*q));
	const struct annotation_count *whole[CODEDIFF_SIDES] = {
		codediff_run_count(d, e, CODEDIFF_A), codediff_run_count(d, e, CODEDIFF_B)};

	for (size_t i = 0; i < d->parts.n; i++) {
		const struct annotation_count *part =
			codediff_part_count(d, &d->parts.at[i], e, CODEDIFF_A);
		bool is_sampled = part[CODEDIFF_A].n_samples || part[CODEDIFF_B].n_samples;

		changes[i] = codediff_change(part, whole, of_share);
		p[i] = is_sampled
			? tdist_both_tails(1.96 * changes[i].more / changes[i].half, INFINITY)
			: NAN;
	}
	false_discovery(p, q, d->parts.n);
	for (size_t i = 0; i < d->parts.n; i++)
		changes[i].is_beyond = q[i] <= SIGNIFICANCE_FALSE_SHARE;
	mem_free(p);
	mem_free(q);
	return changes;
}
