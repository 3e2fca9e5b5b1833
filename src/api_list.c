/*
 * api_list.c - the public function that lists what can be measured here.
 */
#include "api.h"

#include "collect/known/menu.h"

static const char *const kinds[MENU_KIND_COUNT] = {
	[MENU_HARDWARE] = "hardware",
	[MENU_SOFTWARE] = "software",
	[MENU_CACHE] = "cache",
	[MENU_PMU] = "pmu",
	[MENU_RAW] = "raw",
	[MENU_BREAKPOINT] = "breakpoint",
	[MENU_TABLE] = "table",
	[MENU_TRACEPOINT] = "tracepoint",
};

struct listing {
	const char *word;
	struct menu menu;
	bool is_open;
	struct err err;
};

static void make_list(void *listing)
{
	struct listing *l = listing;
	char *words[] = {(char *)l->word};
	const struct menu_options options = {.sysfs = "/sys",
		.words = words,
		.n_words = l->word ? 1 : 0};

	/* It has to be closed whatever it comes to. */
	l->is_open = true;
	if (menu_open(&l->menu, &options, NULL, &l->err)) {
		l->is_open = false;
		return;
	}
	if (!menu_choose(&l->menu, &l->err))
		menu_try(&l->menu);
}

static struct pace_listed public_item(const struct menu_item *i)
{
	return (struct pace_listed){.name = i->name,
		.alias = i->alias,
		.kind = kinds[i->kind],
		.group = i->group,
		.description = i->brief ? i->brief : i->description,
		.unit = i->unit,
		.is_form = i->kind == MENU_RAW || i->kind == MENU_BREAKPOINT,
		.opens = i->opens == MENU_OPENS || i->opens == MENU_OPENS_USER,
		.reason = i->reason};
}

PUBLIC int pace_events_list(const char *word,
	int (*see)(void *context, const struct pace_listed *listed), void *context,
	struct pace_error *ret_err)
{
	struct listing l = {.word = word};
	size_t size;
	int said = 0;

	if (!mem_try(make_list, &l, &size))
		api_exhausted(size, &l.err, "listing events");
	for (size_t i = 0; !l.err.code && !said && i < l.menu.items.n; i++) {
		struct pace_listed listed = public_item(&l.menu.items.at[i]);

		/* A clock of stat's is no event of the kernel's. */
		if (listed.kind)
			said = see(context, &listed);
	}
	if (l.is_open)
		menu_close(&l.menu);
	return l.err.code ? api_give_error(&l.err, ret_err) : said;
}
