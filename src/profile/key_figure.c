#include "profile/key_family.h"

#include "base/num.h"

static void print_share(const struct hist *h, u64 period, struct str *text)
{
	num_add_percent(text, period, h->all.period);
}

static void print_overhead(const struct hist *h, const struct hist_entry *e, u64 value,
	struct str *text)
{
	(void)value;
	print_share(h, e->self.period, text);
}

static void print_children(const struct hist *h, const struct hist_entry *e, u64 value,
	struct str *text)
{
	(void)value;
	print_share(h, h->options->has_children ? e->total.period : e->self.period, text);
}

static void print_samples(const struct hist *h, const struct hist_entry *e, u64 value,
	struct str *text)
{
	(void)h;
	(void)value;
	num_add_u64(text, e->self.n_samples);
}

static void print_period(const struct hist *h, const struct hist_entry *e, u64 value,
	struct str *text)
{
	(void)h;
	(void)value;
	num_add_u64(text, e->self.period);
}

static void print_system(const struct hist *h, const struct hist_entry *e, u64 value,
	struct str *text)
{
	(void)value;
	print_share(h, e->self_in[HIST_SYSTEM], text);
}

static void print_user(const struct hist *h, const struct hist_entry *e, u64 value,
	struct str *text)
{
	(void)value;
	print_share(h, e->self_in[HIST_USER], text);
}

static void print_guest_system(const struct hist *h, const struct hist_entry *e, u64 value,
	struct str *text)
{
	(void)value;
	print_share(h, e->self_in[HIST_GUEST_SYSTEM], text);
}

static void print_guest_user(const struct hist *h, const struct hist_entry *e, u64 value,
	struct str *text)
{
	(void)value;
	print_share(h, e->self_in[HIST_GUEST_USER], text);
}

/* clang-format off: a row a fact */
static const struct key keys[] = {
	{.name = "overhead_children",
		.header = "Children",
		.help = "share of the samples in it and in what it called",
		.is_value = true,
		.min_width = 8,
		.print = print_children},
	{.name = "overhead",
		.header = "Overhead",
		.header_with_children = "Self",
		.help = "share of the samples in it",
		.is_value = true,
		.min_width = 8,
		.print = print_overhead},
	{.name = "overhead_sys",
		.header = "sys",
		.help = "share of the samples in it that were taken in the kernel",
		.is_value = true,
		.min_width = 8,
		.print = print_system},
	{.name = "overhead_us",
		.header = "usr",
		.help = "share of those in user code",
		.is_value = true,
		.min_width = 8,
		.print = print_user},
	{.name = "overhead_guest_sys",
		.header = "guest sys",
		.help = "share of those in kernels of guests",
		.is_value = true,
		.min_width = 9,
		.print = print_guest_system},
	{.name = "overhead_guest_us",
		.header = "guest usr",
		.help = "share of those in programs of guests",
		.is_value = true,
		.min_width = 9,
		.print = print_guest_user},
	{.name = "sample",
		.header = "Samples",
		.help = "number of samples in it",
		.is_value = true,
		.min_width = 12,
		.print = print_samples},
	{.name = "period",
		.header = "Period",
		.help = "events (or ns) its samples stand for",
		.is_value = true,
		.min_width = 12,
		.print = print_period},
};
/* clang-format on */

const struct key_family key_figures = {keys, ARRAY_SIZE(keys)};
