#include "event/eventfile.h"

#include "base/sysfile.h"

#ifdef PACE_HAS_CJSON

#include <stdio.h>

#include <cjson/cJSON.h>

/* The largest file today has 6 MB and 200,000 values. */
enum { FILE_MAX = 32 << 20, VALUES_MAX = 2 << 20 };

static const char *const keys[FIELD_COUNT] = {
	[FIELD_NAME] = "EventName",
	[FIELD_STANDARD] = "ArchStdEvent",
	[FIELD_UNIT] = "Unit",
	[FIELD_CODE] = "EventCode",
	[FIELD_CODE_MORE] = "ExtSel",
	[FIELD_CONFIG] = "ConfigCode",
	[FIELD_EVENT_ID] = "EventidCode",
	[FIELD_NODE_TYPE] = "NodeType",
	[FIELD_UMASK] = "UMask",
	[FIELD_UMASK_MORE] = "UMaskExt",
	[FIELD_CMASK] = "CounterMask",
	[FIELD_INVERT] = "Invert",
	[FIELD_EDGE] = "EdgeDetect",
	[FIELD_ANY_THREAD] = "AnyThread",
	[FIELD_PORT_MASK] = "PortMask",
	[FIELD_FC_MASK] = "FCMask",
	[FIELD_READ_WRITE_MASK] = "RdWrMask",
	[FIELD_ALL_CORES] = "EnAllCores",
	[FIELD_ALL_SLICES] = "EnAllSlices",
	[FIELD_SLICE] = "SliceId",
	[FIELD_THREAD_MASK] = "ThreadMask",
	[FIELD_MSR] = "MSRIndex",
	[FIELD_MSR_VALUE] = "MSRValue",
	[FIELD_FILTER] = "Filter",
	[FIELD_FILTER_VALUE] = "FILTER_VALUE",
	[FIELD_PERIOD] = "SampleAfterValue",
	[FIELD_RETIRE_LATENCY] = "RetirementLatencyMean",
	[FIELD_SCALE] = "ScaleUnit",
	[FIELD_PER_PKG] = "PerPkg",
	[FIELD_PRECISE] = "PEBS",
	[FIELD_DEPRECATED] = "Deprecated",
	[FIELD_COMPAT] = "Compat",
	[FIELD_ERRATA] = "Errata",
	[FIELD_BRIEF] = "BriefDescription",
	[FIELD_DESCRIPTION] = "PublicDescription",
	[FIELD_METRIC_NAME] = "MetricName",
	[FIELD_METRIC_EXPR] = "MetricExpr",
	[FIELD_METRIC_FORMULA] = "Formula",
	[FIELD_METRIC_GROUP] = "MetricGroup",
	[FIELD_METRIC_THRESHOLD] = "MetricThreshold",
	[FIELD_METRIC_CONSTRAINT] = "MetricConstraint",
	[FIELD_METRIC_NO_GROUP] = "MetricgroupNoGroup",
	[FIELD_METRIC_DEFAULT] = "DefaultMetricgroupName",
	[FIELD_METRIC_UNIT] = "UnitOfMeasure",
	[FIELD_METRIC_LEGACY] = "LegacyName",
};

/* cJSON takes 64 bytes for a value, however short its text: bounds "[0,0,0..." before parsing. */
static int check_size(const struct str *text, const char *path, struct err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < text->n; i++)
		n += text->at[i] == ',' || text->at[i] == '[' || text->at[i] == '{';
	if (n > VALUES_MAX)
		return err_set(err, ERR_LIMIT, "'%s' has %zu values, more than %d", path, n,
			VALUES_MAX);
	return 0;
}

static int bad_json(const struct str *text, const char *path, const char *at, struct err *err)
{
	size_t offset = at ? MIN((size_t)(at - text->at), text->n) : 0, line = 1;

	for (size_t i = 0; i < offset; i++)
		line += text->at[i] == '\n';
	if (strspn(text->at + offset, " \t\r\n") >= text->n - offset || offset + 1 >= text->n)
		return err_set(err, ERR_FORMAT, "'%s' ends in the middle of its JSON, at byte %zu",
			path, text->n);
	return err_set(err, ERR_FORMAT, "'%s': invalid JSON at byte %zu (line %zu): '%.*s'", path,
		offset, line,
		(int)strcspn(text->at + offset, "\r\n") > 20
			? 20
			: (int)strcspn(text->at + offset, "\r\n"),
		text->at + offset);
}

static bool has(const struct str *text, const char *key)
{
	return memmem(text->at, text->n, key, strlen(key)) != NULL;
}

int eventfile_open(struct eventfile *f, const char *path, bool has_metrics, struct err *err)
{
	const char *end = NULL;
	const cJSON *events;

	*f = (struct eventfile){0};
	if (sysfile_read(path, FILE_MAX, &f->text, err) || check_size(&f->text, path, err)) {
		eventfile_close(f);
		return err->code;
	}
	/* A third of all bytes are in files that have only metrics. */
	if (!has_metrics && has(&f->text, "\"MetricName\"") && !has(&f->text, "\"EventName\"") &&
		!has(&f->text, "\"ArchStdEvent\""))
		return 0;
	f->tree = cJSON_ParseWithLengthOpts(f->text.at, f->text.n, &end, false);
	if (!f->tree || end[strspn(end, " \t\r\n")] ||
		end + strlen(end) != f->text.at + f->text.n) {
		bad_json(&f->text, path, end, err);
		eventfile_close(f);
		return err->code;
	}
	events = f->tree;
	if (cJSON_IsObject(events))
		events = cJSON_GetObjectItemCaseSensitive(f->tree, "Events");
	if (!events && has_metrics)
		events = cJSON_GetObjectItemCaseSensitive(f->tree, "Metrics");
	/* Other objects describe the groups of metrics: "Frontend": "Grouping from ..." */
	if (!events && has_metrics)
		events = f->tree;
	f->next = cJSON_IsArray(events) || events == f->tree ? events->child : NULL;
	return 0;
}

static const char *text_of(struct eventfile *f, const cJSON *value)
{
	char buf[32];

	if (cJSON_IsArray(value))
		value = value->child;
	if (cJSON_IsString(value))
		return value->valuestring;
	if (cJSON_IsTrue(value))
		return "1";
	if (!cJSON_IsNumber(value))
		return NULL;
	snprintf(buf, sizeof(buf), "%.17g", value->valuedouble);
	return arena_strdup(&f->arena, buf, strlen(buf));
}

/* Adds the pairs of a list of objects: {"Name": "CYCLES", "Alias": "a"}; thresholds call the name "Value". */
static void take_aliases(struct eventfile *f, const cJSON *list, bool is_of_threshold,
	struct eventfile_row *row)
{
	const size_t n = row->n_aliases + (size_t)cJSON_GetArraySize(list);
	struct eventfile_alias *aliases = arena_alloc(&f->arena, (n + 1) * sizeof(*aliases));
	const cJSON *entry;

	if (row->n_aliases)
		memcpy(aliases, row->aliases, row->n_aliases * sizeof(*aliases));
	row->aliases = aliases;
	cJSON_ArrayForEach(entry, list)
	{
		const cJSON *alias = cJSON_GetObjectItemCaseSensitive(entry, "Alias");
		const cJSON *name =
			cJSON_GetObjectItemCaseSensitive(entry, is_of_threshold ? "Value" : "Name");

		if (cJSON_IsString(alias) && cJSON_IsString(name))
			aliases[row->n_aliases++] = (struct eventfile_alias){alias->valuestring,
				name->valuestring, is_of_threshold};
	}
}

/* Takes a member that is no single value: parts of perfmon's metrics. */
static void take_parts(struct eventfile *f, const cJSON *member, struct eventfile_row *row)
{
	const cJSON *formula;

	if (!strcmp(member->string, "Events") || !strcmp(member->string, "Constants"))
		take_aliases(f, member, false, row);
	if (strcmp(member->string, "Threshold") != 0 || !cJSON_IsObject(member))
		return;
	formula = cJSON_GetObjectItemCaseSensitive(member, "Formula");
	if (cJSON_IsString(formula))
		row->text[FIELD_METRIC_THRESHOLD] = formula->valuestring;
	take_aliases(f, cJSON_GetObjectItemCaseSensitive(member, "ThresholdMetrics"), true, row);
}

bool eventfile_next(struct eventfile *f, struct eventfile_row *row)
{
	const cJSON *entry = f->next;

	while (entry && !cJSON_IsObject(entry) && !(cJSON_IsString(entry) && entry->string))
		entry = entry->next;
	f->next = entry ? entry->next : NULL;
	if (!entry)
		return false;
	if (cJSON_IsString(entry)) {
		row->text[FIELD_METRIC_GROUP] = entry->string;
		row->text[FIELD_BRIEF] = entry->valuestring;
		return true;
	}
	for (const cJSON *member = entry->child; member; member = member->next) {
		if (cJSON_IsArray(member) || cJSON_IsObject(member))
			take_parts(f, member, row);
		for (size_t i = 0; i < FIELD_COUNT; i++) {
			const char *text;

			if (member->string[0] != keys[i][0] || strcmp(member->string, keys[i]))
				continue;
			text = text_of(f, member);
			if (text)
				row->text[i] = text;
			break;
		}
	}
	return true;
}

static bool is_read(const cJSON *member)
{
	static const char *const parts[] = {"Events", "Constants", "Threshold"};

	for (size_t i = 0; i < FIELD_COUNT; i++)
		if (!strcmp(member->string, keys[i]))
			return !cJSON_IsNull(member);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!strcmp(member->string, parts[i]))
			return true;
	return false;
}

int eventfile_compact(const char *path, struct str *ret, struct err *err)
{
	struct eventfile f;
	cJSON *entry, *next;
	char *text;

	if (eventfile_open(&f, path, true, err))
		return err->code;
	for (entry = (cJSON *)(uintptr_t)f.next; entry; entry = entry->next) {
		for (cJSON *member = cJSON_IsObject(entry) ? entry->child : NULL; member;
			member = next) {
			next = member->next;
			if (!is_read(member))
				cJSON_Delete(cJSON_DetachItemViaPointer(entry, member));
		}
	}
	text = cJSON_PrintUnformatted(f.tree);
	if (text)
		str_add(ret, text);
	cJSON_free(text);
	eventfile_close(&f);
	return text ? 0 : err_set(err, ERR_SYS, "'%s': no memory to write it again", path);
}

void eventfile_close(struct eventfile *f)
{
	cJSON_Delete(f->tree);
	str_fini(&f->text);
	arena_fini(&f->arena);
}

bool eventfile_is_built_in(void)
{
	return true;
}

#else

bool eventfile_is_built_in(void)
{
	return false;
}

int eventfile_open(struct eventfile *f, const char *path, bool has_metrics, struct err *err)
{
	(void)path;
	(void)has_metrics;
	*f = (struct eventfile){0};
	return err_set(err, ERR_UNSUPPORTED,
		"cannot read the vendors' event tables: this pace was built without cJSON "
		"(libcjson-dev); events that the kernel names still work");
}

bool eventfile_next(struct eventfile *f, struct eventfile_row *row)
{
	(void)f;
	(void)row;
	return false;
}

int eventfile_compact(const char *path, struct str *ret, struct err *err)
{
	struct eventfile f;

	(void)ret;
	return eventfile_open(&f, path, true, err);
}

void eventfile_close(struct eventfile *f)
{
	(void)f;
}

#endif
