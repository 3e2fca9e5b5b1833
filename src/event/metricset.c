#include "event/metricset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "base/sysfile.h"
#include "event/metricgroup.h"

enum { DEPTH_MAX = 64, PARAMETERS_MAX = 64 };

void metricset_init(struct metricset *s, const struct metrictable *table,
	const struct parse_env *env, struct metric_facts *facts,
	const struct metricset_options *options)
{
	*s = (struct metricset){.table = table, .env = *env, .facts = facts, .options = *options};
	/* Formulas of Meteor Lake and later have latencies: "EVENT:R". */
	s->env.takes_latencies = true;
}

void metricset_fini(struct metricset *s)
{
	vec_each(use, &s->uses) {
		metricexpr_fini(&use->value.x);
		metricexpr_fini(&use->threshold.x);
	}
	vec_fini(&s->uses);
	vec_fini(&s->events);
	arena_fini(&s->arena);
}

/* ---- what a formula asks before anything is counted ---- */

struct asking {
	struct metricset *set;
	const struct metric_row *row;
	const struct metricexpr *x;
};

static int try_event(const struct metricset *s, const char *text, struct err *err)
{
	struct event_list events = {0};
	int r = parse_events(text, &s->env, &events, err);

	event_list_fini(&events);
	return r;
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Its position; TABLE_NONE if nobody has asked for it so far. Arm's tables write OP_RETIRED and op_retired. */
static u32 find_event(const struct metricset *s, const char *text, const char *pmu)
{
	vec_each(e, &s->events)
		if (!strcasecmp(e->text, text) && is_same(e->pmu, pmu))
			return (u32)(e - s->events.at);
	return TABLE_NONE;
}

static bool is_here(void *ctx, u32 name)
{
	const struct asking *a = ctx;
	const char *text = a->x->names.at[name].text;
	struct err err;

	return find_event(a->set, text, a->row->pmu) != TABLE_NONE ||
		!try_event(a->set, text, &err);
}

static bool has_pmu(void *ctx, const char *pmu)
{
	return metricfacts_has_pmu(((struct asking *)ctx)->set->facts, pmu);
}

static bool is_cpu(void *ctx, const char *model)
{
	return metricfacts_is_cpu(((struct asking *)ctx)->set->facts, model);
}

static double literal_of(void *ctx, const char *name)
{
	return metricfacts_literal(((struct asking *)ctx)->set->facts, name);
}

/* ---- names of formulas ---- */

/* The metrics that are being added, from the one that was asked for. */
struct chain {
	const struct metric_row *rows[DEPTH_MAX];
	unsigned n;
};

static int add_use(struct metricset *s, const struct metric_row *row, u32 parameter,
	struct chain *chain, struct err *err);

static bool is_own_name(const struct metric_row *row, const char *name)
{
	return !strcasecmp(name, row->name) ||
		(row->other_name && !strcasecmp(name, row->other_name));
}

/* The metric that a name of a row's formula stands for; NULL: it is an event's. */
static const struct metric_row *metric_named(const struct metricset *s,
	const struct metric_row *row, const char *name)
{
	if (strpbrk(name, "/:") || is_own_name(row, name))
		return NULL;
	return metrictable_find(s->table, row->pmu, name);
}

static int resolve_name(struct metricset *s, const struct metric_row *row, u32 parameter,
	const char *name, struct chain *chain, struct metric_operand *operand, struct err *err)
{
	const struct metric_row *metric = metric_named(s, row, name);
	int r;

	if (metric) {
		r = add_use(s, metric, parameter, chain, err);
		if (r >= 0)
			operand->use = (u32)r;
		return r < 0 ? r : 0;
	}
	operand->event = find_event(s, name, row->pmu);
	if (operand->event != TABLE_NONE)
		return 0;
	if (try_event(s, name, err))
		return err_prefix(err, "metric '%s'", row->name);
	operand->event = (u32)s->events.n;
	vec_add(&s->events,
		((struct metric_event){arena_strdup(&s->arena, name, strlen(name)), row->pmu}));
	return 0;
}

static int compile(const struct metric_row *row, const char *text, u32 parameter,
	struct metric_formula *f, struct err *err)
{
	if (metricexpr_compile(&f->x, text, parameter, err))
		return err_prefix(err, "the formula of metric '%s'", row->name);
	return 0;
}

/* Finds out what the names of a compiled formula stand for; `self`: the metric's own name stands for itself. */
static int resolve(struct metricset *s, const struct metric_row *row, u32 parameter, u32 self,
	struct chain *chain, struct metric_formula *f, struct err *err)
{
	struct asking ctx = {s, row, &f->x};
	const struct metricexpr_world world = {.has_event = is_here,
		.has_pmu = has_pmu,
		.is_cpu = is_cpu,
		.literal = literal_of,
		.ctx = &ctx};
	bool *needs = mem_zalloc(f->x.names.n + 1);
	int r = 0;

	metricexpr_needs(&f->x, &world, needs);
	f->operands = arena_alloc(&s->arena, (f->x.names.n + 1) * sizeof(*f->operands));
	for (u32 i = 0; i < f->x.names.n && !r; i++) {
		const char *name = f->x.names.at[i].text;

		f->operands[i] = (struct metric_operand){TABLE_NONE, TABLE_NONE, needs[i]};
		if (!needs[i])
			f->operands[i].is_here = is_here(&ctx, i);
		else if (self != TABLE_NONE && is_own_name(row, name))
			f->operands[i].use = self;
		else
			r = resolve_name(s, row, parameter, name, chain, &f->operands[i], err);
	}
	mem_free(needs);
	return r;
}

/* ---- metrics ---- */

static int in_circles(const struct chain *chain, const struct metric_row *row, struct err *err)
{
	char path[512] = "";
	size_t n = 0;

	for (unsigned i = 0; i < chain->n && n < sizeof(path); i++)
		n += (size_t)snprintf(path + n, sizeof(path) - n, "%s -> ", chain->rows[i]->name);
	return err_set(err, ERR_INVAL, "metric '%s' is made of itself: %s%s", row->name, path,
		row->name);
}

static const char *name_of(struct metricset *s, const struct metric_row *row,
	const struct metricexpr *x, u32 parameter)
{
	char name[300];

	if (!x->has_parameter)
		return row->name;
	snprintf(name, sizeof(name), "%.200s_%u", row->name, parameter);
	return arena_strdup(&s->arena, name, strlen(name));
}

/* Adds a metric and what it is made of; returns its position or an error. */
static int add_use(struct metricset *s, const struct metric_row *row, u32 parameter,
	struct chain *chain, struct err *err)
{
	struct metric_use use = {.row = row, .parameter = parameter};

	vec_each(known, &s->uses)
		if (known->row == row && known->parameter == parameter)
			return (int)(known - s->uses.at);
	for (unsigned i = 0; i < chain->n; i++)
		if (chain->rows[i] == row)
			return in_circles(chain, row, err);
	if (chain->n == DEPTH_MAX)
		return err_set(err, ERR_LIMIT, "metric '%s' is made of metrics more than %d deep",
			chain->rows[0]->name, DEPTH_MAX);
	if (compile(row, row->expr, parameter, &use.value, err))
		return err->code;
	chain->rows[chain->n++] = row;
	if (resolve(s, row, parameter, TABLE_NONE, chain, &use.value, err)) {
		metricexpr_fini(&use.value.x);
		return err->code;
	}
	chain->n--;
	use.name = name_of(s, row, &use.value.x, parameter);
	vec_add(&s->uses, use);
	return (int)s->uses.n - 1;
}

/* A threshold that cannot be computed here is left out: the value is worth knowing without it. */
static void add_threshold(struct metricset *s, u32 at)
{
	const struct metric_row *row = s->uses.at[at].row;
	u32 parameter = s->uses.at[at].parameter;
	struct metric_formula f = {0};
	struct chain chain = {0};
	struct err err;

	if (!row->threshold || s->options.has_no_thresholds ||
		compile(row, row->threshold, parameter, &f, &err))
		return;
	if (resolve(s, row, parameter, at, &chain, &f, &err)) {
		metricexpr_fini(&f.x);
		return;
	}
	s->uses.at[at].threshold = f;
	s->uses.at[at].has_threshold = true;
}

/* ---- the events of a metric ---- */

static void mark_events(const struct metric_formula *f, bool *marks)
{
	for (u32 i = 0; i < f->x.names.n; i++) {
		const struct metric_operand *o = &f->operands[i];

		if (o->event != TABLE_NONE)
			marks[o->event] = true;
	}
}

static void mark_uses(const struct metric_formula *f, bool *is_used)
{
	for (u32 i = 0; i < f->x.names.n; i++)
		if (f->operands[i].use != TABLE_NONE)
			is_used[f->operands[i].use] = true;
}

/* Lists what a metric is made of, and the events of all that. */
static void list_parts(struct metricset *s, u32 at)
{
	struct metric_use *use = &s->uses.at[at];
	bool *marks = mem_zalloc(s->events.n + 1), *is_used = mem_zalloc(s->uses.n + 1);

	is_used[at] = true;
	if (use->has_threshold) {
		mark_uses(&use->threshold, is_used);
		mark_events(&use->threshold, marks);
	}
	/* What a metric is made of stands before it. */
	for (size_t i = s->uses.n; i-- > 0;) {
		if (!is_used[i])
			continue;
		mark_uses(&s->uses.at[i].value, is_used);
		mark_events(&s->uses.at[i].value, marks);
	}
	use->parts = arena_alloc(&s->arena, (s->uses.n + 1) * sizeof(*use->parts));
	for (u32 i = 0; i < s->uses.n; i++)
		if (is_used[i])
			use->parts[use->n_parts++] = i;
	use->events = arena_alloc(&s->arena, (s->events.n + 1) * sizeof(*use->events));
	for (u32 i = 0; i < s->events.n; i++)
		if (marks[i])
			use->events[use->n_events++] = i;
	mem_free(marks);
	mem_free(is_used);
}

/* ---- what is asked for ---- */

static bool is_apart(const struct metricset *s, const struct metric_row *row)
{
	switch (row->apart) {
	case METRIC_APART_ALWAYS:
		return true;
	case METRIC_APART_WITH_WATCHDOG:
		return metricfacts_has_watchdog();
	case METRIC_APART_WITH_SMT:
		return metricfacts_literal(s->facts, "smt_on") == 1;
	default:
		return false;
	}
}

static int ask(struct metricset *s, const struct metric_row *row, u32 parameter, bool is_loose,
	struct err *err)
{
	struct chain chain = {0};
	int at = add_use(s, row, parameter, &chain, err);
	struct metric_use *use;

	if (at < 0)
		return at;
	if (s->uses.at[at].is_asked)
		return 0;
	add_threshold(s, (u32)at);
	use = &s->uses.at[at];
	use->is_asked = true;
	use->is_loose = is_loose || s->options.has_no_groups || is_apart(s, row);
	list_parts(s, (u32)at);
	if (use->n_events) {
		s->n_asked++;
		return 0;
	}
	use->is_asked = false;
	return err_set(err, ERR_INVAL, "metric '%s' depends on no count on this machine: '%.200s'",
		use->name, row->expr);
}

/* How many things of its kind a metric with a "?" is about: POWER's chips. */
static u32 n_parameters(const struct metricset *s, const struct metric_row *row)
{
	char path[300];
	s64 n;

	snprintf(path, sizeof(path), "%s/devices/hv_24x7/interface/sockets", s->facts->sysfs);
	if (!strchr(row->expr, '?') || !sysfile_s64(path, &n))
		return 1;
	return n < 1 ? 1 : n > PARAMETERS_MAX ? PARAMETERS_MAX : (u32)n;
}

static int ask_all(struct metricset *s, const struct metric_row *row, bool is_loose,
	struct err *err)
{
	u32 n = n_parameters(s, row);

	for (u32 i = 0; i < n; i++)
		if (ask(s, row, i, is_loose, err))
			return err->code;
	return 0;
}

int metricset_ask_row(struct metricset *s, const struct metric_row *row, struct err *err)
{
	return ask_all(s, row, false, err);
}

static bool is_of_topdown(const char *word)
{
	return !strncasecmp(word, "topdown", strlen("topdown")) ||
		!strncasecmp(word, "tma_", strlen("tma_"));
}

static int not_found(const struct metricset *s, const char *word, struct err *err)
{
	struct nearest near = {.typed = word};
	struct intern groups = {0};
	struct str message = {0};

	metrictable_groups(s->table, &groups);
	vec_each(row, &s->table->rows)
		nearest_offer(&near, (*row)->name);
	vec_each(group, &groups.strings)
		nearest_offer(&near, *group);
	str_addf(&message, "there is no metric or group of metrics '%s'", word);
	nearest_add_hint(&near, &message);
	str_add(&message, "; 'pace list metrics' shows those of this machine");
	if (!s->env.catalog || !s->env.catalog->metrics.n) {
		str_add(&message,
			", and --events-dir names a folder with the vendor's, of which none was found");
		if (is_of_topdown(word))
			str_add(&message, "; 'pace stat --topdown' needs none");
	}
	err_set(err, ERR_NOENT, "%s", str_text(&message));
	str_fini(&message);
	intern_fini(&groups);
	return err->code;
}

int metricset_ask(struct metricset *s, const char *word, struct log *log, struct err *err)
{
	u32 n_found = 0, n_left_out = 0;
	struct err why = {0}, first = {0};

	vec_each(row, &s->table->rows) {
		bool is_named = !strcasecmp((*row)->name, word);

		if (!is_named && strcasecmp(word, "all") != 0 &&
			!metric_list_has((*row)->groups, word))
			continue;
		n_found++;
		if (!ask_all(s, *row, metric_list_has((*row)->loose, word), &why))
			continue;
		if (is_named) {
			*err = why;
			return err->code;
		}
		if (!n_left_out++)
			first = why;
		log_debug(log, "left out: %s", why.msg);
	}
	if (!n_found)
		return not_found(s, word, err);
	if (n_left_out && n_left_out < n_found)
		log_note(log, "%u of the %u metrics of '%s' cannot be counted here (-v: which); %s",
			n_left_out, n_found, word, first.msg);
	if (n_left_out < n_found)
		return 0;
	why = first;
	*err = why;
	return err_prefix(err, "no metric of '%s' can be counted here", word);
}

int metricset_count(struct metricset *s, struct event_list *events, struct err *err)
{
	return metricgroup_make(s, events, err);
}
