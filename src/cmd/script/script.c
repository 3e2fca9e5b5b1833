#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/progress.h"
#include "cmd/script/library.h"
#include "cmd/script/scripting.h"
#include "cmd/script/starter.h"
#include "cmd/strict.h"
#include "cmd/which.h"
#include "event/abi.h"
#include "view/records/dump.h"
#include "view/records/header.h"

static void check_order(struct scripting *s, u64 time)
{
	if (time < s->latest)
		s->n_misordered++;
	s->latest = time;
}

static int take_sample(struct scripting *s, struct visit *v, struct err *err)
{
	struct out *out = &s->out;

	if (!v->sample || v->is_idle)
		return 0;
	script_take_events(&s->script);
	if (s->options->is_checked)
		check_order(s, v->sample->time);
	if ((!s->has_all && !trace_where_has(&s->where, v)) ||
		!script_choice_has(&s->choice, &s->script, v))
		return 0;
	if (s->options->script) {
		script_runner_sample(&s->runner, &s->script, v);
		return 0;
	}
	if (s->options->is_split) {
		out = script_split_out(&s->split, s->script.events, v->event, err);
		if (!out)
			return err->code;
	}
	if (s->options->is_json)
		script_add_json(&s->script, v, &out->text);
	else
		script_add_sample(&s->script, v, &out->text);
	if (out != &s->out)
		out_flush_some(out);
	return 0;
}

/* What is written to the terminal, or to a pager on it, says itself how far it is, and a line between it would be in its way. */
static bool is_written_to_file(void)
{
	struct stat st;

	return !fstat(STDOUT_FILENO, &st) && S_ISREG(st.st_mode);
}

static void flush_round(struct scripting *s)
{
	if (s->options->script)
		script_runner_flush(&s->runner);
	else
		out_flush(&s->out);
}

static int take_record(struct scripting *s, const struct visit *v, struct err *err)
{
	script_take_record(s, v);
	if (v->rec->type < PERF_RECORD_USER_TYPE_START || s->options->script || s->options->is_json)
		return 0;
	return script_take_counts(s, v->rec, err);
}

static int walk(struct scripting *s, struct err *err)
{
	struct progress line = {.what = "writing the samples of",
		.subject = s->trace.session.reader.path,
		.offer = "keeps what was written"};
	struct follow follow;
	struct visit *v;
	int r;

	follow_init(&follow, &s->trace, FOLLOW_IN_TIME, UINT64_MAX);
	if (is_written_to_file() && !s->options->script) {
		s->trace.session.progress = &line;
		progress_begin(&line);
	}
	while ((r = follow_next(&follow, &v, err)) > 0) {
		if (v->rec->type == PERF_RECORD_SAMPLE)
			r = take_sample(s, v, err);
		else
			r = take_record(s, v, err);
		/* For readers of a pipe, each round is flushed when it is complete. */
		if (v->rec->type == PERF_RECORD_FINISHED_ROUND && s->trace.session.reader.is_stream)
			flush_round(s);
		out_flush_some(&s->out);
		if (s->out.sys || r < 0 ||
			(s->options->script && script_runner_is_over(&s->runner)))
			break;
	}
	s->trace.session.progress = NULL;
	progress_end(&line);
	follow_fini(&follow);
	return MIN(r, 0);
}

static int prepare(struct scripting *s, struct err *err)
{
	const struct script_command *o = s->options;
	const struct file_info *info = &s->trace.session.reader.info;

	if (o->time &&
		spans_parse(&s->spans, o->time, info->first_time,
			info->has_times ? info->last_time : 0, err))
		return err->code;
	if (o->cpus && cpus_parse(&s->cpus, o->cpus, err))
		return err_prefix(err, "-C");
	if (o->cpus &&
		which_check_field(&s->trace.session, "-C", PERF_SAMPLE_CPU, "on which CPU", err))
		return err->code;
	if (name_list_parse(&s->comms, "-c", o->comms, err) ||
		name_list_parse(&s->stops, "--stop-bt", o->stops, err) ||
		script_choice_init(&s->choice, o, &s->trace.session.reader.events, err))
		return err->code;
	if (num_list_parse(&s->pids, "--pid", o->pids, err) ||
		num_list_parse(&s->tids, "--tid", o->tids, err))
		return err->code;
	s->where = (struct trace_where){.cpus = &s->cpus,
		.spans = &s->spans,
		.pids = &s->pids,
		.tids = &s->tids,
		.comms = o->comms ? str_text(&s->comms.joined) : NULL};
	s->has_all = trace_where_is_all(&s->where);
	return 0;
}

static int show_samples(struct scripting *s, struct err *err)
{
	struct reader *r = &s->trace.session.reader;
	struct trace_options how = symbol_options_trace(&s->options->symbols);
	struct err why;

	how.stitches = s->options->stitches;
	s->split.path = r->path;
	if (trace_begin(&s->trace, &how, err))
		return err->code;
	script_init(&s->script, &s->options->print, &s->trace);
	if (tracepoints_open(&s->tracepoints, &r->info.tracing_data, &why))
		log_warn(&s->log, "'%s': %s", r->path, why.msg);
	s->script.stops = s->stops.names.n ? &s->stops : NULL;
	s->script.tracepoints = s->tracepoints.handle ? &s->tracepoints : NULL;
	if (s->options->starter)
		return starter_write(s->options->starter, s->script.events, &s->tracepoints,
			&s->out.text, err);
	if (script_check(&s->script, err))
		return err->code;
	if (s->options->script &&
		script_runner_begin(&s->runner, s->options->script, s->options->script_args, err))
		return err->code;
	return walk(s, err);
}

static int run_session(struct scripting *s, struct err *err)
{
	const struct script_command *o = s->options;

	if (o->has_header || o->has_header_only)
		header_add_text(&s->trace.session.reader, o->has_details, &s->out.text);
	if (o->has_header_only)
		return 0;
	if (o->traces && s->trace.session.reader.sections[FEATURE_AUXTRACE].size)
		return err_set(err, ERR_UNSUPPORTED,
			"%s: instruction traces (Intel PT, CoreSight, SPE) are not decoded: 'perf inject --itrace' turns them into samples, which pace reads",
			o->traces);
	if (prepare(s, err) ||
		(o->is_dump ? dump_all(&s->trace.session, &s->out, err) : show_samples(s, err)))
		return err->code;
	if (o->is_split && script_split_end(&s->split, &s->out.text, err))
		return err->code;
	if (o->is_checked && s->n_misordered)
		log_warn(&s->log, "%llu samples are not in the order of time",
			(unsigned long long)s->n_misordered);
	ledger_add_tally(&s->ledger, &s->trace.session.tally);
	ledger_warn(&s->ledger, &s->log);
	if (!o->is_dump && !s->counts.has_head)
		session_explain_content(&s->trace.session);
	return 0;
}

static int end_script(struct scripting *s)
{
	int status = EXIT_OK;
	struct err err;

	script_runner_end(&s->runner, &status, &err);
	return status ? cmd_fail(&cmd_script, &err, status) : EXIT_OK;
}

/* `script record NAME`, `script report NAME`, `script NAME`: what perf's own scripts do. -1: it is none of these. */
static int run_library(const struct script_command *o, char **words)
{
	struct err err;
	int status;

	if (!strcmp(words[0], "record") && words[1])
		status = library_record(words[1], o->is_system_wide, words + 2, &err);
	else if (!strcmp(words[0], "report") && words[1])
		status = library_report(words[1], words + 2, &err);
	else if (library_has(words[0]))
		status = library_live(words[0], o->is_system_wide, words + 1, &err);
	else
		return -1;
	return status < 0 ? cmd_fail(&cmd_script, &err, EXIT_USAGE) : status;
}

/* Where the words of a script begin, which are not pace's: behind -s FILE and the options, or at a script's name. 0: nowhere. */
static bool has_words_of_script(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "-s", 2) || !strncmp(argv[i], "--script", 8))
			return true;
		if (!strcmp(argv[i], "record") || !strcmp(argv[i], "report") ||
			(*argv[i] != '-' && access(argv[i], F_OK) && library_has(argv[i])))
			return true;
	}
	return false;
}

/* Parses the options. As cmd_parse(); *ret_words is to be freed. */
static int parse(struct script_command *o, int argc, char **argv, char ***ret_words)
{
	int n = argc, status;

	if (!has_words_of_script(argc, argv))
		return cmd_parse_reader(&cmd_script, o, &o->input, argc, argv);
	*ret_words = mem_zalloc(((size_t)argc + 1) * sizeof(**ret_words));
	memcpy(*ret_words, argv, (size_t)argc * sizeof(*argv));
	status = cmd_parse(&cmd_script, o, OPTS_STOP, &n, *ret_words);
	if (status >= 0)
		return status;
	(*ret_words)[n] = NULL;
	o->script_args = *ret_words;
	if (o->script)
		return -1;
	status = n ? run_library(o, *ret_words) : -1;
	return status < 0 ? cmd_parse_reader(&cmd_script, o, &o->input, argc, argv) : status;
}

static int list_scripts(void)
{
	struct out out = {.fd = STDOUT_FILENO};
	struct err err;

	library_add_list(&out.text);
	return out_close(&out, &err) ? cmd_fail(&cmd_script, &err, EXIT_FAILED) : EXIT_OK;
}

static void scripting_fini(struct scripting *s)
{
	script_fini(&s->script);
	tracepoints_close(&s->tracepoints);
	trace_close(&s->trace);
	intern_fini(&s->strings);
	ledger_fini(&s->ledger);
	spans_fini(&s->spans);
	cpus_fini(&s->cpus);
	vec_fini(&s->pids);
	vec_fini(&s->tids);
	name_list_fini(&s->comms);
	name_list_fini(&s->stops);
	script_choice_fini(&s->choice);
	script_split_fini(&s->split);
	script_counts_fini(&s->counts);
	script_runner_fini(&s->runner);
	log_fini(&s->log);
}

static int run_script(int argc, char **argv)
{
	struct script_command o = {.max_stack = 127,
		.symbols.demangles = true,
		.symbols.makes_names = true,
		.inlines = -1};
	struct scripting s = {.options = &o, .out.fd = STDOUT_FILENO};
	int status, result = 0;
	struct str path = {0};
	char **words = NULL;
	struct err err;

	script_default_fields(&o.print);
	library_set_path();
	status = parse(&o, argc, argv, &words);
	if (status < 0 && o.is_list)
		status = list_scripts();
	if (status < 0 && o.script && library_find(o.script, &path, &err))
		status = cmd_fail(&cmd_script, &err, EXIT_USAGE);
	if (status >= 0) {
		mem_free(words);
		return status;
	}
	if (o.script)
		o.script = str_text(&path);
	o.is_dump |= o.is_dump_in_file_order;
	o.print.max_stack = (u32)o.max_stack;
	o.print.max_blocks = o.max_blocks;
	o.print.name_style = symbol_options_style(&o.symbols, o.verbose);
	o.print.inlines = !o.inlines ? SCRIPT_INLINES_NONE
		: o.inlines < 0 && o.print.has_perfs_frames && !o.print.has_perf7s_form
		? SCRIPT_INLINES_UNWOUND
		: SCRIPT_INLINES_ALL;
	for (size_t i = 0; i < o.fields.n && !result; i++)
		result = script_parse_fields(&o.print, o.fields.at[i], &err);
	vec_fini(&o.fields);
	if (result)
		return cmd_fail(&cmd_script, &err, EXIT_USAGE);
	cmd_log_init(&s.log, o.verbose ? LOG_DEBUG : LOG_NOTE);
	o.input = cmd_input(o.input);
	if (trace_open(&s.trace, o.input, &s.log, &err)) {
		cmd_explain_missing(o.input, &err);
		log_fini(&s.log);
		return cmd_fail(&cmd_script, &err, EXIT_USAGE);
	}
	status = EXIT_OK;
	if (run_session(&s, &err))
		status = cmd_fail(&cmd_script, &err,
			err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED);
	if (o.script && status == EXIT_OK)
		status = end_script(&s);
	if (out_close(&s.out, &err))
		status = cmd_fail(&cmd_script, &err, EXIT_FAILED);
	if (status == EXIT_OK && strict_fails(&cmd_script, o.is_strict, o.input, &s.ledger))
		status = EXIT_INCOMPLETE;
	if (status == EXIT_OK && (s.log.has_warned || ledger_has_unread(&s.ledger)))
		status = EXIT_FAILED;
	scripting_fini(&s);
	str_fini(&path);
	mem_free(words);
	return status;
}

const struct cmd cmd_script = {
	.name = "script",
	.summary = "print every sample of a recording in time order",
	.usage = {"[OPTIONS] [FILE]", "[OPTIONS] -s SCRIPT.py [ARGUMENT...]",
		"report SCRIPT [ARGUMENT...]", "record SCRIPT [RECORD-OPTIONS] [COMMAND]",
		"SCRIPT [ARGUMENT...] [COMMAND]", NULL},
	.notes =
		"Fields can be chosen for one kind of event: -F sw:+pid; the kinds are hw, sw, trace, raw, synth, other.\n"
		"A recording can be read from a pipe while it is being made: 'pace script' prints at once what 'record' writes.\n",
	.options = script_command_options,
	.is_paged = true,
	.run = run_script,
};
