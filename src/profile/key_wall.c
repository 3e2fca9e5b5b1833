/*
 * The columns of wall-clock time: what a row has in the event of each. Shares of latency are of the elapsed
 * time, the others of all threads' time. With rows for callers a row has what it called, too.
 */
#include "base/num.h"
#include "profile/gather.h"
#include "profile/key_family.h"

static u64 ns_of(const struct hist *h, const struct hist_entry *e, u32 event)
{
	const u32 k = event - h->table.first;

	if (event < h->table.first || k >= h->n_events)
		return 0;
	return h->options->has_children ? e->of[k].total.period : e->of[k].self.period;
}

static void add_share(const struct hist *h, const struct hist_entry *e, u32 event, struct str *text)
{
	const u32 k = event == GATHER_LATENCY ? GATHER_LATENCY - h->table.first : 0;

	num_add_percent(text, ns_of(h, e, event), h->events[k < h->n_events ? k : 0].all.period);
}

static void add_ms(const struct hist *h, const struct hist_entry *e, u32 event, struct str *text)
{
	str_addf(text, "%.1f", (double)ns_of(h, e, event) / 1e6);
}

#define COLUMN(name, event)                                                                \
	static void print_##name##_share(const struct hist *h, const struct hist_entry *e, \
		u64 value, struct str *text)                                               \
	{                                                                                  \
		(void)value;                                                               \
		add_share(h, e, event, text);                                              \
	}                                                                                  \
	static void print_##name##_time(const struct hist *h, const struct hist_entry *e,  \
		u64 value, struct str *text)                                               \
	{                                                                                  \
		(void)value;                                                               \
		add_ms(h, e, event, text);                                                 \
	}

COLUMN(latency, GATHER_LATENCY)
COLUMN(wall, GATHER_WALL)
COLUMN(cpu, GATHER_BY_STATE + WALL_CPU)
COLUMN(runnable, GATHER_BY_STATE + WALL_RUNNABLE)
COLUMN(blocked, GATHER_BY_STATE + WALL_BLOCKED)

/* clang-format off: a row a fact */
static const struct key keys[] = {
	{.name = "latency",
		.header = "Latency",
		.help = "share of the elapsed time that went by because of it",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = print_latency_share},
	{.name = "latency_time",
		.header = "Latency ms",
		.help = "the same in milliseconds",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = print_latency_time},
	{.name = "wall",
		.header = "Wall",
		.help = "share of all threads' time, on and off CPUs",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = print_wall_share},
	{.name = "wall_time",
		.header = "Wall ms",
		.help = "the same in milliseconds",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = print_wall_time},
	{.name = "wall_cpu",
		.header = "CPU",
		.help = "share of all threads' time that they ran in it",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = print_cpu_share},
	{.name = "wall_cpu_time",
		.header = "CPU ms",
		.help = "the same in milliseconds",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = print_cpu_time},
	{.name = "wall_runnable",
		.header = "Runnable",
		.help = "share of all threads' time that they waited for a CPU in it",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = print_runnable_share},
	{.name = "wall_runnable_time",
		.header = "Runnable ms",
		.help = "the same in milliseconds",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = print_runnable_time},
	{.name = "wall_blocked",
		.header = "Blocked",
		.help = "share of all threads' time that they were blocked in it",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = print_blocked_share},
	{.name = "wall_blocked_time",
		.header = "Blocked ms",
		.help = "the same in milliseconds",
		.is_value = true,
		.is_wall = true,
		.min_width = 8,
		.print = print_blocked_time},
};
/* clang-format on */

const struct key_family key_walls = {keys, ARRAY_SIZE(keys)};
