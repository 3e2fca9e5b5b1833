/*
 * metrics FILE: computes formulas of metrics for the comparison with another evaluator. Each line of the file is a formula
 * and what is known, with tabs between them; names are as -e takes them:
 *
 *     NAME=VALUE       a count, or another metric's value
 *     sources:NAME=N   how many PMUs counted it
 *     #LITERAL=VALUE
 *     cpu:MODEL=1, pmu:NAME=1
 *
 * The output has for each line the value, and the names that it needs, with tabs between them; or why it makes no sense.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "event/metricexpr.h"

struct known {
	VEC(char *) pairs;
	const struct metricexpr *x;
};

/* The number behind "PREFIXname="; NaN if there is none. */
static double find(const struct known *k, const char *prefix, const char *name)
{
	const size_t n = strlen(prefix), m = strlen(name);

	vec_each(pair, &k->pairs)
		if (!strncmp(*pair, prefix, n) && !strncmp(*pair + n, name, m) &&
			(*pair)[n + m] == '=')
			return strtod(*pair + n + m + 1, NULL);
	return NAN;
}

static double value_of(void *ctx, u32 name)
{
	const struct known *k = ctx;

	return find(k, "", k->x->names.at[name].text);
}

static double sources_of(void *ctx, u32 name)
{
	const struct known *k = ctx;

	return find(k, "sources:", k->x->names.at[name].text);
}

static bool has_event(void *ctx, u32 name)
{
	return !isnan(value_of(ctx, name));
}

static bool has_pmu(void *ctx, const char *pmu)
{
	return find(ctx, "pmu:", pmu) == 1;
}

static bool is_cpu(void *ctx, const char *model)
{
	return find(ctx, "cpu:", model) == 1;
}

static double literal_of(void *ctx, const char *name)
{
	return find(ctx, "#", name);
}

static void compute(char *line)
{
	struct metricexpr x;
	struct known k = {.x = &x};
	const struct metricexpr_world world = {value_of, sources_of, has_event, has_pmu, is_cpu,
		literal_of, &k};
	const char *formula = strsep(&line, "\t");
	struct err err;
	bool *needs;

	for (char *pair; (pair = strsep(&line, "\t")) != NULL;)
		vec_add(&k.pairs, pair);
	if (metricexpr_compile(&x, formula, 0, &err)) {
		printf("error: %s\n", err.msg);
		vec_fini(&k.pairs);
		return;
	}
	needs = mem_zalloc(x.names.n + 1);
	metricexpr_needs(&x, &world, needs);
	printf("%.17g", metricexpr_value(&x, &world));
	for (size_t i = 0; i < x.names.n; i++)
		if (needs[i])
			printf("\t%s", x.names.at[i].text);
	printf("\n");
	mem_free(needs);
	metricexpr_fini(&x);
	vec_fini(&k.pairs);
}

int main(int argc, char **argv)
{
	FILE *in = argc > 1 ? fopen(argv[1], "r") : NULL;
	char *line = NULL;
	size_t size = 0;

	if (!in)
		return 1;
	while (getline(&line, &size, in) > 0) {
		line[strcspn(line, "\n")] = '\0';
		compute(line);
	}
	free(line);
	fclose(in);
	return 0;
}
