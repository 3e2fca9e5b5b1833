#include "session/switching.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "event/abi.h"

enum { SWITCHES_ON = 1 << 0, SWITCHES_OFF = 1 << 1 };

static bool is_called(const struct event *e, const char *name)
{
	return name && !strcmp(e->name, name);
}

/* Events may come while the stream goes on. */
static void learn_events(struct switching *w)
{
	const struct switching_options *o = w->options;

	w->roles.n = 0;
	vec_each(e, &w->session->reader.events)
		vec_add(&w->roles,
			(u8)((is_called(e, o->on) ? SWITCHES_ON : 0) |
				(is_called(e, o->off) ? SWITCHES_OFF : 0)));
}

static void see(void *ctx, const struct record *rec)
{
	struct switching *w = ctx;
	const struct sample *sample;
	u32 event;

	if (rec->type != PERF_RECORD_SAMPLE)
		return;
	if (w->roles.n != w->session->reader.events.n)
		learn_events(w);
	event = formats_event(&w->session->reader.formats, rec);
	if (event >= w->roles.n || !w->roles.at[event])
		return;
	sample = decoder_next(&w->decoder, rec, event);
	if (sample)
		vec_add(&w->marks,
			((struct switching_mark){sample->time, rec->offset, w->roles.at[event]}));
}

void switching_watch(struct switching *w, struct session *s, const struct switching_options *o)
{
	memset(w, 0, sizeof(*w));
	w->observer = (struct session_observer){.ctx = w, .see = see};
	w->options = o;
	w->session = s;
	decoder_init(&w->decoder, s, PERF_SAMPLE_TIME, &w->ignored);
	session_watch(s, &w->observer);
}

SORT_BY(by_time, struct switching_mark, time, offset)

/* A name may have modifiers that the user left out, so the message lists all events. */
static int check_name(const struct switching *w, const char *option, const char *name,
	struct err *err)
{
	struct str all = {0};

	if (!name)
		return 0;
	vec_each(e, &w->session->reader.events) {
		if (!strcmp(e->name, name)) {
			str_fini(&all);
			return 0;
		}
		str_add(&all, all.n ? ", " : "");
		str_add_safe(&all, e->name, strlen(e->name));
	}
	err_set(err, ERR_INVAL, "%s: the recording has no event '%.60s'; it has %.300s", option,
		name, str_text(&all));
	str_fini(&all);
	return err->code;
}

int switching_cut(struct switching *w, struct err *err)
{
	const struct switching_options *o = w->options;
	const u64 outside = o->shows_switches ? 0 : 1;
	bool is_on = !o->on;
	u64 from = 0;

	if (check_name(w, "--switch-on", o->on, err) || check_name(w, "--switch-off", o->off, err))
		return err->code;
	vec_each(m, &w->marks)
		m->time = w->session->has_times ? m->time : m->offset;
	if (w->marks.n)
		qsort(w->marks.at, w->marks.n, sizeof(*w->marks.at), by_time);
	vec_each(m, &w->marks) {
		if (is_on && m->roles & SWITCHES_OFF) {
			if (from + outside <= m->time)
				vec_add(&w->on, ((struct span){from, m->time - outside}));
			is_on = false;
		} else if (!is_on && m->roles & SWITCHES_ON) {
			from = m->time + outside;
			is_on = true;
		}
	}
	if (is_on)
		vec_add(&w->on, ((struct span){from, UINT64_MAX}));
	vec_fini(&w->marks);
	return 0;
}

bool switching_has(const struct switching *w, u64 time)
{
	const size_t at = search_first(i, w->on.n, w->on.at[i].to >= time);

	return at < w->on.n && w->on.at[at].from <= time;
}

void switching_fini(struct switching *w)
{
	vec_fini(&w->roles);
	vec_fini(&w->marks);
	vec_fini(&w->on);
}
