/* Names the events of a recording: see reader_name_events(). */
#include <stdio.h>
#include <stdlib.h>

#include "event/abi.h"
#include "event/names.h"
#include "file/reader.h"
#include "file/tracepoints.h"

static void call(struct reader *r, struct event *e, const char *name, size_t n)
{
	if (n)
		e->name = arena_strdup(&r->events.arena, name, n);
}

/* Whether type and config alone give a name: other sources of names know less. */
static bool has_own_name(const struct event *e)
{
	char own[128];

	return names_of(e->attr.type, e->attr.config, own, sizeof(own));
}

void reader_name_event_type(struct reader *r, u64 id, const char *name, size_t room)
{
	size_t n = strnlen(name, room);
	const char *copy = NULL;

	if (!n || r->n_named > READER_NAMING_LIMIT)
		return;
	r->n_named += r->events.n;
	vec_each(e, &r->events) {
		/*
		 * Only the config is compared: 0 stands for cycles and for the timer that replaces
		 * them.
		 */
		if (e->attr.config != id || has_own_name(e))
			continue;
		copy = copy ? copy : arena_strdup(&r->events.arena, name, n);
		e->name = copy;
	}
}

/* ---- formats of tracepoints ---- */

static bool needs_formats(const struct event *e)
{
	static const char unknown[] = "type ";

	return e->attr.type == PERF_TYPE_TRACEPOINT &&
		!strncmp(e->name, unknown, sizeof(unknown) - 1);
}

static void name_tracepoints(struct reader *r)
{
	struct tracepoints formats = {0};
	struct str name = {0};
	struct err ignored;
	bool is_open = false;

	vec_each(e, &r->events) {
		if (!needs_formats(e))
			continue;
		/* Errors are reported where the formats are needed. */
		if (!is_open)
			(void)tracepoints_open(&formats, &r->info.tracing_data, &ignored);
		is_open = true;
		str_clear(&name);
		if (tracepoints_add_name(&formats, e->attr.config, &name))
			call(r, e, name.at, name.n);
	}
	str_fini(&name);
	if (is_open)
		tracepoints_close(&formats);
}

/* ---- simpleperf's lines "name,type,config" ---- */

static void take_line(struct reader *r, const char *line, size_t n)
{
	const char *comma = memchr(line, ',', n);
	unsigned long long type, config;
	char numbers[64];

	if (!comma)
		return;
	snprintf(numbers, sizeof(numbers), "%.*s", (int)(n - (size_t)(comma + 1 - line)),
		comma + 1);
	if (sscanf(numbers, "%llu,%llu", &type, &config) != 2)
		return;
	r->n_named += r->events.n;
	vec_each(e, &r->events)
		if (e->attr.type == type && e->attr.config == config && !has_own_name(e))
			call(r, e, line, (size_t)(comma - line));
}

static void name_by_meta_info(struct reader *r)
{
	const char *at = file_info_meta(&r->info, "event_type_info");

	while (at && *at && r->n_named <= READER_NAMING_LIMIT) {
		size_t n = strcspn(at, "\n");

		take_line(r, at, n);
		at += n + (at[n] == '\n');
	}
}

/* ---- EVENT_DESC ---- */

static bool is_same_event(const struct event *a, const struct event *b)
{
	return a->attr.type == b->attr.type && a->attr.config == b->attr.config;
}

/*
 * The description at the same index; else the one with the same id, else the first of the same
 * event.
 */
static const struct event *described(struct reader *r, size_t i)
{
	const struct event_list *all = &r->info.events;
	const struct event *e = &r->events.at[i], *found = NULL;

	if (i < all->n && is_same_event(&all->at[i], e))
		return &all->at[i];
	if (r->n_named > READER_NAMING_LIMIT)
		return NULL;
	r->n_named += all->n;
	vec_each(d, all) {
		if (!is_same_event(d, e) || d->attr.config1 != e->attr.config1)
			continue;
		if (d->n_ids && e->n_ids && d->ids[0] == e->ids[0])
			return d;
		found = found ? found : d;
	}
	return found;
}

static void name_by_description(struct reader *r)
{
	for (size_t i = 0; i < r->events.n && r->info.events.n; i++) {
		const struct event *d = described(r, i);

		if (d)
			call(r, &r->events.at[i], d->name, strlen(d->name));
	}
}

/* Groups follow each other: no two of them share an event. */
static void join_groups(struct reader *r)
{
	u64 next = 0;

	vec_each(g, &r->info.groups) {
		if (g->leader < next || g->leader >= r->events.n ||
			g->n_members > r->events.n - g->leader)
			continue;
		next = g->leader + g->n_members;
		for (u32 i = 0; i < g->n_members; i++) {
			r->events.at[g->leader + i].leader = g->leader;
			r->events.at[g->leader + i].n_members = i ? 0 : g->n_members;
		}
	}
}

void reader_name_events(struct reader *r)
{
	name_by_meta_info(r);
	name_by_description(r);
	name_tracepoints(r);
	join_groups(r);
}
