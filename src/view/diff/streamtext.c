#include "view/diff/streamtext.h"

#include <string.h>

enum { COLUMN = 35 };

static void add_safe(struct str *text, const char *word)
{
	str_add_safe(text, word, strlen(word));
}

void streamtext_add_step(const struct branchstream_step *step, struct str *text)
{
	add_safe(text, step->function);
	if (step->line) {
		str_addc(text, ' ');
		add_safe(text, step->line);
	} else if (!step->build) {
		str_addf(text, "+0x%llx", (unsigned long long)step->offset);
	}
}

/* "cycles: 15, hits: 20.00%" */
static void add_figures(const struct streamtext *t, const struct branchstream *s, int side,
	struct str *text)
{
	if (t->has_cycles[side])
		str_addf(text, "cycles: %.0f", branchstream_cycles(s, side));
	else
		str_add(text, "cycles: -");
	str_addf(text, ", hits: %.2f%%", 100 * branchstream_share(t->streams, s, side));
}

/* The two lines above the steps of a stream. is_wide: one more on the left of two, as perf has it. */
static void add_head(const struct streamtext *t, const struct branchstream *s, int side,
	bool is_line, bool is_wide, struct str *text)
{
	const size_t start = text->n;

	if (is_line)
		str_fill(text, '-', is_wide ? 27 : 26);
	else
		add_figures(t, s, side, text);
	str_pad_left(text, start, COLUMN);
}

static void add_node(const struct streamtext *t, u32 node, struct str *text)
{
	const size_t start = text->n;

	streamtext_add_step(branchstream_step(t->streams, node), text);
	str_pad_left(text, start, COLUMN);
}

static void add_stream(const struct streamtext *t, const struct branchstream *s, struct str *text)
{
	const struct branchstreams *all = t->streams;
	const bool is_in_a = s->of[DELTA_A].n_samples > 0, is_in_b = s->of[DELTA_B].n_samples > 0;
	u32 a = s->node[DELTA_A], b = s->node[DELTA_B];

	/* Two lines, and then a line for each step. */
	for (int head = 0; head < 2 || (a && b); head++) {
		if (!is_in_a)
			str_fill(text, ' ', COLUMN);
		else if (head < 2)
			add_head(t, s, DELTA_A, head, is_in_b, text);
		else
			add_node(t, a, text);
		if (is_in_b) {
			str_addc(text, '\t');
			if (head < 2)
				add_head(t, s, DELTA_B, head, false, text);
			else
				add_node(t, b, text);
		}
		str_addc(text, '\n');
		a = head < 2 ? a : branchstream_older(all, a);
		b = head < 2 ? b : branchstream_older(all, b);
	}
	str_addc(text, '\n');
}

/* Those that are on both sides, or on one of them only. */
static void add_part(const struct streamtext *t, bool is_in_a, bool is_in_b, const bool *is_shown,
	struct str *text)
{
	static const char *const titles[2][2] = {
		{NULL, "[ Hot streams in new perf data only ]\n\n"},
		{"[ Hot streams in old perf data only ]\n\n", "[ Matched hot streams ]\n\n"}};
	size_t n = 0;

	str_add(text, titles[is_in_a][is_in_b]);
	vec_each(s, &t->streams->at) {
		if (!is_shown[s - t->streams->at.at] || (s->of[DELTA_A].n_samples > 0) != is_in_a ||
			(s->of[DELTA_B].n_samples > 0) != is_in_b)
			continue;
		str_addf(text, "hot chain %s%zu:\n", is_in_a && is_in_b ? "pair " : "", ++n);
		add_stream(t, s, text);
	}
}

static void add_without(const struct streamtext *t, struct str *text)
{
	static const char *const names[] = {"old", "new"};

	for (int side = 0; side < DELTA_SIDES; side++)
		if (t->streams->n_without[side])
			str_addf(text,
				"# %llu of %llu samples in %s perf data have no branches before them\n",
				(unsigned long long)t->streams->n_without[side],
				(unsigned long long)t->streams->n_samples[side], names[side]);
}

void streamtext_add(const struct streamtext *t, struct str *text)
{
	bool *is_shown = branchstreams_hottest(t->streams,
		t->options->has_all_words ? t->streams->at.n : STREAMTEXT_MOST);

	vec_each(s, &t->streams->at)
		is_shown[s - t->streams->at.at] &=
			100 * branchstream_share(t->streams, s, DELTA_A) >= t->options->limit ||
			100 * branchstream_share(t->streams, s, DELTA_B) >= t->options->limit;
	if (t->event) {
		str_add(text, "# Event '");
		add_safe(text, t->event);
		str_add(text, "'\n#\n");
	}
	add_part(t, true, true, is_shown, text);
	add_part(t, true, false, is_shown, text);
	if (!t->options->is_in_baseline_only)
		add_part(t, false, true, is_shown, text);
	/* A line without words is between two streams, not behind the last. */
	str_cut(text, text->n - 1);
	if (!t->options->is_quiet)
		add_without(t, text);
	mem_free(is_shown);
}
