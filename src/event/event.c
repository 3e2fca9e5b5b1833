#include "event/event.h"

#include "base/str.h"
#include "event/abi.h"

struct event *event_add(struct event_list *events, const struct event_attr *attr, const char *name)
{
	struct event *e = vec_push(events);

	memset(e, 0, sizeof(*e));
	e->attr = *attr;
	e->name = arena_strdup(&events->arena, name, strlen(name));
	e->leader = events->n - 1;
	e->n_members = 1;
	e->scale = 1;
	return e;
}

struct event *event_add_copy(struct event_list *events, size_t i)
{
	struct event *e = vec_push(events);

	*e = events->at[i];
	e->leader = events->n - 1;
	e->n_members = 1;
	e->ids = NULL;
	e->n_ids = 0;
	e->cpus = (struct cpus){0};
	cpus_add_all(&e->cpus, &events->at[i].cpus);
	return e;
}

static bool takes_filter(const struct event *e)
{
	return e->attr.type == PERF_TYPE_TRACEPOINT || e->n_addr_filters > 0;
}

/* Address filters of a trace PMU are a list, conditions on a tracepoint's fields are joined. */
static const char *join_filters(struct event_list *events, const struct event *e, const char *text)
{
	struct str joined = {0};
	const char *stored;

	if (e->filter)
		str_addf(&joined, e->n_addr_filters ? "%s,%s" : "(%s) && (%s)", e->filter, text);
	else
		str_add(&joined, text);
	stored = arena_strdup(&events->arena, str_text(&joined), joined.n);
	str_fini(&joined);
	return stored;
}

int event_set_filter(struct event_list *events, const char *text, struct err *err)
{
	if (events->last >= events->n)
		return err_set(err, ERR_INVAL,
			"--filter '%s' must follow the -e whose events it filters", text);
	for (size_t i = events->last; i < events->n; i++)
		if (!takes_filter(&events->at[i]))
			return err_set(err, ERR_INVAL,
				"--filter '%s': event '%s' takes no filter; tracepoints do, and PMUs with "
				"filters on addresses (intel_pt, cs_etm)",
				text, events->at[i].name);
	for (size_t i = events->last; i < events->n; i++)
		events->at[i].filter = join_filters(events, &events->at[i], text);
	return 0;
}

bool event_is_loads_aux(const struct event *e)
{
	return e->attr.type == PERF_TYPE_RAW && e->attr.config == 0x8203 && e->pmu;
}

void event_make_group(struct event_list *events)
{
	vec_each(e, events) {
		e->leader = 0;
		e->n_members = 0;
	}
	if (events->n)
		events->at[0].n_members = (u32)events->n;
}

void event_list_fini(struct event_list *events)
{
	vec_each(e, events)
		cpus_fini(&e->cpus);
	vec_fini(events);
	arena_fini(&events->arena);
}
