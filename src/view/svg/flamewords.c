#include "view/svg/flamewords.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"
#include "profile/rows/codekind.h"
#include "view/svg/paint.h"
#include "view/text/markup.h"

/* ---- names ---- */

static size_t length_of(const char *text, size_t n, u32 *ret_cp)
{
	const size_t length = utf8_length((const u8 *)text, n, ret_cp);

	return length ? length : 1;
}

static size_t columns_of(u32 cp)
{
	return cp >= 0x1100 && (cp < 0x2000 || cp >= 0x2e80) ? 2 : 1;
}

size_t flamewords_columns(const char *text, size_t n)
{
	size_t columns = 0;

	for (size_t i = 0; i < n;) {
		u32 cp = 0;

		i += length_of(text + i, n - i, &cp);
		columns += columns_of(cp);
	}
	return columns;
}

/* The bytes of the first characters that fit into so many columns. */
static size_t fitting(const char *text, size_t n, size_t columns)
{
	size_t i = 0;

	while (i < n) {
		u32 cp = 0;
		const size_t length = length_of(text + i, n - i, &cp);

		if (columns_of(cp) > columns)
			break;
		columns -= columns_of(cp);
		i += length;
	}
	return i;
}

/* The position of the last n characters. */
static size_t last_of(const char *text, size_t size, size_t n)
{
	while (size && n) {
		size--;
		n -= ((u8)text[size] & 0xc0) != 0x80;
	}
	return size;
}

static size_t characters(const char *text, size_t n)
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += ((u8)text[i] & 0xc0) != 0x80;
	return sum;
}

bool flamewords_add_name(struct str *out, const char *name)
{
	enum { TAIL = 80 };
	const size_t n = strlen(name), all = n > FLAMEWORDS_NAME ? characters(name, n) : n;
	size_t head = 0, tail;

	if (all <= FLAMEWORDS_NAME) {
		str_addn(out, name, n);
		return false;
	}
	for (size_t i = 0; i < FLAMEWORDS_NAME - TAIL; i++) {
		u32 cp;

		head += length_of(name + head, n - head, &cp);
	}
	tail = last_of(name, n, TAIL);
	str_addn(out, name, head);
	str_add(out, "\xe2\x80\xa6");
	str_add(out, name + tail);
	str_add(out, " (");
	num_add_grouped(out, all);
	str_add(out, " characters)");
	return true;
}

static void add_count(struct str *out, u64 n, const char *one, const char *many)
{
	num_add_grouped(out, n);
	str_add(out, " ");
	str_add(out, n == 1 ? one : many);
}

static void add_box_name(const struct flamewords *w, size_t box, struct str *out)
{
	const struct box *b = &w->b->all.at[box];

	if (b->place == BOXES_ROOT)
		str_add(out, "all");
	else if (b->place == BOXES_REST && b->n_merged == 1)
		flamewords_add_name(out, w->r->places[b->only].name);
	else if (b->place == BOXES_REST)
		add_count(out, b->n_merged, "function", "functions");
	else
		flamewords_add_name(out, w->r->places[b->place].name);
}

/* ---- figures ---- */

static u64 whole_of(const struct flamewords *w)
{
	return w->b->all.at[0].weight;
}

static void add_share(const struct flamewords *w, u64 weight, struct str *out)
{
	num_add_percent(out, weight, whole_of(w));
}

void flamewords_add_sign(const struct change *c, struct str *out)
{
	if (isnan(c->ratio))
		str_add(out, "new");
	else if (c->ratio >= 10)
		str_addf(out, "x%.0f", c->ratio);
	else
		str_addf(out, "%c%.0f%%", c->ratio < 1 ? '-' : '+', fabs(c->ratio - 1) * 100);
}

/* A change in words. */
static void add_change(const struct flamewords *w, size_t box, struct str *out)
{
	const struct change *c = &w->c->of.at[box];

	if (isnan(c->ratio)) {
		str_addf(out, "%.2f%% of the new recording, not in the old one%s",
			c->share[DELTA_B] * 100,
			c->is_unknown     ? ", or without a name there"
				: c->step ? ""
					  : ", which may be chance");
		return;
	}
	if (c->step)
		str_addf(out, "%.0f%% %s than before", fabs(c->ratio - 1) * 100,
			c->ratio < 1 ? "less" : "more");
	else
		str_addf(out, "%+.0f%%, within chance", (c->ratio - 1) * 100);
	if (!isnan(c->half))
		str_addf(out, " (+- %.0f)", c->half * 100);
	str_addf(out, ": %.2f%% of the old recording, %.2f%% of the new one",
		c->share[DELTA_A] * 100, c->share[DELTA_B] * 100);
}

static u64 samples_of(const struct flamewords *w, size_t box)
{
	u64 sum = 0;

	for (u32 part = 0; part < w->b->n_parts; part++)
		if (w->c ? w->p->recordings[part].side == DELTA_B : part == w->part)
			sum += boxes_samples(w->b, box, part);
	return sum;
}

/* What ended in the box: what its children do not have. */
static u64 own_of(const struct flamewords *w, size_t box)
{
	u64 own = w->b->all.at[box].weight;

	for (size_t i = box + 1; i < w->b->all.n && w->b->all.at[i].depth > w->b->all.at[box].depth;
		i++)
		if (w->b->all.at[i].parent == box)
			own -= w->b->all.at[i].weight;
	return own;
}

static void add_figures(const struct flamewords *w, size_t box, struct str *out)
{
	const struct box *b = &w->b->all.at[box];
	const u64 own = own_of(w, box), n = samples_of(w, box);

	add_share(w, b->weight, out);
	if (w->r->has_foreign_names && !w->c) {
		str_add(out, ", ");
		num_add_grouped(out, n);
	} else if (!w->r->has_foreign_names) {
		str_add(out, ", ");
		add_count(out, n, "sample", "samples");
	}
	if (own && own != b->weight && b->place != BOXES_REST) {
		str_add(out, "; itself ");
		add_share(w, own, out);
	}
}

static const char *kind_word(char kind)
{
	const struct paint_kind *k = paint_kinds;

	while (k->kind && k->kind != kind)
		k++;
	return k->kind ? k->word : "";
}

/* Where the code of a box is. */
static void add_place(const struct flamewords *w, const struct box *b, struct str *out)
{
	const struct rowset_place *place = b->place < BOXES_REST ? &w->r->places[b->place] : NULL;
	const char *file = place && place->dso_name && strcmp(place->dso_name, "[unknown]") != 0
		? place->dso_name
		: "";

	if (b->place == BOXES_REST) {
		str_add(out,
			b->n_merged == 1 ? "merged with all that it calls"
					 : "merged with all that they call");
		return;
	}
	if (!place || place->is_thread) {
		str_add(out, place ? "thread" : "");
		return;
	}
	str_add(out, kind_word(place->kind));
	if (*file) {
		str_add(out, ": ");
		flamewords_add_name(out, file);
	}
}

void flamewords_add_title(const struct flamewords *w, size_t box, struct str *out)
{
	struct str text = {0};

	add_box_name(w, box, &text);
	str_addc(&text, '\n');
	add_place(w, &w->b->all.at[box], &text);
	str_addc(&text, '\n');
	add_figures(w, box, &text);
	if (w->c) {
		str_addc(&text, '\n');
		add_change(w, box, &text);
	}
	markup_addn(out, str_text(&text), text.n);
	str_fini(&text);
}

void flamewords_add_label(const struct flamewords *w, size_t box, size_t columns, struct str *out)
{
	const struct box *b = &w->b->all.at[box];
	struct str text = {0};
	size_t n;

	if (w->c && w->c->of.at[box].step) {
		flamewords_add_sign(&w->c->of.at[box], &text);
		str_addc(&text, ' ');
	}
	add_box_name(w, box, &text);
	if (b->place == BOXES_REST || b->place == BOXES_ROOT) {
		str_add(&text, b->place == BOXES_ROOT ? " " : ", ");
		add_share(w, b->weight, &text);
	}
	n = fitting(str_text(&text), text.n, columns);
	if (n < text.n) {
		n = fitting(str_text(&text), text.n, columns - 1);
		markup_addn(out, str_text(&text), n);
		str_add(out, "\xe2\x80\xa6");
	} else {
		markup_addn(out, str_text(&text), n);
	}
	str_fini(&text);
}

/* ---- lines ---- */

enum { NAMED = 5 }; /* of a list, by name */

static void add_names_of(const struct flamewords *w, u8 side, struct str *out)
{
	size_t n = 0;

	for (u32 part = 0; part < w->b->n_parts; part++) {
		if (w->p->recordings[part].side != side)
			continue;
		if (n < NAMED) {
			struct str name = {0};

			str_add_safe(&name, w->p->recordings[part].name,
				strlen(w->p->recordings[part].name));
			str_add(out, n ? ", " : "");
			flamewords_add_name(out, str_text(&name));
			str_fini(&name);
		}
		n++;
	}
	if (n > NAMED)
		str_addf(out, " and %zu more", n - NAMED);
}

static void add_sum(u64 sum, bool is_time, struct str *out)
{
	if (is_time)
		str_addf(out, "%.3f s", (double)sum / 1e9);
	else
		num_add_grouped(out, sum);
	str_add(out, " in all");
}

static void add_sides(const struct flamewords *w, struct str *out)
{
	str_add(out, "Widths: the new recording (");
	add_names_of(w, DELTA_B, out);
	str_add(out, "). Colours: what changed since the old one (");
	add_names_of(w, DELTA_A, out);
	str_add(out, ").");
	if (w->p->scale == PICTURE_BY_TOTAL) {
		str_add(out, " Shares are compared.");
		return;
	}
	if (!isnan(w->c->whole) && w->c->whole > 0)
		str_addf(out, " In all %.1f%% %s", fabs(w->c->whole - 1) * 100,
			w->c->whole < 1 ? "less" : "more");
	if (!isnan(w->c->whole) && fabs(w->c->level - 1) > 0.001)
		str_addf(out,
			"; most functions have %.1f%% %s, and colours show what is beyond that",
			fabs(w->c->level - 1) * 100, w->c->level < 1 ? "less" : "more");
	str_add(out, ".");
}

static void add_other_events(const struct flamewords *w, struct str *out)
{
	u32 n = 0;

	str_add(out, ". Not drawn: ");
	for (u32 part = 0; part < w->r->n_parts; part++) {
		if (part == w->part)
			continue;
		if (n < NAMED) {
			str_add(out, n ? ", " : "");
			flamewords_add_name(out, w->r->parts[part].name);
		}
		n++;
	}
	if (n > NAMED)
		str_addf(out, " and %u more", n - NAMED);
	str_add(out, " (pace flame -e EVENT)");
}

void flamewords_add_facts(const struct flamewords *w, struct str *out)
{
	const u64 whole = whole_of(w), n = samples_of(w, 0);

	if (w->r->parts && w->part < w->r->n_parts && !w->c) {
		flamewords_add_name(out, w->r->parts[w->part].name);
		str_add(out, ": ");
	}
	if (w->c)
		add_sides(w, out);
	else if (w->r->has_foreign_names)
		num_add_grouped(out, whole);
	else {
		add_count(out, n, "sample", "samples");
		if (n != whole) {
			str_add(out, ", ");
			add_sum(whole, w->r->parts && w->r->parts[w->part].is_time, out);
		}
	}
	if (w->r->n_parts > 1 && !w->c && w->r->parts)
		add_other_events(w, out);
}

void flamewords_add_merged(const struct flamewords *w, struct str *out)
{
	if (!w->b->n_rests)
		return;
	add_count(out, w->b->n_rests, "dotted box stands", "dotted boxes stand");
	str_add(out, " for ");
	add_count(out, w->b->n_merged, "function that is", "functions that are");
	str_add(out, " too small to be drawn, with all that ");
	str_add(out, w->b->n_merged == 1 ? "it calls: " : "they call: ");
	add_share(w, w->b->merged_weight, out);
	str_add(out, ".");
}

void flamewords_add_colours(const struct flamewords *w, struct str *out)
{
	str_add(out,
		w->c->has_variance
			? "Grey: within what chance explains, by the spread among the recordings."
			: "Grey: within what chance explains, by the numbers of samples. How much runs differ by themselves, only several recordings on each side can tell.");
}

static int by_weight(const void *a, const void *b, void *ctx)
{
	const struct boxes_gone *p = a, *q = b;
	const struct rowset *r = ctx;

	if (p->weight != q->weight)
		return p->weight < q->weight ? 1 : -1;
	return strcmp(r->places[p->place].name, r->places[q->place].name);
}

/* Returns what only A has, a row for each function, the heaviest first; the caller frees it. */
static struct boxes_gone *sum_gone(const struct flamewords *w, size_t *ret_n)
{
	u64 *weights = mem_zalloc((w->r->n_places + 1) * sizeof(*weights));
	struct boxes_gone *gone = mem_alloc((w->b->gone.n + 1) * sizeof(*gone));
	size_t n = 0;

	vec_each(g, &w->b->gone)
		weights[g->place] += g->weight;
	for (u32 place = 0; place < w->r->n_places; place++)
		if (weights[place])
			gone[n++] = (struct boxes_gone){.place = place, .weight = weights[place]};
	if (n)
		qsort_r(gone, n, sizeof(*gone), by_weight, (void *)w->r);
	mem_free(weights);
	*ret_n = n;
	return gone;
}

void flamewords_add_gone(const struct flamewords *w, struct str *out)
{
	u64 sum = 0, whole = 0;
	size_t n;
	struct boxes_gone *gone = sum_gone(w, &n);

	for (u32 part = 0; part < w->b->n_parts; part++)
		whole += w->p->recordings[part].side == DELTA_A ? boxes_period(w->b, 0, part) : 0;
	for (size_t i = 0; i < n; i++)
		sum += gone[i].weight;
	if (sum) {
		str_add(out, "Not in the new recording, and so without a box: ");
		num_add_percent(out, sum, whole);
		str_add(out, " of the old one, in ");
	}
	for (size_t i = 0; i < MIN(n, (size_t)NAMED); i++) {
		str_add(out, i ? ", " : "");
		flamewords_add_name(out, w->r->places[gone[i].place].name);
		str_add(out, " (");
		num_add_percent(out, gone[i].weight, whole);
		str_add(out, ")");
	}
	if (n > NAMED) {
		str_add(out, " and ");
		add_count(out, n - NAMED, "other", "others");
	}
	str_add(out, n ? "." : "");
	mem_free(gone);
}
