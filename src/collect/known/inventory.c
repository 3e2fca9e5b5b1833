#include "collect/known/inventory.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/sysfile.h"
#include "collect/counter/counter.h"
#include "collect/open/refusal.h"
#include "event/abi.h"
#include "event/cpuid.h"
#include "event/names.h"
#include "event/parse.h"
#include "event/pfm.h"
#include "event/pmu.h"
#include "event/tracefs.h"
#include "event/tsx.h"

enum { PATH_SIZE = 512 };

static const char *keep(struct inventory *m, const char *text)
{
	return arena_strdup(&m->arena, text, strlen(text));
}

static PRINTF(2, 3) const char *keepf(struct inventory *m, const char *fmt, ...)
{
	struct str text = {0};
	const char *kept;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	kept = keep(m, str_text(&text));
	str_fini(&text);
	return kept;
}

static struct inventory_item *add(struct inventory *m, enum inventory_kind kind, const char *name)
{
	struct inventory_item *item = vec_push(&m->items);

	*item = (struct inventory_item){.kind = kind, .name = name, .scale = 1};
	return item;
}

/* ---- what there is ---- */

static enum inventory_kind kind_of(u32 type)
{
	return type == PERF_TYPE_HARDWARE    ? INVENTORY_HARDWARE
		: type == PERF_TYPE_SOFTWARE ? INVENTORY_SOFTWARE
					     : INVENTORY_TOOL;
}

/* Adds the events that have the same name on every machine. */
static void add_generic(struct inventory *m, enum inventory_kind kind)
{
	const struct event_name *row;

	for (size_t i = 0; (row = names_at(i)) != NULL; i++) {
		struct inventory_item *item;

		if (kind_of(row->type) != kind)
			continue;
		item = add(m, kind, row->name);
		item->alias = row->alias;
		item->brief = row->help;
	}
}

static void add_cache(struct inventory *m)
{
	char name[64];

	for (size_t i = 0; names_cache_at(i, name, sizeof(name)); i++)
		add(m, INVENTORY_CACHE, keep(m, name));
}

static void pmu_path(const struct inventory *m, char *path, const char *pmu, const char *below)
{
	snprintf(path, PATH_SIZE, "%s/bus/event_source/devices/%s/%s", m->options.sysfs, pmu,
		below);
}

/* The line that sysfs has for an event: "events/NAME", "events/NAME.unit". */
static const char *event_line(struct inventory *m, const char *pmu, const char *name,
	const char *suffix)
{
	char path[PATH_SIZE], below[160], line[1024];

	snprintf(below, sizeof(below), "events/%s%s", name, suffix);
	pmu_path(m, path, pmu, below);
	return sysfile_line(path, line, sizeof(line)) && line[0] ? keep(m, line) : NULL;
}

/* A core PMU is called cpu or has a list of its CPUs: bare names refer to its events. */
static bool is_core(const struct inventory *m, const char *pmu)
{
	char path[PATH_SIZE];

	pmu_path(m, path, pmu, "cpus");
	return !strcmp(pmu, "cpu") || access(path, F_OK) == 0;
}

static void add_pmu_events(struct inventory *m, const char *pmu)
{
	struct intern names = {0};
	char path[PATH_SIZE];

	pmu_path(m, path, pmu, "events");
	sysfile_entries(path, &names);
	vec_each(name, &names.strings) {
		struct inventory_item *item;
		const char *scale;
		u32 type;
		u64 config;

		/* tsc.scale, tsc.unit, tsc.snapshot */
		if (strchr(*name, '.'))
			continue;
		item = add(m, INVENTORY_PMU, keepf(m, "%s/%s/", pmu, *name));
		if (is_core(m, pmu) && !names_find(*name, strlen(*name), &type, &config))
			item->alias = keep(m, *name);
		item->pmu = item->group = pmu;
		item->terms = event_line(m, pmu, *name, "");
		item->unit = event_line(m, pmu, *name, ".unit");
		scale = event_line(m, pmu, *name, ".scale");
		item->scale = scale ? strtod(scale, NULL) : 1;
	}
	intern_fini(&names);
}

/* Events of transactions that sysfs does not name, under the names that -e takes, where the CPU has them. */
static void add_transaction_events(struct inventory *m, const char *name)
{
	const char *event, *terms;
	char cpuid[CPUID_SIZE];
	struct err ignored;
	struct pmu pmu;

	if (pmu_open(&pmu, m->options.sysfs, name, &ignored))
		return;
	if (cpuid_read(m->options.sysfs, 0, cpuid, &ignored))
		cpuid[0] = '\0';
	for (size_t i = 0; (event = tsx_event_at(i)) != NULL; i++) {
		struct inventory_item *item;

		/* The vendor's table says more of its events. */
		if (tsx_find(&pmu, event, cpuid, &terms, &ignored) <= 0 ||
			catalog_find(&m->catalog, NULL, event))
			continue;
		item = add(m, INVENTORY_PMU, keepf(m, "%s/%s/", name, event));
		item->alias = keep(m, event);
		item->pmu = item->group = name;
		item->terms = keep(m, terms);
		item->scale = 1;
	}
	pmu_close(&pmu);
}

/*
 * How many PMUs differ from this one only in the number at the end; 0: an earlier one counted this
 * one.
 */
static unsigned count_alike(const struct inventory *m, const char *pmu)
{
	size_t n = strlen(pmu);
	unsigned alike = 0;
	bool is_first = true;

	while (n && isdigit((u8)pmu[n - 1]))
		n--;
	vec_each(other, &m->pmus.strings) {
		if (strncmp(*other, pmu, n) != 0 || (*other)[n + strspn(*other + n, "0123456789")])
			continue;
		if (!alike)
			is_first = *other == pmu;
		alike++;
	}
	return is_first ? alike : 0;
}

static void add_forms(struct inventory *m)
{
	struct inventory_item *item;

	item = add(m, INVENTORY_RAW, "rHEX");
	item->brief = "a raw event of the CPU, by its number: r003c";
	vec_each(pmu, &m->pmus.strings) {
		struct intern terms = {0};
		struct str brief = {0};
		char path[PATH_SIZE];
		unsigned alike = count_alike(m, *pmu);

		pmu_path(m, path, *pmu, "format");
		if (alike && sysfile_entries(path, &terms)) {
			item = add(m, INVENTORY_RAW, keepf(m, "%s/TERM=VALUE,.../", *pmu));
			item->pmu = *pmu;
			str_add(&brief, "terms:");
			vec_each(term, &terms.strings)
				str_addf(&brief, " %s", *term);
			if (alike > 1)
				str_addf(&brief, " (%u PMUs are like it)", alike);
			item->brief = keep(m, str_text(&brief));
		}
		str_fini(&brief);
		intern_fini(&terms);
	}
	/* libpfm knows only the CPU it runs on. */
	if (pfm_is_built_in() && !m->options.is_copy)
		add(m, INVENTORY_RAW, "pfm:NAME")->brief =
			"an event by the name that libpfm4 gives it";
	item = add(m, INVENTORY_BREAKPOINT, "mem:ADDRESS[/LENGTH][:rwx]");
	item->brief = "reads, writes or executions of an address (hardware breakpoint)";
}

static void add_table(struct inventory *m)
{
	vec_each(e, &m->catalog.events) {
		struct inventory_item *item;

		if (e->is_deprecated && !m->options.has_deprecated)
			continue;
		item = add(m, INVENTORY_TABLE, e->name);
		vec_each(pmu, &m->pmus.strings) {
			if (!item->pmu && catalog_pmu_matches(e->pmu, *pmu))
				item->pmu = *pmu;
		}
		item->group = e->topic;
		item->terms = e->terms;
		item->brief = e->brief;
		item->description = e->description;
		item->unit = e->unit;
		item->scale = e->scale;
		item->row = e;
	}
}

static void add_tracepoints(struct inventory *m)
{
	struct intern names = {0};
	const char *last = "";

	if (m->options.tracefs)
		snprintf(m->tracefs, sizeof(m->tracefs), "%s", m->options.tracefs);
	else if (tracefs_find(m->tracefs, sizeof(m->tracefs), &m->no_tracepoints))
		return;
	/* A copy of /sys seldom includes what is mounted in it. */
	if (m->options.is_copy && access(m->tracefs, F_OK))
		return;
	tracefs_match(m->tracefs, "*", "*", &names, &m->no_tracepoints);
	vec_each(name, &names.strings) {
		const char *own = keep(m, *name);
		size_t n = strcspn(own, ":");
		struct inventory_item *item = add(m, INVENTORY_TRACEPOINT, own);

		if (strncmp(last, own, n) != 0 || last[n]) {
			last = arena_strdup(&m->arena, own, n);
			m->n_systems++;
		}
		item->group = last;
		m->n_tracepoints++;
	}
	intern_fini(&names);
}

/* By topic, then by name; the catalog is sorted by name only. */
static int by_topic(const void *a, const void *b)
{
	const struct inventory_item *x = a, *y = b;
	int order = strcmp(x->group, y->group);

	return order ? order : strcmp(x->name, y->name);
}

int inventory_open(struct inventory *m, const struct inventory_options *options, struct log *log,
	struct err *err)
{
	struct catalog_places places = {.folder = options->events_dir, .sysfs = options->sysfs};
	char path[PATH_SIZE];
	size_t first;

	memset(m, 0, sizeof(*m));
	m->options = *options;
	if (catalog_open(&m->catalog, &places, log, err))
		return err->code;
	snprintf(path, sizeof(path), "%s/bus/event_source/devices", options->sysfs);
	if (m->options.is_copy && access(path, R_OK | X_OK)) {
		err_sys(err, errno, "opening '%s', where a copy of /sys has its PMUs", path);
		inventory_close(m);
		return err->code;
	}
	pmu_list(options->sysfs, &m->pmus);
	add_generic(m, INVENTORY_HARDWARE);
	add_generic(m, INVENTORY_SOFTWARE);
	add_cache(m);
	add_generic(m, INVENTORY_TOOL);
	vec_each(pmu, &m->pmus.strings) {
		add_pmu_events(m, *pmu);
		if (is_core(m, *pmu))
			add_transaction_events(m, *pmu);
	}
	add_forms(m);
	first = m->items.n;
	add_table(m);
	if (m->items.n > first)
		qsort(m->items.at + first, m->items.n - first, sizeof(*m->items.at), by_topic);
	add_tracepoints(m);
	return 0;
}

void inventory_close(struct inventory *m)
{
	vec_fini(&m->items);
	catalog_close(&m->catalog);
	intern_fini(&m->pmus);
	arena_fini(&m->arena);
}

/* ---- a look at each ---- */

/* A metric of TopDown opens behind slots only; -1 for all other events, and if slots do not open. */
static int open_leader(const struct event_attr *attr, pid_t pid, int cpu)
{
	struct event_attr slots = {.type = attr->type,
		.size = attr->size,
		.config = ATTR_SLOTS,
		.flags = attr->flags};

	return attr_is_topdown(attr) ? perf_event_open(&slots, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)
				     : -1;
}

static int open_event(const struct event_attr *attr, pid_t pid, int cpu)
{
	int leader = open_leader(attr, pid, cpu), sys;
	int fd = perf_event_open(attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC);

	sys = errno;
	if (leader >= 0)
		close(leader);
	errno = sys;
	return fd;
}

/*
 * Opens and closes an event: for this thread or, if the PMU does not allow that, on a CPU that it
 * names. Returns 0 or the errno.
 */
static int try_open(const struct event_attr *attr, const struct cpus *cpus, bool is_of_pmu,
	pid_t *ret_pid, int *ret_cpu)
{
	int fd, sys;

	*ret_pid = 0;
	*ret_cpu = -1;
	fd = open_event(attr, 0, -1);
	if (fd < 0 && errno == EINVAL && is_of_pmu) {
		*ret_pid = -1;
		*ret_cpu = cpus->n ? (int)cpus->at[0] : 0;
		fd = open_event(attr, -1, *ret_cpu);
	}
	sys = fd < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	return sys;
}

void inventory_try_item(struct inventory *m, struct inventory_item *item, const struct cpus *cpus)
{
	const u64 without_kernel = ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV;
	bool is_of_pmu = item->kind == INVENTORY_PMU || item->kind == INVENTORY_TABLE;
	struct event_attr attr = item->attr;
	struct err err;
	pid_t pid;
	int cpu, sys;

	attr.size = attr_needed_size(&attr);
	attr.flags |= ATTR_DISABLED;
	sys = try_open(&attr, cpus, is_of_pmu, &pid, &cpu);
	item->opens = sys ? INVENTORY_REFUSED : INVENTORY_OPENS;
	if (!sys)
		return;
	refusal_explain(&attr, item->name, pid, cpu, sys, &err);
	item->reason = keep(m, err.msg);
	attr.flags |= without_kernel;
	if ((sys == EACCES || sys == EPERM) && !try_open(&attr, cpus, is_of_pmu, &pid, &cpu))
		item->opens = INVENTORY_OPENS_USER;
}

/*
 * Encodes it straight from its id: the parser would first look for a PMU's event of that name,
 * 2,000 times.
 */
static bool encode_tracepoint(struct inventory *m, struct inventory_item *item)
{
	struct err err;

	item->attr = (struct event_attr){.type = PERF_TYPE_TRACEPOINT};
	item->has_attr = !tracefs_id(m->tracefs, item->group, item->name + strlen(item->group) + 1,
		&item->attr.config, &err);
	if (!item->has_attr)
		item->reason = keep(m, err.msg);
	return item->has_attr;
}

/* Encodes an item as -e would. */
static bool encode(struct inventory *m, struct inventory_item *item, struct event_list *events)
{
	struct parse_env env = {.sysfs = m->options.sysfs,
		.tracefs = m->tracefs[0] ? m->tracefs : NULL,
		.catalog = &m->catalog};
	struct str text = {0};
	struct err err;

	if (item->kind == INVENTORY_TRACEPOINT)
		return encode_tracepoint(m, item);
	if (item->kind == INVENTORY_TABLE)
		str_addf(&text, "%s/%s/", item->pmu, item->terms);
	else
		str_add(&text, item->name);
	if (parse_events(str_text(&text), &env, events, &err) || events->n != 1) {
		/* "event=0xc4,umask=?" is a form, to be completed by the user. */
		item->reason = keep(m, events->n > 1 ? "it stands for several events" : err.msg);
		str_fini(&text);
		return false;
	}
	item->attr = events->at[0].attr;
	item->has_attr = true;
	str_fini(&text);
	return true;
}

void inventory_try(struct inventory *m)
{
	const struct inventory_item *tracepoint = NULL;

	vec_each(item, &m->items) {
		static const struct cpus anywhere;
		struct event_list events = {0};

		if (item->kind == INVENTORY_RAW || item->kind == INVENTORY_BREAKPOINT)
			item->reason = "a form, not an event";
		else if (item->kind == INVENTORY_TOOL)
			item->opens = INVENTORY_OPENS;
		else if (encode(m, item, &events) && m->options.is_copy)
			item->reason = "of another machine";
		else if (item->has_attr && item->kind == INVENTORY_TRACEPOINT && tracepoint) {
			/* Opening one takes the kernel 40 ms, and its answer is the same for all. */
			item->opens = tracepoint->opens;
			item->reason = tracepoint->reason;
		} else if (item->has_attr) {
			inventory_try_item(m, item, events.n ? &events.at[0].cpus : &anywhere);
			if (item->kind == INVENTORY_TRACEPOINT)
				tracepoint = item;
		}
		event_list_fini(&events);
	}
}

/* ---- what PMUs are ---- */

void inventory_add_formats(const struct inventory *m, const char *pmu, struct str *text)
{
	struct intern names = {0};
	char path[PATH_SIZE], below[160], line[256];
	bool is_first = true;

	pmu_path(m, path, pmu, "format");
	sysfile_entries(path, &names);
	vec_each(name, &names.strings) {
		snprintf(below, sizeof(below), "format/%s", *name);
		pmu_path(m, path, pmu, below);
		if (!sysfile_line(path, line, sizeof(line)))
			continue;
		str_addf(text, "%s%s (%s)", is_first ? "" : ", ", *name, line);
		is_first = false;
	}
	intern_fini(&names);
}

bool inventory_pmu_type(const struct inventory *m, const char *pmu, u32 *ret_type)
{
	char path[PATH_SIZE];
	s64 type;

	pmu_path(m, path, pmu, "type");
	if (!sysfile_s64(path, &type))
		return false;
	*ret_type = (u32)type;
	return true;
}

void inventory_add_fields(const struct inventory *m, const struct inventory_item *item,
	struct str *text)
{
	const char *colon = strchr(item->name, ':');

	if (item->kind == INVENTORY_TRACEPOINT && colon)
		tracefs_add_fields(m->tracefs, item->group, colon + 1, text);
}
