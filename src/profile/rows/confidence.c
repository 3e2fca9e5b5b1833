#include "profile/rows/confidence.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/sort.h"
#include "profile/maths/tdist.h"

/* ---- the whole ---- */

SORT_BY(by_time, struct confidence_quantum, event, time)

void confidence_whole_init(struct confidence_whole *w, const struct profile *p)
{
	size_t n = 0;

	memset(w, 0, sizeof(*w));
	vec_each(row, &p->rows)
		vec_add(&w->quanta,
			((struct confidence_quantum){row->event,
				profile_label(p, (size_t)(row - p->rows.at), LABEL_TIME),
				{row->n_samples, row->period}}));
	if (w->quanta.n)
		qsort(w->quanta.at, w->quanta.n, sizeof(*w->quanta.at), by_time);
	vec_each(q, &w->quanta) {
		struct confidence_quantum *last = n ? &w->quanta.at[n - 1] : NULL;

		if (!last || by_time(last, q)) {
			w->quanta.at[n++] = *q;
			continue;
		}
		last->value.n_samples += q->value.n_samples;
		last->value.period += q->value.period;
	}
	w->quanta.n = n;
}

void confidence_whole_fini(struct confidence_whole *w)
{
	vec_fini(&w->quanta);
}

/* ---- blocks ---- */

struct block {
	u64 from; /* time */
	double period;
};

struct counting {
	const struct hist *hist;
	VEC(struct block) blocks;
	struct sort_item *rows; /* position in profile->rows by block */
	size_t n_rows;
	struct batchmeans *self, *total, *apart; /* by entry; apart: difference from the next one */
	struct table index;
	u64 n_samples;
};

/* Joins neighbouring quanta into blocks with about equal numbers of samples, at most CONFIDENCE_BLOCKS_MAX. */
static void make_blocks(struct counting *c, const struct confidence_whole *w)
{
	u64 n = 0, each, in_block = 0;

	vec_each(q, &w->quanta)
		n += q->event == c->hist->events[0].event ? q->value.n_samples : 0;
	each = MAX(n / CONFIDENCE_BLOCKS_MAX, (u64)16);
	vec_each(q, &w->quanta) {
		if (q->event != c->hist->events[0].event)
			continue;
		if (!c->blocks.n || in_block >= each) {
			vec_add(&c->blocks, ((struct block){.from = q->time}));
			in_block = 0;
		}
		in_block += q->value.n_samples;
		c->blocks.at[c->blocks.n - 1].period += (double)q->value.period;
	}
	c->n_samples = n;
}

static size_t block_of(const struct counting *c, u64 time)
{
	size_t low = 0, high = c->blocks.n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (c->blocks.at[middle].from <= time)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void order_rows(struct counting *c)
{
	const struct profile *p = c->hist->profile;
	const struct calls *calls = c->hist->calls;
	u32 event = c->hist->events[0].event;
	size_t first = calls->first_row[event];

	c->n_rows = calls->first_row[event + 1] - first;
	c->rows = mem_alloc((c->n_rows + 1) * sizeof(*c->rows));
	for (size_t k = 0; k < c->n_rows; k++) {
		u32 row = calls->rows[first + k];

		c->rows[k] =
			(struct sort_item){block_of(c, profile_label(p, row, LABEL_TIME)), row};
	}
	sort_by_key(c->rows, c->n_rows);
}

/* ---- entries ---- */

static u64 place_of(u32 group, u32 ident)
{
	return hash_u64((u64)group << 32 | ident);
}

static void index_entries(struct counting *c)
{
	vec_each(e, &c->hist->entries)
		table_add(&c->index, place_of(e->group, e->ident), (u32)(e - c->hist->entries.at));
}

static u32 find_entry(const struct counting *c, u32 group, u32 ident)
{
	struct table_probe probe = table_probe(&c->index, place_of(group, ident));
	u32 i;

	while ((i = table_next(&c->index, &probe)) != TABLE_NONE)
		if (c->hist->entries.at[i].group == group && c->hist->entries.at[i].ident == ident)
			break;
	return i;
}

/* Counts a row as the histogram does, a function once per path. Returns the period that is part of the whole. */
static double count_row(struct counting *c, size_t row)
{
	const struct hist *h = c->hist;
	const struct calls_node *nodes = h->calls->nodes.at;
	double period = (double)h->profile->rows.at[row].period;
	u32 group = h->group_of_row[row], node = h->calls->of_row[row];
	u32 e = find_entry(c, group, h->ident[nodes[nodes[node].function].symbol]);
	bool is_part = e != TABLE_NONE;

	if (is_part)
		c->self[e].now += period;
	for (; h->options->has_children && node; node = nodes[node].parent) {
		if (h->outer[node])
			continue;
		e = find_entry(c, group, h->ident[nodes[node].symbol]);
		if (e != TABLE_NONE)
			c->total[e].now += period;
	}
	return is_part ? period : 0;
}

static double share(const struct hist *h, u64 period)
{
	return h->events[0].all.period ? (double)period / (double)h->events[0].all.period : 0;
}

/* Ends a block of all entries; `whole` is the period that shares refer to in this block. */
static void end_block(struct counting *c, double whole)
{
	const struct hist *h = c->hist;
	struct batchmeans *order = h->options->has_children ? c->total : c->self;

	for (size_t i = 0; i < h->entries.n; i++) {
		const struct hist_entry *e = &h->entries.at[i];
		double self = share(h, e->of[0].self.period),
		       total = share(h, e->of[0].total.period);

		if (i + 1 < h->entries.n) {
			const struct hist_entry *next = e + 1;
			double apart = h->options->has_children
				? total - share(h, next->of[0].total.period)
				: self - share(h, next->of[0].self.period);

			c->apart[i].now = order[i].now - order[i + 1].now;
			batchmeans_end_block(&c->apart[i], apart * whole);
		}
		batchmeans_end_block(&c->self[i], self * whole);
		batchmeans_end_block(&c->total[i], total * whole);
	}
}

static void count(struct counting *c)
{
	bool is_relative = c->hist->options->is_relative;
	size_t next = 0;

	for (size_t block = 0; block < c->blocks.n; block++) {
		double part = 0;

		while (next < c->n_rows && c->rows[next].key == block)
			part += count_row(c, c->rows[next++].value);
		end_block(c, is_relative ? part : c->blocks.at[block].period);
	}
}

/* ---- answers ---- */

static double variance(const struct counting *c, const struct batchmeans *d)
{
	double all = (double)c->hist->events[0].all.period;

	return c->blocks.n < CONFIDENCE_BLOCKS_MIN || !all ? 0 : batchmeans_variance(d) / all / all;
}

/* Whether entry i comes before the next one by more than chance. */
static bool is_decided(const struct counting *c, size_t i, double t)
{
	const struct hist *h = c->hist;
	const struct hist_entry *a = &h->entries.at[i], *b = a + 1;
	bool has_children = h->options->has_children;
	double x = share(h, has_children ? a->of[0].total.period : a->of[0].self.period),
	       y = share(h, has_children ? b->of[0].total.period : b->of[0].self.period),
	       apart = x - y, least;

	/* Totals may overlap if one calls the other: then only the rest differs. */
	least = ((has_children ? fabs(apart) : x + y) - apart * apart) / (double)c->n_samples;
	return apart * apart > t * t * fmax(variance(c, &c->apart[i]), least) ||
		(has_children && apart == 0 && batchmeans_variance(&c->apart[i]) == 0);
}

static void answer(const struct counting *c, struct confidence *ret)
{
	const struct hist *h = c->hist;
	double t = tdist_quantile(0.05,
		c->blocks.n < CONFIDENCE_BLOCKS_MIN ? INFINITY
						    : batchmeans_freedom((u32)c->blocks.n));
	u64 n = h->options->is_relative ? h->events[0].all.n_samples : c->n_samples;

	for (size_t i = 0; i < h->entries.n; i++) {
		const struct hist_entry *e = &h->entries.at[i];

		ret->rows[i] =
			(struct confidence_row){batchmeans_range(share(h, e->of[0].self.period),
							variance(c, &c->self[i]), n, t),
				batchmeans_range(share(h, e->of[0].total.period),
					variance(c, &c->total[i]), n, t),
				i + 1 == h->entries.n || is_decided(c, i, t)};
	}
}

void confidence_init(struct confidence *ret, const struct hist *h, const struct confidence_whole *w)
{
	size_t n = h->entries.n + 1;
	struct counting c = {.hist = h,
		.self = mem_zalloc(n * sizeof(*c.self)),
		.total = mem_zalloc(n * sizeof(*c.total)),
		.apart = mem_zalloc(n * sizeof(*c.apart))};

	make_blocks(&c, w);
	order_rows(&c);
	index_entries(&c);
	count(&c);
	ret->n_blocks = (u32)c.blocks.n;
	ret->rows = mem_zalloc(n * sizeof(*ret->rows));
	answer(&c, ret);
	vec_fini(&c.blocks);
	table_fini(&c.index);
	mem_free(c.rows);
	mem_free(c.self);
	mem_free(c.total);
	mem_free(c.apart);
}

void confidence_fini(struct confidence *c)
{
	mem_free(c->rows);
	memset(c, 0, sizeof(*c));
}

/* ---- the column ---- */

static void cell_of_interval(const struct key_value *v, struct cell *ret)
{
	const struct confidence_row *row =
		&v->hist->confidence->rows[v->entry - v->hist->entries.at];
	const struct batchmeans_range *r =
		v->hist->options->has_children ? &row->total : &row->self;

	ret->kind = CELL_RANGE;
	ret->real = r->low;
	ret->high = r->high;
	ret->spans = row->is_decided ? 0 : CELL_IS_UNCERTAIN;
}

const struct key confidence_column = {.name = "interval",
	.title = "95% interval",
	.help = "where the true share lies",
	.is_value = true,
	.kind = CELL_RANGE,
	.cell = cell_of_interval};
