#include "cmd/report/report_chart.h"

#include "profile/chart/scheduling.h"
#include "trace/follow.h"

enum { PIECES_MOST = 400000, WAKES_MOST = 100000, IOS_MOST = 1 };

static u64 held(const void *chart)
{
	return chart_bytes(chart);
}

static int walk(struct trace *t, struct scheduling *s, struct err *err)
{
	struct follow follow;
	struct visit *v;
	int r;

	follow_init(&follow, t, FOLLOW_IN_TIME, scheduling_needs());
	follow.stream.held = held;
	follow.stream.holder = s->chart;
	while ((r = follow_next(&follow, &v, err)) > 0)
		scheduling_take(s, v);
	follow_fini(&follow);
	return MIN(r, 0);
}

/* Whether the recording may tell what the scheduler did. */
static bool has_scheduling(const struct recorded *r)
{
	struct scheduling s;
	bool has;

	scheduling_init(&s, NULL, &r->trace.session);
	has = s.has[SCHEDULING_SWITCH] || s.has_records;
	scheduling_fini(&s);
	return has;
}

static int read_chart(struct trace *t, struct chart *ret, bool *ret_has, struct err *err)
{
	const struct trace_options how = {.ignores_embedded = true, .ignores_jit = true};
	struct scheduling s = {0};
	int result = trace_begin(t, &how, err);

	if (!result) {
		scheduling_init(&s, ret, &t->session);
		result = walk(t, &s, err);
	}
	*ret_has = !result && s.n_seen;
	if (*ret_has)
		chart_finish(ret);
	scheduling_fini(&s);
	return result;
}

int report_chart(const struct recorded *r, const char *path, struct chart *ret, bool *ret_has,
	struct err *err)
{
	const struct chart_limits limits = {PIECES_MOST, WAKES_MOST, IOS_MOST, 0};
	struct trace trace;
	int result;

	*ret_has = false;
	if (!recorded_has_trace(r) || !has_scheduling(r))
		return 0;
	if (r->trace.session.reader.is_stream) {
		log_note(r->log,
			"the scheduler's records are left out: for these the recording has to be a file, because it is read twice");
		return 0;
	}
	/* What is wrong with the file was said when it was read first. */
	if (trace_open(&trace, path, NULL, err))
		return err->code;
	chart_init(ret, &limits);
	result = read_chart(&trace, ret, ret_has, err);
	trace_close(&trace);
	if (!*ret_has)
		chart_fini(ret);
	return result;
}
