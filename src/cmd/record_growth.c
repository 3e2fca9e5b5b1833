#include "base/clock.h"
#include "cmd/recording.h"

/*
 * A program that writes its perf map line by line wakes us not more often than this. So much later than
 * its code a function may get its name, where another was before.
 */
enum { EACH_NS = 10000000 };

void record_growth_open(struct recording *rec)
{
	struct record_growth *g = &rec->growth;
	struct err err;

	g->growth.fd = g->clock.fd = -1;
	g->due_ns = UINT64_MAX;
	if (rec->options->has_no_embedding || !rec->events.n)
		return;
	if (perfclock_open(&g->clock, &rec->events.at[0].attr, &err) ||
		growth_open(&g->growth, "/tmp", &err) ||
		recorder_watch(&rec->recorder, g->growth.fd, &err))
		log_debug(&rec->log, "when perf maps grow is not seen: %s", err.msg);
}

void record_growth_look(struct recording *rec)
{
	struct record_growth *g = &rec->growth;
	struct err ignored;

	if (g->growth.fd < 0)
		return;
	if (g->due_ns != UINT64_MAX) {
		if (clock_now_ns() < g->due_ns)
			return;
		g->due_ns = UINT64_MAX;
		recorder_watch(&rec->recorder, g->growth.fd, &ignored);
	}
	if (!growth_look(&g->growth, &g->clock))
		return;
	recorder_unwatch(&rec->recorder, g->growth.fd);
	g->due_ns = clock_now_ns() + EACH_NS;
}

u64 record_growth_due(const struct recording *rec)
{
	return rec->growth.due_ns;
}

void record_growth_end(struct recording *rec)
{
	growth_look(&rec->growth.growth, &rec->growth.clock);
}

void record_growth_close(struct recording *rec)
{
	growth_close(&rec->growth.growth);
	perfclock_close(&rec->growth.clock);
}
