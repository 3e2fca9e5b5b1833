/*
 * api_list.c - the public function that lists what can be measured here.
 */
#include "api.h"

#include "collect/known/inventory.h"

static const char *const kinds[INVENTORY_KIND_COUNT] = {
	[INVENTORY_HARDWARE] = "hardware",
	[INVENTORY_SOFTWARE] = "software",
	[INVENTORY_CACHE] = "cache",
	[INVENTORY_PMU] = "pmu",
	[INVENTORY_RAW] = "raw",
	[INVENTORY_BREAKPOINT] = "breakpoint",
	[INVENTORY_TABLE] = "table",
	[INVENTORY_TRACEPOINT] = "tracepoint",
};

struct listing {
	const char *word;
	struct inventory inventory;
	bool is_open;
	struct err err;
};

static void make_list(void *listing)
{
	struct listing *l = listing;
	char *words[] = {(char *)l->word};
	const struct inventory_options options = {.sysfs = "/sys",
		.words = words,
		.n_words = l->word ? 1 : 0};

	/* It has to be closed if memory runs out. */
	l->is_open = true;
	if (inventory_open(&l->inventory, &options, NULL, &l->err)) {
		l->is_open = false;
		return;
	}
	if (!inventory_choose(&l->inventory, &l->err))
		inventory_try(&l->inventory);
}

static struct pace_listed public_item(const struct inventory_item *i)
{
	return (struct pace_listed){.name = i->name,
		.alias = i->alias,
		.kind = kinds[i->kind],
		.group = i->group,
		.description = i->brief ? i->brief : i->description,
		.unit = i->unit,
		.is_form = i->kind == INVENTORY_RAW || i->kind == INVENTORY_BREAKPOINT,
		.opens = i->opens == INVENTORY_OPENS || i->opens == INVENTORY_OPENS_USER,
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
	for (size_t i = 0; !l.err.code && !said && i < l.inventory.items.n; i++) {
		struct pace_listed listed = public_item(&l.inventory.items.at[i]);

		/* A clock of stat's own is not an event of the kernel. */
		if (listed.kind)
			said = see(context, &listed);
	}
	if (l.is_open)
		inventory_close(&l.inventory);
	return l.err.code ? api_give_error(&l.err, ret_err) : said;
}
