/*
 * mcp_codeshapes.c - annotate, diff and doctor: answers whose rows are no functions of one recording. See mcp_shapes.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cmd/mcp/mcp_shapes.h"

/* ---- annotate ---- */

/* A figure of the counts of one event. */
static double count_of(const cJSON *object, int event, const char *figure)
{
	const cJSON *count;

	cJSON_ArrayForEach(count,
		mcp_list_of(object, "counts")) if ((int)mcp_number_of(count, "event", -1) ==
		event) return mcp_number_of(count, figure, 0);
	return 0;
}

/* The event asked for, by its position; else the one with the most samples. */
static int choose_event(const struct mcp_question *q, const cJSON *page, const cJSON **ret)
{
	const char *wanted = mcp_question_text(q, "event");
	int i = 0, found = -1;
	const cJSON *event;

	*ret = NULL;
	cJSON_ArrayForEach(event, mcp_list_of(page, "events"))
	{
		const char *name = mcp_text_of(event, "name");

		if (wanted ? name && !*ret && !strcmp(name, wanted)
			   : !*ret ||
					mcp_number_of(event, "samples", 0) >
						mcp_number_of(*ret, "samples", 0)) {
			*ret = event;
			found = i;
		}
		i++;
	}
	return found;
}

static const cJSON *choose_function(const cJSON *page, int event)
{
	const cJSON *function, *best = NULL;

	cJSON_ArrayForEach(function, mcp_list_of(page, "functions")) if (!best ||
		count_of(function, event, "samples") > count_of(best, event, "samples")) best =
		function;
	return best;
}

/* The hottest instructions in the order of the code; what is not among them is the remainder. */
static void add_instructions(struct mcp_answer *a, const cJSON *function, int event)
{
	VEC(struct mcp_spot) spots = {0};
	const cJSON *instruction;
	struct str data = {0}, text = {0};
	size_t n_hot;
	int place = 0;

	cJSON_ArrayForEach(instruction, mcp_list_of(function, "instructions"))
	{
		const double n = count_of(instruction, event, "samples");

		if (n > 0)
			vec_add(&spots, ((struct mcp_spot){instruction, n, place}));
		place++;
	}
	n_hot = MIN(spots.n, a->most);
	if (spots.n) {
		qsort(spots.at, spots.n, sizeof(*spots.at), mcp_by_weight);
		qsort(spots.at, n_hot, sizeof(*spots.at), mcp_by_place);
	}
	vec_each(spot, &spots) {
		const double share = count_of(spot->at, event, "percent");
		const char *source = mcp_text_of(spot->at, "file"), *name;

		mcp_json_copy(&data, spot->at);
		mcp_json_fixed(&data, "samples", spot->weight, 0);
		mcp_json_fixed(&data, "share", share, 4);
		str_addf(&text, "%7.2f%%", share);
		mcp_answer_interval(a, share, count_of(function, event, "samples"), &data, &text);
		name = mcp_text_of(spot->at, "address");
		str_addf(&text, " %s  ", name ? name : "");
		name = mcp_text_of(spot->at, "text");
		mcp_add_name(&text, name ? name : "");
		if (source) {
			str_add(&text, "  ");
			mcp_add_name(&text, source);
			str_addf(&text, ":%.0f", mcp_number_of(spot->at, "line", 0));
		}
		mcp_answer_row(a, &data, &text, share);
	}
	vec_fini(&spots);
	str_fini(&data);
	str_fini(&text);
}

enum { LINES = 5 };

/* The hottest source lines, as numbers: the sources are not read. */
static void add_lines(struct mcp_answer *a, const cJSON *function, int event)
{
	VEC(struct mcp_spot) spots = {0};
	const cJSON *line;

	cJSON_ArrayForEach(line, mcp_list_of(function, "lines")) vec_add(&spots,
		((struct mcp_spot){line, count_of(line, event, "samples"), (int)spots.n}));
	if (spots.n)
		qsort(spots.at, spots.n, sizeof(*spots.at), mcp_by_weight);
	json_open(&a->members, "lines", '[');
	for (size_t i = 0; i < MIN(spots.n, (size_t)LINES); i++) {
		const double share = count_of(spots.at[i].at, event, "percent");
		const char *file = mcp_text_of(spots.at[i].at, "file");

		str_addc(&a->members, '{');
		mcp_json_copy(&a->members, spots.at[i].at);
		mcp_json_fixed(&a->members, "share", share, 4);
		json_close(&a->members, '}');
		str_add(&a->head, i ? ", " : "Lines: ");
		mcp_add_name(&a->head, file ? file : "?");
		str_addf(&a->head, ":%.0f %.2f%%", mcp_number_of(spots.at[i].at, "line", 0), share);
	}
	json_close(&a->members, ']');
	json_u64(&a->members, "n_lines", spots.n);
	str_add(&a->head, spots.n > LINES ? ", ...\n" : spots.n ? "\n" : "");
	vec_fini(&spots);
}

int mcp_shape_annotate(const struct mcp_question *q, const cJSON *page, struct mcp_answer *a,
	struct err *err)
{
	const cJSON *event, *function;
	const int n_event = choose_event(q, page, &event);
	const char *name;
	double n;

	if (n_event < 0)
		return err_set(err, ERR_NOENT,
			"the recording has no such event, or no samples: 'load' says what is in it");
	function = choose_function(page, n_event);
	if (!function)
		return err_set(err, ERR_NOENT,
			"no samples in such a function: 'top' shows functions that have some");
	n = count_of(function, n_event, "samples");
	name = mcp_text_of(event, "name");
	mcp_answer_event(a, name ? name : "");
	json_open(&a->members, "function", '{');
	mcp_json_copy(&a->members, function);
	mcp_json_fixed(&a->members, "samples", n, 0);
	json_close(&a->members, '}');
	json_u64(&a->members, "n_functions",
		(u64)cJSON_GetArraySize(mcp_list_of(page, "functions")));
	name = mcp_text_of(function, "name");
	mcp_add_name(&a->head, name ? name : "?");
	mcp_add_dso(&a->head, mcp_text_of(function, "dso"));
	str_addf(&a->head, ", %.0f samples. Shares are of the function.\n", n);
	if (mcp_number_of(event, "precise", 0) == 0)
		str_add(&a->head,
			"The event is not precise: time went into that instruction or one shortly before it.\n");
	add_lines(a, function, n_event);
	add_instructions(a, function, n_event);
	mcp_answer_confidence(a, n, NULL);
	return 0;
}

/* ---- diff ---- */

static void add_side(const cJSON *row, size_t n_sides, struct str *text)
{
	const cJSON *values = mcp_list_of(row, "values"), *value;
	size_t i = 0;

	/* One recording on each side: both shares. */
	if (n_sides != 2)
		return;
	cJSON_ArrayForEach(value, values) str_addf(text, "%s%6.2f%%", i++ ? " -> " : "",
		mcp_number_of(value, "share", 0) * 100);
	str_add(text, "  ");
}

static void add_diff_row(const cJSON *row, size_t n_sides, struct str *data, struct str *text)
{
	const double ratio = mcp_number_of(row, "ratio", -1),
		     low = mcp_number_of(row, "ratio_low", -1),
		     q_value = mcp_number_of(row, "q", -1);
	const char *state = mcp_text_of(row, "state"), *dso = mcp_text_of(row, "dso"),
		   *symbol = mcp_text_of(row, "symbol");

	mcp_json_copy(data, row);
	if (n_sides == 2) {
		const cJSON *values = mcp_list_of(row, "values");

		mcp_json_fixed(data, "share_a",
			100 * mcp_number_of(cJSON_GetArrayItem(values, 0), "share", 0), 4);
		mcp_json_fixed(data, "share_b",
			100 * mcp_number_of(cJSON_GetArrayItem(values, 1), "share", 0), 4);
	}
	add_side(row, n_sides, text);
	if (ratio >= 0)
		str_addf(text, "x %.3f", ratio);
	else
		str_add(text, state ? state : "?");
	if (ratio >= 0 && mcp_number_of(row, "ratio_high", -1) >= 0)
		str_addf(text, " (%.2f-%.2f)", MAX(low, 0.0), mcp_number_of(row, "ratio_high", 0));
	if (q_value >= 0)
		str_addf(text, ", q=%.3g%s", q_value,
			cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(row, "significant"))
				? ", significant"
				: "");
	str_add(text, "  ");
	mcp_add_name(text, symbol ? symbol : "");
	mcp_add_dso(text, dso);
}

int mcp_shape_diff(const struct mcp_question *q, const cJSON *page, struct mcp_answer *a,
	struct err *err)
{
	const cJSON *event = mcp_find_event(q, page, a, err), *row;
	struct str data = {0}, text = {0};
	double sum_a, sum_b;
	bool is_tested = false;

	if (!event)
		return err->code;
	sum_a = mcp_number_of(event, "sum_a", 0);
	sum_b = mcp_number_of(event, "sum_b", 0);
	json_open(&a->members, "whole", '{');
	mcp_json_copy(&a->members, event);
	json_close(&a->members, '}');
	str_addf(&a->head, "In all: A %.0f, B %.0f", sum_a, sum_b);
	if (sum_a > 0)
		str_addf(&a->head, ": %+.1f%%", 100 * (sum_b / sum_a - 1));
	str_add(&a->head,
		"\nshare A -> B, B / A (95% interval), function; the largest change first\n");
	cJSON_ArrayForEach(row, mcp_list_of(event, "rows"))
	{
		is_tested |= mcp_number_of(row, "p", -1) >= 0;
		add_diff_row(row, q->paths.n, &data, &text);
		mcp_answer_row(a, &data, &text, 0);
	}
	a->share_left = -1;
	json_open(&a->members, "confidence", '{');
	mcp_json_fixed(&a->members, "level", 0.95, 2);
	json_bool(&a->members, "tells_change_from_chance", is_tested);
	json_close(&a->members, '}');
	if (!is_tested)
		str_add(&a->foot,
			"One recording on a side does not tell change from chance: give several for a and for b.\n");
	str_fini(&data);
	str_fini(&text);
	return 0;
}

/* ---- doctor ---- */

static void add_remedy(const cJSON *object, struct str *data, struct str *text)
{
	const cJSON *remedy = cJSON_GetObjectItemCaseSensitive(object, "remedy");
	const char *names[] = {"command", "advice"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (mcp_text_of(remedy, names[i])) {
			json_text(data, "remedy", mcp_text_of(remedy, names[i]));
			str_add(text, ". Remedy: ");
			str_add_safe(text, mcp_text_of(remedy, names[i]),
				strlen(mcp_text_of(remedy, names[i])));
			return;
		}
}

int mcp_shape_doctor(const struct mcp_question *q, const cJSON *page, struct mcp_answer *a,
	struct err *err)
{
	const cJSON *ability, *fact;
	struct str data = {0}, text = {0};

	(void)q;
	(void)err;
	a->most = UINT64_MAX;
	json_bool(&a->members, "fit", cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(page, "fit")));
	cJSON_ArrayForEach(ability, mcp_list_of(page, "abilities"))
	{
		const bool works = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(ability, "works"));
		const char *what = mcp_text_of(ability, "what"),
			   *reason = mcp_text_of(ability, "reason");

		mcp_json_copy(&data, ability);
		str_addf(&text, "%s  %s", works ? "yes" : "no ", what ? what : "?");
		if (!works && reason) {
			str_add(&text, ": ");
			str_add_safe(&text, reason, strlen(reason));
		}
		add_remedy(ability, &data, &text);
		mcp_answer_row(a, &data, &text, 0);
	}
	a->share_left = -1;
	cJSON_ArrayForEach(fact, cJSON_GetObjectItemCaseSensitive(page, "facts"))
	{
		const char *state = mcp_text_of(fact, "state"), *what = mcp_text_of(fact, "text");

		if (!state || !strcmp(state, "fine") || !what || a->foot.n > MCP_ROWS_BYTES)
			continue;
		str_addf(&a->foot, "%s: ", fact->string);
		str_add_safe(&a->foot, what, strlen(what));
		str_add(&a->foot, "\n");
	}
	return 0;
}
