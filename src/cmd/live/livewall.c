#include "cmd/live/livewall.h"

#include <string.h>

#include "base/clock.h"
#include "base/num.h"

static void tell(void *ctx, struct visit *v, const struct wall_share *piece)
{
	struct livewall *w = ctx;

	if (!w->is_hidden(w->ctx, v->mode))
		aggregate_add_time(w->counted, v, piece);
}

void livewall_begin(struct livewall *w, const struct session *s, const struct event_list *events,
	const struct target *target, bool names_threads)
{
	const struct event *e = record_wall_event(events);

	w->is_on = true;
	wallnow_init(&w->now, s, true);
	w->now.tell = tell;
	w->now.ctx = w;
	if (!e || target->is_system_wide || !(e->attr.flags & ATTR_USE_CLOCKID))
		return;
	record_waits_begin(&w->waits, e, target, names_threads);
	w->looks_once = !(e->attr.flags & ATTR_EXCLUDE_KERNEL);
}

void livewall_end(struct livewall *w)
{
	if (!w->is_on)
		return;
	wallnow_fini(&w->now);
	record_waits_end(&w->waits);
}

/* ---- what /proc tells ---- */

u64 livewall_due(const struct livewall *w)
{
	return w->waits.is_on && !(w->looks_once && w->waits.waiting.n_looks)
		? w->waits.waiting.due_ns
		: UINT64_MAX;
}

static void see(void *ctx, const struct waiting_place *place)
{
	struct record_waits *waits = ctx;

	if (record_waits_is_meant(waits, place->tid))
		record_waits_add(waits, place);
}

int livewall_look(struct livewall *w, const struct sink *sink, struct err *err)
{
	struct record_waits *waits = &w->waits;

	if (clock_now_ns() < livewall_due(w))
		return 0;
	str_clear(&waits->out);
	waiting_look(&waits->waiting, see, waits);
	return waits->out.n ? sink_append(sink, waits->out.at, waits->out.n, err) : 0;
}

/* ---- a refresh ---- */

void livewall_settle(struct livewall *w, u64 time, struct visits *visits,
	struct livewall_facts *ret)
{
	wallnow_settle(&w->now, time, visits);
	memcpy(ret->ns, w->now.ns, sizeof(ret->ns));
	ret->untold_ns = w->now.untold_ns;
	ret->n_threads = wallnow_n_threads(&w->now);
	wallnow_clear_sums(&w->now);
}

void livewall_add_states(const struct livewall_facts *facts, struct str *text)
{
	static const char *const names[WALL_STATES] =
		{[WALL_CPU] = "cpu", [WALL_RUNNABLE] = "runnable", [WALL_BLOCKED] = "blocked"};
	u64 all = 0;

	for (unsigned state = 0; state < WALL_STATES; state++)
		all += facts->ns[state];
	for (unsigned state = 0; state < WALL_STATES; state++)
		str_addf(text, "%s%.0f%% %s", state ? ", " : "",
			100 * (double)facts->ns[state] / (double)MAX(all, (u64)1), names[state]);
	str_addf(text, " of %llu thread%s", (unsigned long long)facts->n_threads,
		facts->n_threads == 1 ? "" : "s");
}
