#include "cmd/graphwords.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum about { ABOUT_NONE, ABOUT_STYLE, ABOUT_ORDER, ABOUT_VALUE, ABOUT_DEFAULT };

/* The words of -g, in any order. */
static const struct {
	const char *word;
	enum about about;
	int value;
} graph_words[] = {
	{"none", ABOUT_NONE, true},
	{"graph", ABOUT_STYLE, DRAWING_GRAPH},
	{"fractal", ABOUT_STYLE, DRAWING_FRACTAL},
	{"flat", ABOUT_STYLE, DRAWING_FLAT},
	{"folded", ABOUT_STYLE, DRAWING_FOLDED},
	{"caller", ABOUT_ORDER, GRAPH_CALLER},
	{"callee", ABOUT_ORDER, GRAPH_CALLEE},
	{"percent", ABOUT_VALUE, DRAWING_PERCENT},
	{"period", ABOUT_VALUE, DRAWING_PERIOD},
	{"count", ABOUT_VALUE, DRAWING_COUNT},
	/* Nodes are functions; -g branch alone shows nothing in perf, either: --branch-history does. */
	{"function", ABOUT_DEFAULT, 0},
	{"address", ABOUT_DEFAULT, 0},
	{"branch", ABOUT_DEFAULT, 0},
};

static void set_graph_word(struct graph_options *g, enum about about, int value)
{
	switch (about) {
	case ABOUT_NONE:
		g->is_none = true;
		return;
	case ABOUT_STYLE:
		g->has_style = true;
		g->style = (enum drawing_style)value;
		return;
	case ABOUT_ORDER:
		g->has_order = true;
		g->order = (enum graph_order)value;
		return;
	case ABOUT_VALUE:
		g->value = (enum drawing_value)value;
		return;
	case ABOUT_DEFAULT:
		return;
	}
}

static int unknown_word(const char *text, struct err *err)
{
	struct str known = {0};

	for (size_t i = 0; i < ARRAY_SIZE(graph_words); i++)
		if (graph_words[i].about != ABOUT_DEFAULT)
			str_addf(&known, "%s, ", graph_words[i].word);
	err_set(err, ERR_INVAL, "'%s' is none of %sa threshold in percent, a number of entries",
		text, str_text(&known));
	str_fini(&known);
	return err->code;
}

/* The first number is a share, the second a number of entries. */
static int set_graph_number(struct graph_options *g, const char *text, unsigned i_number,
	struct err *err)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || *end)
		return unknown_word(text, err);
	if (i_number == 2)
		return err_set(err, ERR_INVAL,
			"'%s': a threshold and a number of entries are given already", text);
	if (!i_number && !(number >= 0 && number <= 100))
		return err_set(err, ERR_INVAL, "'%s' is not a threshold from 0 to 100 percent",
			text);
	if (i_number && !(number >= 0 && number <= UINT32_MAX && number == (double)(u32)number))
		return err_set(err, ERR_INVAL, "'%s' is not a number of entries", text);
	if (i_number)
		g->entries = (u64)number;
	else
		g->limit = number;
	return 0;
}

static int apply_graph_word(struct graph_options *g, const char *word, size_t n,
	unsigned *n_numbers, struct err *err)
{
	char text[64];

	snprintf(text, sizeof(text), "%.*s", (int)n, word);
	for (size_t i = 0; i < ARRAY_SIZE(graph_words); i++) {
		if (strcmp(graph_words[i].word, text))
			continue;
		set_graph_word(g, graph_words[i].about, graph_words[i].value);
		return 0;
	}
	return set_graph_number(g, text, (*n_numbers)++, err);
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
