#include "cmd/mcp/mcp_tools.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cmdline.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/mcp/mcp_shapes.h"

/* ---- the table ---- */

enum { LIMIT = 20, LIMIT_MAX = 200, BUDGET = 40, DEPTH = 3, DEPTH_MAX = 30, RECORDINGS_MAX = 1000 };

/* clang-format off: rows */
#define RECORDING_ROW                                                                                                                       \
	{                                                                                                                                   \
		"recording", MCP_RECORDING,                                                                                                 \
			.is_needed = true,                                                                                                  \
			.help = "path of the recording (perf.data of pace or perf, or a profile that pace reads), or the id that load gave" \
	}
#define LIMIT_ROW                                                                                  \
	{                                                                                          \
		"limit", MCP_NUMBER,                                                               \
			.least = 1, .most = LIMIT_MAX, .standard = LIMIT,                          \
			.help = "how many rows at most; the others are summed up as the remainder" \
	}
#define EVENT_ROW                                                                                \
	{                                                                                        \
		"event", MCP_TEXT,                                                               \
			.help = "the event, by its name; default: the one with the most samples" \
	}
#define SAMPLE_ROWS                                                                                          \
	{"comm", MCP_TEXT,                                                                                   \
		.word = "--comms=", .help = "only threads with these names, separated by commas"},           \
		{"dso", MCP_TEXT, .word = "--dsos=",                                                         \
			.help = "only samples in these files, separated by commas"},                         \
		{"pid", MCP_TEXT, .word = "--pid=", .help = "only these processes, like 12,34"},             \
		{"tid", MCP_TEXT, .word = "--tid=", .help = "only these threads"},                           \
		{"cpu", MCP_TEXT,                                                                            \
			.word = "--cpu=", .help = "only samples on these CPUs, like 0-3,8"},                 \
	{                                                                                                    \
		"time", MCP_TEXT,                                                                            \
			.word = "--time=",                                                                   \
			.help = "only samples of this time: FROM,TO in seconds of the recording, or 10%-20%" \
	}

static const struct mcp_argument load_arguments[] = {RECORDING_ROW, {.name = NULL}};

static const struct mcp_argument top_arguments[] = {
	RECORDING_ROW,
	{"by", MCP_TEXT, .text = "dso,symbol", .word = "--sort=",
		.help = "what rows are, as report -s takes it: symbol, dso, comm, pid, cpu, srcline, ... separated by commas"},
	{"children", MCP_FLAG, .word = "--children", .word_not = "--no-children",
		.help = "also rows of callers, with everything that they called (total_share)"},
	LIMIT_ROW,
	EVENT_ROW,
	SAMPLE_ROWS,
	{.name = NULL},
};

static const struct mcp_argument tree_arguments[] = {
	RECORDING_ROW,
	{"budget", MCP_NUMBER, .least = 1, .most = LIMIT_MAX, .standard = BUDGET,
		.word = "--budget=",
		.help = "how many lines at most; lines '... more' stand for the rest, so all own shares sum to 100 %"},
	{"node", MCP_TEXT, .word = "--node=",
		.help = "only the tree below this node, by the id in another tree"},
	EVENT_ROW,
	SAMPLE_ROWS,
	{.name = NULL},
};

static const struct mcp_argument relatives_arguments[] = {
	RECORDING_ROW,
	{"function", MCP_TEXT, .is_needed = true,
		.help = "the function, by the whole name that top shows"},
	{"depth", MCP_NUMBER, .least = 1, .most = DEPTH_MAX, .standard = DEPTH,
		.help = "how many levels of calls"},
	LIMIT_ROW,
	EVENT_ROW,
	{.name = NULL},
};

static const struct mcp_argument annotate_arguments[] = {
	RECORDING_ROW,
	{"function", MCP_TEXT, .is_needed = true,
		.word = "--symbol=", .help = "the function, by the name that top shows"},
	LIMIT_ROW,
	EVENT_ROW,
	{"dso", MCP_TEXT, .word = "--dsos=", .help = "only in this file"},
	{.name = NULL},
};

static const struct mcp_argument diff_arguments[] = {
	{"a", MCP_RECORDINGS, .is_needed = true,
		.help = "the baseline: a recording, or several repetitions of the same run"},
	{"b", MCP_RECORDINGS, .is_needed = true,
		.help = "what is compared with it; with several on each side the answer says what is more than chance"},
	{"by", MCP_TEXT, .word = "--sort=",
		.help = "what is compared: symbol, dso, comm, ...; default dso,symbol"},
	LIMIT_ROW,
	EVENT_ROW,
	{.name = NULL},
};

static const struct mcp_argument ledger_arguments[] = {RECORDING_ROW, LIMIT_ROW, {.name = NULL}};
static const struct mcp_argument doctor_arguments[] = {{.name = NULL}};

static void add_callers_words(struct mcp_question *q);
static void add_callees_words(struct mcp_question *q);
static void add_sides(struct mcp_question *q);

const struct mcp_tool mcp_tools[] = {
	{"load", "Open a recording",
		"What a recording is: the command and machine, its events, samples and time span, the hottest functions, and what was lost. Begin with this.",
		load_arguments, &cmd_report, {"--header"}, .read = mcp_read_load},
	{"top", "Hottest rows",
		"Where the time goes, without callers: functions (or threads, files, source lines) by their own share, with the 95 % interval of each.",
		top_arguments, &cmd_report, {"-g", "none"}, .extra = "--ci",
		.shape = mcp_shape_top},
	{"tree", "Call tree",
		"The call tree in a budget of lines: the lines that say most about where the time goes. Each has the id of a node, which 'node' expands.",
		tree_arguments, &cmd_report, .shape = mcp_shape_tree},
	{"callers", "Who calls a function",
		"Who calls a function, level by level, with the share of the samples in it and in what it calls.",
		relatives_arguments, &cmd_report,
		{"--no-children", "--sort=dso,symbol", "-g", "callee"},
		.add_words = add_callers_words, .shape = mcp_shape_callers},
	{"callees", "What a function calls",
		"What a function calls, level by level, with the share of the samples in each.",
		relatives_arguments, &cmd_report,
		{"--children", "--sort=dso,symbol", "-g", "caller"}, .add_words = add_callees_words,
		.shape = mcp_shape_callees},
	{"annotate", "Instructions of a function",
		"The hottest instructions of a function, in the order of the code, and its hottest source lines by number.",
		annotate_arguments, &cmd_annotate, .extra = "--strict",
		.shape = mcp_shape_annotate},
	{"diff", "Compare recordings",
		"What changed from recordings a to recordings b: functions with both shares, the ratio, and with repetitions whether that is more than chance.",
		diff_arguments, &cmd_diff, .extra = "--strict", .add_words = add_sides,
		.shape = mcp_shape_diff},
	{"ledger", "What is missing",
		"What answers from a recording lack: samples that were dropped, could not be read, have no name or no whole stack, with causes and remedies.",
		ledger_arguments, &cmd_report, {"--ledger"}, .read = mcp_read_ledger},
	{"doctor", "What can be measured here",
		"What can be measured on this machine, and what would allow the rest.",
		doctor_arguments, &cmd_doctor, .shape = mcp_shape_doctor, .is_of_machine = true},
};
/* clang-format on */
const size_t mcp_n_tools = ARRAY_SIZE(mcp_tools);

const struct mcp_tool *mcp_tool_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(mcp_tools); i++)
		if (!strcmp(mcp_tools[i].name, name))
			return &mcp_tools[i];
	return NULL;
}

/* ---- the list ---- */

static void add_text_type(struct str *out)
{
	json_text(out, "type", "string");
	json_u64(out, "minLength", 1);
	json_u64(out, "maxLength", MCP_TEXT_MAX);
}

static void add_schema_of(const struct mcp_argument *argument, struct str *out)
{
	json_open(out, argument->name, '{');
	json_text(out, "description", argument->help);
	switch (argument->kind) {
	case MCP_RECORDING:
	case MCP_TEXT:
		add_text_type(out);
		if (argument->text)
			json_text(out, "default", argument->text);
		break;
	case MCP_NUMBER:
		json_text(out, "type", "integer");
		json_u64(out, "minimum", argument->least);
		json_u64(out, "maximum", argument->most);
		json_u64(out, "default", argument->standard);
		break;
	case MCP_FLAG:
		json_text(out, "type", "boolean");
		json_bool(out, "default", false);
		break;
	case MCP_RECORDINGS:
		json_text(out, "type", "array");
		json_u64(out, "minItems", 1);
		json_u64(out, "maxItems", MCP_SIDE_MAX);
		json_open(out, "items", '{');
		add_text_type(out);
		json_close(out, '}');
		break;
	}
	json_close(out, '}');
}

static void add_tool(const struct mcp_tool *tool, struct str *out)
{
	str_addc(out, '{');
	json_text(out, "name", tool->name);
	json_text(out, "title", tool->title);
	json_text(out, "description", tool->help);
	json_open(out, "inputSchema", '{');
	json_text(out, "type", "object");
	json_open(out, "properties", '{');
	for (const struct mcp_argument *a = tool->arguments; a->name; a++)
		add_schema_of(a, out);
	json_close(out, '}');
	json_open(out, "required", '[');
	for (const struct mcp_argument *a = tool->arguments; a->name; a++)
		if (a->is_needed)
			json_element(out, a->name);
	json_close(out, ']');
	json_bool(out, "additionalProperties", false);
	json_close(out, '}');
	json_open(out, "annotations", '{');
	json_bool(out, "readOnlyHint", true);
	json_bool(out, "openWorldHint", false);
	json_close(out, '}');
	json_close(out, '}');
}

void mcp_tools_add_list(struct str *out)
{
	json_open(out, "tools", '[');
	for (size_t i = 0; i < ARRAY_SIZE(mcp_tools); i++)
		add_tool(&mcp_tools[i], out);
	json_close(out, ']');
}

/* ---- arguments ---- */

static const struct mcp_argument *find_argument(const struct mcp_tool *tool, const char *name)
{
	for (const struct mcp_argument *a = tool->arguments; a->name; a++)
		if (!strcmp(a->name, name))
			return a;
	return NULL;
}

static bool is_text(const cJSON *value)
{
	if (!cJSON_IsString(value) || !*value->valuestring ||
		strlen(value->valuestring) > MCP_TEXT_MAX)
		return false;
	for (const unsigned char *p = (const unsigned char *)value->valuestring; *p; p++)
		if (*p < ' ' || *p == 0x7f)
			return false;
	return true;
}

static int check_texts(const cJSON *list, const struct mcp_argument *argument, struct err *err)
{
	const int n = cJSON_GetArraySize(list);
	const cJSON *value;

	if (!cJSON_IsArray(list) || n < 1 || n > MCP_SIDE_MAX)
		return err_set(err, ERR_INVAL, "'%s' must be a list of 1 to %d recordings",
			argument->name, MCP_SIDE_MAX);
	cJSON_ArrayForEach(value, list) if (!is_text(value)) return err_set(err, ERR_INVAL,
		"'%s' must be a list of paths or ids", argument->name);
	return 0;
}

static int check_value(const cJSON *value, const struct mcp_argument *argument, struct err *err)
{
	switch (argument->kind) {
	case MCP_RECORDING:
	case MCP_TEXT:
		return is_text(value)
			? 0
			: err_set(err, ERR_INVAL,
				  "'%s' must be a text of 1 to %d bytes without control characters: %s",
				  argument->name, MCP_TEXT_MAX, argument->help);
	case MCP_NUMBER:
		return cJSON_IsNumber(value) && value->valuedouble == floor(value->valuedouble) &&
				value->valuedouble >= (double)argument->least &&
				value->valuedouble <= (double)argument->most
			? 0
			: err_set(err, ERR_INVAL,
				  "'%s' must be a whole number from %llu to %llu: %s",
				  argument->name, (unsigned long long)argument->least,
				  (unsigned long long)argument->most, argument->help);
	case MCP_FLAG:
		return cJSON_IsBool(value)
			? 0
			: err_set(err, ERR_INVAL, "'%s' must be true or false: %s", argument->name,
				  argument->help);
	case MCP_RECORDINGS:
		return cJSON_IsString(value) && is_text(value) ? 0
							       : check_texts(value, argument, err);
	}
	return 0;
}

static int check_arguments(const struct mcp_tool *tool, const cJSON *arguments, struct err *err)
{
	const cJSON *value;
	struct str known = {0};

	cJSON_ArrayForEach(value, arguments)
	{
		const struct mcp_argument *argument = find_argument(tool, value->string);

		if (argument && check_value(value, argument, err))
			return err->code;
		if (argument)
			continue;
		for (const struct mcp_argument *a = tool->arguments; a->name; a++)
			str_addf(&known, "%s%s", known.n ? ", " : "", a->name);
		err_set(err, ERR_INVAL, "'%s' has no argument '%.60s'; it takes %s", tool->name,
			value->string, known.n ? known.at : "none");
		str_fini(&known);
		return err->code;
	}
	for (const struct mcp_argument *a = tool->arguments; a->name; a++)
		if (a->is_needed && !cJSON_GetObjectItemCaseSensitive(arguments, a->name))
			return err_set(err, ERR_INVAL, "'%s' needs the argument '%s': %s",
				tool->name, a->name, a->help);
	return 0;
}

const char *mcp_question_text(const struct mcp_question *q, const char *name)
{
	const struct mcp_argument *argument = find_argument(q->tool, name);
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(q->arguments, name);

	return cJSON_IsString(value) ? value->valuestring : argument ? argument->text : NULL;
}

u64 mcp_question_number(const struct mcp_question *q, const char *name)
{
	const struct mcp_argument *argument = find_argument(q->tool, name);
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(q->arguments, name);

	return cJSON_IsNumber(value) ? (u64)value->valuedouble : argument ? argument->standard : 0;
}

/* ---- recordings ---- */

static s64 changed_ns(const struct stat *st)
{
	return (s64)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* The number in "r12", or 0. */
static u64 id_of(const char *text)
{
	u64 id = 0;

	if (*text++ != 'r' || !*text || strlen(text) > 6)
		return 0;
	for (; *text >= '0' && *text <= '9'; text++)
		id = id * 10 + (u64)(*text - '0');
	return *text ? 0 : id;
}

static int find_recording(struct mcp_question *q, const char *text, const struct mcp_recordings *r,
	struct err *err)
{
	const u64 id = id_of(text);
	struct str path = {0};
	struct stat st;

	if (id && id <= r->loaded.n) {
		const struct mcp_loaded *known = &r->loaded.at[id - 1];

		q->has_changed |= stat(known->path, &st) || changed_ns(&st) != known->changed_ns ||
			(u64)st.st_size != known->size;
		text = known->path;
	}
	/* Also what an id stands for is looked for in the folders again: it may be a link now. */
	if (mcp_folders_find(r->folders, text, &path, err)) {
		str_fini(&path);
		return err->code;
	}
	vec_add(&q->paths, path.at);
	return 0;
}

static int find_recordings(struct mcp_question *q, const struct mcp_recordings *r, struct err *err)
{
	for (const struct mcp_argument *a = q->tool->arguments; a->name; a++) {
		const cJSON *value = cJSON_GetObjectItemCaseSensitive(q->arguments, a->name), *one;

		if (!value || (a->kind != MCP_RECORDING && a->kind != MCP_RECORDINGS))
			continue;
		if (cJSON_IsString(value) && find_recording(q, value->valuestring, r, err))
			return err->code;
		if (cJSON_IsArray(value))
			cJSON_ArrayForEach(one, value) if (find_recording(q, one->valuestring, r,
								   err)) return err->code;
		if (!q->n_first)
			q->n_first = q->paths.n;
	}
	return 0;
}

/* Gives the recording an id, or finds the one that it has. */
static int note_loaded(struct mcp_question *q, struct mcp_recordings *r, struct err *err)
{
	struct mcp_loaded now = {.path = q->paths.at[0]};
	struct stat st;

	if (!stat(now.path, &st)) {
		now.changed_ns = changed_ns(&st);
		now.size = (u64)st.st_size;
	}
	for (size_t i = 0; i < r->loaded.n && !q->id; i++)
		if (!strcmp(r->loaded.at[i].path, now.path))
			q->id = i + 1;
	if (!q->id && r->loaded.n >= RECORDINGS_MAX)
		return err_set(err, ERR_LIMIT,
			"%d recordings are loaded, which is the most: other tools take the path, too",
			RECORDINGS_MAX);
	if (q->id) {
		now.path = r->loaded.at[q->id - 1].path;
		r->loaded.at[q->id - 1] = now;
		return 0;
	}
	now.path = mem_strdup(now.path);
	vec_add(&r->loaded, now);
	q->id = r->loaded.n;
	return 0;
}

void mcp_recordings_fini(struct mcp_recordings *r)
{
	vec_each(loaded, &r->loaded)
		mem_free(loaded->path);
	vec_fini(&r->loaded);
}

/* ---- words ---- */

void mcp_question_add_word(struct mcp_question *q, const char *before, const char *text)
{
	struct str word = {0};

	str_addf(&word, "%s%s", before, text);
	vec_add(&q->words, word.at);
}

static void add_argument_word(struct mcp_question *q, const struct mcp_argument *a)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(q->arguments, a->name);
	char number[24];

	if (!a->word)
		return;
	if (a->kind == MCP_FLAG) {
		mcp_question_add_word(q, cJSON_IsTrue(value) ? a->word : a->word_not, "");
	} else if (a->kind == MCP_NUMBER) {
		snprintf(number, sizeof(number), "%llu",
			(unsigned long long)mcp_question_number(q, a->name));
		mcp_question_add_word(q, a->word, number);
	} else if (mcp_question_text(q, a->name)) {
		mcp_question_add_word(q, a->word, mcp_question_text(q, a->name));
	}
}

static void add_words(struct mcp_question *q)
{
	mcp_question_add_word(q, q->tool->cmd->name, "");
	for (size_t i = 0; i < ARRAY_SIZE(q->tool->words) && q->tool->words[i]; i++)
		mcp_question_add_word(q, q->tool->words[i], "");
	for (const struct mcp_argument *a = q->tool->arguments; a->name; a++)
		add_argument_word(q, a);
	if (q->paths.n && q->tool->arguments->kind == MCP_RECORDING)
		mcp_question_add_word(q, "--input=", q->paths.at[0]);
	if (q->tool->add_words)
		q->tool->add_words(q);
}

/* What the function calls counts as its own: its callers are then those of all that happens in it. */
static void add_callers_words(struct mcp_question *q)
{
	const char *function = mcp_question_text(q, "function");
	struct str pattern = {0};

	str_addc(&pattern, '^');
	for (const char *p = function; *p; p++) {
		if (strchr("\\^.$*+?()[]{}|", *p))
			str_addc(&pattern, '\\');
		str_addc(&pattern, *p);
	}
	str_addc(&pattern, '$');
	mcp_question_add_word(q, "--ignore-callees=", pattern.at);
	mcp_question_add_word(q, "--symbol-filter=", function);
	str_fini(&pattern);
}

static void add_callees_words(struct mcp_question *q)
{
	mcp_question_add_word(q, "--symbol-filter=", mcp_question_text(q, "function"));
}

static void add_sides(struct mcp_question *q)
{
	for (size_t i = 0; i < q->paths.n; i++) {
		if (i == q->n_first)
			mcp_question_add_word(q, "--", "");
		mcp_question_add_word(q, q->paths.at[i], "");
	}
}

int mcp_question_init(struct mcp_question *q, const struct mcp_tool *tool, const cJSON *arguments,
	struct mcp_recordings *recordings, struct err *err)
{
	*q = (struct mcp_question){.tool = tool, .arguments = arguments};
	if (check_arguments(tool, arguments, err) || find_recordings(q, recordings, err) ||
		(tool->read == mcp_read_load && note_loaded(q, recordings, err))) {
		mcp_question_fini(q);
		return err->code;
	}
	add_words(q);
	return 0;
}

void mcp_question_fini(struct mcp_question *q)
{
	vec_each(path, &q->paths)
		mem_free(*path);
	vec_each(word, &q->words)
		mem_free(*word);
	vec_fini(&q->paths);
	vec_fini(&q->words);
}

void mcp_question_command(const struct mcp_question *q, bool has_extra, struct str *ret)
{
	str_add(ret, "pace");
	for (size_t i = 0; i < q->words.n; i++) {
		str_addc(ret, ' ');
		cmdline_add_word(ret, q->words.at[i]);
		if (!i && has_extra && q->tool->extra)
			str_addf(ret, " %s", q->tool->extra);
	}
}
