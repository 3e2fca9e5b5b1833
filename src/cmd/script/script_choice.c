/*
 * script_choice.c - which samples are printed: by function, by file, and between two events.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/script/scripting.h"

static int check_event(const struct event_list *events, const char *option, const char *name,
	struct err *err)
{
	if (!name)
		return 0;
	vec_each(e, events)
		if (!strcmp(e->name, name))
			return 0;
	return err_set(err, ERR_INVAL,
		"%s: the recording has no event '%.60s'; 'pace evlist' lists its events", option,
		name);
}

int script_choice_init(struct script_choice *c, const struct script_command *o,
	const struct event_list *events, struct err *err)
{
	*c = (struct script_choice){.range = o->address_range,
		.on = o->on,
		.off = o->off,
		.is_off = o->on != NULL,
		.shows_switching = o->shows_switching};
	if (check_event(events, "--switch-on", o->on, err) ||
		check_event(events, "--switch-off", o->off, err) ||
		name_list_parse(&c->names, "-S", o->names, err) ||
		name_list_parse(&c->dsos, "--dsos", o->dsos, err))
		return err->code;
	vec_each(name, &c->names.names) {
		char *end;
		u64 address = strtoull(*name, &end, 16);

		if (!strncmp(*name, "0x", 2) && !*end)
			vec_add(&c->addresses, address);
	}
	return 0;
}

void script_choice_fini(struct script_choice *c)
{
	name_list_fini(&c->names);
	name_list_fini(&c->dsos);
	vec_fini(&c->addresses);
}

/* Whether the sample is where samples are switched on; a sample that switches is so if it is to be shown. */
static bool is_on(struct script_choice *c, const char *event)
{
	if (c->on && c->is_off) {
		if (strcmp(c->on, event))
			return false;
		c->is_off = false;
		return c->shows_switching;
	}
	if (c->off && !c->is_off && !strcmp(c->off, event)) {
		c->is_off = true;
		return c->shows_switching;
	}
	return !c->is_off;
}

/* An address chooses the function that begins there, and samples from there on. */
static bool has_address(const struct script_choice *c, u64 start, u64 ip)
{
	vec_each(a, &c->addresses)
		if (*a == start || (ip >= *a && ip - *a < MAX(c->range, (u64)1)))
			return true;
	return false;
}

static bool has_name(struct script_choice *c, struct script *s, const struct location *l, u64 ip)
{
	struct resolver_answer a = locator_name(&s->locator, l);
	const char *name = resolver_title(&a, s->options->name_style, &s->strings);

	return (name && name_list_has(&c->names, name)) ||
		has_address(c, name ? ip - (a.at - a.start) : ip, ip);
}

bool script_choice_has(struct script_choice *c, struct script *s, struct visit *v)
{
	struct chain_step step = {v->sample->ip, v->mode, false};
	struct location l;

	if ((c->on || c->off) && !is_on(c, s->events->at[v->event].name))
		return false;
	if (!c->names.names.n && !c->dsos.names.n)
		return true;
	locator_find(&s->locator, visit_state(v), &step, &l);
	if (c->dsos.names.n &&
		(!l.map ||
			(!name_list_has(&c->dsos, l.dso->name) &&
				!name_list_has(&c->dsos, l.dso->path))))
		return false;
	return !c->names.names.n || has_name(c, s, &l, step.ip);
}
