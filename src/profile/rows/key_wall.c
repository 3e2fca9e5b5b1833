/*
 * The columns of wall-clock time, each the row's value of one event. Shares of latency are of the elapsed time,
 * others of all threads' time. With rows for callers, a row includes what it called.
 */
#include "profile/gather/gather.h"
#include "profile/rows/key_family.h"

static u64 ns_of(const struct hist *h, const struct hist_entry *e, u32 event)
{
	const u32 k = event - h->table.first;

	if (event < h->table.first || k >= h->n_events)
		return 0;
	return h->options->has_children ? e->of[k].total.period : e->of[k].self.period;
}

static void set_share(const struct key_value *v, u32 event, struct cell *ret)
{
	const struct hist *h = v->hist;
	const u32 k = event == AGGREGATE_LATENCY ? AGGREGATE_LATENCY - h->table.first : 0;

	cell_share(ret, ns_of(h, v->entry, event), h->events[k < h->n_events ? k : 0].all.period);
}

#define COLUMN(name, event)                                                             \
	static void cell_of_##name##_share(const struct key_value *v, struct cell *ret) \
	{                                                                               \
		set_share(v, event, ret);                                               \
	}                                                                               \
	static void cell_of_##name##_time(const struct key_value *v, struct cell *ret)  \
	{                                                                               \
		cell_number(ret, CELL_TIME, ns_of(v->hist, v->entry, event));           \
	}

COLUMN(latency, AGGREGATE_LATENCY)
COLUMN(wall, AGGREGATE_WALL)
COLUMN(cpu, AGGREGATE_BY_STATE + WALL_CPU)
COLUMN(runnable, AGGREGATE_BY_STATE + WALL_RUNNABLE)
COLUMN(blocked, AGGREGATE_BY_STATE + WALL_BLOCKED)

/* clang-format off: a row a fact */
static const struct key keys[] = {
	{.name = "latency",
		.title = "Latency",
		.help = "share of the elapsed time that passed because of it",
		.is_value = true,
		.is_wall = true,
		.kind = CELL_SHARE,
		.cell = cell_of_latency_share},
	{.name = "latency_time",
		.title = "Latency ms",
		.help = "the same in milliseconds",
		.is_value = true,
		.is_wall = true,
		.kind = CELL_TIME,
		.cell = cell_of_latency_time},
	{.name = "wall",
		.title = "Wall",
		.help = "share of all threads' time, on and off CPUs",
		.is_value = true,
		.is_wall = true,
		.kind = CELL_SHARE,
		.cell = cell_of_wall_share},
	{.name = "wall_time",
		.title = "Wall ms",
		.help = "the same in milliseconds",
		.is_value = true,
		.is_wall = true,
		.kind = CELL_TIME,
		.cell = cell_of_wall_time},
	{.name = "wall_cpu",
		.title = "CPU",
		.help = "share of all threads' time that they ran in it",
		.is_value = true,
		.is_wall = true,
		.kind = CELL_SHARE,
		.cell = cell_of_cpu_share},
	{.name = "wall_cpu_time",
		.title = "CPU ms",
		.help = "the same in milliseconds",
		.is_value = true,
		.is_wall = true,
		.kind = CELL_TIME,
		.cell = cell_of_cpu_time},
	{.name = "wall_runnable",
		.title = "Runnable",
		.help = "share of all threads' time that they waited for a CPU in it",
		.is_value = true,
		.is_wall = true,
		.kind = CELL_SHARE,
		.cell = cell_of_runnable_share},
	{.name = "wall_runnable_time",
		.title = "Runnable ms",
		.help = "the same in milliseconds",
		.is_value = true,
		.is_wall = true,
		.kind = CELL_TIME,
		.cell = cell_of_runnable_time},
	{.name = "wall_blocked",
		.title = "Blocked",
		.help = "share of all threads' time that they were blocked in it",
		.is_value = true,
		.is_wall = true,
		.kind = CELL_SHARE,
		.cell = cell_of_blocked_share},
	{.name = "wall_blocked_time",
		.title = "Blocked ms",
		.help = "the same in milliseconds",
		.is_value = true,
		.is_wall = true,
		.kind = CELL_TIME,
		.cell = cell_of_blocked_time},
};
/* clang-format on */

const struct key_family key_walls = {"figures of wall-clock time", keys, ARRAY_SIZE(keys)};
