#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/out.h"
#include "base/selfname.h"
#include "base/term.h"
#include "cmd/asperf.h"
#include "cmd/cmd.h"
#include "cmd/stat/measuring.h"
#include "cmd/stat/stat_compare.h"
#include "collect/run/hook.h"
#include "collect/run/run.h"
#include "collect/open/setuid.h"
#include "event/abi.h"
#include "event/parse.h"
#include "event/tsx.h"
#include "profile/diff/metric.h"
#include "view/stat/stat_topdown.h"
#include "view/text/colour.h"

enum {
	SLICE_MS = 25, /* how often to look at the rates of multiplexed events */
	SLICE_MAX_NS = 1000000000,
};

/* ---- set-up ---- */

/* They are no counts, which a group or a recording could hold. */
static int check_latencies(const struct measuring *m, struct err *err)
{
	vec_each(e, &m->events) {
		if (!counts_is_latency(e))
			continue;
		if (m->options->is_record)
			return err_set(err, ERR_INVAL,
				"event '%s': a recording of counts holds no means of latencies",
				e->name);
		if (m->events.at[e->leader].n_members > 1)
			return err_set(err, ERR_INVAL,
				"event '%s' is sampled, apart from all groups: write it outside of the braces",
				e->name);
	}
	return 0;
}

/* -T: beside those of -e. */
static int add_transactions(struct measuring *m, struct err *err)
{
	const struct parse_env env = {.sysfs = "/sys"};
	struct str text = {0};
	int r = stat_add_transactions(env.sysfs, &text, err);

	if (!r)
		r = parse_events(str_text(&text), &env, &m->events, err);
	str_fini(&text);
	return r;
}

static int parse_all_events(struct measuring *m, struct err *err)
{
	const struct stat_command *o = m->options;
	struct event_words words = o->events;
	struct str defaults = {0};
	char core_pmu[64] = "";
	bool has_own;
	int r;

	if (o->is_null)
		return 0;
	if (o->core_type && stat_find_cores(o->core_type, core_pmu, sizeof(core_pmu), err))
		return err->code;
	words.core_pmu = o->core_type ? core_pmu : NULL;
	if (o->is_topdown && stat_topdown_add_events(m, err))
		return err->code;
	has_own = o->metrics.n || o->has_transactions || o->is_topdown || o->has_smi_cost;
	m->print.has_no_defaults = !o->events.has_events && !has_own;
	if (o->has_transactions && add_transactions(m, err))
		return err->code;
	if (!has_own)
		stat_add_defaults(o, m->target.is_system_wide, &defaults);
	r = event_words_parse(&words, has_own ? NULL : str_text(&defaults), &m->events, &m->log,
		err);
	str_fini(&defaults);
	tsx_note_raw("/sys", &m->events, &m->log);
	if (!r)
		r = stat_asked_open(&m->asked, o, m->target.is_system_wide, &m->events, &m->log,
			err);
	if (!r && o->is_one_group)
		event_make_group(&m->events);
	m->print.metrics = m->asked.is_open ? &m->asked.set : NULL;
	vec_each(e, &m->events) {
		e->attr.flags |= stat_excluded(o);
		if (event_is_fact(&e->attr) && e->attr.config >= EVENT_TOOL_CORE_WIDE)
			e->attr.config1 = m->target.is_system_wide;
	}
	return r ? r : check_latencies(m, err);
}

static int open_output(struct measuring *m, struct err *err)
{
	const struct stat_command *o = m->options;
	int mode = O_WRONLY | O_CREAT | O_CLOEXEC | (o->appends ? O_APPEND : O_TRUNC);

	/* Output of the commands is not part of a comparison, which has standard output for itself. */
	m->out.fd = o->is_versus ? STDOUT_FILENO : STDERR_FILENO;
	if (o->has_log_fd) {
		m->out.fd = (int)MIN(o->log_fd, (u64)INT32_MAX);
		if (fcntl(m->out.fd, F_GETFD) < 0)
			return err_sys(err, errno, "--log-fd %llu", (unsigned long long)o->log_fd);
	}
	if (o->output && !o->is_record) {
		m->out.fd = open(o->output, mode, 0666);
		if (m->out.fd < 0)
			return err_sys(err, errno, "opening '%s'", o->output);
	}
	return 0;
}

/* Every thread of every process, for --per-thread -a. */
static int add_all_threads(struct measuring *m, struct err *err)
{
	m->target.is_system_wide = false;
	return target_add_all(&m->target, err);
}

static void describe_target(struct measuring *m)
{
	const struct stat_command *o = m->options;
	struct str *what = &m->what;

	if (m->measures_workload) {
		str_addc(what, '\'');
		for (int i = 0; i < m->argc; i++)
			str_addf(what, "%s%s", i ? " " : "", m->command[i]);
		str_addc(what, '\'');
	} else if (o->target.pids) {
		str_addf(what, "process id '%s'", o->target.pids);
	} else if (o->target.tids) {
		str_addf(what, "thread id '%s'", o->target.tids);
	} else if (o->target.cpus) {
		str_addf(what, "'CPU(s) %s'", o->target.cpus);
	} else {
		str_add(what, "'system wide'");
	}
	m->facts.what = str_text(what);
	stat_add_target(m, &m->on_what);
}

/* A sentence of the log stands below what was drawn: the next interval is drawn below that. */
static void write_below(void *ctx, enum log_level level, const char *sentence)
{
	struct measuring *m = ctx;

	m->live.n_drawn = 0;
	m->write_log(NULL, level, sentence);
}

/* Commands may write to the terminal between two intervals; sleep is only there to count the time. */
static bool is_alone(const struct measuring *m)
{
	const char *slash = m->command ? strrchr(m->command[0], '/') : NULL;

	return !m->command || !strcmp(slash ? slash + 1 : m->command[0], "sleep");
}

static void choose_live(struct measuring *m)
{
	const struct stat_command *o = m->options;
	const bool is_wanted = o->has_sparklines < 0 ? is_alone(m) : o->has_sparklines > 0;

	m->print.has_colours = colour_is_on(COLOUR_AUTO, m->out.fd);
	m->is_live = is_wanted && o->interval_ms && !o->is_topdown && !o->is_cleared &&
		!m->print.is_metric_only && !form_is_data(m->print.form) &&
		term_can_erase(m->out.fd);
	if (!m->is_live)
		return;
	m->live.is_ascii = !term_has_utf8();
	m->write_log = m->log.write;
	m->log.write = m->write_log ? write_below : NULL;
	m->log.ctx = m;
}

static int set_up(struct measuring *m, struct err *err)
{
	const struct stat_command *o = m->options;
	struct target_words words = o->target;
	enum counts_scope scope;

	if (stat_check(o, m->argc, err) || stat_choose_format(o, &m->print, err) ||
		stat_choose_scope(o, &scope, err) || stat_choose_runs(o, &m->n_runs, err))
		return err->code;
	if (!m->command && !words.pids && !words.tids)
		words.all_cpus = true;
	/* CPUs can be told apart only in system-wide counts. */
	if (target_init(&m->target, &words, err)) {
		if (words.cpus)
			stat_say_unsupported(err);
		return err->code;
	}
	if (stat_smi_begin(m, err) || parse_all_events(m, err))
		return err->code;
	m->measures_workload = !m->target.is_system_wide && !m->target.threads.n;
	if (m->measures_workload && !o->is_versus &&
		setuid_takes_counters(m->command[0], &m->why_lost) && o->interval_ms)
		log_note(&m->log, "%s", m->why_lost.at);
	if (scope == COUNTS_THREAD && m->target.is_system_wide && add_all_threads(m, err))
		return err->code;
	if (scope != COUNTS_ALL && scope != COUNTS_THREAD && !m->target.is_system_wide)
		return err_set(err, ERR_INVAL,
			"a task's counters follow it from CPU to CPU: rows for each %s need -a",
			scope == COUNTS_CPU ? "CPU" : "core, socket or node");
	describe_target(m);
	counts_init(&m->counts, &m->events, scope);
	m->counts.cache_level = o->cache_level;
	m->counts.is_unscaled = o->no_scale;
	m->counts.shows_cores = o->percore_per_cpu && scope == COUNTS_CPU;
	m->view = (struct stat_view){.counts = &m->counts,
		.options = &m->print,
		.topdown = m->has_topdown ? &m->topdown : NULL,
		.on_what = str_text(&m->on_what)};
	if (stop_open(&m->stop, err) || open_output(m, err) || stat_record_prepare(m, err))
		return err->code;
	choose_live(m);
	metric_prepare();
	return o->control ? control_open(&m->control, o->control, err) : 0;
}

/* ---- printing ---- */

static void print_live(struct measuring *m, const struct stat_lines *lines, u64 time_ns,
	double elapsed_ns)
{
	m->live.columns = term_columns(m->out.fd);
	m->live.rows = term_rows(m->out.fd);
	stat_live_add(&m->live, &m->view, lines, time_ns, elapsed_ns, &m->out.text);
}

static void print_lines(struct measuring *m, bool is_interval, u64 time_ns, double elapsed_ns)
{
	struct stat_lines lines = {0};

	stat_lines_make(&lines, &m->counts, is_interval, elapsed_ns, &m->print);
	stat_topdown_hide(&m->view, &lines);
	if (is_interval && m->is_live)
		print_live(m, &lines, time_ns, elapsed_ns);
	else if (is_interval)
		stat_add_interval(&m->view, &lines, time_ns, &m->out.text);
	else
		stat_add_result(&m->view, &lines, &m->facts, &m->out.text);
	stat_lines_fini(&lines);
	out_flush(&m->out);
}

static void print_interval(struct measuring *m, const struct run *run)
{
	if (m->options->is_quiet && !m->drilling)
		return;
	counts_take_interval(&m->counts);
	stat_topdown_watch(m);
	if (!m->interval_began_ns)
		m->interval_began_ns = run->start_ns;
	if (m->drilling) {
		stat_drill_interval(m->drilling, (double)(run->now_ns - m->interval_began_ns));
		m->interval_began_ns = run->now_ns;
		return;
	}
	if (m->options->is_cleared && isatty(m->out.fd)) {
		str_add(&m->out.text, "\033[H\033[2J");
		m->view.has_header = false;
	}
	print_lines(m, true, run->now_ns - run->start_ns,
		(double)(run->now_ns - m->interval_began_ns));
	m->interval_began_ns = run->now_ns;
}

/* Only events that share a PMU can lose it; only in system-wide counting can CPUs go. */
static bool needs_slices(const struct measuring *m)
{
	if (m->target.is_system_wide)
		return true;
	vec_each(e, &m->events)
		if (plan_takes_counter(e))
			return true;
	return false;
}

/* ---- the plan ---- */

/* Events that do not fit on the PMU at once are counted in turns, or better in different runs. */
static void make_plan(struct measuring *m)
{
	struct str text = {0}, placeless = {0};

	plan_make(&m->plan, &m->events);
	if (m->plan.n_passes == 1)
		return;
	m->is_rotated = !m->n_runs || m->n_runs >= m->plan.n_passes;
	plan_add_text(&m->plan, &m->events, &text);
	plan_add_placeless(&m->plan, &m->events, &placeless);
	if (m->is_rotated)
		log_note(&m->log,
			"not all events fit on the PMU at once: each run counts the events of one pass; %s",
			str_text(&text));
	else if (plan_has_turns(&m->plan, &m->events))
		log_note(&m->log,
			"not all events fit on the PMU at once, so they take turns and counts are scaled: '-r %u' counts each pass in runs of its own; %s",
			m->plan.n_passes, str_text(&text));
	if (!m->is_rotated && placeless.n)
		log_note(&m->log,
			"pinned events (D) leave no room on the PMU for these, which are not counted: %s; '-r %u' counts each pass in runs of its own",
			str_text(&placeless), m->plan.n_passes);
	str_fini(&text);
	str_fini(&placeless);
	if (m->is_rotated)
		m->counts.pass_of = m->plan.pass_of;
}

static void choose_pass(struct measuring *m, u64 run)
{
	if (!m->is_rotated)
		return;
	vec_each(e, &m->events) {
		u32 pass = m->plan.pass_of[e - m->events.at];

		e->wishes &= ~(unsigned)EVENT_LEFT_OUT;
		if (pass != PLAN_ALL && pass != run % m->plan.n_passes)
			e->wishes |= EVENT_LEFT_OUT;
	}
}

/* ---- one run ---- */

static void look(void *ctx, struct run *run, bool is_interval)
{
	struct measuring *m = ctx;

	attach_look(&m->attach);
	if (is_interval) {
		stat_record_moment(m, run, STATFILE_ROUND_INTERVAL);
		print_interval(m, run);
	} else if (!counts_take_slice(&m->counts))
		/* Everything fits on the PMU, and probably will later: look less often. */
		run->slice_ns = MIN(2 * run->slice_ns, SLICE_MAX_NS);
}

static int start_workload(struct measuring *m, struct err *err)
{
	if (!m->command)
		return 0;
	if (m->options->syncs)
		sync();
	if (workload_start(&m->workload, m->command, err))
		return err->code;
	m->has_workload = true;
	if (!m->measures_workload)
		return 0;
	m->target.threads.n = 0;
	vec_add(&m->target.threads, ((struct target_thread){m->workload.pid, m->workload.pid}));
	return 0;
}

static double ns_of(const struct timeval *t)
{
	return (double)t->tv_sec * 1e9 + (double)t->tv_usec * 1e3;
}

static bool counts_switches(const struct measuring *m)
{
	vec_each(e, &m->events)
		if (e->attr.type == PERF_TYPE_SOFTWARE &&
			e->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES &&
			!m->counting.why[e - m->events.at].code)
			return true;
	return false;
}

static void take_run(struct measuring *m, const struct run *run)
{
	const struct rusage *u = &m->workload.usage;
	struct rusage own;
	double elapsed = (double)(run->now_ns - run->start_ns);

	counts_take_run(&m->counts);
	variance_add(&m->counts.elapsed_ns, elapsed);
	vec_add(&m->runs_ns, elapsed);
	if (!m->measures_workload || !m->workload.has_ended)
		return;
	m->facts.has_usage = true;
	variance_add(&m->counts.user_ns, ns_of(&u->ru_utime));
	variance_add(&m->counts.system_ns, ns_of(&u->ru_stime));
	m->facts.max_rss_kb = MAX(m->facts.max_rss_kb, (u64)u->ru_maxrss);
	if (!getrusage(RUSAGE_SELF, &own))
		m->facts.own_rss_kb = (u64)own.ru_maxrss;
	m->facts.n_blocks_in = (u64)u->ru_inblock;
	m->facts.n_blocks_out = (u64)u->ru_oublock;
	m->facts.n_waits = (u64)u->ru_nvcsw;
	m->facts.n_preempted = (u64)u->ru_nivcsw;
	m->facts.has_switches = !counts_switches(m);
	m->facts.queue_ns = m->workload.queue_ns;
}

/* When the time is up, a command that was started for it ends too. */
void stat_end_workload(struct measuring *m, enum run_end end)
{
	int sig = end == RUN_ENOUGH ? SIGTERM : 0;

	if (end == RUN_SIGNAL)
		sig = stop_signal_of_command(&m->stop);
	if (m->has_workload && !workload_end(&m->workload, sig))
		log_note(&m->log, "'%s' (process %d) is still running", m->command[0],
			m->workload.pid);
}

int stat_run_once(struct measuring *m, enum run_end *ret_end, struct err *err)
{
	const struct stat_command *o = m->options;
	const struct run_options how = {.interval_ms = o->interval_ms,
		.interval_count = o->interval_count,
		.timeout_ms = o->timeout_ms,
		.delay_ms = o->has_delay ? o->delay_ms : 0,
		.slice_ms = needs_slices(m) ? SLICE_MS : 0};
	struct run run = {.options = &how,
		.counting = &m->counting,
		.target = &m->target,
		.command = m->command ? m->command[0] : NULL,
		.stop = &m->stop,
		.control = o->control ? &m->control : NULL,
		.log = &m->log,
		.look = look,
		.ctx = m};

	if (hook_run("--pre", o->pre, err) || start_workload(m, err) || stat_open(m, err))
		return err->code;
	run.workload = m->has_workload ? &m->workload : NULL;
	m->run = &run;
	if (stat_record_begin(m, err) || run_execute(&run, ret_end, err))
		return err->code;
	if (!o->interval_ms) {
		stat_record_moment(m, &run, STATFILE_ROUND_FINAL);
	} else if (!o->interval_count || run.n_intervals < o->interval_count) {
		/* The rest after the last whole interval. */
		stat_record_moment(m, &run, STATFILE_ROUND_INTERVAL);
		print_interval(m, &run);
	}
	take_run(m, &run);
	return hook_run("--post", o->post, err);
}

/* ---- all runs ---- */

static void print_result(struct measuring *m, enum run_end end)
{
	const struct stat_command *o = m->options;
	static char name[32];

	if (o->is_quiet || (o->interval_ms && !o->has_summary))
		return;
	/* Counting processes or the system ends with Ctrl-C by design: the result is complete then. */
	if (end == RUN_SIGNAL && (m->measures_workload || m->stop.signal != SIGINT)) {
		snprintf(name, sizeof(name), "SIG%s", sigabbrev_np(m->stop.signal));
		m->facts.ended = name;
	}
	if (o->has_table)
		m->facts.runs_ns = m->runs_ns.at;
	print_lines(m, false, 0, m->counts.elapsed_ns.mean);
}

static int run_all(struct measuring *m, int *ret_status, struct err *err)
{
	enum run_end end = RUN_TARGET_ENDED;
	int r = 0;

	make_plan(m);
	stat_open_init(m);
	for (u64 i = 0; !r && end == RUN_TARGET_ENDED && (!m->n_runs || i < m->n_runs); i++) {
		memset(&m->workload, 0, sizeof(m->workload));
		m->interval_began_ns = 0;
		choose_pass(m, i);
		r = stat_run_once(m, &end, err);
		if (!r && end == RUN_TARGET_ENDED && m->has_workload)
			*ret_status = workload_exit_status(&m->workload);
	}
	if (m->counts.n_runs)
		print_result(m, end);
	if (!r)
		r = stat_record_finish(m, err);
	if (!r)
		stat_end_workload(m, end);
	if (!r && end == RUN_SIGNAL)
		*ret_status = 128 + m->stop.signal;
	return r;
}

static int compare(struct measuring *m, int *ret_status, struct err *err)
{
	const struct stat_compare vs = {.options = m->options,
		.print = &m->print,
		.commands = m->command,
		.n_pairs = m->n_runs,
		.events = &m->events,
		.target = &m->target,
		.stop = &m->stop,
		.log = &m->log,
		.out = &m->out};

	return run_stat_compare(&vs, ret_status, err);
}

static void tear_down(struct measuring *m)
{
	stat_smi_end(m);
	/* Without a completed run there is nothing to keep. */
	if (m->writer.fd >= 0)
		writer_close(&m->writer, m->counts.n_runs > 0);
	if (m->has_workload)
		workload_close(&m->workload);
	counting_close(&m->counting);
	plan_fini(&m->plan);
	tma_plan_close(&m->topdown);
	attach_fini(&m->attach);
	stat_view_fini(&m->view);
	stat_live_fini(&m->live);
	counts_fini(&m->counts);
	stop_close(&m->stop);
	if (m->options->control)
		control_close(&m->control);
	target_fini(&m->target);
	event_list_fini(&m->events);
	stat_asked_fini(&m->asked);
	vec_fini(&m->runs_ns);
	str_fini(&m->what);
	str_fini(&m->on_what);
	str_fini(&m->why_lost);
	log_fini(&m->log);
}

static int run_measuring(struct measuring *m)
{
	int status = EXIT_OK;
	sigset_t signals;
	struct err err;

	stop_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (set_up(m, &err))
		status =
			cmd_fail(&cmd_stat, &err, err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED);
	else if (m->options->is_versus         ? compare(m, &status, &err)
			: m->options->is_drill ? run_stat_drill(m, &status, &err)
					       : run_all(m, &status, &err))
		status = cmd_fail(&cmd_stat, &err, EXIT_FAILED);
	if (out_close(&m->out, &err))
		status = cmd_fail(&cmd_stat, &err, EXIT_FAILED);
	tear_down(m);
	return status;
}

/* perf takes options before the word, too: 'stat -x, report'. `before`: the words of "stat -x,". */
static int run_report_behind(int n_before, char **before, int argc, char **argv)
{
	int n = 0, n_words;
	char **words = mem_alloc((size_t)(n_before + argc + 1) * sizeof(*words)), **all = words;
	int status;

	words[n++] = before[0];
	words[n++] = argv[0];
	for (int i = 1; i < n_before; i++)
		words[n++] = before[i];
	for (int i = 1; i < argc; i++)
		words[n++] = argv[i];
	words[n_words = n] = NULL;
	if (n_before > 1 && program_is_perf())
		all = asperf_words(&n_words, words);
	status = run_stat_report(n_words - 1, all + 1);
	if (all != words)
		mem_free(all);
	mem_free(words);
	return status;
}

static int run_stat(int argc, char **argv)
{
	struct stat_command o = {.has_sparklines = -1,
		.is_metric_only = -1,
		.events.takes_latencies = true};
	char **whole = memcpy(mem_alloc((argc + 1) * sizeof(*argv)), argv, argc * sizeof(*argv));
	struct measuring m = {.options = &o, .line = whole, .line_n = argc};
	int status = cmd_parse(&cmd_stat, &o, OPTS_STOP, &argc, argv);

	if (status < 0 && argc && !strcmp(argv[0], "report")) {
		status = run_report_behind(m.line_n - argc, whole, argc, argv);
	} else if (status < 0 && argc && !strcmp(argv[0], "record")) {
		o.is_record = true;
		status = cmd_parse(&cmd_stat, &o, OPTS_STOP, &argc, argv);
	}
	if (status < 0) {
		argv[argc] = NULL;
		m.argc = argc;
		m.command = argc ? argv : NULL;
		m.stop.fd = m.control.fd = m.control.ack_fd = m.writer.fd = -1;
		m.out.fd = STDERR_FILENO;
		cmd_log_init(&m.log, o.verbose ? LOG_DEBUG : LOG_NOTE);
		if (o.is_quiet)
			m.log.write = NULL;
		/* Who reads the stream shows the counts. */
		if (stat_record_is_piped(&o))
			o.is_quiet = true;
		status = run_measuring(&m);
	}
	event_words_fini(&o.events);
	vec_fini(&o.metrics);
	mem_free(whole);
	return status;
}

const struct cmd cmd_stat = {
	.name = "stat",
	.summary = "count events of a command, of processes, or of the whole system",
	.subcommands = {"record", "report", NULL},
	.usage = {"[OPTIONS] COMMAND [ARGS]", "[OPTIONS] -p PID | -t TID | -a [COMMAND]",
		"[OPTIONS] --vs 'COMMAND' 'COMMAND'",
		"[OPTIONS] record [-o FILE] COMMAND | report [-i FILE]", NULL},
	.notes =
		"Counting ends when the command does, or with Ctrl-C; the exit status is the command's.\n"
		"0 is a count; <not counted>: the event never got on the PMU; <not supported>: it could not be opened, see the reason below.\n",
	.options = stat_options_table,
	.run = run_stat,
};
