#include "view/c2c_calls.h"

#include "profile/key.h"
#include "view/drawing.h"

#define LIMIT 5 /* percent: callers of less are not drawn */

/* Rows are uses, and nothing else: all functions belong to them. */
static const struct key use_key = {.name = "use", .header = "", .help = "", .label = LABEL_USE};

static void event_init(struct c2c_calls_event *e, const struct sharers *s, u32 event,
	const struct hist_options *o)
{
	hist_init(&e->hist, &s->profile, &s->calls, event, o);
	hist_view_init(&e->view, &e->hist);
}

void c2c_calls_init(struct c2c_calls *c, const struct sharers *s, enum sharers_event hot)
{
	c->options = (struct hist_options){.keys = {&use_key}, .n_keys = 1};
	event_init(&c->hot, s, hot, &c->options);
	event_init(&c->stores, s, SHARERS_STORE, &c->options);
}

static void event_fini(struct c2c_calls_event *e)
{
	hist_view_fini(&e->view);
	hist_fini(&e->hist);
}

void c2c_calls_fini(struct c2c_calls *c)
{
	event_fini(&c->hot);
	event_fini(&c->stores);
}

static const struct hist_entry *find(const struct hist *h, u32 use)
{
	vec_each(e, &h->entries)
		if (hist_label(h, e->group, &use_key) == use)
			return e;
	return NULL;
}

void c2c_calls_add(struct c2c_calls *c, u32 use, struct str *text)
{
	const struct drawing_options o = {.style = DRAWING_FRACTAL,
		.order = GRAPH_CALLEE,
		.limit = LIMIT};
	struct c2c_calls_event *event = &c->hot;
	const struct hist_entry *e = find(&event->hist, use);

	if (!e) {
		event = &c->stores;
		e = find(&event->hist, use);
	}
	if (e)
		drawing_add(text, &event->view, e, &o);
}
