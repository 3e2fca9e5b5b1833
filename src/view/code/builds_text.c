/*
 * builds_text.c - two builds' code of one function for people: in words, then line by line.
 */
#include "view/code/builds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"

enum { WORDS_MAX = 10, FIGURE_WIDTH = 8, NUMBER_WIDTH = 12 };

struct printing {
	const struct codediff *d;
	const struct builds_options *o;
	struct str *text;
	size_t event;
	unsigned address_digits[CODEDIFF_SIDES];
};

static void add_safe(struct str *text, const char *word)
{
	str_add_safe(text, word, strlen(word));
}

static double share(const struct annotation_count *part, const struct annotation_count *whole)
{
	return whole->period ? 100.0 * (double)part->period / (double)whole->period : 0;
}

/* "0.120 s"; "1.2e+09" for events that do not count time. */
static void add_amount(const struct printing *p, double v)
{
	if (p->o->is_time[p->event])
		str_addf(p->text, fabs(v) >= 1e9 ? "%.3f s" : "%.1f ms",
			v / (fabs(v) >= 1e9 ? 1e9 : 1e6));
	else
		str_addf(p->text, "%.4g", v);
}

/* ---- in words ---- */

static void add_function(const struct printing *p)
{
	static const char *const letters[] = {"A", "B"};
	const struct codediff *d = p->d;

	for (int side = 0; side < CODEDIFF_SIDES; side++) {
		const struct assembly *a = d->sides[side];
		const struct annotation_count *own = codediff_function_count(d, p->event, side),
					      *run = codediff_run_count(d, p->event, side);

		str_addf(p->text, "# %s: ", letters[side]);
		add_safe(p->text, a->symbol->name);
		str_add(p->text, " of ");
		add_safe(p->text, a->dso->name);
		str_addf(p->text, " has %.2f%% of the run, ", share(own, run));
		add_amount(p, (double)own->period);
		str_addf(p->text, " (%llu of %llu samples in '", (unsigned long long)own->n_samples,
			(unsigned long long)run->n_samples);
		add_safe(p->text, p->o->names[side]);
		str_add(p->text, "')\n");
	}
}

static void add_code(const struct printing *p)
{
	static const char *const words[] = {
		[CODEDIFF_SAME] = "the same",
		[CODEDIFF_ALIKE] = "the same in other registers",
		[CODEDIFF_GONE] = "gone",
		[CODEDIFF_NEW] = "new",
	};
	u32 n[CODEDIFF_HOWS] = {0};
	const char *between = "";

	vec_each(part, &p->d->parts)
		for (int how = 0; how < CODEDIFF_HOWS; how++)
			n[how] += part->n[how];
	str_add(p->text, "# Instructions: ");
	for (int how = 0; how < CODEDIFF_HOWS; how++) {
		if (!n[how])
			continue;
		str_addf(p->text, "%s%u %s", between, n[how], words[how]);
		between = ", ";
	}
	str_addc(p->text, '\n');
}

/* "block 7 (x.c:12-15)" */
static void add_name(const struct printing *p, const struct codediff_part *part)
{
	struct builds_place place;

	str_addf(p->text, "block %zu", (size_t)(part - p->d->parts.at) + 1);
	if (!builds_find_place(p->d, part, &place))
		return;
	str_add(p->text, " (");
	add_safe(p->text, p->o->annotate->has_full_paths ? place.file->path : place.file->name);
	str_addf(p->text, place.last > place.first ? ":%u-%u)" : ":%u)", place.first, place.last);
}

/* "code changed: 3 gone, 5 new" */
static void add_state(const struct printing *p, const struct codediff_part *part)
{
	const char *state = builds_state(part);

	if (!strcmp(state, "changed")) {
		str_add(p->text, "code changed:");
		if (part->n[CODEDIFF_GONE])
			str_addf(p->text, " %u gone%s", part->n[CODEDIFF_GONE],
				part->n[CODEDIFF_NEW] ? "," : "");
		if (part->n[CODEDIFF_NEW])
			str_addf(p->text, " %u new", part->n[CODEDIFF_NEW]);
	} else if (!strcmp(state, "alike")) {
		str_add(p->text, "same code in other registers");
	} else if (!strcmp(state, "same")) {
		str_add(p->text, "same code");
	} else {
		str_addf(p->text, "%s", state);
	}
	if (part->is_moved)
		str_add(p->text, ", moved");
}

/* "24.6 ms -> 14.6 ms, 36% -> 10% of the run, 37% -> 11% of the function" */
static void add_shares(const struct printing *p, const struct codediff_part *part)
{
	const struct annotation_count *c[CODEDIFF_SIDES];
	double run[CODEDIFF_SIDES], own[CODEDIFF_SIDES];

	for (int side = 0; side < CODEDIFF_SIDES; side++) {
		c[side] = codediff_part_count(p->d, part, p->event, side);
		run[side] = share(c[side], codediff_run_count(p->d, p->event, side));
		own[side] = share(c[side], codediff_function_count(p->d, p->event, side));
	}
	add_amount(p, (double)c[0]->period);
	str_add(p->text, " -> ");
	add_amount(p, (double)c[1]->period);
	str_addf(p->text, ", %.2f%% -> %.2f%% of the run, %.2f%% -> %.2f%% of the function", run[0],
		run[1], own[0], own[1]);
}

struct ranked {
	struct codediff_change change;
	u32 part;
};

static int by_change(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (fabs(x->change.more) != fabs(y->change.more))
		return fabs(x->change.more) > fabs(y->change.more) ? -1 : 1;
	return x->part < y->part ? -1 : x->part > y->part;
}

/* "takes 80.4 ms +- 7.9 ms more", "has 12.10 +- 3.20 points of the run less" */
static void add_change(const struct printing *p, const struct codediff_change *c)
{
	if (p->o->of_share) {
		str_addf(p->text, " has %.2f +- %.2f points of the run", 100 * fabs(c->more),
			100 * c->half);
	} else {
		str_add(p->text, " takes ");
		add_amount(p, fabs(c->more));
		str_add(p->text, " +- ");
		add_amount(p, c->half);
	}
	str_add(p->text, c->more > 0 ? " more: " : " less: ");
}

static void add_changes(const struct printing *p)
{
	struct codediff_change *all = codediff_changes(p->d, p->event, p->o->of_share);
	VEC(struct ranked) changes = {0};

	for (u32 i = 0; i < p->d->parts.n; i++)
		if (all[i].is_beyond)
			vec_add(&changes, ((struct ranked){all[i], i}));
	mem_free(all);
	if (!changes.n)
		str_addf(p->text, "# No block %s than sampling explains\n",
			p->o->of_share ? "has a larger or smaller share of the run"
				       : "takes more or less");
	else
		qsort(changes.at, changes.n, sizeof(*changes.at), by_change);
	for (size_t i = 0; i < changes.n && i < WORDS_MAX; i++) {
		const struct codediff_part *part = &p->d->parts.at[changes.at[i].part];

		str_add(p->text, "# ");
		add_name(p, part);
		add_change(p, &changes.at[i].change);
		add_shares(p, part);
		str_add(p->text, "; ");
		add_state(p, part);
		str_addc(p->text, '\n');
	}
	if (changes.n > WORDS_MAX)
		str_addf(p->text, "# and %zu more blocks: --json has all of them\n",
			changes.n - WORDS_MAX);
	vec_fini(&changes);
}

/* ---- the code ---- */

static unsigned figure_width(const struct printing *p)
{
	return p->o->annotate->figure == ANNOTATE_PERCENT ? FIGURE_WIDTH : NUMBER_WIDTH;
}

static void add_figure(const struct printing *p, u32 row, int side)
{
	const struct assembly *a = p->d->sides[side];
	const struct annotation_count *c;

	if (row == CODEDIFF_NONE) {
		str_fill(p->text, ' ', figure_width(p));
		return;
	}
	c = &a->counts.at[a->rows.at[row].counts + p->d->events.at[p->event].of[side]];
	if (p->o->annotate->figure == ANNOTATE_PERCENT)
		str_addf(p->text, "%*.2f", FIGURE_WIDTH,
			share(c, codediff_run_count(p->d, p->event, side)));
	else
		str_addf(p->text, "%*llu", NUMBER_WIDTH,
			(unsigned long long)(p->o->annotate->figure == ANNOTATE_SAMPLES
					? c->n_samples
					: c->period));
}

static void add_address(const struct printing *p, u32 row, int side)
{
	if (row == CODEDIFF_NONE)
		str_fill(p->text, ' ', p->address_digits[side]);
	else
		str_addf(p->text, "%*llx", p->address_digits[side],
			(unsigned long long)p->d->sides[side]->rows.at[row].va);
	str_addc(p->text, ' ');
}

static void add_instruction(const struct printing *p, u32 row, int side)
{
	const struct assembly *a = p->d->sides[side];

	str_add(p->text, assembly_text(a, row));
	if (a->rows.at[row].target) {
		str_add(p->text, " <");
		add_safe(p->text, a->rows.at[row].target);
		str_addc(p->text, '>');
	}
}

static void add_line(const struct printing *p, const struct codediff_line *line)
{
	static const char marks[] = {
		[CODEDIFF_SAME] = ' ',
		[CODEDIFF_ALIKE] = '~',
		[CODEDIFF_GONE] = '-',
		[CODEDIFF_NEW] = '+',
	};

	add_figure(p, line->rows[CODEDIFF_A], CODEDIFF_A);
	add_figure(p, line->rows[CODEDIFF_B], CODEDIFF_B);
	str_addf(p->text, " %c ", marks[line->how]);
	add_address(p, line->rows[CODEDIFF_A], CODEDIFF_A);
	add_address(p, line->rows[CODEDIFF_B], CODEDIFF_B);
	str_addc(p->text, ' ');
	if (line->how != CODEDIFF_NEW)
		add_instruction(p, line->rows[CODEDIFF_A], CODEDIFF_A);
	if (line->how == CODEDIFF_ALIKE)
		str_add(p->text, "  =>  ");
	if (line->how == CODEDIFF_NEW || line->how == CODEDIFF_ALIKE)
		add_instruction(p, line->rows[CODEDIFF_B], CODEDIFF_B);
	str_addc(p->text, '\n');
}

static bool was_sampled(const struct printing *p, const struct codediff_part *part)
{
	return codediff_part_count(p->d, part, p->event, CODEDIFF_A)->n_samples ||
		codediff_part_count(p->d, part, p->event, CODEDIFF_B)->n_samples;
}

static void add_parts(const struct printing *p, struct out *out)
{
	static const char *const figures[] = {
		[ANNOTATE_PERCENT] = "       A       B",
		[ANNOTATE_SAMPLES] = "   A samples   B samples",
		[ANNOTATE_PERIOD] = "    A period    B period",
	};
	u32 n_left = 0, n_different = 0;

	str_addf(p->text,
		"%s     samples of each instruction%s, ~ other registers, - gone, + new\n",
		figures[p->o->annotate->figure],
		p->o->annotate->figure == ANNOTATE_PERCENT ? " of the run, percent" : "");
	vec_each(part, &p->d->parts) {
		if (!was_sampled(p, part)) {
			n_left++;
			n_different += part->n[CODEDIFF_GONE] || part->n[CODEDIFF_NEW];
			continue;
		}
		str_add(p->text, "\n# ");
		add_name(p, part);
		str_add(p->text, ": ");
		add_shares(p, part);
		str_add(p->text, "; ");
		add_state(p, part);
		str_addc(p->text, '\n');
		for (u32 i = part->first_line; i < part->first_line + part->n_lines; i++)
			add_line(p, &p->d->lines.at[i]);
		out_flush_some(out);
	}
	if (n_left)
		str_addf(p->text,
			"\n# %u more blocks have no samples and are left out; the code of %u of them differs\n",
			n_left, n_different);
}

static unsigned digits_of(const struct assembly *a)
{
	char text[32];

	return a->rows.n ? (unsigned)snprintf(text, sizeof(text), "%llx",
				   (unsigned long long)a->rows.at[a->rows.n - 1].va)
			 : 1;
}

void builds_text(struct out *out, const struct codediff *d, const struct builds_options *o)
{
	struct printing p = {.d = d, .o = o, .text = &out->text};

	for (int side = 0; side < CODEDIFF_SIDES; side++)
		p.address_digits[side] = digits_of(d->sides[side]);
	for (p.event = 0; p.event < d->events.n; p.event++) {
		const struct profile *profile = d->sides[CODEDIFF_A]->annotation->profile;
		const char *name = profile->events.at[d->events.at[p.event].of[CODEDIFF_A]].name;

		str_add(p.text, p.event ? "\n# Event '" : "# Event '");
		add_safe(p.text, name);
		str_add(p.text, "'\n#\n");
		add_function(&p);
		add_code(&p);
		add_changes(&p);
		str_add(p.text, "#\n");
		add_parts(&p, out);
	}
}
