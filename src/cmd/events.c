#include "cmd/events.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "event/abi.h"
#include "event/cgroup.h"
#include "event/parse.h"
#include "symbol/probe/probeline.h"

#define PROBE_PREFIX "uprobe:"

static int add_word(void *target, enum event_word_kind kind, const char *text)
{
	struct event_words *w = target;

	w->has_events |= kind == WORD_EVENT;
	vec_push(&w->words);
	w->words.at[w->words.n - 1].kind = kind;
	w->words.at[w->words.n - 1].text = text;
	return 0;
}

int event_words_event(void *target, const char *value, struct err *err)
{
	(void)err;
	return add_word(target, WORD_EVENT, value);
}

int event_words_filter(void *target, const char *value, struct err *err)
{
	(void)err;
	return add_word(target, WORD_FILTER, value);
}

int event_words_cgroups(void *target, const char *value, struct err *err)
{
	(void)err;
	return add_word(target, WORD_CGROUPS, value);
}

int event_words_each_cgroup(void *target, const char *value, struct err *err)
{
	(void)err;
	return add_word(target, WORD_EACH_CGROUP, value);
}

int event_words_exclude_self(void *target, const char *value, struct err *err)
{
	(void)value;
	(void)err;
	return add_word(target, WORD_EXCLUDE_SELF, NULL);
}

/* Filters this process out of tracepoints, the only events with a field for it. */
static int exclude_self(struct event_list *events, struct err *err)
{
	char filter[48];

	for (size_t i = events->last; i < events->n; i++)
		if (events->at[i].attr.type != PERF_TYPE_TRACEPOINT)
			return err_set(err, ERR_INVAL,
				"--exclude-perf must follow tracepoints: event '%s' is not one",
				events->at[i].name);
	if (events->last >= events->n)
		return err_set(err, ERR_INVAL,
			"--exclude-perf must follow the -e whose events it filters");
	snprintf(filter, sizeof(filter), "common_pid != %d", getpid());
	return event_set_filter(events, filter, err);
}

static void drop_from(struct event_list *events, size_t n)
{
	while (events->n > n)
		cpus_fini(&events->at[--events->n].cpus);
}

/*
 * "uprobe:FILE:PLACE" as the events of the PMU that it stands for, one for each address: "uprobe/path='FILE',offset=N/". A file's
 * name may have colons: it is the first beginning that names a file.
 */
static int spell_probe(const char *text, struct str *ret, struct err *err)
{
	const struct probe_options options = {0};
	struct probe_file file = {0};
	struct probe_list list = {0};
	struct probe_text place = {0};
	const char *at = text + strlen(PROBE_PREFIX), *colon = at;
	struct str path = {0};
	int r;

	do {
		colon = strchr(colon + (colon != at), ':');
		str_clear(&path);
		str_addn(&path, at, colon ? (size_t)(colon - at) : strlen(at));
	} while (colon && access(path.at, F_OK));
	if (!colon)
		r = err_set(err, ERR_INVAL,
			"'%s' names no file and place to probe: uprobe:FILE:FUNCTION, uprobe:FILE:FUNCTION:LINE, uprobe:FILE:FUNCTION%%return",
			text);
	else
		r = probefile_open(&file, path.at, NULL, false, err);
	if (!r)
		r = probetext_parse(&place, colon + 1, err);
	if (!r && place.args.n)
		r = err_set(err, ERR_UNSUPPORTED,
			"variables are recorded by named probes only: 'pace probe -x %s \"%s\"' adds one",
			path.at, colon + 1);
	if (!r)
		r = probelist_make(&file, &place, &options, &list, err);
	for (size_t i = 0; !r && i < list.at.n; i++)
		str_addf(ret, "%suprobe/path='%s',offset=0x%llx,ref_ctr_offset=0x%llx%s,name='%s'/",
			i ? "," : "", file.path, (unsigned long long)list.at.at[i].offset,
			(unsigned long long)list.at.at[i].semaphore,
			list.at.at[i].is_return ? ",retprobe=1" : "", list.at.at[i].event);
	probelist_fini(&list);
	probetext_fini(&place);
	probefile_close(&file);
	str_fini(&path);
	return r;
}

/* The vendors' tables are megabytes of JSON: they are opened only for names that are known nowhere else. */
static int parse_plain(const struct event_words *w, const char *text, struct event_list *events,
	struct log *log, struct err *err)
{
	struct parse_env env = {.sysfs = "/sys",
		.takes_latencies = w->takes_latencies,
		.core_pmu = w->core_pmu,
		.only_pmu = w->only_pmu};
	const struct catalog_places places = {.folder = w->folder, .sysfs = env.sysfs};
	struct catalog catalog;
	size_t before = events->n;
	struct err why;
	int r = parse_events(text, &env, events, err);

	if (r != ERR_NOENT)
		return r;
	if (catalog_open(&catalog, &places, log, &why)) {
		/* A user who named a folder needs to know what is wrong with it. */
		if (w->folder)
			*err = why;
		return err->code;
	}
	drop_from(events, before);
	env.catalog = &catalog;
	env.asks_libpfm = true;
	r = parse_events(text, &env, events, err);
	catalog_close(&catalog);
	return r;
}

static int parse_text(const struct event_words *w, const char *text, struct event_list *events,
	struct log *log, struct err *err)
{
	struct str spelled = {0};
	int r;

	if (strncmp(text, PROBE_PREFIX, strlen(PROBE_PREFIX)) != 0)
		return parse_plain(w, text, events, log, err);
	r = spell_probe(text, &spelled, err);
	if (!r)
		r = parse_plain(w, spelled.at, events, log, err);
	str_fini(&spelled);
	return r;
}

static int take_cgroups(enum event_word_kind kind, const char *text, struct event_list *events,
	struct err *err)
{
	char root[4096];
	int r = cgroup_find_mount("/proc/mounts", root, sizeof(root), err);

	if (r)
		return r;
	return kind == WORD_CGROUPS ? cgroup_assign(events, text, root, err)
				    : cgroup_for_each(events, text, root, err);
}

int event_words_parse(const struct event_words *w, const char *defaults, struct event_list *events,
	struct log *log, struct err *err)
{
	bool has_cgroups = false, has_each = false;

	if (!w->has_events && defaults && parse_text(w, defaults, events, log, err))
		return err->code;
	vec_each(word, &w->words) {
		int r = 0;

		if (word->kind == WORD_EVENT)
			r = parse_text(w, word->text, events, log, err);
		else if (word->kind == WORD_FILTER)
			r = event_set_filter(events, word->text, err);
		else if (word->kind == WORD_CGROUPS)
			r = take_cgroups(word->kind, word->text, events, err);
		else if (word->kind == WORD_EXCLUDE_SELF)
			r = exclude_self(events, err);
		if (r)
			return r;
		has_cgroups |= word->kind == WORD_CGROUPS;
		has_each |= word->kind == WORD_EACH_CGROUP;
	}
	vec_each(e, events)
		if (e->wishes & EVENT_USE_BPF)
			log_note(log,
				"event '%s': 'b' asks for a BPF program that shares counters; pace opens a counter of its own, which counts the same",
				e->name);
	if (has_cgroups && has_each)
		return err_set(err, ERR_INVAL, "-G and --for-each-cgroup: choose one");
	/* --for-each-cgroup multiplies all events, also those that follow it. */
	vec_each(word, &w->words)
		if (word->kind == WORD_EACH_CGROUP &&
			take_cgroups(word->kind, word->text, events, err))
			return err->code;
	return 0;
}

void event_words_fini(struct event_words *w)
{
	vec_fini(&w->words);
}
