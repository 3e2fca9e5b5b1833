#include "profile/key_wall.h"

#include "base/num.h"
#include "profile/beside.h"
#include "profile/gather.h"

static u64 ns_of(const struct hist *h, const struct hist_entry *e, u32 event)
{
	const struct hist_beside *b = beside_find(h, event);

	if (b)
		return b->total[e - h->entries.at].period;
	if (h->event != event)
		return 0;
	return h->options->has_children ? e->total.period : e->self.period;
}

static void add_share(const struct hist *h, const struct hist_entry *e, u32 event, struct str *text)
{
	const struct hist_beside *latency = beside_find(h, GATHER_LATENCY);

	num_add_percent(text, ns_of(h, e, event),
		event == GATHER_LATENCY && latency ? latency->all.period : h->all.period);
}

static void add_ms(const struct hist *h, const struct hist_entry *e, u32 event, struct str *text)
{
	str_addf(text, "%.1f", (double)ns_of(h, e, event) / 1e6);
}

#define COLUMN(name, event)                                                                      \
	void key_##name(const struct hist *h, const struct hist_entry *e, struct str *text)      \
	{                                                                                        \
		add_share(h, e, event, text);                                                    \
	}                                                                                        \
	void key_##name##_ms(const struct hist *h, const struct hist_entry *e, struct str *text) \
	{                                                                                        \
		add_ms(h, e, event, text);                                                       \
	}

COLUMN(latency, GATHER_LATENCY)
COLUMN(wall, GATHER_WALL)
COLUMN(wall_cpu, GATHER_BY_STATE + WALL_CPU)
COLUMN(wall_runnable, GATHER_BY_STATE + WALL_RUNNABLE)
COLUMN(wall_blocked, GATHER_BY_STATE + WALL_BLOCKED)
