#include "view/stat/stat_drill.h"

#include <math.h>
#include <string.h>

#include "view/text/words.h"

enum { INDENT = 3, COLUMNS = 78 };

static void add_share(const struct drill_branch *b, struct str *text)
{
	double half = drill_half(b);

	str_addf(text, "%7.1f %%", 100 * b->share.mean);
	if (isnan(half))
		str_add(text, "         ");
	else
		str_addf(text, " +-%5.1f ", 100 * half);
}

/* Whether the branch that is followed is the one that dominates. */
static void add_doubt(const struct stat_drill *d, const struct drill_step *s, struct str *text)
{
	const struct drill_branch *best = &s->branches.at[s->best];
	const char *second = s->second == DRILL_NONE ? NULL : s->branches.at[s->second].name;

	if (isnan(drill_half(best)))
		str_addf(text, "   How sure this is, one %s does not tell.\n", d->unit);
	else if (s->is_sure && second)
		str_addf(text, "   Sure: the next one, %s,\n   is outside of its interval.\n",
			second);
	else if (s->is_sure)
		str_add(text, "   Sure: no other is above its limit.\n");
	else
		str_addf(text,
			"   Not sure: %s is within its interval:\n   measure longer, or look at both.\n",
			second);
}

void stat_drill_add_step(const struct stat_drill *d, size_t step, struct str *text)
{
	const struct drill_step *s = &d->steps.at[step];
	u64 n = s->branches.n ? s->branches.at[0].share.n : 0;

	if (!step)
		str_addf(text, "\n Drill-down of %s on %s (%s)\n", d->what, d->pmu, d->family);
	str_addf(text, "\n %zu. %s%s, %llu %s%s\n", step + 1, s->parent ? "within " : "",
		s->parent ? s->parent : "all slots", (unsigned long long)n, d->unit,
		n == 1 ? "" : "s");
	vec_each(b, &s->branches) {
		add_share(b, text);
		str_addf(text, " %s%s%s\n", b->name, drill_is_notable(b) ? " *" : "",
			b - s->branches.at == s->best ? "  <--" : "");
	}
	if (s->best != DRILL_NONE)
		add_doubt(d, s, text);
}

void stat_drill_add_end(const struct stat_drill *d, struct str *text)
{
	if (d->ended)
		str_addf(text, "\n It ends here: %s\n", d->ended);
	if (!d->leaf) {
		str_add(text, "\n Nothing was counted.\n\n");
		return;
	}
	str_addf(text, "\n %s%s\n", d->leaf, d->means ? ":" : "");
	if (d->means)
		words_add_wrapped(d->means, INDENT, COLUMNS, text);
	if (d->todo) {
		str_add(text, " Look at:\n");
		words_add_wrapped(d->todo, INDENT, COLUMNS, text);
	}
	if (d->command && !strcmp(d->sampled, d->leaf))
		str_addf(text, " This samples where:\n   %s\n", d->command);
	else if (d->command)
		str_addf(text, " This samples where %s is:\n   %s\n", d->sampled, d->command);
	str_addc(text, '\n');
}

void stat_drill_rows(const struct stat_drill *d, struct rowmaker *m)
{
	static const char *const names[] = {"step", "pmu", "metric", "parent", "share_pct",
		"interval_pct", "measurements", "is_notable", "is_followed", "is_sure", "command",
		"reason"};

	rowmaker_columns(m, names, ARRAY_SIZE(names));
	vec_each(s, &d->steps) {
		vec_each(b, &s->branches) {
			bool is_best = b - s->branches.at == s->best;
			bool is_leaf = is_best && d->leaf && !strcmp(b->name, d->leaf);

			rowmaker_row(m);
			rowmaker_u64(m, "step", (u64)(s - d->steps.at) + 1);
			rowmaker_text(m, "pmu", d->pmu);
			rowmaker_text(m, "metric", b->name);
			rowmaker_note(m, "parent", s->parent);
			rowmaker_fixed(m, "share_pct", 100 * b->share.mean, 2);
			rowmaker_fixed(m, "interval_pct", 100 * drill_half(b), 2);
			rowmaker_u64(m, "measurements", b->share.n);
			rowmaker_bool(m, "is_notable", drill_is_notable(b));
			rowmaker_bool(m, "is_followed", is_best);
			if (is_best)
				rowmaker_bool(m, "is_sure", s->is_sure);
			else
				rowmaker_text(m, "is_sure", NULL);
			rowmaker_note(m, "command", is_leaf ? d->command : NULL);
			rowmaker_note(m, "reason", is_leaf ? d->ended : NULL);
		}
	}
}
