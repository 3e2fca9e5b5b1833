#include "cmd/report/report_states.h"

#include <string.h>

#include "event/abi.h"
#include "profile/chart/scheduling.h"
#include "trace/follow.h"

/* In the page they take about two bytes each. */
enum { PIECES_MOST = 400000, OTHERS_MOST = 10000 };

static u64 held(const void *chart)
{
	return chart_bytes(chart);
}

static bool has_switches(const struct session *s)
{
	vec_each(e, &s->reader.events)
		if (e->attr.flags & ATTR_CONTEXT_SWITCH || !strcmp(e->name, "sched:sched_switch"))
			return true;
	return false;
}

static int walk(struct trace *t, struct chart *chart, struct err *err)
{
	const struct trace_options how = {.ignores_embedded = true, .ignores_jit = true};
	struct scheduling scheduling;
	struct follow follow;
	struct visit *v;
	int r;

	if (trace_begin(t, &how, err))
		return err->code;
	scheduling_init(&scheduling, chart, &t->session);
	follow_init(&follow, t, FOLLOW_IN_TIME, scheduling_needs());
	follow.stream.held = held;
	follow.stream.holder = chart;
	while ((r = follow_next(&follow, &v, err)) > 0)
		scheduling_take(&scheduling, v);
	follow_fini(&follow);
	if (scheduling.n_seen)
		chart_finish(chart);
	scheduling_fini(&scheduling);
	return MIN(r, 0);
}

int report_states(const struct recorded *r, const char *path, struct chart *ret, struct err *err)
{
	const struct chart_limits limits = {.pieces = PIECES_MOST,
		.wakes = OTHERS_MOST,
		.ios = OTHERS_MOST};
	struct trace trace;
	int result;

	chart_init(ret, &limits);
	if (!recorded_has_trace(r) || !strcmp(path, "-") || !r->trace.session.has_times ||
		!has_switches(&r->trace.session))
		return 0;
	/* What the recording lacks was said when it was read for its samples. */
	if (trace_open(&trace, path, NULL, err))
		return err->code;
	result = walk(&trace, ret, err);
	trace_close(&trace);
	return result;
}
