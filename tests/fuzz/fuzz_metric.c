/*
 * Metrics: lines of a name, a formula and perhaps, behind '$', a threshold. Formulas are compiled and computed alone;
 * then all are asked for together, on a machine that has the kernel's own events only.
 */
#include "fuzz/fuzz.h"

#include <math.h>

#include "event/metricset.h"

enum { ROWS_MAX = 16 };

/* What a formula asks for: all answers come from the name's number. */
struct world {
	const bool *needs; /* names that it does not need have other values each time */
	double others;
};

static double value(void *ctx, u32 name)
{
	const struct world *w = ctx;

	return w->needs[name] ? name * 3.5 - 1 : w->others;
}

static bool has_event(void *ctx, u32 name)
{
	(void)ctx;
	return name % 2;
}

static bool has_text(void *ctx, const char *text)
{
	(void)ctx;
	return *text % 2;
}

static double literal(void *ctx, const char *name)
{
	(void)ctx;
	return *name == 's' ? NAN : *name;
}

/* What a formula does not need decides nothing, and its value is the same each time. */
static void check_formula(const char *text)
{
	struct metricexpr_world world = {value, value, has_event, has_text, has_text, literal,
		NULL};
	struct world a = {.others = 7}, b = {.others = NAN};
	struct metricexpr x;
	struct err err;
	double first, second;
	bool *needs;

	if (metricexpr_compile(&x, text, 3, &err)) {
		FUZZ_CHECK(err.code < 0 && !strncmp(err.msg, "column ", 7));
		return;
	}
	needs = mem_zalloc(x.names.n + 1);
	metricexpr_needs(&x, &world, needs);
	a.needs = b.needs = needs;
	world.ctx = &a;
	first = metricexpr_value(&x, &world);
	world.ctx = &b;
	second = metricexpr_value(&x, &world);
	FUZZ_CHECK(isnan(first) ? isnan(second) : first == second);
	vec_each(name, &x.names)
		FUZZ_CHECK(name->column >= 1 && name->column <= strlen(text));
	mem_free(needs);
	metricexpr_fini(&x);
}

static void check_set(const struct catalog *c)
{
	const struct parse_env env = {.sysfs = "/nonexistent",
		.tracefs = "/nonexistent",
		.catalog = c};
	struct metric_facts facts = {.sysfs = "/nonexistent", .cpuid = "GenuineIntel-6-3C-3"};
	const struct metricset_options options = {0};
	struct event_list events = {0};
	struct metrictable table = {0};
	struct log log = {0};
	struct metricset set;
	struct err err;

	metrictable_init(&table, c);
	metricset_init(&set, &table, &env, &facts, &options);
	vec_each(row, &c->metrics)
		(void)metricset_ask(&set, row->name, &log, &err);
	if (!metricset_count(&set, &events, &err))
		vec_each(use, &set.uses)
			FUZZ_CHECK(!use->is_asked || use->n_events);
	event_list_fini(&events);
	metricset_fini(&set);
	metrictable_fini(&table);
	log_fini(&log);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	char *text = mem_alloc(n + 1), *rest = text, *line;
	struct catalog c = {0};

	memcpy(text, data, n);
	text[n] = '\0';
	while (c.metrics.n < ROWS_MAX && (line = strsep(&rest, "\n")) != NULL) {
		const char *name = strsep(&line, " ");
		char *threshold = line;
		const char *expr = strsep(&threshold, "$");

		if (!expr || !*name)
			continue;
		check_formula(expr);
		vec_add(&c.metrics,
			((struct metric_row){.name = name, .expr = expr, .threshold = threshold}));
	}
	check_set(&c);
	vec_fini(&c.metrics);
	mem_free(text);
	return 0;
}
