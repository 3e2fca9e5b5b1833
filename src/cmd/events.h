/*
 * events.h - the options that say what to measure, in the order in which they were given.
 *
 *     -e EVENT   --filter FILTER (of the events before)   -G CGROUP,... (of the events before)
 *     --for-each-cgroup CGROUP,...   --events-dir DIR   --exclude-perf (of the events before)
 *
 * A command's struct of options begins with a struct event_words, and its table has EVENT_ROWS.
 * Owns     the list of words; the words are argv's
 */
#ifndef PACE_CMD_EVENTS_H
#define PACE_CMD_EVENTS_H

#include "base/log.h"
#include "base/opts.h"
#include "base/vec.h"
#include "event/catalog.h"
#include "event/event.h"

enum event_word_kind { WORD_EVENT, WORD_FILTER, WORD_CGROUPS, WORD_EACH_CGROUP, WORD_EXCLUDE_SELF };

struct event_words {
	VEC(struct event_word {
		enum event_word_kind kind;
		const char *text;
	})
	words;
	const char *folder;              /* --events-dir */
	const char *core_pmu, *only_pmu; /* as in struct parse_env */
	bool has_events;                 /* -e was among them */
	bool takes_latencies;            /* the command knows what EVENT:R asks for */
};

int event_words_event(void *target, const char *value, struct err *err);
int event_words_filter(void *target, const char *value, struct err *err);
int event_words_cgroups(void *target, const char *value, struct err *err);
int event_words_each_cgroup(void *target, const char *value, struct err *err);
int event_words_exclude_self(void *target, const char *value, struct err *err);

/* clang-format off: rows of option tables */
#define EVENT_ROWS(help)                                                                \
	{'e', "event", OPT_CALL, 0, "EVENT", help, .flags = OPT_COMMON,                 \
		.call = event_words_event},                                             \
		{0, "filter", OPT_CALL, 0, "FILTER",                                    \
			"restrict the preceding events to those that match FILTER",     \
			.call = event_words_filter},                                    \
		{'G', "cgroup", OPT_CALL, 0, "NAME,...",                                \
			"restrict the preceding events to these cgroups, one for each", \
			.call = event_words_cgroups},                                   \
	{                                                                               \
		0, "events-dir", OPT_STR, offsetof(struct event_words, folder), "DIR",  \
			"look up event names in the vendors' tables in DIR"             \
	}
#define EVENT_ROWS_EACH_CGROUP                                        \
	{                                                             \
		0, "for-each-cgroup", OPT_CALL, 0, "NAME,...",        \
			"open events once for each of these cgroups", \
			.call = event_words_each_cgroup               \
	}
/* clang-format on */

/*
 * Appends the events of all words. Without -e the other words apply to `defaults`; NULL: to nothing. Names that neither
 * the kernel nor sysfs knows are looked up in the vendors' tables.
 */
int event_words_parse(const struct event_words *w, const char *defaults, struct event_list *events,
	struct log *log, struct err *err);
void event_words_fini(struct event_words *w);

#endif
