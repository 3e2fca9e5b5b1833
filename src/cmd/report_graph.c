#include "cmd/report_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void graph_none(struct graph_options *g)
{
	g->is_none = true;
}

static void graph_absolute(struct graph_options *g)
{
	g->is_fractal = false;
}

static void graph_fractal(struct graph_options *g)
{
	g->is_fractal = true;
}

static void graph_caller(struct graph_options *g)
{
	g->has_order = true;
	g->order = GRAPH_CALLER;
}

static void graph_callee(struct graph_options *g)
{
	g->has_order = true;
	g->order = GRAPH_CALLEE;
}

static void graph_default(struct graph_options *g)
{
	(void)g;
}

/* The words of -g, in any order. */
static const struct {
	const char *word;
	void (*apply)(struct graph_options *g);
} graph_words[] = {
	{"none", graph_none},
	{"graph", graph_absolute},
	{"fractal", graph_fractal},
	{"caller", graph_caller},
	{"callee", graph_callee},
	{"function", graph_default},
	{"percent", graph_default},
};

static int apply_graph_word(struct graph_options *g, const char *word, size_t n,
	unsigned *n_numbers, struct err *err)
{
	char text[64], *end;
	double number;

	snprintf(text, sizeof(text), "%.*s", (int)n, word);
	for (size_t i = 0; i < ARRAY_SIZE(graph_words); i++) {
		if (strcmp(graph_words[i].word, text))
			continue;
		graph_words[i].apply(g);
		return 0;
	}
	number = strtod(text, &end);
	if (end == text || *end || number < 0 || *n_numbers == 2)
		return err_set(err, ERR_INVAL,
			"'%s' is none of none, graph, fractal, caller, callee, a threshold in percent, a number of entries",
			text);
	if ((*n_numbers)++)
		g->entries = (u64)number;
	else
		g->limit = number;
	return 0;
}

int graph_options_parse(struct graph_options *g, const char *value, struct err *err)
{
	unsigned n_numbers = 0;

	g->is_given = true;
	g->is_none = false;
	while (value && *value) {
		size_t n = strcspn(value, ",");

		if (apply_graph_word(g, value, n, &n_numbers, err))
			return err->code;
		value += n;
		value += *value == ',';
	}
	return 0;
}
