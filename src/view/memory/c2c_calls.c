#include "view/memory/c2c_calls.h"

#include "profile/rows/key.h"
#include "view/forms/drawing.h"
#include "view/rows/graphrows.h"

#define LIMIT 5 /* percent: smaller callers are not drawn */

/* Rows have the use as their only key: they hold all functions. */
static const struct key use_key = {.name = "use", .title = "", .help = "", .label = LABEL_USE};

static void event_init(struct c2c_calls_event *e, const struct sharers *s, u32 event,
	const struct hist_options *o)
{
	hist_init(&e->hist, &s->profile, &s->calls, event, o);
	hist_view_init(&e->view, &e->hist);
	vec_each(entry, &e->hist.entries) {
		const u64 use = hist_label(&e->hist, entry->group, &use_key);

		while (e->by_use.n <= use)
			vec_add(&e->by_use, 0);
		e->by_use.at[use] = (u32)(entry - e->hist.entries.at) + 1;
	}
}

void c2c_calls_init(struct c2c_calls *c, const struct sharers *s, enum sharers_event hot)
{
	c->options = (struct hist_options){.keys = {&use_key}, .n_keys = 1};
	c->order = GRAPH_CALLEE;
	c->drawing = (struct drawing_options){.style = DRAWING_FRACTAL, .limit = LIMIT};
	event_init(&c->hot, s, hot, &c->options);
	event_init(&c->stores, s, SHARERS_STORE, &c->options);
}

static void event_fini(struct c2c_calls_event *e)
{
	vec_fini(&e->by_use);
	hist_view_fini(&e->view);
	hist_fini(&e->hist);
}

void c2c_calls_fini(struct c2c_calls *c)
{
	event_fini(&c->hot);
	event_fini(&c->stores);
}

static const struct hist_entry *find(const struct c2c_calls_event *e, u32 use)
{
	const u32 at = use < e->by_use.n ? e->by_use.at[use] : 0;

	return at ? &e->hist.entries.at[at - 1] : NULL;
}

/* The entry of the use's loads from other caches, or else of its stores; NULL: neither. */
static const struct hist_entry *choose(struct c2c_calls *c, u32 use,
	struct c2c_calls_event **ret_event)
{
	const struct hist_entry *e = find(&c->hot, use);

	*ret_event = e ? &c->hot : &c->stores;
	return e ? e : find(&c->stores, use);
}

void c2c_calls_add(struct c2c_calls *c, u32 use, struct str *text)
{
	struct c2c_calls_event *event;
	const struct hist_entry *e = choose(c, use, &event);
	struct rowset tree;

	if (!e)
		return;
	graphrows_open(&tree, &event->view, e, c->order, e->of[0].self.period);
	drawing_add(text, &tree, &c->drawing);
	rowset_close(&tree);
}

void c2c_calls_add_cells(struct c2c_calls *c, u32 use, struct rowmaker *m)
{
	struct c2c_calls_event *event;
	const struct hist_entry *e = choose(c, use, &event);
	const struct hist *h = &event->hist;

	if (!e)
		return;
	rowmaker_text(m, "callers_of", h->profile->events.at[h->events[0].event].name);
	graphrows_open(rowmaker_tree(m, "callers"), &event->view, e, c->order,
		e->of[0].self.period);
}
