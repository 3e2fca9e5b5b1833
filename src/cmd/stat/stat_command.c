#include "cmd/stat/stat_command.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "cmd/stat/stat_asked.h"
#include "cmd/stat/stat_compare.h"
#include "event/abi.h"
#include "event/pmu.h"
#include "event/tsx.h"

enum { RUNS_MAX = 1000000, DELAY_MAX_MS = 1 << 30 };

static int set_delay(void *target, const char *value, struct err *err)
{
	struct stat_command *o = target;
	u64 ms = 0;

	o->has_delay = true;
	o->delay_ms = -1;
	if (!strcmp(value, "-1"))
		return 0;
	if (num_parse(value, &ms, err))
		return err->code;
	o->delay_ms = (s64)MIN(ms, (u64)DELAY_MAX_MS);
	return 0;
}

static int set_td_level(void *target, const char *value, struct err *err)
{
	struct stat_command *o = target;

	o->has_td_level = true;
	return num_parse(value, &o->td_level, err);
}

static int set_log_fd(void *target, const char *value, struct err *err)
{
	struct stat_command *o = target;

	o->has_log_fd = true;
	return num_parse(value, &o->log_fd, err);
}

static int set_latency_mode(void *target, const char *value, struct err *err)
{
	(void)target;
	if (!strcmp(value, "mean"))
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		"'%s': pace prints the mean of the latencies; 'pace record -W' has each of them",
		value);
}

int stat_set_cache(void *target, const char *value, struct err *err)
{
	struct stat_command *o = target;

	o->per_cache = true;
	o->cache_level = 0;
	if (!value)
		return 0;
	if ((value[0] != 'L' && value[0] != 'l') || value[1] < '1' ||
		value[1] >= '0' + TOPOLOGY_LEVELS || value[2])
		return err_set(err, ERR_INVAL, "'%s' is no level of caches: L1, L2, L3 ...", value);
	o->cache_level = value[1] - '0';
	return 0;
}

const struct opt stat_options_table[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "What to count"},
	EVENT_ROWS("events, groups {a,b}; default clocks, faults, cycles, instructions, branches"),
	EVENT_ROWS_EACH_CGROUP,
	{0, "smi-cost", OPT_BOOL, STAT_AT(has_smi_cost), NULL,
		"how many system management interrupts there are, and which part of the cycles they take (Intel)"},
	{'g', "group", OPT_BOOL, STAT_AT(is_one_group), NULL,
		"make one group of all events: on the PMU together or not at all"},
	{0, "cputype", OPT_STR, STAT_AT(core_type), "TYPE",
		"of names that all kinds of cores have, count only the events of this kind: core, atom"},
	{0, "pmu-filter", OPT_STR, STAT_AT(events.only_pmu), "PMU",
		"count only this one of several PMUs that an event's name stands for"},
	{'T', "transaction", OPT_BOOL, STAT_AT(has_transactions), NULL,
		"transactions (Intel TSX): their share of the cycles, what is lost in those that are aborted, and how long they are"},
	{'M', "metrics", OPT_CALL, 0, "METRIC,...",
		"metrics or groups of metrics, computed from events that are counted for them; 'pace list metrics' shows them",
		.flags = OPT_COMMON, .call = stat_asked_word},
	{0, "metric-no-group", OPT_BOOL, STAT_AT(has_no_metric_groups), NULL,
		"with -M: the events of a metric need not be on the PMU together"},
	{0, "metric-no-merge", OPT_BOOL, STAT_AT(has_no_metric_merge), NULL,
		"with -M: each metric has events of its own"},
	{0, "metric-no-threshold", OPT_BOOL, STAT_AT(has_no_metric_thresholds), NULL,
		"with -M: do not count what only the metrics' thresholds need"},
	{'d', "detailed", OPT_COUNT, STAT_AT(detail), NULL,
		"also count caches; twice: also TLBs; three times: also prefetches",
		.flags = OPT_COMMON},
	{'n', "null", OPT_BOOL, STAT_AT(is_null), NULL, "count no events, only measure times"},
	{0, "topdown", OPT_BOOL, STAT_AT(is_topdown), NULL,
		"where the slots of the CPUs' pipelines go: useful work, or waiting for instructions, for data",
		.flags = OPT_COMMON},
	{0, "td-level", OPT_CALL, 0, "N",
		"with --topdown: divide it down to level N; 0: as far as the CPU counts; default 1",
		.call = set_td_level},
	{0, "drill", OPT_BOOL, STAT_AT(is_drill), NULL,
		"with --topdown: go on with the branch that dominates until its cause; -r runs of the command, or intervals, for each step"},
	{0, "all-user", OPT_BOOL, STAT_AT(all_user), NULL, "count only in user space"},
	{0, "all-kernel", OPT_BOOL, STAT_AT(all_kernel), NULL, "count only in the kernel"},
	{0, NULL, OPT_TITLE, 0, NULL, "What to count it on"},
	{'a', "all-cpus", OPT_BOOL, STAT_AT(target.all_cpus), NULL,
		"everything that runs, on all CPUs; default without a command",
		.flags = OPT_COMMON},
	{'C', "cpu", OPT_STR, STAT_AT(target.cpus), "LIST", "only these CPUs, like 0-3,8"},
	{'p', "pid", OPT_STR, STAT_AT(target.pids), "PID,...",
		"running processes with all their threads", .flags = OPT_COMMON},
	{'t', "tid", OPT_STR, STAT_AT(target.tids), "TID,...", "running threads"},
	{'i', "no-inherit", OPT_BOOL, STAT_AT(no_inherit), NULL,
		"leave out the children they start"},
	{0, NULL, OPT_TITLE, 0, NULL, "When"},
	{'r', "repeat", OPT_STR, STAT_AT(repeat), "N",
		"run the command N times and print mean and deviation; 0: until Ctrl-C",
		.flags = OPT_COMMON},
	{'I', "interval-print", OPT_U64, STAT_AT(interval_ms), "MS",
		"print the counts of every MS milliseconds", .flags = OPT_COMMON, .min = 1,
		.max = 86400000},
	{0, "interval-count", OPT_U64, STAT_AT(interval_count), "N", "end after N intervals",
		.min = 1},
	{0, "interval-clear", OPT_BOOL, STAT_AT(is_cleared), NULL,
		"clear the screen before each interval"},
	{0, "sparklines", OPT_TRI, STAT_AT(has_sparklines), NULL,
		"with -I on a terminal: show the last intervals in place (default without a command) or one after the other"},
	{0, "timeout", OPT_U64, STAT_AT(timeout_ms), "MS", "end after MS milliseconds", .min = 1,
		.max = 86400000},
	{'D', "delay", OPT_CALL, 0, "MS",
		"start counting after MS milliseconds; -1: when --control enables events",
		.call = set_delay},
	{0, "control", OPT_STR, STAT_AT(control), "FD|FIFO",
		"take commands: fd:CTL[,ACK] or fifo:CTL[,ACK]; enable, disable, ping, stop"},
	{0, "pre", OPT_STR, STAT_AT(pre), "COMMAND", "run COMMAND before each run, uncounted"},
	{0, "post", OPT_STR, STAT_AT(post), "COMMAND", "run COMMAND after each run, uncounted"},
	{'S', "sync", OPT_BOOL, STAT_AT(syncs), NULL, "call sync(2) before each run"},
	{0, NULL, OPT_TITLE, 0, NULL, "Comparing two commands"},
	{0, "vs", OPT_BOOL, STAT_AT(is_versus), NULL,
		"compare two commands, 'A' 'B', run in turns in random order: which one takes less, or is the difference noise",
		.flags = OPT_COMMON},
	{0, "ignore-failure", OPT_BOOL, STAT_AT(ignores_failure), NULL,
		"continue if a command ends with a status other than 0"},
	{0, "show-output", OPT_BOOL, STAT_AT(shows_output), NULL,
		"let the commands print; without it their output goes to /dev/null"},
	{0, "seed", OPT_U64, STAT_AT(seed), "N",
		"seed of the random order; default: a new one each time", .min = 1},
	{0, NULL, OPT_TITLE, 0, NULL, "A row for each"},
	STAT_ROWS_PLACES,
	{0, "percore-show-thread", OPT_BOOL, STAT_AT(percore_per_cpu), NULL,
		"with -A, of events with the term percore: CPU, with the count of its core"},
	{0, NULL, OPT_TITLE, 0, NULL, "How to print"},
	STAT_ROWS_PRINT,
	{'o', "output", OPT_STR, STAT_AT(output), "FILE", "write to FILE instead of stderr",
		.flags = OPT_COMMON},
	{0, "append", OPT_BOOL, STAT_AT(appends), NULL, "append to FILE"},
	{0, "log-fd", OPT_CALL, 0, "FD", "write to file descriptor FD", .call = set_log_fd},
	{0, "table", OPT_BOOL, STAT_AT(has_table), NULL, "with -r: print the time of each run"},
	{0, "summary", OPT_BOOL, STAT_AT(has_summary), NULL, "with -I: print the total at the end"},
	{0, "record-tpebs", OPT_BOOL, STAT_AT(samples_latencies), NULL,
		"measure the latencies of EVENT:R by samples, which else are their tables'"},
	{'c', "no-scale", OPT_BOOL, STAT_AT(no_scale), NULL,
		"do not scale the counts of multiplexed events to the whole time"},
	{'q', "quiet", OPT_BOOL, STAT_AT(is_quiet), NULL, "print only errors"},
	{'v', "verbose", OPT_COUNT, STAT_AT(verbose), NULL,
		"say how events were opened; twice: also their attrs"},
	{0, "affinity", OPT_NOTHING, 0, NULL,
		"one thread reads all counters; the kernel asks each CPU for its own"},
	{0, "tpebs-mode", OPT_CALL, 0, "MODE",
		"with --record-tpebs: mean, which is what pace prints of the latencies",
		.call = set_latency_mode, .flags = OPT_HIDDEN},
	{0, "hybrid-merge", OPT_NOTHING, 0, NULL,
		"events of several PMUs are summed up unless --no-merge is given"},
	{0, "iostat", OPT_REFUSED, 0, "PORT",
		"the uncore's events count the traffic of root ports: 'pace list uncore'",
		.flags = OPT_OPTIONAL | OPT_ATTACHED},
	{0, "no-csv-summary", OPT_BOOL, STAT_AT(has_no_csv_summary), NULL,
		"with --columns perf: rows of a summary do not say that they are",
		.flags = OPT_HIDDEN},
	{.kind = OPT_END},
};

/* The rows that each --per option asks for. */
static const struct {
	size_t option;
	enum counts_scope scope;
	const char *name;
} scopes[] = {
	{STAT_AT(per_cpu), COUNTS_CPU, "-A"},
	{STAT_AT(per_core), COUNTS_CORE, "--per-core"},
	{STAT_AT(per_cluster), COUNTS_CLUSTER, "--per-cluster"},
	{STAT_AT(per_cache), COUNTS_CACHE, "--per-cache"},
	{STAT_AT(per_die), COUNTS_DIE, "--per-die"},
	{STAT_AT(per_socket), COUNTS_SOCKET, "--per-socket"},
	{STAT_AT(per_node), COUNTS_NODE, "--per-node"},
	{STAT_AT(per_thread), COUNTS_THREAD, "--per-thread"},
};

/* The default events; those that make a ratio are in one group. */
static const char *const default_events =
	"context-switches,cpu-migrations,page-faults,"
	"{cycles,stalled-cycles-frontend,stalled-cycles-backend,instructions}:W,"
	"{branches,branch-misses}:W";
static const char *const detailed_events[] = {
	"{L1-dcache-loads,L1-dcache-load-misses}:W,{LLC-loads,LLC-load-misses}:W",
	"{L1-icache-loads,L1-icache-load-misses}:W,{dTLB-loads,dTLB-load-misses}:W,{iTLB-loads,iTLB-load-misses}:W",
	"L1-dcache-prefetches,L1-dcache-prefetch-misses",
};

int stat_find_cores(const char *type, char *ret_pmu, size_t size, struct err *err)
{
	struct intern cores = {0};
	struct str names = {0};
	bool is_found = false;

	pmu_list_cores("/sys", &cores);
	vec_each(name, &cores.strings) {
		const char *kind = strncmp(*name, "cpu_", 4) ? *name : *name + 4;

		str_addf(&names, "%s%s", names.n ? ", " : "", kind);
		if (is_found || (strcmp(*name, type) && strcmp(kind, type)))
			continue;
		is_found = true;
		snprintf(ret_pmu, size, "%s", *name);
	}
	if (!is_found)
		err_set(err, ERR_UNSUPPORTED,
			"--cputype '%s': this machine has no such kind of core; its kinds: %s",
			type, names.n ? str_text(&names) : "none that the kernel tells");
	intern_fini(&cores);
	str_fini(&names);
	return is_found ? 0 : err->code;
}

u64 stat_excluded(const struct stat_command *o)
{
	return o->all_user ? ATTR_EXCLUDE_KERNEL : o->all_kernel ? ATTR_EXCLUDE_USER : 0;
}

/* perf's events for -T, of which some models have only the first four. */
int stat_add_transactions(const char *sysfs, struct str *text, struct err *err)
{
	static const char *const events[] = {"cycles-t", "tx-start", "el-start", "cycles-ct"};
	const enum tsx_state state = tsx_state_here(sysfs);
	struct pmu pmu;
	char terms[256];

	if (state != TSX_COUNTED)
		return err_set(err, ERR_UNSUPPORTED, "-T: %s", tsx_reason(state));
	if (pmu_open(&pmu, sysfs, "cpu", err))
		return err_prefix(err, "-T");
	str_add(text, "task-clock,{instructions,cycles");
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (pmu_alias(&pmu, events[i], terms, sizeof(terms)))
			str_addf(text, ",cpu/%s/", events[i]);
	str_addc(text, '}');
	pmu_close(&pmu);
	return 0;
}

void stat_add_defaults(const struct stat_command *o, bool is_system_wide, struct str *text)
{
	str_addf(text, "%s,%s", is_system_wide ? "cpu-clock" : "task-clock", default_events);
	for (unsigned i = 0; i < MIN(o->detail, (unsigned)ARRAY_SIZE(detailed_events)); i++)
		str_addf(text, ",%s", detailed_events[i]);
}

int stat_choose_scope(const struct stat_command *o, enum counts_scope *ret_scope, struct err *err)
{
	const char *first = NULL;

	*ret_scope = COUNTS_ALL;
	for (size_t i = 0; i < ARRAY_SIZE(scopes); i++) {
		if (!*((const bool *)o + scopes[i].option))
			continue;
		if (first)
			return err_set(err, ERR_INVAL, "%s and %s: choose one", first,
				scopes[i].name);
		first = scopes[i].name;
		*ret_scope = scopes[i].scope;
	}
	return 0;
}

int stat_choose_format(const struct stat_command *o, struct stat_options *ret, struct err *err)
{
	struct form_choice forms = o->forms;

	if (o->separator && !*o->separator)
		return err_set(err, ERR_INVAL,
			"-x '': the separator must have at least one character");
	if (o->separator && forms.is_chosen[FORM_JSON])
		return err_set(err, ERR_INVAL, "-x and -j: choose one");
	forms.is_chosen[FORM_CSV] = o->separator != NULL;
	if (form_check(&forms, FORM_OF_ROWS, err))
		return err->code;
	if (o->columns && strcmp(o->columns, "perf") && strcmp(o->columns, "perf7") &&
		strcmp(o->columns, "pace"))
		return err_set(err, ERR_INVAL, "--columns '%s': it is perf, perf7 or pace",
			o->columns);
	*ret = (struct stat_options){.form = form_chosen(&forms),
		.has_perf7_columns = o->columns && !strcmp(o->columns, "perf7"),
		.has_perfs_columns = o->columns && !strncmp(o->columns, "perf", 4) &&
			(o->separator || o->forms.is_chosen[FORM_JSON]),
		.has_summary_column = (o->interval_ms || o->has_summary) && !o->has_no_csv_summary,
		.separator = o->separator && !strcmp(o->separator, "\\t") ? "\t" : o->separator,
		.is_plain = o->no_big_num,
		.is_metric_only = o->is_metric_only < 0 ? o->has_smi_cost : o->is_metric_only,
		.has_table = o->has_table,
		.has_no_merge = o->no_merge};
	return 0;
}

static int check_topdown(const struct stat_command *o, struct err *err)
{
	const char *other = o->is_record ? "record"
		: o->is_versus           ? "--vs"
		: o->is_null             ? "-n"
		: o->detail              ? "-d"
		: o->no_merge            ? "--no-merge"
		: o->metrics.n           ? "-M"
		: o->has_transactions    ? "-T"
					 : NULL;

	if (o->is_drill &&
		(o->has_td_level || o->per_cpu || o->per_core || o->per_socket || o->per_die ||
			o->per_node || o->per_thread || o->per_cluster || o->per_cache ||
			o->events.has_events))
		return err_set(err, ERR_INVAL,
			"--drill chooses its levels and events, and looks at all CPUs together: leave out --td-level, -e, -A and --per options");
	if (!o->is_topdown && o->is_drill)
		return err_set(err, ERR_INVAL, "--drill needs --topdown");
	if (!o->is_topdown)
		return o->has_td_level ? err_set(err, ERR_INVAL, "--td-level needs --topdown") : 0;
	if (other)
		return err_set(err, ERR_INVAL, "%s does not work with --topdown", other);
	vec_each(w, &o->events.words)
		if (w->kind == WORD_CGROUPS || w->kind == WORD_EACH_CGROUP)
			return err_set(err, ERR_INVAL,
				"cgroups do not work with --topdown: -p counts the processes of one");
	if (o->events.has_events &&
		(o->separator || o->forms.is_chosen[FORM_CSV] || o->forms.is_chosen[FORM_MARKDOWN]))
		return err_set(err, ERR_INVAL,
			"-e and --topdown have different columns: -j prints both");
	return 0;
}

int stat_check(const struct stat_command *o, int argc, struct err *err)
{
	bool has_command = argc;

	if (check_topdown(o, err))
		return err->code;
	if (!o->metrics.n &&
		(o->has_no_metric_groups || o->has_no_metric_merge || o->has_no_metric_thresholds))
		return err_set(err, ERR_INVAL,
			"--metric-no-group, --metric-no-merge and --metric-no-threshold need -M");
	if (o->is_versus && stat_compare_check(o, argc, err))
		return err->code;
	if (!o->is_versus && (o->ignores_failure || o->shows_output || o->seed))
		return err_set(err, ERR_INVAL,
			"--ignore-failure, --show-output and --seed need --vs");
	if (o->all_user && o->all_kernel)
		return err_set(err, ERR_INVAL, "--all-user and --all-kernel: choose one");
	if (o->interval_count && !o->interval_ms)
		return err_set(err, ERR_INVAL,
			"--interval-count counts intervals: give their length with -I");
	if (o->samples_latencies && (o->is_versus || o->is_record))
		return err_set(err, ERR_INVAL, "--record-tpebs does not work with %s",
			o->is_record ? "record: a recording of counts holds no means" : "--vs");
	if (o->is_record && o->repeat)
		return err_set(err, ERR_INVAL,
			"-r does not work with record: a recording holds one run");
	if (o->output && o->has_log_fd)
		return err_set(err, ERR_INVAL, "-o and --log-fd: choose one");
	if (o->repeat && !has_command)
		return err_set(err, ERR_INVAL, "-r repeats a command: give one");
	if ((o->pre || o->post) && !has_command)
		return err_set(err, ERR_INVAL, "--pre and --post run around a command: give one");
	if (o->per_thread && !o->target.pids && !o->target.tids && !o->target.all_cpus)
		return err_set(err, ERR_INVAL,
			"--per-thread needs running threads: add -p, -t or -a");
	if (o->delay_ms < 0 && o->has_delay && !o->control)
		return err_set(err, ERR_INVAL,
			"-D -1 waits for 'enable': name with --control where that comes from");
	return 0;
}

int stat_choose_runs(const struct stat_command *o, u64 *ret_n, struct err *err)
{
	u64 n = 1;

	if (o->repeat && num_parse(o->repeat, &n, err))
		return err_prefix(err, "-r");
	if (n > RUNS_MAX)
		return err_set(err, ERR_INVAL, "-r %s: at most %d runs", o->repeat, RUNS_MAX);
	*ret_n = n;
	return 0;
}
