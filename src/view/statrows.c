#include "view/statrows.h"

enum id {
	OF_KIND,
	OF_TIME,
	OF_PLACE,
	OF_COUNTERS,
	OF_EVENT,
	OF_CGROUP,
	OF_STATE,
	OF_VALUE,
	OF_UNIT,
	OF_RAW,
	OF_ENABLED,
	OF_RUNNING,
	OF_RUNNING_SHARE,
	OF_SCALING,
	OF_DEVIATION,
	OF_METRICS,
	OF_METRIC,
	OF_METRIC_UNIT,
	OF_IS_PERCENT,
	OF_METRIC_REASON,
	OF_REASON,
};

#define COLUMN(name, title, kind, of)                    \
	{                                                \
		name, title, ROWSET_FACT, kind, .id = of \
	}

/* What counts have in either form: the names are in pace-stat(1). */
#define COUNTS                                                                         \
	COLUMN("time_s", "Time", CELL_REAL, OF_TIME),                                  \
		COLUMN("place", "Place", CELL_TEXT, OF_PLACE),                         \
		COLUMN("counters", "Counters", CELL_COUNT, OF_COUNTERS),               \
		COLUMN("event", "Event", CELL_TEXT, OF_EVENT),                         \
		COLUMN("cgroup", "Cgroup", CELL_TEXT, OF_CGROUP),                      \
		COLUMN("state", "State", CELL_TEXT, OF_STATE),                         \
		COLUMN("value", "Value", CELL_REAL, OF_VALUE),                         \
		COLUMN("unit", "Unit", CELL_TEXT, OF_UNIT),                            \
		COLUMN("raw", "Raw", CELL_COUNT, OF_RAW),                              \
		COLUMN("enabled_ns", "Enabled", CELL_COUNT, OF_ENABLED),               \
		COLUMN("running_ns", "Running", CELL_COUNT, OF_RUNNING),               \
		COLUMN("running_pct", "Running %", CELL_REAL, OF_RUNNING_SHARE),       \
		COLUMN("scaling_error_pct", "Scaling error %", CELL_REAL, OF_SCALING), \
		COLUMN("deviation_pct", "Deviation %", CELL_REAL, OF_DEVIATION)

static const struct rowset_column nested[] = {COLUMN("kind", "Kind", CELL_TEXT, OF_KIND), COUNTS,
	COLUMN("metrics", "Metrics", CELL_ROWS, OF_METRICS),
	COLUMN("reason", "Reason", CELL_TEXT, OF_REASON)};

static const struct rowset_column flat[] = {COUNTS,
	COLUMN("metric", "Metric", CELL_REAL, OF_METRIC),
	COLUMN("metric_unit", "Unit", CELL_TEXT, OF_METRIC_UNIT),
	COLUMN("reason", "Reason", CELL_TEXT, OF_REASON)};

static const struct rowset_column metrics[] = {COLUMN("value", "Value", CELL_REAL, OF_METRIC),
	COLUMN("unit", "Unit", CELL_TEXT, OF_METRIC_UNIT),
	COLUMN("is_percent", "Percent", CELL_BOOL, OF_IS_PERCENT),
	COLUMN("reason", "Reason", CELL_TEXT, OF_METRIC_REASON)};

/* ---- cells ---- */

/* The reason has a column of its own. */
static void set_known(bool is_known, double v, unsigned digits, struct cell *ret)
{
	if (is_known)
		cell_real(ret, v, digits);
	else
		cell_text(ret, NULL);
}

static void set_count(bool is_known, u64 n, struct cell *ret)
{
	if (is_known)
		cell_number(ret, CELL_COUNT, n);
	else
		cell_text(ret, NULL);
}

static void set_text(const char *text, struct cell *ret)
{
	if (text && *text)
		cell_text(ret, text);
}

static void cell_of_metric(const struct metric *m, enum id id, struct str *room, struct cell *ret)
{
	if (id == OF_METRIC) {
		set_known(m->state == METRIC_VALUE, m->value, 6, ret);
	} else if (id == OF_METRIC_UNIT) {
		str_addf(room, "%s%s", m->is_percent ? "% " : "", m->unit);
		cell_text(ret, str_text(room));
	} else if (id == OF_IS_PERCENT) {
		cell_number(ret, CELL_BOOL, m->is_percent);
	} else if (m->state == METRIC_APART) {
		cell_text(ret, STAT_APART);
	}
}

static void cell_of_line(const struct statrows *r, const struct stat_line *l, enum id id,
	struct cell *ret)
{
	const bool is_counted = l->state == COUNT_OK;

	switch (id) {
	case OF_KIND:
		cell_text(ret, "count");
		return;
	case OF_TIME:
		if (r->time_ns != UINT64_MAX)
			cell_real(ret, (double)r->time_ns / 1e9, 9);
		return;
	case OF_PLACE:
		set_text(l->place->name, ret);
		return;
	case OF_COUNTERS:
		cell_number(ret, CELL_COUNT, l->place->n_counters);
		return;
	case OF_EVENT:
		cell_text(ret, l->event->name);
		return;
	case OF_CGROUP:
		if (l->event->cgroup)
			cell_text(ret, stat_cgroup(l->event));
		return;
	case OF_STATE:
		cell_text(ret, stat_state_name(l->state));
		return;
	case OF_VALUE:
		set_known(is_counted, l->count.value, stat_digits(r->view, l), ret);
		return;
	case OF_UNIT:
		cell_text(ret, counts_unit(l->event));
		return;
	case OF_RAW:
		set_count(is_counted, l->count.raw, ret);
		return;
	case OF_ENABLED:
		cell_number(ret, CELL_COUNT, l->count.enabled_ns);
		return;
	case OF_RUNNING:
		cell_number(ret, CELL_COUNT, l->count.running_ns);
		return;
	case OF_RUNNING_SHARE:
		set_known(l->state != COUNT_NOT_OPENED, 100 * count_share(&l->count), 2, ret);
		return;
	case OF_SCALING:
		set_known(l->scaling_error >= 0, 100 * l->scaling_error, 2, ret);
		return;
	case OF_DEVIATION:
		set_known(l->deviation >= 0, 100 * l->deviation, 2, ret);
		return;
	case OF_METRICS:
		cell_number(ret, CELL_ROWS, l->n_metrics);
		return;
	default:
		set_text(l->reason, ret);
	}
}

/* A time of the run, as if it were an event. */
static void cell_of_time(const struct statrows *r, u32 which, enum id id, struct cell *ret)
{
	static const char *const names[] = {"elapsed", "user", "sys"};
	const struct counts *s = r->view->counts;
	const struct spread *times[] = {&s->elapsed_ns, &s->user_ns, &s->system_ns};
	const struct spread *ns = times[which];
	const char *ended = r->facts->ended;

	if (id == OF_EVENT)
		cell_text(ret, names[which]);
	else if (id == OF_STATE)
		cell_text(ret, ended ? "incomplete" : "counted");
	else if (id == OF_VALUE)
		cell_real(ret, ns->mean / 1e9, 9);
	else if (id == OF_UNIT)
		cell_text(ret, "seconds");
	else if (id == OF_DEVIATION && ns->n > 1 && ns->mean > 0)
		cell_real(ret, 100 * spread_error(ns) / ns->mean, 2);
	else if (id == OF_REASON)
		set_text(ended, ret);
}

static void cell_of(const struct rowset *rows, const struct rowset_column *c, size_t row, u32 part,
	struct str *room, struct cell *ret)
{
	const struct statrows *r = rows->of;
	const struct statrow *at = &r->at.at[row];
	const struct stat_line *l = at->line == UINT32_MAX ? NULL : &r->lines->at[at->line];
	const bool has_metric = l && at->metric < l->n_metrics;

	(void)part;
	if (!l)
		cell_of_time(r, at->metric, c->id, ret);
	else if (c->id != OF_METRIC && c->id != OF_METRIC_UNIT)
		cell_of_line(r, l, c->id, ret);
	else if (has_metric)
		cell_of_metric(&l->metrics[at->metric], c->id, room, ret);
	if (c->id == OF_REASON && rows->columns == flat && has_metric && !l->reason)
		cell_of_metric(&l->metrics[at->metric], OF_METRIC_REASON, room, ret);
}

/* ---- metrics of a line ---- */

static void cell_below(const struct rowset *rows, const struct rowset_column *c, size_t row,
	u32 part, struct str *room, struct cell *ret)
{
	const struct stat_line *l = rows->of;

	(void)part;
	if (c->id == OF_METRIC_UNIT)
		cell_text(ret, l->metrics[row].unit);
	else
		cell_of_metric(&l->metrics[row], c->id, room, ret);
}

static void below(const struct rowset *rows, const struct rowset_column *c, size_t row,
	struct rowset *ret)
{
	const struct statrows *r = rows->of;
	const struct stat_line *l = &r->lines->at[r->at.at[row].line];

	(void)c;
	*ret = (struct rowset){.columns = metrics,
		.n_columns = ARRAY_SIZE(metrics),
		.n = l->n_metrics,
		.n_parts = 1,
		.of = l,
		.cell = cell_below};
}

void statrows_init(struct statrows *r, const struct stat_view *v, const struct stat_lines *lines,
	const struct stat_facts *facts, u64 time_ns, bool is_flat)
{
	const u32 n_times = !facts || !is_flat ? 0 : facts->has_usage ? 3 : 1;

	*r = (struct statrows){.view = v, .lines = lines, .facts = facts, .time_ns = time_ns};
	for (u32 i = 0; i < lines->n; i++) {
		vec_add(&r->at, ((struct statrow){i, 0}));
		for (u32 k = 1; is_flat && k < lines->at[i].n_metrics; k++)
			vec_add(&r->at, ((struct statrow){i, k}));
	}
	for (u32 i = 0; i < n_times; i++)
		vec_add(&r->at, ((struct statrow){UINT32_MAX, i}));
	r->rows = (struct rowset){.columns = is_flat ? flat : nested,
		.n_columns = is_flat ? ARRAY_SIZE(flat) : ARRAY_SIZE(nested),
		.n = r->at.n,
		.n_parts = 1,
		.of = r,
		.cell = cell_of,
		.below = below};
}

void statrows_fini(struct statrows *r)
{
	vec_fini(&r->at);
}
