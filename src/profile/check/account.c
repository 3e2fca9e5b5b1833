#include "profile/check/account.h"

#include "base/json.h"
#include "base/num.h"

static u64 count(const struct profile *p)
{
	u64 n = 0;

	vec_each(row, &p->rows)
		n += row->n_samples;
	return n;
}

void account_open(struct account *a, const struct session_tally *t, const struct profile *p)
{
	*a = (struct account){.n_recorded = t->n_samples,
		.n_filtered = p->n_passed_over,
		.n_unread = t->n_unread_samples,
		.n_stopped = t->n_stopped_samples,
		.n_foreign = t->n_foreign_id,
		.n_dropped = t->n_lost_samples,
		.n_left = count(p)};
	if (!p->has_branches)
		return;
	a->is_of_branches = true;
	a->is_of_blocks = p->has_blocks;
	a->n_branches = a->n_left;
	a->n_walked = p->n_walked;
	a->n_passed = p->n_passed_over;
	a->n_filtered = 0;
}

void account_filter(struct account *a, const struct profile *p)
{
	u64 n = count(p);

	a->n_filtered += a->n_left - n;
	a->n_left = n;
}

void account_rows(struct account *a, u64 n_in_rows, u64 n_shown)
{
	a->n_shown += n_shown;
	a->n_below += n_in_rows - n_shown;
	a->n_left -= n_in_rows;
}

void account_close(struct account *a)
{
	a->n_filtered += a->n_left;
	a->n_left = 0;
}

s64 account_missing(const struct account *a)
{
	u64 placed = a->n_shown + a->n_below + a->n_filtered, read = placed;

	if (a->is_of_branches && placed != a->n_branches)
		return (s64)(a->n_branches - placed);
	if (a->is_of_branches)
		read = a->n_walked + a->n_passed;
	return (s64)(a->n_recorded - read - a->n_unread - a->n_stopped - a->n_foreign);
}

static void add_part(u64 n, const char *what, const char **separator, struct str *text)
{
	if (!n)
		return;
	str_add(text, *separator);
	num_add_grouped(text, n);
	str_addf(text, " %s", what);
	*separator = ", ";
}

void account_add_text(const struct account *a, struct str *text)
{
	const char *separator = "";
	s64 missing = account_missing(a);
	u64 all = a->is_of_branches ? a->n_branches : a->n_recorded;

	str_add(text, "# ");
	num_add_grouped(text, a->n_recorded);
	str_addf(text, " sample%s recorded", a->n_recorded == 1 ? "" : "s");
	if (a->is_of_branches) {
		str_add(text, ", ");
		num_add_grouped(text, a->n_branches);
		str_addf(text, " branch%s%s in them", a->n_branches == 1 ? "" : "es",
			a->is_of_blocks ? " with cycles" : "");
	}
	if (a->n_shown == all && all && !a->n_passed) {
		str_add(text, ", all shown");
	} else if (all) {
		str_add(text, ": ");
		num_add_grouped(text, a->n_shown);
		str_add(text, " shown");
		separator = ", ";
		add_part(a->n_below, "in rows below --percent-limit", &separator, text);
		add_part(a->n_filtered, "filtered out", &separator, text);
		add_part(a->n_passed, "samples of other CPUs or times", &separator, text);
		add_part(a->n_unread, "that could not be read", &separator, text);
		add_part(a->n_stopped, "not read because reading was stopped", &separator, text);
		add_part(a->n_foreign, "of events that the file does not describe", &separator,
			text);
	}
	separator = "; ";
	add_part(a->n_dropped, "more were dropped by the kernel", &separator, text);
	str_add(text, ".\n");
	if (missing)
		str_addf(text,
			"# %lld more %s were recorded than are accounted for: this is a defect of pace, please report it.\n",
			(long long)missing, a->is_of_branches ? "branches" : "samples");
}

void account_add_json(const struct account *a, struct str *text)
{
	json_u64(text, "recorded", a->n_recorded);
	if (a->is_of_branches) {
		json_u64(text, "branches", a->n_branches);
		json_u64(text, "passed_over", a->n_passed);
	}
	json_u64(text, "shown", a->n_shown);
	json_u64(text, "below_limit", a->n_below);
	json_u64(text, "filtered", a->n_filtered);
	json_u64(text, "unread", a->n_unread);
	if (a->n_stopped)
		json_u64(text, "stopped", a->n_stopped);
	json_u64(text, "foreign", a->n_foreign);
	json_u64(text, "dropped", a->n_dropped);
}
