#include "cmd/mcp/mcp_shapes.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* ---- events ---- */

static const char *event_name(const cJSON *event)
{
	const char *name = mcp_text_of(event, "event");

	return name ? name : "";
}

/* Of a comparison: of all recordings. */
static double n_samples(const cJSON *event)
{
	const cJSON *recording;
	double n = mcp_number_of(event, "samples", 0);

	cJSON_ArrayForEach(recording, mcp_list_of(event, "recordings")) n +=
		mcp_number_of(recording, "samples", 0);
	return n;
}

static void add_event_names(const cJSON *events, struct str *text)
{
	const cJSON *event;

	cJSON_ArrayForEach(event, events)
	{
		if (text->n > 600)
			break;
		str_add(text, text->n ? ", " : "");
		mcp_add_name(text, event_name(event));
	}
}

/* The heading of the answer. */
static void add_event(const cJSON *event, const char *names, int n_events, struct mcp_answer *a)
{
	mcp_answer_event(a, event_name(event));
	mcp_json_name(&a->members, "events", names);
	mcp_json_fixed(&a->members, "samples", n_samples(event), 0);
	str_add(&a->head, "Event ");
	mcp_add_name(&a->head, event_name(event));
	str_addf(&a->head, ", %.0f samples", n_samples(event));
	if (n_events > 1)
		str_addf(&a->head, " (all events: %s)", names);
	str_add(&a->head, "\n");
}

const cJSON *mcp_find_event(const struct mcp_question *q, const cJSON *page, struct mcp_answer *a,
	struct err *err)
{
	const cJSON *events = mcp_list_of(page, "events"), *event, *found = NULL;
	const char *wanted = mcp_question_text(q, "event");
	struct str names = {0};

	cJSON_ArrayForEach(event, events)
	{
		if (wanted ? !found && !strcmp(event_name(event), wanted)
			   : !found || n_samples(event) > n_samples(found))
			found = event;
	}
	add_event_names(events, &names);
	if (!found && wanted && names.n)
		err_set(err, ERR_NOENT, "there is no event '%.100s'; the recording has: %s", wanted,
			str_text(&names));
	else if (!found)
		err_set(err, ERR_NOENT,
			"the recording has no samples for this question: 'load' says what is in it");
	else
		add_event(found, str_text(&names), cJSON_GetArraySize(events), a);
	str_fini(&names);
	return found;
}

/* ---- top ---- */

/* Members of a row that are figures, not what it is grouped by. */
static bool is_figure(const char *name)
{
	static const char *const figures[] = {"samples", "period", "share", "share_low",
		"share_high", "order_decided", "total_samples", "total_period", "total_share",
		"total_share_low", "total_share_high"};

	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		if (!strcmp(name, figures[i]))
			return true;
	return false;
}

static void add_keys(const cJSON *row, struct str *text)
{
	const cJSON *member;

	cJSON_ArrayForEach(member, row)
	{
		if (is_figure(member->string))
			continue;
		if (cJSON_IsString(member)) {
			str_add(text, "  ");
			mcp_add_name(text, member->valuestring);
		} else if (cJSON_IsNumber(member)) {
			str_addf(text, "  %.9g", member->valuedouble);
		}
	}
}

static void add_top_row(const cJSON *row, double n, struct mcp_answer *a)
{
	const double share = mcp_number_of(row, "share", 0),
		     total = mcp_number_of(row, "total_share", -1),
		     low = mcp_number_of(row, "share_low", -1);
	struct str data = {0}, text = {0};

	mcp_json_copy(&data, row);
	if (total >= 0)
		str_addf(&text, "%7.2f%% total ", total);
	str_addf(&text, "%7.2f%%", share);
	if (low >= 0)
		mcp_add_interval(&text, low, mcp_number_of(row, "share_high", 0));
	else
		mcp_answer_interval(a, share, n, &data, &text);
	str_addf(&text, " %7.0f", mcp_number_of(row, "samples", 0));
	add_keys(row, &text);
	mcp_answer_row(a, &data, &text, share);
	str_fini(&data);
	str_fini(&text);
}

int mcp_shape_top(const struct mcp_question *q, const cJSON *page, struct mcp_answer *a,
	struct err *err)
{
	const cJSON *event = mcp_find_event(q, page, a, err), *row;
	VEC(struct mcp_spot) spots = {0};
	bool has_totals = false, has_intervals = false;

	if (!event)
		return err->code;
	/* Rows of wall-clock time come in another order. */
	cJSON_ArrayForEach(row, mcp_list_of(event, "rows"))
	{
		const double total = mcp_number_of(row, "total_share", -1);

		has_totals |= total >= 0;
		has_intervals |= mcp_number_of(row, "share_low", -1) >= 0;
		vec_add(&spots,
			((struct mcp_spot){row, total >= 0 ? total : mcp_number_of(row, "share", 0),
				(int)spots.n}));
	}
	if (spots.n)
		qsort(spots.at, spots.n, sizeof(*spots.at), mcp_by_weight);
	str_addf(&a->head, "%s  share (95%% interval)  samples  %s\n", has_totals ? "total  " : "",
		mcp_question_text(q, "by"));
	vec_each(spot, &spots)
		add_top_row(spot->at, n_samples(event), a);
	mcp_answer_confidence(a, n_samples(event),
		has_intervals ? "batch means of time: samples that follow each other may be alike"
			      : NULL);
	vec_fini(&spots);
	return 0;
}

/* ---- tree ---- */

static void add_path(const cJSON *names, struct str *data, struct str *text)
{
	const int n = cJSON_GetArraySize(names);
	int i = 0;
	const cJSON *name;

	json_open(data, "names", '[');
	cJSON_ArrayForEach(name, names)
	{
		/* Of a long line the ends say the most. */
		const bool is_shown = i < 4 || i >= n - 4;
		struct str cut = {0};

		i++;
		if (!is_shown || !cJSON_IsString(name)) {
			str_add(text, i == 5 ? " > ..." : "");
			continue;
		}
		str_add(text, i > 1 ? " > " : "");
		mcp_add_name(text, name->valuestring);
		mcp_add_name(&cut, name->valuestring);
		json_element(data, str_text(&cut));
		str_fini(&cut);
	}
	json_close(data, ']');
	json_u64(data, "n_names", (u64)n);
}

static void add_tree_line(const struct mcp_answer *a, const cJSON *line, double n, struct str *data,
	struct str *text)
{
	const char *node = mcp_text_of(line, "node"), *dso = mcp_text_of(line, "dso");
	const int depth = (int)mcp_number_of(line, "depth", 0);
	const double more = mcp_number_of(line, "more", -1);

	mcp_json_copy(data, line);
	str_addf(text, "%7.2f%%", mcp_number_of(line, "total_share", 0));
	mcp_answer_interval(a, mcp_number_of(line, "total_share", 0), n, data, text);
	str_addf(text, " %7.2f%%  %-10s  ", mcp_number_of(line, "share", 0), node ? node : "-");
	str_fill(text, ' ', 2 * (size_t)MIN(MAX(depth, 0), 40));
	if (more >= 0) {
		str_addf(text, "... %.0f more", more);
		return;
	}
	add_path(mcp_list_of(line, "names"), data, text);
	mcp_add_dso(text, dso);
}

int mcp_shape_tree(const struct mcp_question *q, const cJSON *page, struct mcp_answer *a,
	struct err *err)
{
	const cJSON *event = mcp_find_event(q, page, a, err), *line;
	struct str data = {0}, text = {0};

	if (!event)
		return err->code;
	str_add(&a->head,
		"  total (95% interval)     self  node        functions; 'tree' with node shows what is below one\n");
	cJSON_ArrayForEach(line, mcp_list_of(event, "lines"))
	{
		add_tree_line(a, line, n_samples(event), &data, &text);
		mcp_answer_row(a, &data, &text, mcp_number_of(line, "share", 0));
	}
	mcp_answer_confidence(a, n_samples(event), NULL);
	str_fini(&data);
	str_fini(&text);
	return 0;
}

/* ---- callers and callees ---- */

/* What a walk down a call tree needs to know. */
struct walk {
	struct mcp_answer *answer;
	double n_samples;
	int most_depth;
	struct str data, text;
};

/* The node's children, largest first as they are, each followed by its own. */
static void walk_nodes(struct walk *w, const cJSON *nodes, int depth)
{
	const cJSON *node;

	cJSON_ArrayForEach(node, nodes)
	{
		const double share = mcp_number_of(node, "share", 0);
		const char *symbol = mcp_text_of(node, "symbol");

		json_u64(&w->data, "depth", (u64)depth);
		mcp_json_copy(&w->data, node);
		str_addf(&w->text, "%7.2f%%", share);
		mcp_answer_interval(w->answer, share, w->n_samples, &w->data, &w->text);
		str_fill(&w->text, ' ', 2 * (size_t)depth);
		mcp_add_name(&w->text, symbol ? symbol : "[unknown]");
		mcp_add_dso(&w->text, mcp_text_of(node, "dso"));
		/* What is deeper is part of this row. */
		mcp_answer_row(w->answer, &w->data, &w->text, depth == 1 ? share : 0);
		if (depth < w->most_depth)
			walk_nodes(w, mcp_list_of(node, "nodes"), depth + 1);
	}
}

static int shape_relatives(const struct mcp_question *q, const cJSON *page, struct mcp_answer *a,
	const char *member, const char *what, struct err *err)
{
	const cJSON *event = mcp_find_event(q, page, a, err), *row;
	const char *function = mcp_question_text(q, "function");
	struct walk w = {.answer = a,
		.n_samples = event ? n_samples(event) : 0,
		.most_depth = (int)mcp_question_number(q, "depth")};
	double total = 0;
	size_t n = 0;

	if (!event)
		return err->code;
	cJSON_ArrayForEach(row, mcp_list_of(event, "rows"))
	{
		const char *symbol = mcp_text_of(row, "symbol");
		const cJSON *tree;

		if (!symbol || strcmp(symbol, function))
			continue;
		n++;
		total += mcp_number_of(row, "total_share", mcp_number_of(row, "share", 0));
		/* Trees that begin with the function itself; others lead to its own samples. */
		cJSON_ArrayForEach(tree,
			mcp_list_of(row, member)) if (mcp_text_of(tree, "symbol") &&
			!strcmp(mcp_text_of(tree, "symbol"), function))
			walk_nodes(&w, mcp_list_of(tree, "nodes"), 1);
	}
	str_fini(&w.data);
	str_fini(&w.text);
	if (!n)
		return err_set(err, ERR_NOENT,
			"no sample has a function of exactly this name, '%.300s': 'top' with children shows names",
			function);
	mcp_json_name(&a->members, "function", function);
	mcp_json_fixed(&a->members, "share", total, 4);
	mcp_answer_confidence(a, w.n_samples, NULL);
	mcp_add_name(&a->head, function);
	str_addf(&a->head, ": %.2f%% of all, with what it calls. %s:\n", total, what);
	if (!a->n_rows && !a->n_left)
		str_add(&a->table, "none: no call chain goes further\n");
	return 0;
}

int mcp_shape_callers(const struct mcp_question *q, const cJSON *page, struct mcp_answer *a,
	struct err *err)
{
	return shape_relatives(q, page, a, "callers",
		"Its callers, and theirs further right (shares of all)", err);
}

int mcp_shape_callees(const struct mcp_question *q, const cJSON *page, struct mcp_answer *a,
	struct err *err)
{
	return shape_relatives(q, page, a, "calls",
		"What it calls, and what that calls further right (shares of all)", err);
}
