#include "event/event.h"

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

void event_list_fini(struct event_list *events)
{
	vec_each(e, events)
		cpus_fini(&e->cpus);
	vec_fini(events);
	arena_fini(&events->arena);
}
