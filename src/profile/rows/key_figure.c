#include "profile/rows/key_family.h"

static void set_share(const struct key_value *v, u64 period, struct cell *ret)
{
	cell_share(ret, period, v->hist->events[v->event].all.period);
}

static const struct hist_values *values_of(const struct key_value *v)
{
	return &v->entry->of[v->event];
}

static void cell_of_overhead(const struct key_value *v, struct cell *ret)
{
	set_share(v, values_of(v)->self.period, ret);
}

static u64 total_of(const struct hist *h, const struct hist_entry *e, u32 k)
{
	return h->options->has_children ? e->of[k].total.period : e->of[k].self.period;
}

static void cell_of_children(const struct key_value *v, struct cell *ret)
{
	set_share(v, total_of(v->hist, v->entry, v->event), ret);
}

static void cell_of_samples(const struct key_value *v, struct cell *ret)
{
	cell_number(ret, CELL_COUNT, values_of(v)->self.n_samples);
}

static void cell_of_period(const struct key_value *v, struct cell *ret)
{
	cell_number(ret, CELL_COUNT, values_of(v)->self.period);
}

static void cell_of_system(const struct key_value *v, struct cell *ret)
{
	set_share(v, values_of(v)->self_in[HIST_SYSTEM], ret);
}

static void cell_of_user(const struct key_value *v, struct cell *ret)
{
	set_share(v, values_of(v)->self_in[HIST_USER], ret);
}

static void cell_of_guest_system(const struct key_value *v, struct cell *ret)
{
	set_share(v, values_of(v)->self_in[HIST_GUEST_SYSTEM], ret);
}

static void cell_of_guest_user(const struct key_value *v, struct cell *ret)
{
	set_share(v, values_of(v)->self_in[HIST_GUEST_USER], ret);
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

static u64 sum_of(const struct hist *h, const struct hist_entry *e, u32 k, enum profile_label label)
{
	return hist_sum(h, e, k, &(struct hist_sum){.label = label});
}

static u64 cost_of(const struct hist *h, const struct hist_entry *e, u32 k)
{
	return sum_of(h, e, k, LABEL_WEIGHT);
}

static u64 average_of(const struct hist *h, const struct hist_entry *e, u32 k)
{
	return e->of[k].self.n_samples ? cost_of(h, e, k) / e->of[k].self.n_samples : 0;
}

static void cell_of_cost(const struct key_value *v, struct cell *ret)
{
	cell_number(ret, CELL_COUNT, cost_of(v->hist, v->entry, v->event));
}

static void cell_of_average(const struct key_value *v, struct cell *ret)
{
	const double n = (double)values_of(v)->self.n_samples;

	cell_real(ret, n > 0 ? (double)cost_of(v->hist, v->entry, v->event) / n : 0.0, 1);
}

static void set_average(const struct key_value *v, enum profile_label label, struct cell *ret)
{
	const double n = (double)values_of(v)->self.n_samples;

	cell_real(ret, n > 0 ? (double)sum_of(v->hist, v->entry, v->event, label) / n : 0.0, 1);
}

static u64 average_latency_of(const struct hist *h, const struct hist_entry *e, u32 k)
{
	return e->of[k].self.n_samples
		? sum_of(h, e, k, LABEL_INS_LATENCY) / e->of[k].self.n_samples
		: 0;
}

static void cell_of_average_latency(const struct key_value *v, struct cell *ret)
{
	set_average(v, LABEL_INS_LATENCY, ret);
}

static u64 average_stage_of(const struct hist *h, const struct hist_entry *e, u32 k)
{
	return e->of[k].self.n_samples ? sum_of(h, e, k, LABEL_STAGE) / e->of[k].self.n_samples : 0;
}

static void cell_of_average_stage(const struct key_value *v, struct cell *ret)
{
	set_average(v, LABEL_STAGE, ret);
}

static u64 sampled_latency_of(const struct hist *h, const struct hist_entry *e, u32 k)
{
	return sum_of(h, e, k, LABEL_LATENCY);
}

static void cell_of_sampled_latency(const struct key_value *v, struct cell *ret)
{
	cell_share(ret, sampled_latency_of(v->hist, v->entry, v->event),
		v->hist->events[v->event].latency);
}

static u64 total_latency_of(const struct hist *h, const struct hist_entry *e, u32 k)
{
	return hist_total_sum(h, e, k, &(struct hist_sum){.label = LABEL_LATENCY});
}

static void cell_of_total_latency(const struct key_value *v, struct cell *ret)
{
	cell_share(ret, total_latency_of(v->hist, v->entry, v->event),
		v->hist->events[v->event].latency);
}

/* ---- cycles of runs of code, which are the periods with --total-cycles ---- */

static double mean_of(const struct hist_entry *e, u32 k)
{
	return e->of[k].self.n_samples
		? (double)e->of[k].self.period / (double)e->of[k].self.n_samples
		: 0;
}

/* In thousandths, for sorting rows. */
static u64 mean_rank(const struct hist *h, const struct hist_entry *e, u32 k)
{
	(void)h;
	return (u64)(mean_of(e, k) * 1000);
}

static void cell_of_mean(const struct key_value *v, struct cell *ret)
{
	cell_real(ret, mean_of(v->entry, v->event), 1);
}

static void cell_of_mean_share(const struct key_value *v, struct cell *ret)
{
	const double all = v->hist->events[v->event].averages;

	cell_real(ret, all > 0 ? 100 * mean_of(v->entry, v->event) / all : 0.0, 2);
	ret->unit = "%";
}

/* What people see of latencies. */
static const struct key latency_share = {.name = "latency_share",
	.title = "Latency",
	.is_value = true,
	.figure = sampled_latency_of,
	.kind = CELL_SHARE,
	.cell = cell_of_sampled_latency};
static const struct key total_latency_share = {.name = "latency_children_share",
	.title = "Latency with callees",
	.is_value = true,
	.figure = total_latency_of,
	.kind = CELL_SHARE,
	.cell = cell_of_total_latency};

/* clang-format off: a row a fact */
static const struct key keys[] = {
	{.name = "overhead_children",
		.title = "Children",
		.help = "share of the samples in it and in what it called",
		.is_value = true,
		.figure = total_of,
		.kind = CELL_SHARE,
		.cell = cell_of_children},
	{.name = "latency_children",
		.title = "Latency",
		.help = "share of the elapsed time in it and in what it called, if threads that ran at the same moment share it",
		.is_value = true,
		.label = LABEL_LATENCY,
		.data = &total_latency_share,
		.n_data = 1,
		.figure = total_latency_of,
		.kind = CELL_SHARE,
		.cell = cell_of_total_latency},
	{.name = "overhead",
		.title = "Overhead",
		.title_with_children = "Self",
		.help = "share of the samples in it",
		.is_value = true,
		.figure = self_of,
		.kind = CELL_SHARE,
		.cell = cell_of_overhead},
	{.name = "overhead_sys",
		.title = "sys",
		.help = "share of the samples in it that were taken in the kernel",
		.is_value = true,
		.figure = system_of,
		.kind = CELL_SHARE,
		.cell = cell_of_system},
	{.name = "overhead_us",
		.title = "usr",
		.help = "share of the samples in it that were taken in user code",
		.is_value = true,
		.figure = user_of,
		.kind = CELL_SHARE,
		.cell = cell_of_user},
	{.name = "overhead_guest_sys",
		.title = "guest sys",
		.help = "share of the samples in it that were taken in kernels of guests",
		.is_value = true,
		.figure = guest_system_of,
		.kind = CELL_SHARE,
		.cell = cell_of_guest_system},
	{.name = "overhead_guest_us",
		.title = "guest usr",
		.help = "share of the samples in it that were taken in programs of guests",
		.is_value = true,
		.figure = guest_user_of,
		.kind = CELL_SHARE,
		.cell = cell_of_guest_user},
	{.name = "sample",
		.title = "Samples",
		.help = "number of samples in it",
		.is_value = true,
		.figure = samples_of,
		.kind = CELL_COUNT,
		.cell = cell_of_samples},
	{.name = "period",
		.title = "Period",
		.help = "events (or ns) that its samples represent",
		.is_value = true,
		.figure = self_of,
		.kind = CELL_COUNT,
		.cell = cell_of_period},
	{.name = "cost",
		.title = "Cost",
		.help = "sum of the weights of its samples",
		.is_value = true,
		.label = LABEL_WEIGHT,
		.figure = cost_of,
		.kind = CELL_COUNT,
		.cell = cell_of_cost},
	{.name = "average_weight",
		.title = "Avg Weight",
		.help = "average of the weights of its samples",
		.is_value = true,
		.label = LABEL_WEIGHT,
		.figure = average_of,
		.kind = CELL_REAL,
		.cell = cell_of_average},
	{.name = "weight1",
		.title = "Weight1",
		.help = "the same, as perf 7.2 calls it",
		.is_value = true,
		.label = LABEL_WEIGHT,
		.figure = average_of,
		.kind = CELL_REAL,
		.cell = cell_of_average},
	{.name = "weight2",
		.title = "Weight2",
		.help = "average of the second part of the weights: cycles that instructions took",
		.is_value = true,
		.label = LABEL_INS_LATENCY,
		.figure = average_latency_of,
		.kind = CELL_REAL,
		.cell = cell_of_average_latency},
	{.name = "weight3",
		.title = "Weight3",
		.help = "average of the third part of the weights: cycles in a stage, or until they retired",
		.is_value = true,
		.label = LABEL_STAGE,
		.figure = average_stage_of,
		.kind = CELL_REAL,
		.cell = cell_of_average_stage},
	{.name = "cycles_share",
		.title = "Sampled Cycles%",
		.help = "share of the cycles that were counted from branch to branch (--total-cycles)",
		.is_value = true,
		.is_of_blocks = true,
		.figure = self_of,
		.kind = CELL_SHARE,
		.cell = cell_of_overhead},
	{.name = "cycles_sum",
		.title = "Sampled Cycles",
		.help = "the sum of those cycles",
		.is_value = true,
		.is_of_blocks = true,
		.figure = self_of,
		.kind = CELL_COUNT,
		.cell = cell_of_period},
	{.name = "cycles_average_share",
		.title = "Avg Cycles%",
		.help = "share of the average in the sum of all rows' averages",
		.is_value = true,
		.is_of_blocks = true,
		.figure = mean_rank,
		.kind = CELL_REAL,
		.cell = cell_of_mean_share},
	{.name = "cycles_average",
		.title = "Avg Cycles",
		.help = "cycles of one run through the block, on average",
		.is_value = true,
		.is_of_blocks = true,
		.figure = mean_rank,
		.kind = CELL_REAL,
		.cell = cell_of_mean},
};
/* clang-format on */

const struct key_family key_figures = {"figures", keys, ARRAY_SIZE(keys)};

const struct key *const key_total = &keys[0];
const struct key key_sampled_latency = {.name = "latency",
	.title = "Latency",
	.help = "share of the elapsed time, if threads that ran at the same moment share it",
	.is_value = true,
	.label = LABEL_LATENCY,
	.data = &latency_share,
	.n_data = 1,
	.figure = sampled_latency_of,
	.kind = CELL_SHARE,
	.cell = cell_of_sampled_latency};
const struct key *const key_total_latency = &keys[1];
const struct key *const key_self = &keys[2];
