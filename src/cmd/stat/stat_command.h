/*
 * stat_command.h - what the commands stat, stat record and stat report have in common.
 */
#ifndef PACE_CMD_STAT_COMMAND_H
#define PACE_CMD_STAT_COMMAND_H

#include "base/opts.h"
#include "base/vec.h"
#include "cmd/events.h"
#include "cmd/formrow.h"
#include "event/target.h"
#include "view/stat/stat.h"

struct stat_command {
	struct event_words events; /* first: see cmd/events.h */
	struct target_words target;
	const char *repeat, *separator, *columns, *output, *input, *control, *pre, *post;
	u64 log_fd, interval_count, timeout_ms, interval_ms;
	s64 delay_ms;
	struct form_choice forms;
	unsigned detail, verbose;
	int has_sparklines; /* -1: where nothing else writes to the terminal */
	int is_metric_only; /* -1: with --smi-cost */
	bool per_socket, per_die, per_cluster, per_cache, per_core, per_node, per_thread, per_cpu;
	bool is_null, no_inherit, syncs, appends, no_big_num, no_scale, has_summary, is_quiet,
		has_table, samples_latencies, no_merge, all_user, all_kernel, is_cleared;
	bool has_log_fd, has_delay;
	bool is_versus, ignores_failure, shows_output; /* --vs: two commands are compared */
	u64 seed;                                      /* of the random order; 0: none given */
	s32 cache_level;                               /* of per_cache; 0: the last */
	bool is_topdown, has_td_level, is_drill;
	u64 td_level;              /* 0: as low as the CPU goes */
	VEC(const char *) metrics; /* -M: what each of them names */
	bool has_no_metric_groups, has_no_metric_merge, has_no_metric_thresholds;
	bool has_transactions; /* -T */
	bool is_one_group;     /* -g */
	bool percore_per_cpu;  /* --percore-show-thread */
	bool has_smi_cost;     /* --smi-cost */
	const char *core_type; /* --cputype; NULL: all kinds of cores */
	bool has_no_csv_summary;
	bool to_stderr; /* of stat report */
	bool is_record; /* the counts are also written to a recording, `output` */
};

#define STAT_AT(member) offsetof(struct stat_command, member)

/* --per-cache, --per-cache=L2 */
int stat_set_cache(void *target, const char *value, struct err *err);

/* clang-format off: rows that both option tables have */
#define STAT_ROWS_PLACES                                                                      \
	{'A', "no-aggr", OPT_BOOL, STAT_AT(per_cpu), NULL, "CPU"},                            \
		{0, "per-core", OPT_BOOL, STAT_AT(per_core), NULL, "core"},                   \
		{0, "per-cluster", OPT_BOOL, STAT_AT(per_cluster), NULL, "cluster of cores"}, \
		{0, "per-cache", OPT_CALL, STAT_AT(per_cache), "LEVEL",                       \
			"last-level cache, or cache of this level, like L2",                  \
			.flags = OPT_OPTIONAL | OPT_ATTACHED, .call = stat_set_cache},        \
		{0, "per-die", OPT_BOOL, STAT_AT(per_die), NULL, "die"},                      \
		{0, "per-socket", OPT_BOOL, STAT_AT(per_socket), NULL, "socket"},             \
		{0, "per-node", OPT_BOOL, STAT_AT(per_node), NULL, "NUMA node"},              \
		{0, "per-thread", OPT_BOOL, STAT_AT(per_thread), NULL,                        \
			"thread (with -p, -t or -a)"},                                        \
	{                                                                                     \
		0, "no-merge", OPT_BOOL, STAT_AT(no_merge), NULL,                             \
			"PMU of an event that several PMUs have"                              \
	}

#define STAT_ROWS_PRINT                                                                                                             \
	{'x', "field-separator", OPT_STR, STAT_AT(separator), "SEP",                                                                \
		"print CSV with this separator and a row of names"},                                                                \
		{0, "columns", OPT_STR, STAT_AT(columns), "perf|perf7|pace",                                                        \
			"the columns of -x and the members of -j: perf stat's, for scripts that parse these, or pace's (default)"}, \
		{'j', "json-output", OPT_BOOL, STAT_AT(forms.is_chosen[FORM_JSON]), NULL,                                           \
			"print JSON, an object a line"},                                                                            \
		FORM_ROW(struct stat_command, forms),                                                                               \
		{0, "metric-only", OPT_TRI, STAT_AT(is_metric_only), NULL,                                                          \
			"print only metrics derived from counts"},                                                                  \
	{                                                                                                                           \
		'B', "no-big-num", OPT_BOOL, STAT_AT(no_big_num), NULL,                                                             \
			"print numbers without thousands separators"                                                                \
	}
/* clang-format on */

/* What one row is for; ERR_INVAL: two options disagree. */
int stat_choose_scope(const struct stat_command *o, enum counts_scope *ret_scope, struct err *err);

/* ERR_INVAL: the options ask for two formats, or for an impossible one. */
int stat_choose_format(const struct stat_command *o, struct stat_options *ret_print,
	struct err *err);

/* ERR_INVAL: options that contradict or need each other. argc: arguments left. */
int stat_check(const struct stat_command *o, int argc, struct err *err);

/* -r: the number of runs; 0: until Ctrl-C. */
int stat_choose_runs(const struct stat_command *o, u64 *ret_n, struct err *err);

/* --cputype: the PMU of that kind of core; ERR_UNSUPPORTED: this machine has none. */
int stat_find_cores(const char *type, char *ret_pmu, size_t size, struct err *err);

/* Flags of attrs for --all-user and --all-kernel. */
u64 stat_excluded(const struct stat_command *o);
/* -T: adds the events of transactions that this machine has; ERR_UNSUPPORTED, with the reason: it has none. */
int stat_add_transactions(const char *sysfs, struct str *text, struct err *err);

/* The default events. */
void stat_add_defaults(const struct stat_command *o, bool is_system_wide, struct str *text);

extern const struct opt stat_options_table[], stat_report_options[];

int run_stat_report(int argc, char **argv);

#endif
