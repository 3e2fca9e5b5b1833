#include "profile/gather/lend.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

/* Where both events may have samples: a function, in the threads of one name and one process, as far as labels tell them apart. */
struct place {
	u32 function;
	u64 comm, pid;
	size_t first, n;        /* the lender's stacks, in `stacks` */
	u64 weight;             /* of all of them */
	u64 n_samples, n_taken; /* of the borrower; of these, how many have callers already */
};

/* What a row of the lender has. */
struct stack {
	u32 place, callers;
	u64 end; /* the weights of the place's stacks up to and with this one */
};

struct lending {
	struct profile *p;
	VEC(struct place) places;
	VEC(struct stack) stacks;
	struct table index; /* of the places */
};

/* The place of a row; TABLE_NONE: there is none, and none is wanted. */
static u32 place_of(struct lending *l, size_t row, bool is_wanted)
{
	const struct profile *p = l->p;
	struct place place = {.function = profile_frame_function(p, p->rows.at[row].frame),
		.comm = profile_label(p, row, LABEL_COMM),
		.pid = profile_label(p, row, LABEL_PID)};
	const u64 hash = hash_mix(hash_mix(place.function, place.comm), place.pid);
	struct table_probe probe = table_probe(&l->index, hash);
	u32 i;

	while ((i = table_next(&l->index, &probe)) != TABLE_NONE) {
		const struct place *o = &l->places.at[i];

		if (o->function == place.function && o->comm == place.comm && o->pid == place.pid)
			return i;
	}
	if (!is_wanted)
		return TABLE_NONE;
	table_add(&l->index, hash, l->places.n);
	vec_add(&l->places, place);
	return (u32)l->places.n - 1;
}

static int by_place(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->callers < y->callers ? -1 : x->callers > y->callers;
}

static void collect(struct lending *l, u32 lender)
{
	const struct profile *p = l->p;

	for (size_t i = 0; i < p->rows.n; i++) {
		const struct profile_row *row = &p->rows.at[i];

		if (row->event == lender && row->period)
			vec_add(&l->stacks,
				((struct stack){place_of(l, i, true), row->callers, row->period}));
	}
	if (l->stacks.n)
		qsort(l->stacks.at, l->stacks.n, sizeof(*l->stacks.at), by_place);
	vec_each(s, &l->stacks) {
		struct place *place = &l->places.at[s->place];

		if (!place->n++)
			place->first = s - l->stacks.at;
		place->weight += s->end;
		s->end = place->weight;
	}
}

/* The stack that holds a point in the place's weights. */
static const struct stack *stack_at(const struct lending *l, const struct place *place, u64 point)
{
	size_t from = place->first, n = place->n;

	while (n > 1) {
		const size_t half = n / 2;

		if (l->stacks.at[from + half - 1].end > point)
			n = half;
		else {
			from += half;
			n -= half;
		}
	}
	return &l->stacks.at[from];
}

/* The k-th of n samples stands in the middle of the k-th of n equal parts of all weights. */
static u64 point_of(const struct place *place, u64 k)
{
	return (u64)(((unsigned __int128)place->weight * (2 * k + 1)) / (2 * place->n_samples));
}

/* Divides a row by the callers of its samples: it becomes the first part, others are added. */
static void divide(struct lending *l, size_t at, struct place *place)
{
	struct profile *p = l->p;
	const struct profile_row whole = p->rows.at[at];
	u64 left = whole.period, n_left = whole.n_samples;
	bool is_first = true;

	while (n_left) {
		const struct stack *s = stack_at(l, place, point_of(place, place->n_taken));
		struct profile_row part = whole;
		u64 n = 0;

		while (n < n_left && stack_at(l, place, point_of(place, place->n_taken)) == s) {
			n++;
			place->n_taken++;
		}
		part.callers = s->callers;
		part.n_samples = n;
		part.period = n == n_left ? left : (u64)(((unsigned __int128)left * n) / n_left);
		n_left -= n;
		left -= part.period;
		if (is_first) {
			p->rows.at[at] = part;
		} else {
			u64 labels[LABEL_COUNT];

			for (unsigned i = 0; i < p->n_labels; i++)
				labels[i] = p->cells.at[at * p->n_labels + i];
			profile_add_row(p, &part, labels);
		}
		is_first = false;
	}
}

u64 lend_callers(struct profile *p, u32 lender, u32 borrower)
{
	struct lending l = {.p = p};
	const size_t n = p->rows.n;
	u64 n_lent = 0;

	collect(&l, lender);
	for (size_t i = 0; i < n; i++) {
		u32 place = p->rows.at[i].event == borrower ? place_of(&l, i, false) : TABLE_NONE;

		if (place != TABLE_NONE)
			l.places.at[place].n_samples += p->rows.at[i].n_samples;
	}
	for (size_t i = 0; i < n; i++) {
		u32 place = p->rows.at[i].event == borrower ? place_of(&l, i, false) : TABLE_NONE;

		if (place == TABLE_NONE || !l.places.at[place].weight || p->rows.at[i].callers)
			continue;
		n_lent += p->rows.at[i].n_samples;
		divide(&l, i, &l.places.at[place]);
	}
	vec_fini(&l.places);
	vec_fini(&l.stacks);
	table_fini(&l.index);
	return n_lent;
}
