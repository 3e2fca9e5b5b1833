#include "profile/key_family.h"

#include "base/num.h"

static void print_share(const struct hist *h, u64 k, u64 period, struct str *text)
{
	num_add_percent(text, period, h->events[k].all.period);
}

static void print_overhead(const struct hist *h, const struct hist_entry *e, u64 k,
	struct str *text)
{
	print_share(h, k, e->of[k].self.period, text);
}

static void print_children(const struct hist *h, const struct hist_entry *e, u64 k,
	struct str *text)
{
	print_share(h, k, h->options->has_children ? e->of[k].total.period : e->of[k].self.period,
		text);
}

static void print_samples(const struct hist *h, const struct hist_entry *e, u64 k, struct str *text)
{
	(void)h;
	num_add_u64(text, e->of[k].self.n_samples);
}

static void print_period(const struct hist *h, const struct hist_entry *e, u64 k, struct str *text)
{
	(void)h;
	num_add_u64(text, e->of[k].self.period);
}

static void print_system(const struct hist *h, const struct hist_entry *e, u64 k, struct str *text)
{
	print_share(h, k, e->of[k].self_in[HIST_SYSTEM], text);
}

static void print_user(const struct hist *h, const struct hist_entry *e, u64 k, struct str *text)
{
	print_share(h, k, e->of[k].self_in[HIST_USER], text);
}

static void print_guest_system(const struct hist *h, const struct hist_entry *e, u64 k,
	struct str *text)
{
	print_share(h, k, e->of[k].self_in[HIST_GUEST_SYSTEM], text);
}

static void print_guest_user(const struct hist *h, const struct hist_entry *e, u64 k,
	struct str *text)
{
	print_share(h, k, e->of[k].self_in[HIST_GUEST_USER], text);
}

static u64 total_of(const struct hist *h, const struct hist_entry *e, u32 k)
{
	return h->options->has_children ? e->of[k].total.period : e->of[k].self.period;
}

static u64 self_of(const struct hist *h, const struct hist_entry *e, u32 k)
{
	(void)h;
	return e->of[k].self.period;
}

static u64 samples_of(const struct hist *h, const struct hist_entry *e, u32 k)
{
	(void)h;
	return e->of[k].self.n_samples;
}

static u64 system_of(const struct hist *h, const struct hist_entry *e, u32 k)
{
	(void)h;
	return e->of[k].self_in[HIST_SYSTEM];
}

static u64 user_of(const struct hist *h, const struct hist_entry *e, u32 k)
{
	(void)h;
	return e->of[k].self_in[HIST_USER];
}

static u64 guest_system_of(const struct hist *h, const struct hist_entry *e, u32 k)
{
	(void)h;
	return e->of[k].self_in[HIST_GUEST_SYSTEM];
}

static u64 guest_user_of(const struct hist *h, const struct hist_entry *e, u32 k)
{
	(void)h;
	return e->of[k].self_in[HIST_GUEST_USER];
}

static u64 cost_of(const struct hist *h, const struct hist_entry *e, u32 k)
{
	return hist_sum(h, e, k, LABEL_WEIGHT);
}

static u64 average_of(const struct hist *h, const struct hist_entry *e, u32 k)
{
	return e->of[k].self.n_samples ? cost_of(h, e, k) / e->of[k].self.n_samples : 0;
}

static void print_cost(const struct hist *h, const struct hist_entry *e, u64 k, struct str *text)
{
	num_add_u64(text, cost_of(h, e, (u32)k));
}

static void print_average(const struct hist *h, const struct hist_entry *e, u64 k, struct str *text)
{
	double n = (double)e->of[k].self.n_samples;

	str_addf(text, "%.1f", n > 0 ? (double)cost_of(h, e, (u32)k) / n : 0.0);
}

/* ---- cycles of runs of code: periods, where --total-cycles counts ---- */

static double mean_of(const struct hist_entry *e, u32 k)
{
	return e->of[k].self.n_samples
		? (double)e->of[k].self.period / (double)e->of[k].self.n_samples
		: 0;
}

/* In thousandths: it is for the order of rows. */
static u64 mean_rank(const struct hist *h, const struct hist_entry *e, u32 k)
{
	(void)h;
	return (u64)(mean_of(e, k) * 1000);
}

static void print_mean(const struct hist *h, const struct hist_entry *e, u64 k, struct str *text)
{
	(void)h;
	str_addf(text, "%.1f", mean_of(e, (u32)k));
}

static void print_mean_share(const struct hist *h, const struct hist_entry *e, u64 k,
	struct str *text)
{
	str_addf(text, "%.2f%%",
		h->events[k].averages > 0 ? 100 * mean_of(e, (u32)k) / h->events[k].averages : 0.0);
}

/* clang-format off: a row a fact */
static const struct key keys[] = {
	{.name = "overhead_children",
		.header = "Children",
		.help = "share of the samples in it and in what it called",
		.is_value = true,
		.min_width = 8,
		.figure = total_of,
		.print = print_children},
	{.name = "overhead",
		.header = "Overhead",
		.header_with_children = "Self",
		.help = "share of the samples in it",
		.is_value = true,
		.min_width = 8,
		.figure = self_of,
		.print = print_overhead},
	{.name = "overhead_sys",
		.header = "sys",
		.help = "share of the samples in it that were taken in the kernel",
		.is_value = true,
		.min_width = 8,
		.figure = system_of,
		.print = print_system},
	{.name = "overhead_us",
		.header = "usr",
		.help = "share of those in user code",
		.is_value = true,
		.min_width = 8,
		.figure = user_of,
		.print = print_user},
	{.name = "overhead_guest_sys",
		.header = "guest sys",
		.help = "share of those in kernels of guests",
		.is_value = true,
		.min_width = 9,
		.figure = guest_system_of,
		.print = print_guest_system},
	{.name = "overhead_guest_us",
		.header = "guest usr",
		.help = "share of those in programs of guests",
		.is_value = true,
		.min_width = 9,
		.figure = guest_user_of,
		.print = print_guest_user},
	{.name = "sample",
		.header = "Samples",
		.help = "number of samples in it",
		.is_value = true,
		.min_width = 12,
		.figure = samples_of,
		.print = print_samples},
	{.name = "period",
		.header = "Period",
		.help = "events (or ns) its samples stand for",
		.is_value = true,
		.min_width = 12,
		.figure = self_of,
		.print = print_period},
	{.name = "cost",
		.header = "Cost",
		.help = "sum of the weights of its samples",
		.is_value = true,
		.label = LABEL_WEIGHT,
		.min_width = 8,
		.figure = cost_of,
		.print = print_cost},
	{.name = "average_weight",
		.header = "Avg Weight",
		.help = "average of the weights of its samples",
		.is_value = true,
		.label = LABEL_WEIGHT,
		.min_width = 8,
		.figure = average_of,
		.print = print_average},
	{.name = "cycles_share",
		.header = "Sampled Cycles%",
		.help = "share of the cycles that were counted from branch to branch (--total-cycles)",
		.is_value = true,
		.is_of_blocks = true,
		.min_width = 15,
		.figure = self_of,
		.print = print_overhead},
	{.name = "cycles_sum",
		.header = "Sampled Cycles",
		.help = "those cycles",
		.is_value = true,
		.is_of_blocks = true,
		.min_width = 14,
		.figure = self_of,
		.print = print_period},
	{.name = "cycles_average_share",
		.header = "Avg Cycles%",
		.help = "share of the average in the sum of all rows' averages",
		.is_value = true,
		.is_of_blocks = true,
		.min_width = 11,
		.figure = mean_rank,
		.print = print_mean_share},
	{.name = "cycles_average",
		.header = "Avg Cycles",
		.help = "of once through it",
		.is_value = true,
		.is_of_blocks = true,
		.min_width = 10,
		.figure = mean_rank,
		.print = print_mean},
};
/* clang-format on */

const struct key_family key_figures = {keys, ARRAY_SIZE(keys)};

const struct key *const key_total = &keys[0];
const struct key *const key_self = &keys[1];
