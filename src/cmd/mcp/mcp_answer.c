#include "cmd/mcp/mcp_answer.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/num.h"

/* ---- names and numbers ---- */

/* Cut in the middle: the beginning and the end of a name say the most. Characters are not cut. */
static void cut_name(struct str *ret, const char *name)
{
	const size_t n = strlen(name), half = MCP_NAME_BYTES / 2;
	size_t head = half, tail = n - half;

	if (n <= MCP_NAME_BYTES) {
		str_add(ret, name);
		return;
	}
	while (head && (name[head] & 0xc0) == 0x80)
		head--;
	while (tail < n && (name[tail] & 0xc0) == 0x80)
		tail++;
	str_addn(ret, name, head);
	str_add(ret, "...");
	str_add(ret, name + tail);
}

void mcp_add_name(struct str *text, const char *name)
{
	struct str cut = {0};

	cut_name(&cut, name);
	str_add_safe(text, str_text(&cut), cut.n);
	str_fini(&cut);
}

void mcp_add_dso(struct str *text, const char *dso)
{
	const bool is_bracketed = dso && *dso == '[';

	if (!dso)
		return;
	str_add(text, is_bracketed ? "  " : "  [");
	mcp_add_name(text, dso);
	str_add(text, is_bracketed ? "" : "]");
}

void mcp_json_name(struct str *out, const char *key, const char *name)
{
	struct str cut = {0};

	if (name)
		cut_name(&cut, name);
	json_text(out, key, name ? str_text(&cut) : NULL);
	str_fini(&cut);
}

const char *mcp_text_of(const cJSON *object, const char *name)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsString(member) ? member->valuestring : NULL;
}

double mcp_number_of(const cJSON *object, const char *name, double otherwise)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsNumber(member) ? member->valuedouble : otherwise;
}

const cJSON *mcp_list_of(const cJSON *object, const char *name)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsArray(list) ? list : NULL;
}

/* As few digits as name the number. */
static void json_number(struct str *out, const char *key, double v)
{
	if (!isfinite(v)) {
		json_null(out, key);
		return;
	}
	json_key(out, key);
	if (v == floor(v) && fabs(v) < 9e15)
		str_addf(out, "%.0f,", v);
	else
		str_addf(out, "%.9g,", v);
}

void mcp_json_fixed(struct str *out, const char *key, double v, unsigned digits)
{
	json_key(out, key);
	str_addf(out, "%.*f,", (int)digits, v);
}

void mcp_json_copy(struct str *out, const cJSON *object)
{
	const cJSON *member;

	cJSON_ArrayForEach(member, object)
	{
		if (cJSON_IsString(member))
			mcp_json_name(out, member->string, member->valuestring);
		else if (cJSON_IsNumber(member))
			json_number(out, member->string, member->valuedouble);
		else if (cJSON_IsBool(member))
			json_bool(out, member->string, cJSON_IsTrue(member));
		else if (cJSON_IsNull(member))
			json_null(out, member->string);
	}
}

int mcp_by_weight(const void *a, const void *b)
{
	const struct mcp_spot *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->place - y->place;
}

int mcp_by_place(const void *a, const void *b)
{
	return ((const struct mcp_spot *)a)->place - ((const struct mcp_spot *)b)->place;
}

/* ---- confidence ---- */

void mcp_answer_event(struct mcp_answer *a, const char *event)
{
	static const char *const uneven[] = {"wall", "latency", "sched:sched_stat_"};
	const size_t n = strlen(event);

	mcp_json_name(&a->members, "event", event);
	a->is_uneven = n >= 6 && !strcmp(event + n - 6, "/bytes");
	for (size_t i = 0; i < ARRAY_SIZE(uneven); i++)
		a->is_uneven |= !strncmp(event, uneven[i], strlen(uneven[i]));
}

void mcp_add_interval(struct str *text, double low, double high)
{
	const size_t start = text->n;

	str_addf(text, " (%.1f-%.1f)", low, high);
	str_pad_right(text, start, 14);
}

void mcp_answer_interval(const struct mcp_answer *a, double share, double n, struct str *data,
	struct str *text)
{
	const double z = 1.96, p = MIN(MAX(share / 100, 0.0), 1.0);
	double middle, half;

	if (a->is_uneven || n < 1) {
		json_null(data, "share_low");
		json_null(data, "share_high");
		return;
	}
	middle = (p + z * z / (2 * n)) / (1 + z * z / n);
	half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
	mcp_json_fixed(data, "share_low", MAX(middle - half, 0.0) * 100, 4);
	mcp_json_fixed(data, "share_high", MIN(middle + half, 1.0) * 100, 4);
	mcp_add_interval(text, MAX(middle - half, 0.0) * 100, MIN(middle + half, 1.0) * 100);
}

void mcp_answer_confidence(struct mcp_answer *a, double n, const char *method)
{
	static const char unequal[] = "none: samples of this event stand for unequal amounts";

	json_open(&a->members, "confidence", '{');
	if (a->is_uneven)
		json_null(&a->members, "level");
	else
		mcp_json_fixed(&a->members, "level", 0.95, 2);
	mcp_json_fixed(&a->members, "samples", n, 0);
	json_text(&a->members, "method",
		a->is_uneven     ? unequal
			: method ? method
				 : "Wilson's interval: samples count as independent");
	json_close(&a->members, '}');
	if (a->is_uneven)
		str_addf(&a->foot, "Intervals: %s.\n", unequal);
}

/* ---- the answer ---- */

void mcp_answer_row(struct mcp_answer *a, struct str *data, struct str *text, double share)
{
	const bool has_room = a->n_rows < a->most && !a->n_left &&
		a->rows.n + data->n < MCP_ROWS_BYTES && a->table.n + text->n < MCP_ROWS_BYTES;

	if (has_room) {
		str_addc(&a->rows, '{');
		str_addn(&a->rows, str_text(data), data->n);
		json_close(&a->rows, '}');
		str_addn(&a->table, str_text(text), text->n);
		str_addc(&a->table, '\n');
		a->n_rows++;
	} else {
		a->n_left++;
		a->share_left += share;
	}
	str_clear(data);
	str_clear(text);
}

void mcp_answer_losses(struct mcp_answer *a, const cJSON *ledger)
{
	static const struct {
		const char *name, *what;
	} causes[] = {
		{"filtered", "filtered out"},
		{"below_limit", "below the limit"},
		{"unread", "not readable"},
		{"stopped", "not read in time"},
		{"foreign", "of events that the file does not describe"},
		{"dropped", "dropped by the kernel, not in the file"},
	};

	json_open(&a->members, "losses", '{');
	mcp_json_copy(&a->members, ledger);
	json_close(&a->members, '}');
	str_addf(&a->foot, "Samples: %.0f recorded, %.0f shown",
		mcp_number_of(ledger, "recorded", 0), mcp_number_of(ledger, "shown", 0));
	for (size_t i = 0; i < ARRAY_SIZE(causes); i++)
		if (mcp_number_of(ledger, causes[i].name, 0) > 0)
			str_addf(&a->foot, ", %.0f %s", mcp_number_of(ledger, causes[i].name, 0),
				causes[i].what);
	str_add(&a->foot, "\n");
}

void mcp_answer_losses_said(struct mcp_answer *a, const char *words)
{
	json_text(&a->members, "losses", words);
	str_addf(&a->foot, "Losses: %s\n", words);
}

static void add_remainder(struct mcp_answer *a)
{
	const bool has_share = a->share_left >= 0;

	json_open(&a->members, "remainder", '{');
	json_u64(&a->members, "rows", a->n_left);
	if (has_share)
		mcp_json_fixed(&a->members, "share", a->share_left, 2);
	json_close(&a->members, '}');
	if (!a->n_left)
		return;
	str_addf(&a->table, "... and %llu more rows", (unsigned long long)a->n_left);
	if (has_share)
		str_addf(&a->table, ": %.2f%%", a->share_left);
	str_add(&a->table, "\n");
}

/* Lines of the command on standard error, as many as fit. */
static void add_notes(struct mcp_answer *a, const char *notes)
{
	struct str line = {0};

	json_open(&a->members, "notes", '[');
	for (const char *p = notes; *p && p < notes + MCP_NOTES_BYTES;) {
		const size_t n = strcspn(p, "\n");

		str_clear(&line);
		str_add_safe(&line, p, MIN(n, (size_t)MCP_NOTES_BYTES));
		p += n + (p[n] == '\n');
		if (!line.n)
			continue;
		json_element(&a->members, line.at);
		str_addf(&a->foot, "%s\n", line.at);
	}
	json_close(&a->members, ']');
	str_fini(&line);
}

static void add_text_content(const char *text, struct str *ret)
{
	json_open(ret, "content", '[');
	str_addc(ret, '{');
	json_text(ret, "type", "text");
	json_text(ret, "text", text);
	json_close(ret, '}');
	json_close(ret, ']');
}

void mcp_answer_finish(struct mcp_answer *a, const char *command, const char *notes,
	bool has_structure, struct str *ret)
{
	struct str text = {0};

	add_remainder(a);
	add_notes(a, notes);
	json_text(&a->members, "command", command);
	str_addf(&text, "%s%s%s$ %s\n", str_text(&a->head), str_text(&a->table), str_text(&a->foot),
		command);
	str_addc(ret, '{');
	add_text_content(text.at, ret);
	if (has_structure) {
		json_open(ret, "structuredContent", '{');
		str_addn(ret, str_text(&a->members), a->members.n);
		json_open(ret, "rows", '[');
		str_addn(ret, str_text(&a->rows), a->rows.n);
		json_close(ret, ']');
		json_close(ret, '}');
	}
	json_bool(ret, "isError", false);
	json_end(ret, '}');
	str_fini(&text);
}

void mcp_answer_fini(struct mcp_answer *a)
{
	str_fini(&a->head);
	str_fini(&a->table);
	str_fini(&a->foot);
	str_fini(&a->members);
	str_fini(&a->rows);
}

void mcp_answer_error(const char *sentence, struct str *ret)
{
	struct str safe = {0};

	for (const char *p = sentence; *p && safe.n < MCP_NOTES_BYTES;) {
		const size_t n = strcspn(p, "\n");

		str_add_safe(&safe, p, MIN(n, (size_t)MCP_NOTES_BYTES));
		p += n + (p[n] == '\n');
		str_add(&safe, *p ? "\n" : "");
	}
	str_addc(ret, '{');
	add_text_content(str_text(&safe), ret);
	json_bool(ret, "isError", true);
	json_end(ret, '}');
	str_fini(&safe);
}
