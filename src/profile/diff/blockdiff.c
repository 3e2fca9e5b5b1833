#include "profile/diff/blockdiff.h"

#include <math.h>

#include "profile/maths/tdist.h"

#define SURE 0.05 /* the probability that a difference lies outside of its interval */

/* ---- what a run is ---- */

static u64 offset_of(const struct profile *p, u32 frame, const struct profile_symbol *function)
{
	return p->frames.at[frame].at - function->start;
}

/* "+0x4..+0x10"; of a run that begins in another function, "f+0x4..+0x10". */
static void add_range(const struct profile *p, u64 label, bool is_named, struct str *text)
{
	const struct profile_block block = profile_block(label);
	const struct profile_symbol *to = &p->symbols.at[profile_frame_function(p, block.end)],
				    *from = to;

	if (block.start != PROFILE_NO_FRAME)
		from = &p->symbols.at[profile_frame_function(p, block.start)];
	if (is_named || from->start != to->start)
		key_add_symbol(from, text);
	if (block.start == PROFILE_NO_FRAME)
		str_addc(text, '?');
	else
		str_addf(text, "+0x%llx", (unsigned long long)offset_of(p, block.start, from));
	str_addf(text, "..+0x%llx", (unsigned long long)offset_of(p, block.end, to));
}

static void cell_of_range(const struct key_value *v, struct cell *ret)
{
	add_range(v->hist->profile, v->label, false, v->room);
	cell_text(ret, str_text(v->room));
}

static void cell_of_named(const struct key_value *v, struct cell *ret)
{
	add_range(v->hist->profile, v->label, true, v->room);
	cell_text(ret, str_text(v->room));
}

const struct key blockdiff_key = {.name = "range",
	.title = "Range",
	.help = "run of code, by its offsets in its function",
	.label = LABEL_BLOCK,
	.kind = CELL_TEXT,
	.cell = cell_of_range};
const struct key blockdiff_key_named = {.name = "range",
	.title = "Range",
	.help = "run of code, by its function and its offsets there",
	.label = LABEL_BLOCK,
	.kind = CELL_TEXT,
	.cell = cell_of_named};

static bool has_start(void *profile, size_t row)
{
	return profile_block(profile_label(profile, row, LABEL_BLOCK)).start != PROFILE_NO_FRAME;
}

void blockdiff_keep_known(struct profile *p, u64 *n)
{
	for (size_t i = 0; i < p->rows.n; i++)
		n[p->rows.at[i].event] += has_start(p, i) ? 0 : p->rows.at[i].n_samples;
	profile_keep_rows(p, has_start, p);
}

/* ---- how long runs take ---- */

/* Adds n numbers that are the same. */
static void add(struct variance *s, u64 x, u64 n)
{
	const double from = (double)x - s->mean;

	s->mean += from * (double)n / (double)(s->n + n);
	s->squares += from * from * (double)s->n * (double)n / (double)(s->n + n);
	s->n += n;
}

static void add_all(struct variance *s, const struct delta_value *value)
{
	for (const struct delta_amount *a = value->amounts; a; a = a->next)
		add(s, a->each, a->n);
}

struct variance blockdiff_of(const struct delta_row *row, size_t recording)
{
	struct variance s = {0};

	add_all(&s, &row->values[recording]);
	return s;
}

struct variance blockdiff_of_side(const struct delta *d, const struct delta_row *row, int side)
{
	struct variance s = {0};

	for (size_t i = 0; i < d->recordings.n; i++)
		if (d->recordings.at[i].side == side)
			add_all(&s, &row->values[i]);
	return s;
}

/* ---- differences ---- */

static struct blockdiff difference(const struct variance *a, const struct variance *b)
{
	const double x = a->n > 1 ? a->squares / (double)(a->n - 1) / (double)a->n : NAN,
		     y = b->n > 1 ? b->squares / (double)(b->n - 1) / (double)b->n : NAN,
		     freedom = (x + y) * (x + y) /
		(x * x / (double)(a->n - 1) + y * y / (double)(b->n - 1));
	struct blockdiff d = {a->n && b->n ? b->mean - a->mean : NAN, NAN};

	if (x + y > 0)
		d.half = tdist_quantile(SURE, freedom) * sqrt(x + y);
	else if (!isnan(x + y))
		d.half = 0;
	return d;
}

struct blockdiff blockdiff_compare(const struct delta_row *row, size_t recording)
{
	const struct variance a = blockdiff_of(row, 0), b = blockdiff_of(row, recording);

	return difference(&a, &b);
}

struct blockdiff blockdiff_compare_sides(const struct delta *d, const struct delta_row *row)
{
	struct variance sides[DELTA_SIDES], means[DELTA_SIDES] = {{0}};
	struct blockdiff all, by_recording;

	for (int side = 0; side < DELTA_SIDES; side++)
		sides[side] = blockdiff_of_side(d, row, side);
	all = difference(&sides[DELTA_A], &sides[DELTA_B]);
	for (size_t i = 0; i < d->recordings.n; i++) {
		const struct variance one = blockdiff_of(row, i);

		if (one.n)
			variance_add(&means[d->recordings.at[i].side], one.mean);
	}
	by_recording = difference(&means[DELTA_A], &means[DELTA_B]);
	return means[DELTA_A].n > 1 && means[DELTA_B].n > 1 ? by_recording : all;
}

/* ---- histograms ---- */

struct blockdiff_range blockdiff_range(const struct delta *d, const struct delta_row *row)
{
	struct blockdiff_range r = {UINT64_MAX, 0};

	for (size_t i = 0; i < d->recordings.n; i++)
		for (const struct delta_amount *a = row->values[i].amounts; a; a = a->next) {
			r.low = MIN(r.low, a->each);
			r.high = MAX(r.high, a->each);
		}
	return r.low <= r.high ? r : (struct blockdiff_range){0, 0};
}

void blockdiff_bins(const struct delta_row *row, size_t recording, struct blockdiff_range range,
	u64 bins[BLOCKDIFF_BINS])
{
	const double width = (double)(range.high - range.low + 1) / BLOCKDIFF_BINS;

	for (const struct delta_amount *a = row->values[recording].amounts; a; a = a->next) {
		const size_t at = (size_t)((double)(a->each - range.low) / width);

		bins[MIN(at, (size_t)BLOCKDIFF_BINS - 1)] += a->n;
	}
}
