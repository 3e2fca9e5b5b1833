#include "base/clock.h"
#include "cmd/record/recording.h"

/*
 * A program that writes its perf map line by line wakes the recorder at most this often. A function whose code replaces
 * another's may get its name this much later.
 */
enum { EACH_NS = 10000000 };

static int open_growth(struct recording *rec, struct err *ret_err)
{
	struct record_growth *g = &rec->growth;
	struct err err;

	(void)ret_err;
	g->growth.fd = g->clock.fd = -1;
	g->due_ns = UINT64_MAX;
	if (rec->options->files.has_no_embedding || !rec->events.n)
		return 0;
	if (perfclock_open(&g->clock, &rec->events.at[0].attr, &err) ||
		growth_open(&g->growth, "/tmp", &err) ||
		recorder_watch(&rec->recorder, g->growth.fd, &err))
		log_debug(&rec->log, "perf maps cannot be watched: %s", err.msg);
	return 0;
}

static int look(struct recording *rec, struct err *err)
{
	struct record_growth *g = &rec->growth;
	struct err ignored;

	(void)err;
	if (g->growth.fd < 0)
		return 0;
	if (g->due_ns != UINT64_MAX) {
		if (clock_now_ns() < g->due_ns)
			return 0;
		g->due_ns = UINT64_MAX;
		recorder_watch(&rec->recorder, g->growth.fd, &ignored);
	}
	if (!growth_look(&g->growth, &g->clock))
		return 0;
	recorder_unwatch(&rec->recorder, g->growth.fd);
	g->due_ns = clock_now_ns() + EACH_NS;
	return 0;
}

static u64 due(const struct recording *rec)
{
	return rec->growth.due_ns;
}

static void say(struct recording *rec)
{
	growth_look(&rec->growth.growth, &rec->growth.clock);
}

static void close_growth(struct recording *rec)
{
	growth_close(&rec->growth.growth);
	perfclock_close(&rec->growth.clock);
}

const struct record_watcher record_growth_watcher = {
	.open = open_growth,
	.due = due,
	.look = look,
	.say = say,
	.close = close_growth,
};
