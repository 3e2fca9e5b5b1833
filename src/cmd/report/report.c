#include "cmd/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/out.h"
#include "base/selfname.h"
#include "cmd/cmd.h"
#include "cmd/fleetinput.h"
#include "cmd/pagefile.h"
#include "cmd/report/report_browse.h"
#include "cmd/report/report_live.h"
#include "cmd/report/reporting.h"
#include "cmd/fetched.h"
#include "cmd/report/report_import.h"
#include "cmd/report/report_options.h"
#include "cmd/strict.h"
#include "file/newfile.h"
#include "profile/check/recorded.h"
#include "view/records/dump.h"
#include "view/records/header.h"
#include "view/records/stats.h"
#include "view/records/tasks.h"
#include "view/pages/wall_text.h"
#include "view/stat/threadcounts_text.h"

static void add_preamble(struct reporting *r, struct str *text)
{
	if (r->options->is_quiet)
		return;
	if (!recorded_has_trace(&r->recorded)) {
		report_import_add_head(&r->recorded, text);
		return;
	}
	if (r->options->has_header)
		header_add_text(&r->recorded.trace.session.reader, r->options->has_details, text);
	else
		str_add(text,
			"# To display the perf.data header info, please use --header/--header-only options.\n#\n");
	str_addf(text, "#\n# Total Lost Samples: %llu\n#\n",
		(unsigned long long)r->recorded.trace.session.tally.n_lost_samples);
}

/* ---- what is shown instead of functions ---- */

/* Counts the samples of each event; each worker has its own counts. */
struct event_counts {
	size_t n;
	u64 *all;
};

static void *stats_join(void *counts)
{
	return mem_zalloc((((struct event_counts *)counts)->n + 1) * sizeof(u64));
}

static void stats_sample(void *worker, struct visit *v)
{
	((u64 *)worker)[v->event]++;
}

static void stats_leave(void *ctx, void *worker)
{
	struct event_counts *counts = ctx;

	for (size_t i = 0; i < counts->n; i++)
		counts->all[i] += ((u64 *)worker)[i];
	mem_free(worker);
}

static int show_stats(struct reporting *r, struct out *out, struct err *err)
{
	struct trace *t = &r->recorded.trace;
	struct event_counts counts = {.n = t->session.reader.events.n,
		.all = stats_join(&(struct event_counts){.n = t->session.reader.events.n})};
	const struct visitor visitor = {.ctx = &counts,
		.join = stats_join,
		.sample = stats_sample,
		.leave = stats_leave};
	int result = pass_run(t, &(struct pass_options){0}, (const struct visitor *[]){&visitor}, 1,
		err);

	if (!result)
		stats_add_text(&t->session, counts.all, r->options->answer.skips_empty, &out->text);
	mem_free(counts.all);
	return result;
}

/* True if options ask for something other than functions. */
static bool shows_records(const struct report_options *o)
{
	return o->is_dump || o->is_stats || o->is_tasks || o->is_mmaps;
}

static int report_records(struct reporting *r, struct out *out, struct err *err)
{
	const struct report_options *o = r->options;
	int result = 0;

	if (o->has_header)
		header_add_text(&r->recorded.trace.session.reader, o->has_details, &out->text);
	if (o->is_dump) {
		result = dump_all(&r->recorded.trace.session, out, err);
	} else {
		/* None of these pages has function names. */
		result = trace_scan(&r->recorded.trace,
			&(struct trace_options){.ignores_embedded = true, .ignores_jit = true},
			err);
		if (!result && o->is_stats)
			result = show_stats(r, out, err);
		if (!result && (o->is_tasks || o->is_mmaps))
			tasks_add_text(&r->recorded.trace.machine, o->is_mmaps, &out->text);
	}
	ledger_add_tally(&r->recorded.ledger, &r->recorded.trace.session.tally);
	ledger_warn(&r->recorded.ledger, &r->log);
	return result;
}

static int report(struct reporting *r, struct out *out, struct err *err)
{
	bool is_data = answer_is_data(&r->options->answer);

	if (answer_open(&r->answer, &r->options->answer, err) ||
		report_browse_check(r->options, err) || code_options_check(&r->options->code, err))
		return err->code;
	if (shows_records(r->options))
		return report_import_check(&r->recorded, r->options, err)
			? err->code
			: report_records(r, out, err);
	if (choice_make(&r->choice, r->options, &r->recorded, err))
		return err->code;
	if (r->options->has_header_only) {
		header_add_text(&r->recorded.trace.session.reader, r->options->has_details,
			&out->text);
		return 0;
	}
	if (report_live_is_wanted(r, out))
		return report_live(r, err);
	if (reporting_read(r, err))
		return err->code;
	if (r->options->has_thread_counts && threadcounts_settle(&r->thread_counts, err))
		return err_prefix(err, "-T");
	if (report_browse_is_wanted(r, out)) {
		if (report_browse(r, err))
			return err->code;
		ledger_warn(&r->recorded.ledger, &r->log);
		return 0;
	}
	if (!is_data)
		add_preamble(r, &out->text);
	if (r->choice.has_wall && !is_data && !r->options->is_quiet)
		wall_add_text(&r->recorded.wall, &r->recorded.trace.machine, &out->text);
	if (answer_show(&r->answer, out, err))
		return err->code;
	if (r->options->has_thread_counts)
		threadcounts_add_text(&r->thread_counts, &r->recorded.trace.session,
			&r->recorded.trace.machine, &out->text);
	recorded_stage_ends(&r->recorded, "rows and text");
	ledger_warn(&r->recorded.ledger, &r->log);
	if (r->options->is_quiet || is_data)
		return 0;
	if (!r->choice.has_wall)
		account_add_text(&r->answer.account, &out->text);
	ledger_add_text(&r->recorded.ledger, r->options->has_ledger, &out->text);
	return 0;
}

static int make_report(struct reporting *r, struct out *out, struct err *err)
{
	const char *file = answer_file(&r->options->answer);
	struct fresh page;

	if (!file)
		return report(r, out, err);
	if (pagefile_open(&page, file, out, err))
		return err->code;
	return pagefile_close(&page, out, report(r, out, err), err);
}

/* Opens the file that is written. */
static int open_output(struct newfile *file, const char *output, struct out *out, struct err *err)
{
	if (!output)
		return 0;
	if (newfile_create(file, output, "", 0, err))
		return err->code;
	out->fd = file->fd;
	out->name = output;
	return 0;
}

/* Closes the file; if it is not whole, what was there before comes back. */
static void close_output(struct newfile *file, bool is_whole)
{
	if (file->fd < 0)
		return;
	close(file->fd);
	if (is_whole || !file->is_file)
		return;
	if (*file->old_path)
		newfile_bring_back(file);
	else
		unlink(file->path);
}

/* Writes the report, and returns whether that worked as a status. */
static int write_report(struct reporting *r, const struct cmd *cmd, const char *output)
{
	struct newfile file = {.fd = -1};
	struct out out = {.fd = STDOUT_FILENO};
	int status = EXIT_OK;
	struct err err;

	if (open_output(&file, output, &out, &err))
		return cmd_fail(cmd, &err, EXIT_FAILED);
	if (make_report(r, &out, &err))
		status = cmd_fail(cmd, &err, err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED);
	if (out_close(&out, &err))
		status = cmd_fail(cmd, &err, EXIT_FAILED);
	close_output(&file, status == EXIT_OK);
	return status;
}

void report_say_written(const struct cmd *cmd, const char *path, const struct picture *p)
{
	struct str text = {0};
	struct stat st;

	if (stat(path, &st))
		return;
	str_addf(&text, "[ %s %s: wrote '", program_name(), cmd->name);
	str_add_safe(&text, path, strlen(path));
	str_addf(&text, "' (%.3f MB): %s ]\n", (double)st.st_size / 1e6, str_text(&p->said));
	fputs(str_text(&text), stderr);
	str_fini(&text);
}

/* The file, or with --at a window of a store, which then is one. */
static int choose_input(struct report_options *o, struct fleetinput *fleet, struct log *log,
	struct err *err)
{
	if (!o->at) {
		o->input = cmd_input(o->input);
		return fleetinput_check_file(o->input, err);
	}
	if (fleetinput_open(fleet, o->input, o->at, log, err))
		return err->code;
	o->input = fleet->path;
	o->input_name = str_text(&fleet->name);
	return 0;
}

int report_open(struct recorded *r, const struct report_options *o, struct log *log,
	struct err *err)
{
	if (recorded_open_any(r, o->input, log, err))
		return err->code;
	recorded_call(r, o->input_name);
	return 0;
}

int report_run(const struct cmd *cmd, struct report_options *o, const char *output)
{
	struct reporting r = {.options = o};
	struct progress line = {.what = "reading"};
	struct fleetinput fleet = {.fd = -1};
	struct err err;
	int status;

	cmd_log_init(&r.log, o->verbose ? LOG_DEBUG : LOG_NOTE);
	report_options_settle(o);
	progress_hide(o->is_quiet);
	/* What a pipe carries is read here as a whole, if it is a file; how much it is nobody knows. */
	status = choose_input(o, &fleet, &r.log, &err);
	if (!status && !o->at)
		status = fetched_input(o->input, o->keys.sort, o->filter.comms != NULL, &r.log,
			&err);
	line.subject = report_name(o);
	if (!status) {
		progress_begin(&line);
		status = report_open(&r.recorded, o, &r.log, &err);
		progress_end(&line);
	}
	if (status) {
		if (!o->at)
			cmd_explain_missing(o->input, &err);
		fleetinput_close(&fleet);
		log_fini(&r.log);
		return cmd_fail(cmd, &err, EXIT_USAGE);
	}
	status = write_report(&r, cmd, output);
	if (status == EXIT_OK && o->answer.flame)
		report_say_written(cmd, o->answer.flame, &r.answer.picture);
	if (status == EXIT_OK &&
		strict_fails(cmd, o->is_strict, report_name(o), &r.recorded.ledger))
		status = EXIT_INCOMPLETE;
	if (status == EXIT_OK && r.answer.profile) {
		bool fails;

		if (answer_assertions(&r.answer, &r.log, &fails, &err))
			status = cmd_fail(cmd, &err, EXIT_USAGE);
		else if (fails)
			status = EXIT_CONDITION;
	}
	if (status == EXIT_OK && (r.log.has_warned || ledger_has_unread(&r.recorded.ledger)))
		status = EXIT_FAILED;
	reporting_close(&r);
	fleetinput_close(&fleet);
	return status;
}

static int run_report(int argc, char **argv)
{
	struct report_options o;
	int status;

	report_options_init(&o);
	status = cmd_parse_reader(&cmd_report, &o, &o.input, argc, argv);
	if (status < 0)
		status = report_run(&cmd_report, &o, NULL);
	report_options_fini(&o);
	return status;
}

static void add_keys(struct str *text)
{
	key_add_help(text);
	str_add(text, "\nFields of tracepoints are keys too, like prev_comm.\n");
}

const struct cmd cmd_report = {
	.name = "report",
	.summary = "show where the time of a recording went",
	.usage = {"[OPTIONS] [FILE]", NULL},
	.add_notes = add_keys,
	.options = report_option_table,
	.is_paged = true,
	.run = run_report,
};
