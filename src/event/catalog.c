#include "event/catalog.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/sysfile.h"
#include "event/catalogrow.h"
#include "event/pmu.h"

enum { PATH_SIZE = 4096, MAPFILE_MAX = 4 << 20, DEPTH_MAX = 4 };

bool catalog_pmu_matches(const char *pmu, const char *name)
{
	const char *at = name;

	for (const char *part = pmu; *part; part += strcspn(part, ","), part += *part == ',') {
		size_t n = strcspn(part, ",");
		const char *found = part == pmu ? (strncmp(at, part, n) ? NULL : at)
						: memmem(at, strlen(at), part, n);

		if (!found)
			return false;
		at = found + n;
	}
	at += *at == '_';
	return !at[strspn(at, "0123456789abcdef")] && (!*at || isdigit((u8)*at));
}

/* ---- one file ---- */

static void say_broken(struct catalog_opener *o, const struct err *err)
{
	if (!o->n_broken++)
		o->first_err = *err;
	log_warn(o->log, "%s: its events are missing", err->msg);
}

static bool is_json(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && !strcmp(name + n - 5, ".json");
}

/* A path that is too long for the kernel is cut, and is not found then. */
static void join(char *path, const char *folder, const char *name)
{
	size_t n = MIN(strlen(folder), (size_t)PATH_SIZE - 1);

	memcpy(path, folder, n);
	snprintf(path + n, PATH_SIZE - n, "/%.*s", (int)MIN(strlen(name), (size_t)PATH_SIZE), name);
}

/* Notes a file below the folder of the map, or a row of the map, for those who copy the tables. */
static void note_source(const struct catalog_opener *o, const char *path, const char *row)
{
	struct catalog_sources *s = o->places->sources;
	const size_t n = o->standard_folder ? strlen(o->standard_folder) + 1 : 0;

	if (!s || !n)
		return;
	vec_add(&s->list,
		((struct catalog_source){intern_str(&s->texts, o->standard_folder),
			path ? intern_str(&s->texts, path + n) : NULL,
			row ? intern_str(&s->texts, row) : NULL}));
}

static void read_standard_file(struct catalog_opener *o, const char *path)
{
	struct eventfile_row row = {0};
	struct eventfile f;
	struct err err;

	note_source(o, path, NULL);
	if (eventfile_open(&f, path, true, &err)) {
		say_broken(o, &err);
		return;
	}
	for (; eventfile_next(&f, &row); row = (struct eventfile_row){0})
		if (row.text[FIELD_NAME] || row.text[FIELD_METRIC_NAME])
			vec_add(&o->standard_rows, row);
	vec_add(&o->standards, f);
}

/* The architecture's own events and metrics, which a CPU's entries refer to by name. */
static void read_standards(struct catalog_opener *o)
{
	struct intern names = {0};
	char path[PATH_SIZE];

	o->has_standards = true;
	if (o->standard_folder)
		sysfile_entries(o->standard_folder, &names);
	vec_each(name, &names.strings) {
		join(path, o->standard_folder, *name);
		if (is_json(*name))
			read_standard_file(o, path);
	}
	intern_fini(&names);
}

/* Fills in what the row leaves out, from the event of the architecture that it refers to. */
static bool complete(struct catalog_opener *o, struct eventfile_row *row)
{
	if (!o->has_standards)
		read_standards(o);
	vec_each(standard, &o->standard_rows) {
		const char *name = standard->text[FIELD_NAME];

		if (strcasecmp(name ? name : standard->text[FIELD_METRIC_NAME],
			    row->text[FIELD_STANDARD]) != 0)
			continue;
		for (size_t i = 0; i < FIELD_COUNT; i++)
			if (!row->text[i])
				row->text[i] = standard->text[i];
		return true;
	}
	return false;
}

/* "skylakex/uncore-memory.json" -> "uncore memory" */
static const char *topic_of(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *topic = arena_strdup(arena, name, strlen(name) - 5);

	for (char *p = topic; *p; p++)
		if (*p == '-')
			*p = ' ';
	return topic;
}

static void read_file(struct catalog_opener *o, const char *path)
{
	struct eventfile_row row = {0};
	const char *topic, *example = NULL;
	struct eventfile f;
	struct err err;
	u32 n_bad = 0;

	note_source(o, path, NULL);
	if (o->n_broken && o->first_err.code == ERR_UNSUPPORTED)
		return;
	/* All CPUs' files are only noted: together they would not fit in a catalog. */
	if (o->places->sources && o->places->sources->has_all_cpus) {
		o->n_read++;
		return;
	}
	if (eventfile_open(&f, path, o->places->has_metrics, &err)) {
		say_broken(o, &err);
		return;
	}
	topic = topic_of(&o->catalog->arena, path);
	o->n_read++;
	for (; eventfile_next(&f, &row); row = (struct eventfile_row){0}) {
		bool is_good = true;

		if (row.text[FIELD_COMPAT]) {
			o->catalog->n_chips++;
			continue;
		}
		if (row.text[FIELD_STANDARD])
			is_good = complete(o, &row);
		if (is_good && o->places->has_metrics)
			catalogrow_add_metric(o, &row, topic);
		if (is_good && !row.text[FIELD_NAME])
			continue;
		if (!is_good || !catalogrow_add_event(o, &row, topic)) {
			n_bad++;
			example = row.text[FIELD_NAME] ? row.text[FIELD_NAME]
						       : row.text[FIELD_STANDARD];
		}
	}
	if (n_bad)
		log_warn(o->log,
			"'%s': left out %u of its events ('%.80s'): a number in them is invalid, or "
			"they refer to an event that does not exist",
			path, n_bad, example);
	eventfile_close(&f);
}

static void read_folder(struct catalog_opener *o, const char *folder, unsigned depth)
{
	struct intern names = {0};
	char path[PATH_SIZE];
	struct stat st;

	if (depth < DEPTH_MAX)
		sysfile_entries(folder, &names);
	vec_each(name, &names.strings) {
		join(path, folder, *name);
		if (is_json(*name))
			read_file(o, path);
		else if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			read_folder(o, path, depth + 1);
	}
	intern_fini(&names);
}

/* ---- which files ---- */

enum { COLUMN_CPUID, COLUMN_FILE = 2, COLUMN_KIND, COLUMN_ROLE = 6, N_COLUMNS };

static void split_line(char *line, char *columns[N_COLUMNS])
{
	line[strcspn(line, "\r")] = '\0';
	for (size_t i = 0; i < N_COLUMNS; i++) {
		columns[i] = line ? line : (char *)"";
		line = line ? strchr(line, ',') : NULL;
		if (line)
			*line++ = '\0';
	}
}

/* Reads what a row about this CPU names: a folder of files, or one file. */
static void read_mapped(struct catalog_opener *o, const char *folder,
	char *const columns[N_COLUMNS])
{
	const char *name = columns[COLUMN_FILE], *role = columns[COLUMN_ROLE];
	char path[PATH_SIZE];
	struct stat st;
	struct err err;

	if (!o->places->has_metrics && strstr(columns[COLUMN_KIND], "metrics"))
		return;
	join(path, folder, name + strspn(name, "/"));
	o->role_pmu = !strcmp(role, "Core") ? "cpu_core"
		: !strcmp(role, "Atom")     ? "cpu_atom"
					    : NULL;
	if (stat(path, &st)) {
		err_sys(&err, errno, "opening '%s', which its mapfile.csv names", path);
		say_broken(o, &err);
	} else if (S_ISDIR(st.st_mode)) {
		read_folder(o, path, 0);
	} else {
		read_file(o, path);
	}
	o->role_pmu = NULL;
}

/*
 * Reads the rows of folder/mapfile.csv that are about this CPU: 1 if there are some, 0 if none, < 0 if
 * there is no such file. These are the first matching row and all others with the same pattern: Linux
 * has one, perfmon several.
 */
static int read_mapfile(struct catalog_opener *o, const char *folder)
{
	const bool is_any = o->places->sources && o->places->sources->has_all_cpus;
	char path[PATH_SIZE], row[1024], *rest, *line, *columns[N_COLUMNS];
	char pattern[256] = "";
	struct str text = {0};
	struct err err;

	join(path, folder, "mapfile.csv");
	if (access(path, F_OK))
		return -1;
	if (sysfile_read(path, MAPFILE_MAX, &text, &err)) {
		say_broken(o, &err);
		str_fini(&text);
		return 0;
	}
	o->standard_folder = folder;
	rest = text.at;
	while ((line = strsep(&rest, "\n")) != NULL) {
		snprintf(row, sizeof(row), "%s", line);
		split_line(line, columns);
		if (line[0] == '#' || !line[0] || !columns[COLUMN_FILE][0])
			continue;
		if (is_any ? !strcasecmp(columns[COLUMN_FILE], "filename")
				: pattern[0]
				? strcmp(pattern, columns[COLUMN_CPUID]) != 0
				: !cpuid_matches(o->core->cpuid, columns[COLUMN_CPUID]))
			continue;
		snprintf(pattern, sizeof(pattern), "%s", columns[COLUMN_CPUID]);
		note_source(o, NULL, row);
		read_mapped(o, folder, columns);
	}
	str_fini(&text);
	if (is_any && !o->has_standards)
		read_standards(o);
	return pattern[0] != '\0';
}

/* The same for all architectures of a folder like pmu-events/arch: one of them knows the CPU. */
static int read_architectures(struct catalog_opener *o, const char *folder)
{
	struct intern names = {0};
	char path[PATH_SIZE];
	int result = -1;

	sysfile_entries(folder, &names);
	vec_each(name, &names.strings) {
		join(path, folder, *name);
		if (result > 0 && !(o->places->sources && o->places->sources->has_all_cpus))
			continue;
		o->has_standards = false;
		result = MAX(result, read_mapfile(o, path));
	}
	intern_fini(&names);
	return result;
}

static bool has_json(const char *folder)
{
	struct intern names = {0};
	bool is_found = false;

	sysfile_entries(folder, &names);
	vec_each(name, &names.strings)
		is_found |= is_json(*name);
	intern_fini(&names);
	return is_found;
}

/*
 * Reads the tables below a folder in any of the layouts: 1 if they know this CPU, 0 if not, -1 if
 * there are none.
 */
static int read_tree(struct catalog_opener *o, const char *folder)
{
	static const char *const below[] = {"arch", "pmu-events/arch",
		"tools/perf/pmu-events/arch"};
	char path[PATH_SIZE];
	int result = read_mapfile(o, folder);

	for (size_t i = 0; i < ARRAY_SIZE(below) && result < 0; i++) {
		join(path, folder, below[i]);
		result = read_architectures(o, path);
	}
	/* No map: the user's own files, meant for this CPU. */
	if (result < 0 && has_json(folder)) {
		o->standard_folder = folder;
		read_folder(o, folder, DEPTH_MAX - 1);
		result = 1;
	}
	o->has_standards = false;
	o->standard_folder = NULL;
	return result;
}

static void forget_standards(struct catalog_opener *o)
{
	vec_each(f, &o->standards)
		eventfile_close(f);
	vec_fini(&o->standards);
	vec_fini(&o->standard_rows);
}

/* Reads the tables of this CPU from one folder; true if the folder has some. */
static bool try_folder(struct catalog_opener *o, const char *folder, int *ret_result)
{
	*ret_result = read_tree(o, folder);
	forget_standards(o);
	if (*ret_result <= 0)
		return false;
	if (!o->catalog->folder)
		o->catalog->folder = arena_strdup(&o->catalog->arena, folder, strlen(folder));
	return true;
}

static int read_named(struct catalog_opener *o, struct err *err)
{
	const char *folder = o->places->folder;
	struct stat st;
	int result;

	if (stat(folder, &st))
		return err_sys(err, errno, "opening the folder of event tables '%s'", folder);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, ERR_NOENT,
			"'%s' is not a folder; event tables are folders with a mapfile.csv, or with JSON files",
			folder);
	if (try_folder(o, folder, &result))
		return 0;
	if (result < 0)
		return err_set(err, ERR_NOENT,
			"'%s' holds no event tables: neither mapfile.csv, as in Linux' tools/perf/pmu-events/arch/* and "
			"Intel's perfmon, nor JSON files",
			folder);
	if (o->core->cpuid[0])
		log_warn(o->log, "'%s' has no events for this CPU ('%s')", folder, o->core->cpuid);
	return 0;
}

static int by_version_descending(const void *a, const void *b)
{
	return strverscmp(*(char *const *)b, *(char *const *)a);
}

bool catalog_own_folder(char *buf, size_t size)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (data && data[0] == '/')
		return (size_t)snprintf(buf, size, "%s/pace/events", data) < size;
	if (home && home[0] == '/')
		return (size_t)snprintf(buf, size, "%s/.local/share/pace/events", home) < size;
	return false;
}

static void read_installed(struct catalog_opener *o)
{
	char own[PATH_SIZE];
	glob_t sources = {0};
	int result;

	if ((catalog_own_folder(own, sizeof(own)) && try_folder(o, own, &result)) ||
		try_folder(o, "/usr/share/pace/events", &result))
		return;
	glob("/usr/src/linux-source-*/tools/perf/pmu-events", GLOB_NOSORT, NULL, &sources);
	if (sources.gl_pathc)
		qsort(sources.gl_pathv, sources.gl_pathc, sizeof(char *), by_version_descending);
	for (size_t i = 0; i < sources.gl_pathc; i++)
		if (try_folder(o, sources.gl_pathv[i], &result))
			break;
	globfree(&sources);
}

/* ---- all of it ---- */

/* Reads the tables of one kind of core: entries that name no unit are events of `pmu`. */
static int read_core(struct catalog_opener *o, const char *pmu, u32 cpu, struct err *err)
{
	struct catalog_core core = {.pmu = arena_strdup(&o->catalog->arena, pmu, strlen(pmu)),
		.pmu_is_here = catalogrow_has_pmu(o, pmu)};
	const char *sysfs = o->places->sysfs ? o->places->sysfs : "/sys";
	struct err why;

	if (o->places->cpuid) {
		snprintf(core.cpuid, sizeof(core.cpuid), "%s", o->places->cpuid);
	} else if (cpuid_read(sysfs, cpu, core.cpuid, &why)) {
		/* Without a model there may still be files that need none. */
		if (o->places->folder)
			log_warn(o->log, "%s", why.msg);
		core.cpuid[0] = '\0';
	}
	memcpy(o->catalog->cpuid, core.cpuid, sizeof(core.cpuid));
	o->core = &core;
	if (o->places->folder)
		return read_named(o, err);
	read_installed(o);
	return 0;
}

/* armv8_pmuv3_0 or armv8_cortex_a53: a PMU with a list of the CPUs it belongs to. */
static int read_cores(struct catalog_opener *o, struct err *err)
{
	u32 n = 0;

	if (catalogrow_has_pmu(o, "cpu") || catalogrow_has_pmu(o, "cpu_core"))
		return read_core(o, "cpu", 0, err);
	vec_each(name, &o->pmus.strings) {
		struct pmu pmu;
		char path[PATH_SIZE];
		int r;

		snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/cpus",
			o->places->sysfs, *name);
		if (access(path, F_OK) || pmu_open(&pmu, o->places->sysfs, *name, err))
			continue;
		n++;
		r = read_core(o, *name, pmu.cpus.n ? pmu.cpus.at[0] : 0, err);
		pmu_close(&pmu);
		if (r)
			return r;
	}
	return n ? 0 : read_core(o, "cpu", 0, err);
}

static int by_name(const void *a, const void *b)
{
	const struct catalog_event *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->pmu, y->pmu);
}

static void sort_events(struct catalog *c)
{
	if (!c->events.n)
		return;
	qsort(c->events.at, c->events.n, sizeof(*c->events.at), by_name);
	table_clear(&c->index);
	table_reserve(&c->index, c->events.n);
	for (size_t i = 0; i < c->events.n; i++)
		table_add(&c->index, catalogrow_hash(c->events.at[i].name), i);
}

int catalog_open(struct catalog *c, const struct catalog_places *places, struct log *log,
	struct err *err)
{
	struct catalog_opener o = {.catalog = c, .places = places, .log = log};
	int r;

	memset(c, 0, sizeof(*c));
	if (places->sysfs)
		pmu_list(places->sysfs, &o.pmus);
	r = read_cores(&o, err);
	vec_fini(&o.units);
	intern_fini(&o.pmus);
	if (!r && o.n_broken && !o.n_read && places->folder) {
		*err = o.first_err;
		r = err->code;
	}
	if (r) {
		catalog_close(c);
		return r;
	}
	sort_events(c);
	return 0;
}

void catalog_sources_fini(struct catalog_sources *s)
{
	vec_fini(&s->list);
	intern_fini(&s->texts);
}

void catalog_close(struct catalog *c)
{
	vec_fini(&c->events);
	vec_fini(&c->metrics);
	vec_fini(&c->groups);
	table_fini(&c->index);
	table_fini(&c->metric_index);
	arena_fini(&c->arena);
}

const struct catalog_event *catalog_find(const struct catalog *c, const char *pmu, const char *name)
{
	struct table_probe probe = table_probe(&c->index, catalogrow_hash(name));
	u32 i;

	while ((i = table_next(&c->index, &probe)) != TABLE_NONE) {
		const struct catalog_event *e = &c->events.at[i];

		if (!strcasecmp(e->name, name) && (!pmu || catalog_pmu_matches(e->pmu, pmu)))
			return e;
	}
	return NULL;
}
