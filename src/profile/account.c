#include "profile/account.h"

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
		.has_branches = p->n_branch_samples > 0,
		.n_read = p->n_branch_samples,
		.n_branches = p->n_branches,
		.n_filtered = p->n_passed_over,
		.n_unread = t->n_unread_samples,
		.n_foreign = t->n_foreign_id,
		.n_dropped = t->n_lost_samples,
		.n_left = count(p)};
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
	u64 readable = a->n_recorded - a->n_unread - a->n_foreign;

	if (a->has_branches && readable != a->n_read)
		return (s64)(readable - a->n_read);
	return (s64)((a->has_branches ? a->n_branches : readable) - a->n_shown - a->n_below -
		a->n_filtered);
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

	str_add(text, "# ");
	num_add_grouped(text, a->n_recorded);
	str_addf(text, " sample%s ", a->n_recorded == 1 ? "" : "s");
	if (a->has_branches) {
		str_add(text, "with ");
		num_add_grouped(text, a->n_branches);
		str_addf(text, " branch%s ", a->n_branches == 1 ? "" : "es");
	}
	str_add(text, "recorded");
	if (a->n_recorded && a->n_shown == (a->has_branches ? a->n_branches : a->n_recorded) &&
		!a->n_unread && !a->n_foreign) {
		str_add(text, ", all shown");
	} else if (a->n_recorded) {
		str_add(text, ": ");
		num_add_grouped(text, a->n_shown);
		str_add(text, a->has_branches ? " branches shown" : " shown");
		separator = ", ";
		add_part(a->n_below, "in rows below --percent-limit", &separator, text);
		add_part(a->n_filtered, "filtered out", &separator, text);
		add_part(a->n_unread,
			a->has_branches ? "samples that could not be read"
					: "that could not be read",
			&separator, text);
		add_part(a->n_foreign,
			a->has_branches ? "samples of events that the file does not describe"
					: "of events that the file does not describe",
			&separator, text);
	}
	separator = "; ";
	add_part(a->n_dropped, "more were dropped by the kernel", &separator, text);
	str_add(text, ".\n");
	if (missing)
		str_addf(text,
			"# %lld %s more than these were recorded: this is a defect of pace, please report it.\n",
			(long long)missing, a->has_branches ? "samples or branches" : "samples");
}

void account_add_json(const struct account *a, struct str *text)
{
	json_u64(text, "recorded", a->n_recorded);
	if (a->has_branches)
		json_u64(text, "branches", a->n_branches);
	json_u64(text, "shown", a->n_shown);
	json_u64(text, "below_limit", a->n_below);
	json_u64(text, "filtered", a->n_filtered);
	json_u64(text, "unread", a->n_unread);
	json_u64(text, "foreign", a->n_foreign);
	json_u64(text, "dropped", a->n_dropped);
}
