#include "view/rows/histrows.h"

#include "profile/rows/confidence.h"
#include "view/rows/graphrows.h"

/* What a column holds. */
enum id {
	OF_KEY,
	OF_FIGURE,
	OF_EVENT,
	OF_SAMPLES,
	OF_PERIOD,
	OF_SHARE,
	OF_TOTAL_SAMPLES,
	OF_TOTAL_PERIOD,
	OF_TOTAL_SHARE,
	OF_SHARE_LOW,
	OF_SHARE_HIGH,
	OF_TOTAL_SHARE_LOW,
	OF_TOTAL_SHARE_HIGH,
	OF_DECIDED,
	OF_GROUP,
	OF_LOST,
	OF_BELOW,
	OF_ALL_EVENTS,
	OF_ALL_SAMPLES,
	OF_ALL_PERIOD,
	OF_BLOCKS,
};

static const struct rowset_column values[] = {
	{"samples", "Samples", ROWSET_VALUE, CELL_COUNT, true, .id = OF_SAMPLES},
	{"period", "Period", ROWSET_VALUE, CELL_COUNT, true, .id = OF_PERIOD},
	{"share", "Self", ROWSET_VALUE, CELL_SHARE, true, .id = OF_SHARE},
	{"total_samples", "Samples", ROWSET_VALUE, CELL_COUNT, true, .id = OF_TOTAL_SAMPLES},
	{"total_period", "Period", ROWSET_VALUE, CELL_COUNT, true, .id = OF_TOTAL_PERIOD},
	{"total_share", "Total", ROWSET_VALUE, CELL_SHARE, true, .id = OF_TOTAL_SHARE},
};

static const struct rowset_column certainties[] = {
	{"share_low", "Low", ROWSET_CERTAINTY, CELL_REAL, .id = OF_SHARE_LOW},
	{"share_high", "High", ROWSET_CERTAINTY, CELL_REAL, .id = OF_SHARE_HIGH},
	{"total_share_low", "Low", ROWSET_CERTAINTY, CELL_REAL, .id = OF_TOTAL_SHARE_LOW},
	{"total_share_high", "High", ROWSET_CERTAINTY, CELL_REAL, .id = OF_TOTAL_SHARE_HIGH},
	{"order_decided", "Decided", ROWSET_CERTAINTY, CELL_BOOL, .id = OF_DECIDED},
};

static bool is_of_total(enum id id)
{
	return (id >= OF_TOTAL_SAMPLES && id <= OF_TOTAL_SHARE) || id == OF_TOTAL_SHARE_LOW ||
		id == OF_TOTAL_SHARE_HIGH;
}

static void set_confidence(const struct hist *h, const struct hist_entry *e, enum id id,
	struct cell *ret)
{
	const struct confidence_row *row = &h->confidence->rows[e - h->entries.at];
	const struct batchmeans_range *r = is_of_total(id) ? &row->total : &row->self;

	if (id == OF_DECIDED)
		cell_number(ret, CELL_BOOL, row->is_decided);
	else
		cell_real(ret,
			100 * (id == OF_SHARE_LOW || id == OF_TOTAL_SHARE_LOW ? r->low : r->high),
			4);
}

static void set_event(const struct hist *h, u32 k, struct cell *ret)
{
	cell_text(ret, h->profile->events.at[h->events[k].event].name);
}

static void set_value(const struct hist *h, const struct hist_entry *e, u32 k, enum id id,
	struct cell *ret)
{
	const struct hist_value *v = is_of_total(id) ? &e->of[k].total : &e->of[k].self;

	if (id == OF_SAMPLES || id == OF_TOTAL_SAMPLES)
		cell_number(ret, CELL_COUNT, v->n_samples);
	else if (id == OF_PERIOD || id == OF_TOTAL_PERIOD)
		cell_number(ret, CELL_COUNT, v->period);
	else
		cell_share(ret, v->period, h->events[k].all.period);
}

static void cell_of(const struct rowset *r, const struct rowset_column *c, size_t row, u32 part,
	struct str *room, struct cell *ret)
{
	const struct histrows *own = r->of;
	const struct hist *h = own->hist;
	const struct hist_entry *e = &h->entries.at[row];

	if (c->id == OF_KEY)
		key_cell(c->key, h, e, part, room, ret);
	else if (c->id == OF_FIGURE)
		cell_number(ret, CELL_COUNT, c->key->figure(h, e, part));
	else if (c->id == OF_EVENT)
		set_event(h, part, ret);
	else if (c->id == OF_BELOW)
		histrows_set_below(own, e, ret);
	else if (c->group == ROWSET_CERTAINTY)
		set_confidence(h, e, c->id, ret);
	else
		set_value(h, e, part, c->id, ret);
}

static bool shows(const struct rowset *r, size_t row)
{
	const struct histrows *own = r->of;

	return hist_percent(own->hist, &own->hist->entries.at[row]) >= own->options.limit;
}

/* ---- below rows ---- */

void histrows_set_below(const struct histrows *r, const struct hist_entry *e, struct cell *ret)
{
	if (hist_percent(r->hist, e) >= r->options.graph_limit)
		ret->kind = CELL_ROWS;
}

void histrows_open_below(const struct histrows *r, const struct hist_entry *e, struct rowset *ret)
{
	graphrows_open(ret, r->view, e, r->options.order, r->hist->events[0].all.period);
}

static void below(const struct rowset *r, const struct cell *cell, size_t row, struct rowset *ret)
{
	const struct histrows *own = r->of;

	(void)cell;
	histrows_open_below(own, &own->hist->entries.at[row], ret);
}

/* A view of the call tree covers one group at a time. */
static u32 group_of(const struct rowset *r, size_t row)
{
	const struct histrows *own = r->of;

	return own->hist->entries.at[row].group;
}

/* ---- facts about the table ---- */

#define FACTS(what)                                                                            \
	{                                                                                      \
		{"group", "Group", ROWSET_FACT, CELL_TEXT, .id = OF_GROUP},                    \
			{"event", "Event", ROWSET_PART, CELL_TEXT, true, .id = OF_EVENT},      \
			{"samples", what, ROWSET_VALUE, CELL_COUNT, true, .id = OF_SAMPLES},   \
			{"period", "Period", ROWSET_VALUE, CELL_COUNT, true, .id = OF_PERIOD}, \
			{"lost", "Lost", ROWSET_VALUE, CELL_COUNT, true, .id = OF_LOST},       \
	}

static const struct rowset_column facts[] = FACTS("samples"), branch_facts[] = FACTS("branches");

/* What people read about the table: the names of its events, and sums. */
#define SAID(what)                                                                                \
	{                                                                                         \
		{"events", what, ROWSET_PART, CELL_TEXT, .id = OF_ALL_EVENTS},                    \
			{"samples", "Samples", ROWSET_VALUE, CELL_COUNT, .id = OF_ALL_SAMPLES},   \
			{"period", "Event count", ROWSET_VALUE, CELL_COUNT, .id = OF_ALL_PERIOD}, \
			{"blocks", "Blocks", ROWSET_CERTAINTY, CELL_COUNT, .id = OF_BLOCKS},      \
	}

static const struct rowset_column of_event[] = SAID("event"), of_events[] = SAID("events");

/* "a, b", or "anon group { a, b }" for events that were counted as a group. */
static void add_events(const struct hist *h, struct str *text)
{
	const struct profile_event *first = &h->profile->events.at[h->events[0].event];
	const u32 n = hist_n_parts(h);
	const bool is_group = n > 1 && first->n_group > 1;
	const char *name = first->group ? first->group : "anon group";

	if (is_group) {
		str_add_safe(text, name, strlen(name));
		str_add(text, " { ");
	}
	for (u32 k = 0; k < n; k++) {
		str_add(text, k ? ", " : "");
		str_add_safe(text, first[k].name, strlen(first[k].name));
	}
	str_add(text, is_group ? " }" : "");
}

static void set_sum(const struct hist *h, enum id id, struct cell *ret)
{
	u64 n = 0;

	for (u32 k = 0; k < hist_n_parts(h); k++)
		n += id == OF_ALL_SAMPLES ? h->events[k].all.n_samples : h->events[k].all.period;
	cell_number(ret, CELL_COUNT, n);
}

static void fact_of(const struct rowset *r, const struct rowset_column *c, size_t row, u32 part,
	struct str *room, struct cell *ret)
{
	const struct hist *h = ((const struct histrows *)r->of)->hist;
	const struct profile_event *event = &h->profile->events.at[h->events[part].event];

	(void)row;
	if (c->id == OF_ALL_EVENTS) {
		add_events(h, room);
		cell_text(ret, str_text(room));
	} else if (c->id == OF_ALL_SAMPLES || c->id == OF_ALL_PERIOD) {
		set_sum(h, c->id, ret);
	} else if (c->id == OF_BLOCKS) {
		cell_number(ret, CELL_COUNT, h->confidence->n_blocks);
	} else if (c->id == OF_EVENT) {
		set_event(h, part, ret);
	} else if (c->id == OF_SAMPLES) {
		cell_number(ret, CELL_COUNT, h->events[part].all.n_samples);
	} else if (c->id == OF_PERIOD) {
		cell_number(ret, CELL_COUNT, h->events[part].all.period);
	} else if (c->id == OF_LOST) {
		cell_number(ret, CELL_COUNT, event->n_lost);
	} else {
		cell_text(ret, event->group);
	}
}

/* ---- columns ---- */

static struct rowset_column column_of(const struct key *key, const struct hist *h)
{
	const bool has_children = h->options->has_children && key->title_with_children;

	return (struct rowset_column){key->name,
		has_children ? key->title_with_children : key->title,
		key == &confidence_column ? ROWSET_CERTAINTY
			: key->is_value   ? ROWSET_VALUE
					  : ROWSET_KEY,
		key->kind, (key->figure || key->band) && !h->table.are_columns, key->has_name,
		.id = OF_KEY, .key = key, .band = key->band};
}

static void add(struct histrows *r, struct rowset_column column)
{
	r->columns[r->rows.n_columns++] = column;
}

/* Whether any entry has some of the part, of any event. */
static bool is_there(const struct hist *h, const struct key *part)
{
	vec_each(e, &h->entries)
		for (u32 k = 0; k < h->n_events; k++)
			if (hist_sum(h, e, k, part->sums))
				return true;
	return false;
}

/* For programs: the sums that were asked for. */
static void add_sums(struct histrows *r, const struct histrows_options *o)
{
	for (size_t i = 0; i < o->n_columns; i++)
		if (o->columns[i]->is_value && o->columns[i]->label)
			add(r,
				(struct rowset_column){o->columns[i]->name, o->columns[i]->title,
					ROWSET_SUM, CELL_COUNT, true, .id = OF_FIGURE,
					.key = o->columns[i]});
}

/* For programs: what else is known of the figures that were asked for. */
static void add_data(struct histrows *r, const struct histrows_options *o)
{
	for (size_t i = 0; i < o->n_columns; i++) {
		if (o->columns[i]->is_data)
			add(r, column_of(o->columns[i], r->hist));
		for (size_t k = 0; k < o->columns[i]->n_data; k++)
			add(r, column_of(&o->columns[i]->data[k], r->hist));
	}
}

static void choose_columns(struct histrows *r, const struct histrows_options *o)
{
	const struct hist *h = r->hist;

	add(r,
		(struct rowset_column){"event", "Event", ROWSET_PART, CELL_TEXT, true,
			.id = OF_EVENT});
	for (size_t i = 0; i < h->options->n_keys; i++)
		add(r, column_of(h->options->keys[i], h));
	add_sums(r, o);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (h->options->has_children || !is_of_total(values[i].id))
			add(r, values[i]);
	add_data(r, o);
	if (o->has_graph)
		add(r,
			(struct rowset_column){o->order == GRAPH_CALLER ? "calls" : "callers",
				"Calls", ROWSET_BELOW, CELL_ROWS, .id = OF_BELOW});
	if (!h->confidence)
		return;
	add(r, column_of(&confidence_column, h));
	for (size_t i = 0; i < ARRAY_SIZE(certainties); i++)
		if (h->options->has_children || !is_of_total(certainties[i].id))
			add(r, certainties[i]);
}

static void show(struct histrows *r, const struct key *key, u16 width)
{
	struct rowset_column *c = &r->shown[r->rows.n_shown++];

	*c = column_of(key, r->hist);
	c->width = width;
}

/* For people: of a figure's parts those that there are. */
static void choose_shown(struct histrows *r, const struct histrows_options *o)
{
	for (size_t i = 0; i < o->n_columns; i++) {
		const struct key *key = o->columns[i];

		if (!key->has_parts)
			show(r, key, o->widths[i]);
		for (size_t k = 0; key->has_parts && k < key->n_data; k++)
			if (is_there(r->hist, &key->data[k]))
				show(r, &key->data[k], 0);
	}
}

void histrows_init(struct histrows *r, const struct hist *h, const struct histrows_options *o)
{
	const bool is_one = hist_n_parts(h) == 1;

	*r = (struct histrows){.hist = h, .options = *o};
	if (o->has_graph) {
		r->view = mem_alloc(sizeof(*r->view));
		hist_view_init(r->view, h);
	}
	r->head = (struct rowset){.columns = h->profile->has_branches ? branch_facts : facts,
		.shown = is_one ? of_event : of_events,
		.n_columns = ARRAY_SIZE(facts),
		.n_shown = ARRAY_SIZE(of_event) - !h->confidence,
		.n = 1,
		.n_parts = h->n_events,
		.parts_name = "events",
		.of = r,
		.cell = fact_of};
	r->rows = (struct rowset){.columns = r->columns,
		.shown = r->shown,
		.n = h->entries.n,
		.n_parts = h->n_events,
		.parts_name = "values",
		.head = &r->head,
		.is_of_samples = true,
		.of = r,
		.cell = cell_of,
		.shows = shows,
		.below = below,
		.group = group_of};
	choose_columns(r, o);
	choose_shown(r, o);
}

void histrows_fini(struct histrows *r)
{
	if (r->view)
		hist_view_fini(r->view);
	mem_free(r->view);
}
