#include "cmd/stat/stat_compare.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/term.h"
#include "base/cmdline.h"
#include "cmd/cmd.h"
#include "collect/run/attempt.h"
#include "collect/run/hook.h"
#include "collect/open/missing.h"
#include "collect/open/setuid.h"
#include "view/stat/stat_vs.h"

enum {
	PAIRS_LEAST = 10, /* unless -r or --timeout want fewer */
	PAIRS_MOST = 1000,
	LIMIT_S = 60,
	SAID_EACH_MS = 200, /* progress */
};

/* Precise enough: half the interval is 1 % of A's time, or a tenth of the difference. */
static const double PRECISION = 0.01, PRECISION_OF_DIFFERENCE = 0.1;

struct comparing {
	const struct stat_compare *vs;
	struct cmdline words[2];
	struct str why_lost[2]; /* why the kernel takes its counters away; or empty */
	struct attempt attempt;
	struct pairs_run runs[2];
	bool has_failed[2]; /* these runs failed */
	struct pairs pairs;
	struct random random;
	struct stat_vs_facts facts;
	u64 start_ns, said_ns;
	u64 next_check; /* pairs */
	double precision;
	bool shows_progress;
	char signal[32]; /* "SIGINT" */
	int null_fd;
};

/* ---- options ---- */

/* Options that count something other than commands, or print something other than a comparison. */
static const struct {
	size_t offset; /* of a bool, or of a value that is not 0 if it was given */
	size_t size;
	const char *name;
} others[] = {
	{STAT_AT(target.pids), sizeof(char *), "-p"},
	{STAT_AT(target.tids), sizeof(char *), "-t"},
	{STAT_AT(interval_ms), sizeof(u64), "-I"},
	{STAT_AT(has_delay), sizeof(bool), "-D"},
	{STAT_AT(control), sizeof(char *), "--control"},
	{STAT_AT(is_record), sizeof(bool), "record"},
	{STAT_AT(metrics.n), sizeof(size_t), "-M"},
	{STAT_AT(has_smi_cost), sizeof(bool), "--smi-cost"},
	{STAT_AT(has_summary), sizeof(bool), "--summary"},
};

int stat_compare_check(const struct stat_command *o, int argc, struct err *err)
{
	static const u64 zero;
	enum counts_scope scope;

	if (argc != 2)
		return err_set(err, ERR_INVAL,
			"--vs compares two commands, each in quotes and after all options, but there %s %d: pace stat --vs './old args' './new args'",
			argc == 1 ? "is" : "are", argc);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (memcmp((const char *)o + others[i].offset, &zero, others[i].size) != 0)
			return err_set(err, ERR_INVAL, "--vs and %s: choose one", others[i].name);
	if (o->is_metric_only > 0)
		return err_set(err, ERR_INVAL, "--vs and --metric-only: choose one");
	if (stat_choose_scope(o, &scope, err))
		return err->code;
	return scope == COUNTS_ALL
		? 0
		: err_set(err, ERR_INVAL,
			  "--vs compares sums: it does not work with -A, --per-core and the like");
}

/* ---- commands ---- */

/* If one command needs a shell, both get one: both times then include its start. */
static int split_commands(struct comparing *c, struct err *err)
{
	char **texts = c->vs->commands;

	for (int i = 0; i < 2; i++)
		if (cmdline_split(&c->words[i], texts[i], err))
			return err_prefix(err, "%c, '%s'", 'A' + i, texts[i]);
	c->facts.uses_shell = c->words[0].needs_shell || c->words[1].needs_shell;
	if (!c->facts.uses_shell)
		return 0;
	log_note(c->vs->log,
		"%s a shell: A and B both run through 'sh -c', whose start is measured too",
		c->words[0].needs_shell && c->words[1].needs_shell ? "A and B need"
			: c->words[0].needs_shell                  ? "A needs"
								   : "B needs");
	for (int i = 0; i < 2; i++) {
		cmdline_fini(&c->words[i]);
		cmdline_make_shell(&c->words[i], texts[i]);
	}
	return 0;
}

static int check_status(struct comparing *c, int side, bool is_warm_up, struct err *err)
{
	int status = workload_exit_status(&c->attempt.workload);
	/* 128 + n may also come from a shell, about its command. */
	const char *name = status > 128 ? sigabbrev_np(status - 128) : NULL;

	c->has_failed[side] = status != 0;
	if (!status || c->vs->options->ignores_failure)
		return 0;
	return err_set(err, ERR_SYS,
		"%c, '%s', ended with status %d%s%s: '--ignore-failure' compares all the same%s",
		'A' + side, c->vs->commands[side], status, name ? ", by SIG" : "", name ? name : "",
		is_warm_up || c->vs->options->shows_output ? ""
							   : ", '--show-output' shows its output");
}

/* ---- one run ---- */

static int run_one(struct comparing *c, int side, bool is_warm_up, enum run_end *ret_end,
	struct err *err)
{
	const struct stat_compare *vs = c->vs;
	struct pairs_run *run = &c->runs[side];
	bool is_silent = !vs->options->shows_output;

	/* The errors of a command are shown once, in the warm-up. */
	c->attempt.why_lost = c->why_lost[side].n ? c->why_lost[side].at : NULL;
	c->attempt.files[0] = c->null_fd;
	c->attempt.files[1] = is_silent ? c->null_fd : -1;
	c->attempt.files[2] = is_silent && !is_warm_up ? c->null_fd : -1;
	if (hook_run("--pre", vs->options->pre, err))
		return err->code;
	if (vs->options->syncs)
		sync();
	if (attempt_run(&c->attempt, c->words[side].at, ret_end, err))
		return err_prefix(err, "%c", 'A' + side);
	if (*ret_end == RUN_SIGNAL)
		return 0;
	if (vs->print->has_no_defaults)
		missing_note(&c->attempt.counting, vs->log);
	if (check_status(c, side, is_warm_up, err))
		return err->code;
	run->elapsed_ns = c->attempt.elapsed_ns;
	run->usage = c->attempt.workload.usage;
	counts_begin(&run->counts, &c->attempt.counting, &counts_here);
	counts_take_run(&run->counts);
	return hook_run("--post", vs->options->post, err);
}

/* Runs each command once. A pair that a signal interrupts is dropped. */
static int run_pair(struct comparing *c, bool is_b_first, bool is_warm_up, enum run_end *ret_end,
	struct err *err)
{
	for (int i = 0; i < 2; i++) {
		int side = is_b_first ? !i : i;

		if (run_one(c, side, is_warm_up, ret_end, err))
			return err->code;
		if (*ret_end == RUN_SIGNAL)
			return 0;
	}
	if (is_warm_up)
		return 0;
	pairs_add(&c->pairs, c->runs, is_b_first);
	c->facts.n_failed[0] += c->has_failed[0];
	c->facts.n_failed[1] += c->has_failed[1];
	return 0;
}

/* ---- when it is enough ---- */

static double passed_s(const struct comparing *c)
{
	return (double)(clock_now_ns() - c->start_ns) / 1e9;
}

/* Checked more and more rarely: each check is a chance to stop too early. */
static bool is_precise(struct comparing *c)
{
	struct versus v;

	if (c->pairs.n < c->next_check)
		return false;
	c->next_check = c->pairs.n + MAX(c->pairs.n / 10, 1ull);
	pairs_compare(&c->pairs.rows.at[0], c->facts.seed, &v);
	c->precision = versus_precision(&v);
	return c->precision <=
		MAX(PRECISION, PRECISION_OF_DIFFERENCE * fabs(v.has_ratio ? v.ratio - 1 : 0));
}

static bool is_enough(struct comparing *c)
{
	const struct stat_command *o = c->vs->options;
	u64 n = c->pairs.n;

	c->facts.limit_s = o->timeout_ms ? (double)o->timeout_ms / 1e3 : LIMIT_S;
	c->facts.end = STAT_VS_ASKED;
	if (o->repeat && c->vs->n_pairs && n >= c->vs->n_pairs)
		return true;
	c->facts.end = STAT_VS_TIME;
	if (o->timeout_ms && passed_s(c) >= c->facts.limit_s)
		return true;
	if (o->repeat || n < PAIRS_LEAST)
		return false;
	if (is_precise(c)) {
		c->facts.end = STAT_VS_PRECISE;
		return true;
	}
	if (passed_s(c) >= c->facts.limit_s)
		return true;
	c->facts.end = STAT_VS_LIMIT;
	return n >= PAIRS_MOST;
}

/* ---- progress ---- */

static void say_duration(struct comparing *c)
{
	const struct stat_command *o = c->vs->options;
	double pair_s = passed_s(c);

	if (!o->repeat && !o->timeout_ms && PAIRS_LEAST * pair_s > LIMIT_S)
		log_note(c->vs->log,
			"a pair takes %.0f s, so %d pairs take %.0f s: '-r N' runs fewer, '--timeout MS' ends sooner",
			pair_s, PAIRS_LEAST, PAIRS_LEAST * pair_s);
}

/* The line is erased when the result comes. */
static void say_progress(struct comparing *c, bool is_end)
{
	u64 now = clock_now_ns();

	if (!c->shows_progress || (!is_end && now - c->said_ns < SAID_EACH_MS * 1000000ull))
		return;
	c->said_ns = now;
	fprintf(stderr, "\r\033[K");
	if (is_end)
		return;
	fprintf(stderr, "pairs: %llu, %.0f s", (unsigned long long)c->pairs.n, passed_s(c));
	if (isfinite(c->precision))
		fprintf(stderr, ", ratio of times known to +-%.1f%%", 100 * c->precision);
}

/* ---- all pairs ---- */

static int run_pairs(struct comparing *c, enum run_end *ret_end, struct err *err)
{
	c->start_ns = clock_now_ns();
	if (run_pair(c, false, true, ret_end, err))
		return err->code;
	if (*ret_end != RUN_SIGNAL)
		say_duration(c);
	/* At least one pair, whatever the limits are. */
	while (*ret_end != RUN_SIGNAL) {
		if (run_pair(c, random_below(&c->random, 2), false, ret_end, err))
			return err->code;
		if (*ret_end != RUN_SIGNAL && is_enough(c))
			return 0;
		say_progress(c, false);
	}
	return 0;
}

static int print_result(struct comparing *c, enum run_end end, struct err *err)
{
	const struct stat_compare *vs = c->vs;
	u64 gate_bytes;

	if (end == RUN_SIGNAL) {
		snprintf(c->signal, sizeof(c->signal), "SIG%s", sigabbrev_np(vs->stop->signal));
		c->facts.end = STAT_VS_SIGNAL;
		c->facts.signal = c->signal;
	}
	if (vs->options->is_quiet)
		return 0;
	if (!c->pairs.n) {
		log_warn(vs->log, "%s came before the first pair was complete: nothing to compare",
			c->facts.signal);
		return 0;
	}
	/* By now pace uses as much memory as it ever will. */
	if (workload_gate_memory(&gate_bytes, err))
		return err->code;
	pairs_drop_memory(&c->pairs, gate_bytes);
	stat_vs_add(&c->pairs, &c->facts, vs->print, &vs->out->text);
	return 0;
}

static int set_up(struct comparing *c, struct err *err)
{
	const struct stat_compare *vs = c->vs;
	u64 seed = vs->options->seed;

	if (split_commands(c, err))
		return err->code;
	c->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (c->null_fd < 0)
		return err_sys(err, errno, "opening '/dev/null'");
	/* Short enough to be typed. */
	if (!seed)
		seed = hash_u64(clock_now_ns()) % 1000000 + 1;
	c->random.state = c->facts.seed = seed;
	c->facts.commands[0] = vs->commands[0];
	c->facts.commands[1] = vs->commands[1];
	c->attempt = (struct attempt){.events = vs->events,
		.target = vs->target,
		.stop = vs->stop,
		.log = vs->log,
		.no_inherit = vs->options->no_inherit};
	for (int i = 0; i < 2; i++) {
		if (!vs->target->is_system_wide)
			setuid_takes_counters(c->words[i].at[0], &c->why_lost[i]);
		counts_init(&c->runs[i].counts, vs->events, COUNTS_ALL);
		c->runs[i].counts.is_unscaled = vs->options->no_scale;
	}
	pairs_init(&c->pairs, vs->events);
	c->precision = (double)INFINITY;
	c->shows_progress = term_is_terminal(STDERR_FILENO) && !vs->options->is_quiet &&
		!vs->options->shows_output;
	return 0;
}

static void tear_down(struct comparing *c)
{
	attempt_close(&c->attempt);
	for (int i = 0; i < 2; i++) {
		counts_fini(&c->runs[i].counts);
		cmdline_fini(&c->words[i]);
		str_fini(&c->why_lost[i]);
	}
	pairs_fini(&c->pairs);
	if (c->null_fd >= 0)
		close(c->null_fd);
}

int run_stat_compare(const struct stat_compare *vs, int *ret_status, struct err *err)
{
	struct comparing c = {.vs = vs, .null_fd = -1};
	enum run_end end = RUN_TARGET_ENDED;
	int r = set_up(&c, err);

	if (!r)
		r = run_pairs(&c, &end, err);
	say_progress(&c, true);
	if (!r)
		r = print_result(&c, end, err);
	if (!r && end == RUN_SIGNAL)
		*ret_status = 128 + vs->stop->signal;
	tear_down(&c);
	return r;
}
