#include "cmd/gate/gate_words.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

enum { FUNCTIONS_MOST = 20, VERSION = 1, MS = 1000000 };

/* ---- parts of sentences ---- */

const char *gate_word(enum gating_verdict verdict)
{
	static const char *const words[] =
		{[GATING_SAME] = "same", [GATING_SLOWER] = "slower", [GATING_FASTER] = "faster"};

	return words[verdict];
}

static double change(double log_ratio)
{
	return 100 * expm1(log_ratio);
}

/* "123.4 ms", or a count. */
static void add_amount(const struct gate_result *r, double v, struct str *text)
{
	if (r->delta->is_time)
		str_addf(text, "%.1f ms", v / MS);
	else
		str_addf(text, "%.4g", v);
}

/* "+3.2 % (2.5 to 3.9 %)" */
static void add_whole(const struct gate_result *r, struct str *text)
{
	const struct signflip *w = &r->gating->whole;

	str_addf(text, "%+.1f %%", change(w->estimate));
	if (isfinite(w->low) && isfinite(w->high))
		str_addf(text, " (%+.1f to %+.1f %%)", change(w->low), change(w->high));
}

/* The rightmost name is the function's. */
static const char *name_of(const struct gate_result *r, size_t row)
{
	return r->delta->rows.at[row].names[r->delta->n_keys - 1];
}

static const char *file_of(const struct gate_result *r, size_t row)
{
	return r->delta->n_keys > 1 ? r->delta->rows.at[row].names[0] : "";
}

static void add_opening(const struct gate_result *r, struct str *text)
{
	switch (gating_verdict(r->gating)) {
	case GATING_SLOWER:
		str_add(text, "slower");
		break;
	case GATING_FASTER:
		str_add(text, "faster");
		break;
	case GATING_SAME:
		str_add(text, "no difference found");
		break;
	}
	str_add(text, ": ");
	add_amount(r, r->gating->before, text);
	str_add(text, " -> ");
	add_amount(r, r->gating->after, text);
	str_addf(text, " a run, %s", r->delta->is_time ? "time on CPUs " : "");
	add_whole(r, text);
}

/* What the verdict is worth. */
static void add_worth(const struct gate_result *r, struct str *text)
{
	const struct gating *g = r->gating;

	str_addf(text, "%zu rounds in %.0f s", g->n, r->rounds->seconds);
	if (isfinite(g->detectable))
		str_addf(text,
			"; the whole varies by %.1f %% from run to run, so a change of %.1f %% of it is found in nine of ten gates",
			100 * g->whole.noise, 100 * g->detectable);
	else
		str_add(text, "; too few to tell whether the whole has changed");
	str_addf(text, ". Of equal programs at most %g %% are called different by chance",
		100 * g->options.error);
}

/* What was learnt from earlier gates. */
static void add_past(const struct gate_result *r, struct str *text)
{
	const struct gate_past *p = r->past;

	if (!p->nulls.n) {
		str_add(text,
			r->is_learning ? "; this is the first gate on this machine"
				       : "; --history FILE learns how much this machine varies");
		return;
	}
	str_addf(text,
		"; of %zu comparisons of equal runs on this machine %llu had differed by the same measure",
		p->nulls.n, (unsigned long long)p->n_alarms);
	if (r->gating->threshold < r->gating->options.error / 2)
		str_addf(text, ", so functions have to differ more clearly (q <= %.2g)",
			r->gating->threshold);
}

/* ---- text ---- */

static void add_function(const struct gate_result *r, const struct gating_function *f,
	struct str *text)
{
	const struct judgement *j = &r->significance->rows.at[f->row];
	const char *name = name_of(r, f->row), *file = file_of(r, f->row);

	str_addf(text, "  %+6.1f %%  ", 100 * f->more);
	str_add_safe(text, name, strlen(name));
	str_add(text, "  (");
	str_add_safe(text, file, strlen(file));
	str_add(text, ")  ");
	add_amount(r, j->mean[DELTA_A], text);
	str_add(text, " -> ");
	add_amount(r, j->mean[DELTA_B], text);
	if (!isnan(j->ratio) && !isnan(j->half))
		str_addf(text, ", %+.1f %% of its own (+- %.1f)", 100 * (j->ratio - 1),
			100 * j->half);
	str_addf(text, ", q = %.2g\n", j->q);
}

void gate_add_text(const struct gate_result *r, struct str *text)
{
	const struct gating *g = r->gating;

	add_opening(r, text);
	str_addc(text, '\n');
	if (g->functions.n)
		str_add(text, "functions that differ, by their share of the whole:\n");
	for (size_t i = 0; i < MIN(g->functions.n, (size_t)FUNCTIONS_MOST); i++)
		add_function(r, &g->functions.at[i], text);
	if (g->functions.n > FUNCTIONS_MOST)
		str_addf(text, "  and %zu more\n", g->functions.n - FUNCTIONS_MOST);
	add_worth(r, text);
	add_past(r, text);
	str_add(text, ".\n");
}

/* ---- Markdown ---- */

/* A foreign name between backticks, in a cell of a table. */
static void add_code(struct str *text, const char *name)
{
	const size_t start = text->n + 1;

	str_addc(text, '`');
	str_add_safe(text, name, strlen(name));
	for (size_t i = start; i < text->n; i++)
		if (text->at[i] == '`' || text->at[i] == '|')
			text->at[i] = text->at[i] == '`' ? '\'' : '/';
	str_addc(text, '`');
}

void gate_add_markdown(const struct gate_result *r, struct str *text)
{
	const struct gating *g = r->gating;

	str_add(text, "**pace gate: ");
	add_opening(r, text);
	str_add(text, "**\n\n| | command |\n|---|---|\n");
	for (int side = 0; side < DELTA_SIDES; side++) {
		str_addf(text, "| %s | ", side ? "new" : "base");
		add_code(text, str_text(&r->rounds->sides[side].text));
		str_add(text, " |\n");
	}
	if (g->functions.n)
		str_add(text,
			"\n| of the whole | function | file | before | after | of its own | q |\n|---:|---|---|---:|---:|---:|---:|\n");
	for (size_t i = 0; i < MIN(g->functions.n, (size_t)FUNCTIONS_MOST); i++) {
		const struct gating_function *f = &g->functions.at[i];
		const struct judgement *j = &r->significance->rows.at[f->row];

		str_addf(text, "| %+.1f %% | ", 100 * f->more);
		add_code(text, name_of(r, f->row));
		str_add(text, " | ");
		add_code(text, file_of(r, f->row));
		str_add(text, " | ");
		add_amount(r, j->mean[DELTA_A], text);
		str_add(text, " | ");
		add_amount(r, j->mean[DELTA_B], text);
		if (isnan(j->ratio))
			str_add(text, " | new");
		else
			str_addf(text, " | %+.1f %%", 100 * (j->ratio - 1));
		str_addf(text, " | %.2g |\n", j->q);
	}
	str_add(text, "\n<sub>");
	add_worth(r, text);
	add_past(r, text);
	str_add(text, ".</sub>\n");
}

/* ---- JSON ---- */

static void json_number(struct str *text, const char *key, double v)
{
	if (!isfinite(v)) {
		json_null(text, key);
		return;
	}
	json_key(text, key);
	str_addf(text, "%.6g,", v);
}

void gate_add_json(const struct gate_result *r, struct str *text)
{
	const struct gating *g = r->gating;

	str_addc(text, '{');
	json_u64(text, "version", VERSION);
	json_text(text, "verdict", gate_word(gating_verdict(g)));
	json_text(text, "event", r->event);
	json_text(text, "unit", r->delta->is_time ? "ns" : NULL);
	json_u64(text, "rounds", g->n);
	json_text(text, "base", str_text(&r->rounds->sides[DELTA_A].text));
	json_text(text, "new", str_text(&r->rounds->sides[DELTA_B].text));
	json_number(text, "before", g->before);
	json_number(text, "after", g->after);
	json_number(text, "change", expm1(g->whole.estimate));
	json_number(text, "low", expm1(g->whole.low));
	json_number(text, "high", expm1(g->whole.high));
	json_number(text, "p", g->whole.p);
	json_number(text, "noise", g->whole.noise);
	json_number(text, "detectable", g->detectable);
	json_number(text, "error", g->options.error);
	json_number(text, "least", g->options.least);
	json_number(text, "find", g->options.find);
	json_number(text, "threshold", g->threshold);
	json_number(text, "null_q", r->null_q);
	json_u64(text, "nulls", r->past->nulls.n);
	json_u64(text, "null_alarms", r->past->n_alarms);
	json_number(text, "seconds", r->rounds->seconds);
	json_open(text, "functions", '[');
	vec_each(f, &g->functions) {
		const struct judgement *j = &r->significance->rows.at[f->row];

		str_addc(text, '{');
		json_text(text, "name", name_of(r, f->row));
		json_text(text, "file", file_of(r, f->row));
		json_number(text, "more", f->more);
		json_number(text, "before", j->mean[DELTA_A]);
		json_number(text, "after", j->mean[DELTA_B]);
		json_number(text, "ratio", j->ratio);
		json_number(text, "q", j->q);
		json_close(text, '}');
	}
	json_close(text, ']');
	json_end(text, '}');
	str_addc(text, '\n');
}
