#include "collect/known/metriclist.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

/* ---- which ---- */

static bool has_word(const char *text, const char *word)
{
	return text && strcasestr(text, word);
}

static bool matches(const struct metric_row *row, const char *word)
{
	if (strpbrk(word, "*?["))
		return !fnmatch(word, row->name, FNM_CASEFOLD);
	return metric_list_has(row->groups, word) || has_word(row->name, word) ||
		has_word(row->groups, word) || has_word(row->brief, word);
}

static bool is_wanted(const struct metric_row *row, const struct inventory_options *o)
{
	if (o->pmu && (!row->pmu || strcmp(row->pmu, o->pmu) != 0))
		return false;
	for (size_t i = 0; i < o->n_words; i++)
		if (!matches(row, o->words[i]))
			return false;
	return true;
}

/* "TopdownL1" of "TopdownL1;Default"; metrics without a group are the last. */
static const char *first_group(const struct metric_row *row)
{
	return row->groups ? row->groups : "\377";
}

static int by_group(const void *a, const void *b)
{
	const struct metric_row *x = ((const struct metriclist_item *)a)->row;
	const struct metric_row *y = ((const struct metriclist_item *)b)->row;
	size_t n = strcspn(first_group(x), ";"), k = strcspn(first_group(y), ";");
	int order = strncmp(first_group(x), first_group(y), MIN(n, k));

	if (order || n != k)
		return order ? order : n < k ? -1 : 1;
	order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->pmu ? x->pmu : "", y->pmu ? y->pmu : "");
}

/* ---- what can be counted ---- */

/* Tries to open each event once. */
static void try_events(struct metriclist *l)
{
	vec_each(event, &l->set.events) {
		struct inventory_item *item = vec_push(&l->tried.items);
		struct event_list events = {0};
		struct err err;

		*item = (struct inventory_item){.kind = INVENTORY_PMU,
			.name = event->text,
			.scale = 1};
		if (parse_events(event->text, &l->set.env, &events, &err) || !events.n)
			item->opens = INVENTORY_REFUSED;
		else if (events.at[0].attr.type == EVENT_TYPE_TOOL)
			item->opens = INVENTORY_OPENS;
		else if (!l->tried.options.is_copy) {
			item->attr = events.at[0].attr;
			item->attr.sample_period = 0;
			inventory_try_item(&l->tried, item, &events.at[0].cpus);
		}
		event_list_fini(&events);
	}
}

/* How bad it is for a metric. */
static unsigned rank(enum inventory_opens opens)
{
	return opens == INVENTORY_REFUSED ? 2 : opens == INVENTORY_OPENS_USER;
}

static void judge(struct metriclist *l, struct metriclist_item *item, const struct metric_use *use)
{
	const char **events = arena_alloc(&l->set.arena, (use->n_events + 1) * sizeof(*events));

	item->opens = l->tried.options.is_copy ? INVENTORY_UNTRIED : INVENTORY_OPENS;
	for (u32 i = 0; i < use->n_events; i++) {
		const struct inventory_item *tried = &l->tried.items.at[use->events[i]];

		events[i] = tried->name;
		if (rank(tried->opens) <= rank(item->opens))
			continue;
		item->opens = tried->opens;
		item->reason = tried->reason;
	}
	item->events = events;
	item->n_events = use->n_events;
	item->is_whole = true;
}

/* Compiles all, so that their events are known. */
static void ask_all(struct metriclist *l)
{
	vec_each(item, &l->items) {
		struct err err;

		item->is_whole = !metricset_ask_row(&l->set, item->row, &err);
		if (item->is_whole)
			continue;
		item->opens = INVENTORY_REFUSED;
		item->reason = arena_strdup(&l->set.arena, err.msg, strlen(err.msg));
	}
}

static void judge_all(struct metriclist *l)
{
	vec_each(item, &l->items)
		vec_each(use, &l->set.uses)
			if (use->is_asked && use->row == item->row && item->is_whole) {
				judge(l, item, use);
				break;
			}
}

/* ---- groups ---- */

static const char *brief_of(const struct metriclist *l, const char *group)
{
	vec_each(g, &l->catalog.groups)
		if (!strcmp(g->name, group))
			return g->brief;
	return NULL;
}

static void list_groups(struct metriclist *l)
{
	struct intern names = {0};

	metrictable_groups(&l->table, &names);
	vec_each(name, &names.strings) {
		struct metriclist_group g = {0};

		vec_each(item, &l->items)
			g.n_metrics += metric_list_has(item->row->groups, *name);
		if (!g.n_metrics)
			continue;
		g.name = arena_strdup(&l->set.arena, *name, strlen(*name));
		g.brief = brief_of(l, *name);
		vec_add(&l->groups, g);
	}
	intern_fini(&names);
}

/* ---- all of it ---- */

static int check_found(const struct metriclist *l, const struct inventory_options *o,
	struct err *err)
{
	struct nearest near = {0};
	struct str message = {0};

	if (l->items.n)
		return 0;
	near.typed = o->n_words ? o->words[0] : o->pmu ? o->pmu : "";
	str_addf(&message, "no metric matches '%s'", near.typed);
	vec_each(row, &l->table.rows)
		nearest_offer(&near, (*row)->name);
	nearest_add_hint(&near, &message);
	err_set(err, ERR_NOENT, "%s", str_text(&message));
	str_fini(&message);
	return err->code;
}

int metriclist_open(struct metriclist *l, const struct inventory_options *options, struct log *log,
	struct err *err)
{
	const struct catalog_places places = {.folder = options->events_dir,
		.sysfs = options->sysfs,
		.has_metrics = true};
	const struct parse_env env = {.sysfs = options->sysfs, .catalog = &l->catalog};
	const struct metricset_options wishes = {0};

	memset(l, 0, sizeof(*l));
	l->tried.options = *options;
	if (catalog_open(&l->catalog, &places, log, err))
		return err->code;
	l->facts = (struct metric_facts){.sysfs = options->sysfs, .cpuid = l->catalog.cpuid};
	metrictable_init(&l->table, &l->catalog);
	metricset_init(&l->set, &l->table, &env, &l->facts, &wishes);
	vec_each(row, &l->table.rows)
		if (is_wanted(*row, options))
			vec_add(&l->items, ((struct metriclist_item){.row = *row}));
	if (check_found(l, options, err)) {
		metriclist_close(l);
		return err->code;
	}
	qsort(l->items.at, l->items.n, sizeof(*l->items.at), by_group);
	ask_all(l);
	try_events(l);
	judge_all(l);
	list_groups(l);
	return 0;
}

void metriclist_close(struct metriclist *l)
{
	vec_fini(&l->items);
	vec_fini(&l->groups);
	metricset_fini(&l->set);
	metrictable_fini(&l->table);
	inventory_close(&l->tried);
	catalog_close(&l->catalog);
}
