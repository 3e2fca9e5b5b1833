#include "cmd/stat/stat_asked.h"

#include <stdio.h>
#include <string.h>

int stat_asked_word(void *target, const char *value, struct err *err)
{
	struct stat_command *o = target;

	if (!value[strspn(value, ",")])
		return err_set(err, ERR_INVAL,
			"-M '%s': name a metric or a group of metrics; 'pace list metrics' shows them",
			value);
	vec_add(&o->metrics, value);
	return 0;
}

/* Asks for each word of "IPC,TopdownL1". */
static int ask_words(struct stat_asked *a, const char *words, struct log *log, struct err *err)
{
	char word[256];

	for (const char *at = words; *at;) {
		size_t n = strcspn(at, ",");

		snprintf(word, sizeof(word), "%.*s", (int)MIN(n, sizeof(word) - 1), at);
		if (n && metricset_ask(&a->set, word, log, err))
			return err_prefix(err, "-M");
		at += n + (at[n] == ',');
	}
	return 0;
}

int stat_asked_open(struct stat_asked *a, const struct stat_command *o, bool is_system_wide,
	struct event_list *events, struct log *log, struct err *err)
{
	const struct catalog_places places = {.folder = o->events.folder,
		.sysfs = "/sys",
		.has_metrics = true};
	const struct parse_env env = {.sysfs = places.sysfs, .catalog = &a->catalog};
	const struct metricset_options options = {.has_no_groups = o->has_no_metric_groups,
		.has_no_merge = o->has_no_metric_merge,
		.has_no_thresholds = o->has_no_metric_thresholds};

	if (!o->metrics.n && !o->has_smi_cost)
		return 0;
	if (catalog_open(&a->catalog, &places, log, err))
		return err->code;
	a->is_open = true;
	a->facts = (struct metric_facts){.sysfs = places.sysfs,
		.cpuid = a->catalog.cpuid,
		.is_system_wide = is_system_wide};
	metrictable_init(&a->table, &a->catalog);
	metricset_init(&a->set, &a->table, &env, &a->facts, &options);
	vec_each(words, &o->metrics)
		if (ask_words(a, *words, log, err))
			return err->code;
	if (o->has_smi_cost && ask_words(a, "smi", log, err))
		return err->code;
	return metricset_count(&a->set, events, err);
}

void stat_asked_fini(struct stat_asked *a)
{
	if (!a->is_open)
		return;
	metricset_fini(&a->set);
	metrictable_fini(&a->table);
	catalog_close(&a->catalog);
}
