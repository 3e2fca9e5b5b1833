#include "profile/code/annotation.h"

#include <stdlib.h>

static void count(struct annotation_count *c, const struct profile_row *row)
{
	c->n_samples += row->n_samples;
	c->period += row->period;
}

/* Sorts the rows that are in a function by symbol; returns how many there are. */
static size_t sort_rows(struct annotation *a)
{
	const struct profile *p = a->profile;
	size_t n = 0;

	a->rows = mem_alloc((p->rows.n + 1) * sizeof(*a->rows));
	vec_each(row, &p->rows) {
		const u32 symbol = profile_frame_function(p, row->frame);
		const struct profile_symbol *s = &p->symbols.at[symbol];

		count(&a->totals[row->event], row);
		if (!s->name)
			count(&a->nameless[row->event], row);
		else
			a->rows[n++] = (struct sort_item){symbol, (u64)(row - p->rows.at)};
	}
	sort_by_key(a->rows, n);
	return n;
}

static double share_of(const struct annotation *a, size_t counts)
{
	double share = 0;

	for (size_t e = 0; e < a->profile->events.n; e++)
		if (a->totals[e].period)
			share = MAX(share,
				100.0 * (double)a->counts.at[counts + e].period /
					(double)a->totals[e].period);
	return share;
}

static void add_function(struct annotation *a, size_t first, size_t n)
{
	const struct profile *p = a->profile;
	struct annotation_function f = {.symbol = (u32)a->rows[first].key,
		.first = first,
		.n = n,
		.counts = a->counts.n};

	for (size_t e = 0; e < p->events.n; e++)
		vec_add(&a->counts, ((struct annotation_count){0}));
	for (size_t i = first; i < first + n; i++) {
		const struct profile_row *row = &p->rows.at[a->rows[i].value];

		count(&a->counts.at[f.counts + row->event], row);
	}
	f.share = share_of(a, f.counts);
	vec_add(&a->functions, f);
}

/* The hottest first; equal ones in the order of the profile. */
static int by_share(const void *left, const void *right)
{
	const struct annotation_function *a = left, *b = right;

	if (a->share != b->share)
		return a->share < b->share ? 1 : -1;
	return a->symbol < b->symbol ? -1 : a->symbol > b->symbol;
}

void annotation_init(struct annotation *a, const struct profile *p)
{
	size_t n;

	memset(a, 0, sizeof(*a));
	a->profile = p;
	a->totals = mem_zalloc((p->events.n + 1) * sizeof(*a->totals));
	a->nameless = mem_zalloc((p->events.n + 1) * sizeof(*a->nameless));
	n = sort_rows(a);
	for (size_t first = 0, end; first < n; first = end) {
		end = first + 1;
		while (end < n && a->rows[end].key == a->rows[first].key)
			end++;
		add_function(a, first, end - first);
	}
	a->unsampled.counts = a->counts.n;
	for (size_t e = 0; e < p->events.n; e++)
		vec_add(&a->counts, ((struct annotation_count){0}));
	if (a->functions.n)
		qsort(a->functions.at, a->functions.n, sizeof(*a->functions.at), by_share);
}

void annotation_fini(struct annotation *a)
{
	vec_fini(&a->functions);
	vec_fini(&a->counts);
	mem_free(a->totals);
	mem_free(a->nameless);
	mem_free(a->rows);
	memset(a, 0, sizeof(*a));
}

const struct profile_symbol *annotation_symbol(const struct annotation *a,
	const struct annotation_function *f)
{
	return &a->profile->symbols.at[f->symbol];
}

/* "f" is the name of "f", "f.cold", "f.part.0", "f [clone .cold]" and "f(int)". */
static bool is_name_of(const char *wanted, const char *name)
{
	size_t n = strlen(wanted);

	if (strncmp(wanted, name, n))
		return false;
	return !name[n] || name[n] == '.' || name[n] == '(' || !strncmp(name + n, " [clone", 7);
}

size_t annotation_find(const struct annotation *a, const char *name, u32 *ret, bool *ret_is_whole)
{
	size_t n = 0;

	for (u32 i = 0; i < a->functions.n; i++)
		if (is_name_of(name, annotation_symbol(a, &a->functions.at[i])->name))
			ret[n++] = i;
	*ret_is_whole = n > 0;
	for (u32 i = 0; i < a->functions.n && !*ret_is_whole; i++)
		if (strstr(annotation_symbol(a, &a->functions.at[i])->name, name))
			ret[n++] = i;
	return n;
}

static u32 position_of(const struct annotation *a, u32 symbol)
{
	for (u32 i = 0; i < a->functions.n; i++)
		if (a->functions.at[i].symbol == symbol)
			return i;
	return ANNOTATION_NONE;
}

static bool holds(const struct profile *p, const struct profile_frame *f, u32 inlined)
{
	for (u32 i = 0; i < f->n_inlined; i++)
		if (p->inlined.at[f->first_inlined + i] == inlined)
			return true;
	return false;
}

/* The function with the largest part of an inlined function's time. */
static u32 holder_of(const struct annotation *a, u32 inlined)
{
	const struct profile *p = a->profile;
	u64 most = 0;
	u32 best = ANNOTATION_NONE;

	for (u32 i = 0; i < a->functions.n; i++) {
		const struct annotation_function *f = &a->functions.at[i];
		u64 period = 0;

		for (size_t k = f->first; k < f->first + f->n; k++) {
			const struct profile_row *row = &p->rows.at[a->rows[k].value];

			period += holds(p, &p->frames.at[row->frame], inlined) ? row->period : 0;
		}
		if (period > most) {
			most = period;
			best = i;
		}
	}
	return best;
}

u32 annotation_of_symbol(const struct annotation *a, u32 symbol)
{
	return a->profile->symbols.at[symbol].is_inlined
		? holder_of(a, symbol)
		: position_of(a, profile_function(a->profile, symbol));
}

u32 annotation_at(const struct annotation *a, u32 dso, u64 start)
{
	for (u32 i = 0; i < a->functions.n; i++) {
		const struct profile_symbol *s = annotation_symbol(a, &a->functions.at[i]);

		if (s->dso == dso && s->start == start)
			return i;
	}
	return ANNOTATION_NONE;
}

void annotation_places_init(struct annotation_places *places, const struct annotation *a,
	const struct annotation_function *f, struct resolver *resolver)
{
	const struct profile *p = a->profile;
	const struct profile_symbol *s = annotation_symbol(a, f);
	const struct dso *dso = resolver->machine->dsos.at.at[p->dsos.at[s->dso].source];
	struct sort_item *rows = mem_alloc((f->n + 1) * sizeof(*rows));

	memset(places, 0, sizeof(*places));
	for (size_t i = 0; i < f->n; i++) {
		u64 row = a->rows[f->first + i].value;
		const struct profile_frame *frame = &p->frames.at[p->rows.at[row].frame];

		rows[i] = (struct sort_item){resolver_find(resolver, dso, frame->address).at, row};
	}
	sort_by_key(rows, f->n);
	for (size_t i = 0; i < f->n; i++) {
		const struct profile_row *row = &p->rows.at[rows[i].value];

		if (!i || rows[i].key != rows[i - 1].key) {
			vec_add(&places->at,
				((struct annotation_place){rows[i].key, places->counts.n}));
			for (size_t e = 0; e < p->events.n; e++)
				vec_add(&places->counts, ((struct annotation_count){0}));
		}
		count(&places->counts.at[places->at.at[places->at.n - 1].counts + row->event], row);
	}
	mem_free(rows);
}

void annotation_places_fini(struct annotation_places *places)
{
	vec_fini(&places->at);
	vec_fini(&places->counts);
}
