#include "cmd/top/top_rows.h"

#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "profile/gather/label.h"
#include "profile/rows/key.h"

#define DEFAULT_KEYS  "dso,symbol"
#define WALL_KEYS     "comm,dso,symbol"
#define GRAPH_PERCENT 0.5 /* smaller branches are left out */

static int add(const struct key **keys, size_t *n, const struct key *key, struct err *err)
{
	for (size_t i = 0; i < *n; i++)
		if (keys[i] == key)
			return 0;
	if (*n == HIST_KEYS_MAX)
		return err_set(err, ERR_INVAL, "more than %d keys", HIST_KEYS_MAX);
	keys[(*n)++] = key;
	return 0;
}

static int add_named(const struct key **keys, size_t *n, const char *name, struct err *err)
{
	return add(keys, n, key_find(name, strlen(name)), err);
}

/* Keys about a sample's own place have no value for callers. */
static bool is_of_own_place(const struct key *key)
{
	return key->label == LABEL_IP || key->label == LABEL_MAP_BYTES;
}

/* Keys of what top neither measures nor looks for. */
static bool needs_recording(const struct key *key)
{
	return key->is_of_blocks || key_is_of_branches(key) ||
		label_needs_sideband(LABEL_BIT(key->label)) || key->label == LABEL_PARENT ||
		key->label == LABEL_ACCESS || key->label == LABEL_TRACE ||
		key->label == LABEL_SOCKET || (key->label && key->is_value);
}

/* Takes what rows are grouped by. */
static int take_keys(struct top_rows *r, const struct key *const *keys, size_t n, struct err *err)
{
	struct hist_options *h = &r->hist;

	for (size_t i = 0; i < n; i++) {
		const struct key *key = keys[i];

		if (needs_recording(key))
			return err_set(err, ERR_INVAL,
				"key '%s' needs a recording: 'pace record', then 'pace report -s %s'",
				key->name, key->name);
		if (key->is_wall && !r->options->record.records.has_wall)
			return err_set(err, ERR_INVAL,
				"'%s' is about time on and off the CPU: add --wall", key->name);
		if (is_of_own_place(key) && h->has_children)
			return err_set(err, ERR_INVAL,
				"key '%s' describes where samples were taken, not their callers: add --no-children",
				key->name);
		if (!key->is_value && add(h->keys, &h->n_keys, key, err))
			return err->code;
	}
	return 0;
}

static int choose_columns(struct top_rows *r, const struct key *const *keys, size_t n,
	struct err *err)
{
	static const char *const of_wall[] = {"wall", "wall_cpu_time", "wall_runnable_time",
		"wall_blocked_time"};
	const struct top_options *o = r->options;
	const bool has_wall = o->record.records.has_wall;
	const struct key **columns = r->rows.columns;
	size_t *n_columns = &r->rows.n_columns;

	for (size_t i = 0; has_wall && !o->fields && i < ARRAY_SIZE(of_wall); i++)
		if (add_named(columns, n_columns, of_wall[i], err))
			return err->code;
	if ((!o->fields && !has_wall && r->hist.has_children &&
		    add(columns, n_columns, key_total, err)) ||
		(!o->fields && !has_wall && add(columns, n_columns, key_self, err)) ||
		(o->has_counts && add_named(columns, n_columns, "sample", err)) ||
		(o->has_periods && add_named(columns, n_columns, "period", err)))
		return err->code;
	for (size_t i = 0; i < n; i++)
		if (add(columns, n_columns, keys[i], err))
			return err->code;
	return 0;
}

/* Of a fleet whatever is no key is a label; which labels there are only its hosts know. */
static const struct key *find_label(void *ctx, const char *name, size_t n)
{
	struct top_rows *r = ctx;
	const struct key *found = key_own_find(&r->own, name, n);
	char *own = found || !r->options->fleet ? NULL : key_own_name(&r->own, name, n);

	return own ? key_own_add(&r->own, own) : found;
}

static int parse(struct top_rows *r, const char *words, const struct key **keys, size_t *ret_n,
	struct err *err)
{
	const struct key_source more = {.ctx = r, .find = find_label};

	return key_parse_list_of(words, &more, keys, HIST_KEYS_MAX, ret_n, err);
}

static int choose_keys(struct top_rows *r, struct err *err)
{
	const struct top_options *o = r->options;
	const struct key *sort[HIST_KEYS_MAX], *fields[HIST_KEYS_MAX];
	size_t n_sort = 0, n_fields = 0;

	if (o->fields &&
		(parse(r, o->fields, fields, &n_fields, err) ||
			take_keys(r, fields, n_fields, err)))
		return err_prefix(err, "--fields");
	if ((o->sort || !o->fields) &&
		(parse(r,
			 o->sort                              ? o->sort
				 : o->record.records.has_wall ? WALL_KEYS
							      : DEFAULT_KEYS,
			 sort, &n_sort, err) ||
			take_keys(r, sort, n_sort, err)))
		return err_prefix(err, "--sort");
	if (!r->hist.n_keys)
		return err_set(err, ERR_INVAL, "%s: a key to group by is needed, like symbol",
			o->sort ? "--sort" : "--fields");
	return n_fields ? choose_columns(r, fields, n_fields, err)
			: choose_columns(r, sort, n_sort, err);
}

static int choose_widths(struct top_rows *r, struct err *err)
{
	enum { WIDEST = 4096 };
	const char *p = r->options->widths;
	u64 width;

	for (size_t i = 0; p && *p && i < r->rows.n_columns; i++) {
		if (!num_scan(&p, 10, &width) || width > WIDEST || (*p && *p != ','))
			return err_set(err, ERR_INVAL,
				"--column-widths '%.60s': expected widths up to %d, like 10,0,20",
				r->options->widths, WIDEST);
		r->rows.widths[i] = (u16)width;
		p += *p == ',';
	}
	return 0;
}

static void choose_graph(struct top_rows *r)
{
	const struct top_options *o = r->options;
	const struct graph_options *g = &o->graph;

	r->rows.limit = r->text.row_limit = o->percent_limit;
	/* All trees, each time: more than anybody reads from a pipe. */
	r->rows.has_graph = !g->is_none && !o->is_json &&
		(o->record.callers.has_chains || (o->record.records.has_wall && o->is_screen));
	r->rows.order = g->has_order   ? g->order
		: r->hist.has_children ? GRAPH_CALLER
				       : GRAPH_CALLEE;
	r->hist.prefers_callers = r->rows.has_graph;
	r->hist.is_relative = o->filter.is_relative;
	r->text.n_workers = 1;
	r->text.has_colour = colour_is_on(o->colour, STDOUT_FILENO);
	r->text.drawing = (struct drawing_options){.style = g->style,
		.value = g->value,
		.limit = g->limit >= 0 ? g->limit : MAX(o->percent_limit, GRAPH_PERCENT),
		.entries = g->entries,
		.skips_first_node = r->hist.keys[0]->frame == KEY_SYMBOL,
		.has_colour = r->text.has_colour};
	r->rows.graph_limit = g->style == DRAWING_FRACTAL ? 0 : r->text.drawing.limit;
}

int top_rows_choose(struct top_rows *r, const struct top_options *o, struct err *err)
{
	*r = (struct top_rows){.options = o};
	if (o->children > 0 && !o->record.callers.has_chains)
		return err_set(err, ERR_INVAL, "--children looks at callers: add -g");
	if (o->ignored_callees && !o->record.callers.has_chains)
		return err_set(err, ERR_INVAL, "--ignore-callees looks at callers: add -g");
	r->hist.has_children = o->record.callers.has_chains &&
		(o->record.records.has_wall ? o->children > 0 : o->children);
	if (choose_keys(r, err) || choose_widths(r, err))
		return err->code;
	choose_graph(r);
	return 0;
}

u64 top_rows_labels(const struct top_rows *r)
{
	return key_labels(r->hist.keys, r->hist.n_keys);
}

enum naming_source top_rows_source(const struct top_rows *r)
{
	return key_naming_source(r->hist.keys, r->hist.n_keys);
}

/* Leaves out entries with few samples, and those behind the last one that is wanted. */
static void cut(struct hist *h, u64 least, u64 most)
{
	size_t n = 0;

	for (size_t i = 0; i < h->entries.n && (!most || n < most); i++) {
		const struct hist_entry *e = &h->entries.at[i];

		if (MAX(e->of[0].self.n_samples, e->of[0].total.n_samples) >= least)
			h->entries.at[n++] = *e;
	}
	h->entries.n = n;
}

void top_table_open(struct top_table *t, const struct top_rows *r, const struct profile *p,
	const struct calls *c, u32 event, u64 most)
{
	const struct hist_events events = top_rows_has_columns(r)
		? hist_events_of_wall(AGGREGATE_WALL)
		: (struct hist_events){.first = event, .n = 1};

	hist_init_table(&t->hist, p, c, &events, &r->hist);
	cut(&t->hist, r->options->least_samples, most);
	histrows_init(&t->rows, &t->hist, &r->rows);
}

void top_table_close(struct top_table *t)
{
	histrows_fini(&t->rows);
	hist_fini(&t->hist);
}
