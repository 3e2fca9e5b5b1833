#include "view/svg/change.h"

#include <math.h>
#include <string.h>

#include "profile/diff/significance.h"
#include "profile/rows/codekind.h"

/* The recordings with n rows that have no values yet. */
static void open_delta(struct delta *d, const struct delta_recording *recordings, u32 n_parts,
	size_t n)
{
	*d = (struct delta){0};
	for (u32 part = 0; part < n_parts; part++)
		vec_add(&d->recordings, recordings[part]);
	for (size_t i = 0; i < n; i++)
		vec_add(&d->rows,
			((struct delta_row){.values = arena_zalloc(&d->arena,
						    n_parts * sizeof(struct delta_value))}));
}

static void close_delta(struct delta *d)
{
	vec_fini(&d->recordings);
	vec_fini(&d->rows);
	arena_fini(&d->arena);
}

/* Finds the recordings' levels from the own values of functions. */
static void find_levels(struct delta *d, const struct rowset *r)
{
	struct str room = {0};
	struct cell cell;

	for (size_t row = 1; row < r->n; row++)
		for (u32 part = 0; part < r->n_parts; part++) {
			struct delta_value *v = &d->rows.at[r->nodes[row].symbol].values[part];

			rowset_cell(r, &r->columns[1], row, part, &room, &cell);
			v->n_samples += cell.n;
			rowset_cell(r, &r->columns[2], row, part, &room, &cell);
			v->period += cell.n;
		}
	delta_level(d);
	str_fini(&room);
}

/* Makes the recordings comparable. */
static void scale(struct delta *d, const struct rowset *r, const struct picture *p)
{
	struct delta functions;

	if (p->scale == PICTURE_BY_TOTAL)
		vec_each(recording, &d->recordings)
			recording->per = (double)MAX(recording->period, 1ull);
	if (p->scale != PICTURE_BY_LEVEL)
		return;
	open_delta(&functions, d->recordings.at, r->n_parts, r->n_places);
	find_levels(&functions, r);
	for (u32 part = 0; part < r->n_parts; part++)
		d->recordings.at[part].level = functions.recordings.at[part].level;
	close_delta(&functions);
}

static int step_of(const struct judgement *j, bool has_variance)
{
	static const double least[CHANGE_STEPS] = {0, 0.3, 0.7,
		1}; /* of the ratio's binary logarithm */
	const double size = isnan(j->ratio) || j->ratio <= 0 ? INFINITY : fabs(log2(j->ratio));
	int step = 0;

	if (has_variance ? !j->is_significant : !isnan(j->ratio) && !(fabs(j->ratio - 1) > j->half))
		return 0;
	while (step < CHANGE_STEPS && size >= least[step])
		step++;
	return !isnan(j->ratio) && j->ratio < 1 ? -step : step;
}

/* Whether there are too few samples to tell anything. */
static bool is_small(const struct boxes *b, size_t box)
{
	enum { LEAST = 6 };
	u64 n = 0;

	for (u32 part = 0; part < b->n_parts; part++)
		n += boxes_samples(b, box, part);
	return n < LEAST;
}

/* Names made from addresses hold within one build: what is new may have had another. */
static bool is_nameless(const struct changes *c, const struct boxes *b, const struct rowset *r,
	size_t box)
{
	const struct box *at = &b->all.at[box];

	return c->of.at[at->parent].is_unknown ||
		(at->place < BOXES_REST && r->places[at->place].kind == CODEKIND_NAMELESS);
}

static struct change change_of(const struct changes *c, const struct boxes *b,
	const struct rowset *r, const struct delta *d, const struct significance *s, size_t box)
{
	const struct judgement *j = &s->rows.at[box];
	struct change change = {.ratio = j->ratio, .half = j->half};

	for (int side = 0; side < DELTA_SIDES; side++)
		change.share[side] = delta_side_share(d, &d->rows.at[box], side);
	change.is_unknown = isnan(j->ratio) && box && is_nameless(c, b, r, box);
	change.step = change.is_unknown || is_small(b, box) ? 0 : step_of(j, s->has_variance);
	return change;
}

void changes_init(struct changes *c, const struct boxes *b, const struct rowset *r,
	const struct picture *p)
{
	struct significance s;
	struct delta d;

	*c = (struct changes){0};
	open_delta(&d, p->recordings, b->n_parts, b->all.n);
	for (u32 part = 0; part < b->n_parts; part++) {
		d.recordings.at[part].per = d.recordings.at[part].level = 1;
		d.recordings.at[part].period = boxes_period(b, 0, part);
		d.recordings.at[part].n_samples = boxes_samples(b, 0, part);
	}
	for (size_t i = 0; i < b->all.n; i++)
		for (u32 part = 0; part < b->n_parts; part++)
			d.rows.at[i].values[part] = (struct delta_value){boxes_period(b, i, part),
				boxes_samples(b, i, part)};
	scale(&d, r, p);
	significance_init(&s, &d);
	c->level = s.level;
	c->whole = s.sum[DELTA_A] > 0 ? s.sum[DELTA_B] / s.sum[DELTA_A] : NAN;
	c->has_variance = s.has_variance;
	for (size_t i = 0; i < b->all.n; i++)
		vec_add(&c->of, change_of(c, b, r, &d, &s, i));
	significance_fini(&s);
	close_delta(&d);
}

void changes_fini(struct changes *c)
{
	vec_fini(&c->of);
}
