/*
 * stat_report.c - prints counts that `stat record` wrote, as `stat` does.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/selfname.h"
#include "cmd/cmd.h"
#include "cmd/stat/stat_command.h"
#include "session/replay.h"

const struct opt stat_report_options[] = {
	{'i', "input", OPT_STR, STAT_AT(input), "FILE",
		"read FILE; default perf.data, or what is piped in"},
	{0, NULL, OPT_TITLE, 0, NULL, "A row for each (default: as recorded)"},
	STAT_ROWS_PLACES,
	{0, NULL, OPT_TITLE, 0, NULL, "How to print"},
	STAT_ROWS_PRINT,
	{0, "stderr", OPT_BOOL, STAT_AT(to_stderr), NULL,
		"print on standard error, as 'stat' itself does"},
	{.kind = OPT_END},
};

struct reporting {
	const struct stat_command *options;
	struct log log;
	struct session session;
	struct replay replay;
	struct counts counts;
	struct stat_options print;
	struct stat_view view;
	struct stat_facts facts;
	struct str what;
	struct out out;
	u64 interval_began_ns;
	bool has_losses; /* the numbers lack something that was in the file */
};

/* ---- what the recording tells about places ---- */

static void topology_of(const void *ctx, s32 cpu, struct topology *ret)
{
	const struct reporting *r = ctx;
	const struct host *h = &r->session.reader.info.host;

	*ret = (struct topology){.node = -1};
	if (cpu < 0)
		return;
	if ((size_t)cpu < h->cpus.n) {
		ret->core = (s32)h->cpus.at[cpu].core;
		ret->socket = (s32)h->cpus.at[cpu].socket;
		ret->die = (s32)h->cpus.at[cpu].die;
	}
	vec_each(n, &h->nodes) {
		struct cpus cpus = {0};
		struct err ignored;

		if (!cpus_parse(&cpus, n->cpus, &ignored) && cpus_has(&cpus, (u32)cpu))
			ret->node = (s32)n->number;
		cpus_fini(&cpus);
	}
}

static bool comm_of(const void *ctx, pid_t tid, char *buf, size_t size)
{
	const struct reporting *r = ctx;

	for (size_t i = 0; i < r->replay.tids.n; i++) {
		if (r->replay.tids.at[i] != tid || !r->replay.comms.at[i][0])
			continue;
		snprintf(buf, size, "%s", r->replay.comms.at[i]);
		return true;
	}
	return false;
}

/* ---- printing ---- */

static int choose_scope(struct reporting *r, enum counts_scope *ret_scope, struct err *err)
{
	static const enum counts_scope scopes[] = {
		[STATFILE_MODE_NONE] = COUNTS_CPU,
		[STATFILE_MODE_GLOBAL] = COUNTS_ALL,
		[STATFILE_MODE_SOCKET] = COUNTS_SOCKET,
		[STATFILE_MODE_DIE] = COUNTS_DIE,
		[STATFILE_MODE_CORE] = COUNTS_CORE,
		[STATFILE_MODE_THREAD] = COUNTS_THREAD,
	};
	u64 mode = r->replay.config.mode;

	if (stat_choose_scope(r->options, ret_scope, err))
		return err->code;
	if (*ret_scope == COUNTS_ALL && mode < ARRAY_SIZE(scopes))
		*ret_scope = scopes[mode];
	return 0;
}

static void print(struct reporting *r, const struct replay_moment *moment, bool is_interval)
{
	u64 began = is_interval ? r->interval_began_ns : 0;
	double elapsed = (double)(moment->time_ns - MIN(began, moment->time_ns));
	struct stat_lines lines = {0};

	stat_lines_make(&lines, &r->counts, is_interval, elapsed, &r->print);
	if (is_interval)
		stat_add_interval(&r->view, &lines, moment->time_ns, &r->out.text);
	else
		stat_add_result(&r->view, &lines, &r->facts, &r->out.text);
	stat_lines_fini(&lines);
	r->interval_began_ns = moment->time_ns;
	out_flush_some(&r->out);
}

static void describe(struct reporting *r)
{
	const struct file_info *info = &r->session.reader.info;

	str_addc(&r->what, '\'');
	/* What perf's callers look for. */
	if (program_is_perf() && r->session.reader.is_pipe_mode)
		str_add(&r->what, "pipe");
	else
		vec_each(word, &info->cmdline)
			str_addf(&r->what, "%s%s", word == info->cmdline.at ? "" : " ", *word);
	str_addc(&r->what, '\'');
	r->facts.what = str_text(&r->what);
	r->facts.queue_ns = UINT64_MAX;
	if (r->session.tally.damage.reason)
		r->facts.ended = "damage: the file is incomplete";
}

static int walk(struct reporting *r, struct err *err)
{
	struct replay_moment moment = {0};
	int result;

	while ((result = replay_next(&r->replay, &moment, err)) > 0) {
		if (!moment.is_final) {
			counts_take_interval(&r->counts);
			print(r, &moment, true);
		} else if (r->replay.config.interval_ms) {
			/* The rest of what was printed interval by interval. */
			counts_take_run(&r->counts);
		} else {
			counts_take_run(&r->counts);
			variance_add(&r->counts.elapsed_ns, (double)moment.time_ns);
			print(r, &moment, false);
		}
	}
	return result;
}

/* Warns about what the numbers lack; true if there is anything. */
static bool say_losses(struct reporting *r)
{
	const struct session_tally *t = &r->session.tally;
	const char *path = r->session.reader.path;

	if (t->damage.reason)
		log_warn(&r->log,
			"'%s' is damaged at offset 0x%llx: %s: the counts after that are missing",
			path, (unsigned long long)t->damage.offset, t->damage.reason);
	if (t->n_undecoded)
		log_warn(&r->log, "'%s': %llu malformed records are not counted", path,
			(unsigned long long)t->n_undecoded);
	if (t->n_foreign_id)
		log_warn(&r->log,
			"'%s': %llu counts belong to events that the file does not describe", path,
			(unsigned long long)t->n_foreign_id);
	if (r->replay.n_unknown)
		log_warn(&r->log, "'%s': %llu records of unknown types are not shown", path,
			(unsigned long long)r->replay.n_unknown);
	return t->damage.reason || t->n_undecoded || t->n_foreign_id;
}

static int run_session(struct reporting *r, struct err *err)
{
	const struct counts_places places = {topology_of, comm_of, r};
	enum counts_scope scope;
	int result;

	if (replay_open(&r->replay, &r->session, err))
		return err->code;
	result = choose_scope(r, &scope, err);
	if (!result) {
		counts_init(&r->counts, r->replay.counting.events, scope);
		r->counts.is_unscaled = !r->replay.config.is_scaled;
		r->view = (struct stat_view){.counts = &r->counts, .options = &r->print};
		counts_begin(&r->counts, &r->replay.counting, &places);
		describe(r);
		result = walk(r, err);
		stat_view_fini(&r->view);
		counts_fini(&r->counts);
	}
	r->has_losses = say_losses(r);
	replay_close(&r->replay);
	return result;
}

static const struct cmd cmd_stat_report = {
	.name = "stat report",
	.summary = "print the counts that 'stat record' wrote",
	.usage = {"[OPTIONS] [FILE]", NULL},
	.options = stat_report_options,
};

int run_stat_report(int argc, char **argv)
{
	struct stat_command o = {0};
	struct reporting r = {.options = &o};
	int status = cmd_parse_reader(&cmd_stat_report, &o, &o.input, argc, argv);
	struct err err;

	if (status >= 0)
		return status;
	cmd_log_init(&r.log, LOG_NOTE);
	r.out.fd = o.to_stderr ? STDERR_FILENO : STDOUT_FILENO;
	o.input = cmd_input(o.input);
	status = EXIT_OK;
	if (stat_choose_format(&o, &r.print, &err) ||
		session_open(&r.session, o.input, &r.log, &err)) {
		cmd_explain_missing(o.input, &err);
		status = cmd_fail(&cmd_stat_report, &err, EXIT_USAGE);
	} else {
		if (run_session(&r, &err))
			status = cmd_fail(&cmd_stat_report, &err, EXIT_FAILED);
		else if (r.has_losses)
			status = EXIT_FAILED;
		session_close(&r.session);
	}
	if (out_close(&r.out, &err))
		status = cmd_fail(&cmd_stat_report, &err, EXIT_FAILED);
	str_fini(&r.what);
	log_fini(&r.log);
	return status;
}
