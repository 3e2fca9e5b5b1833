#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/num.h"
#include "base/out.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "cmd/headerrow.h"
#include "cmd/strict.h"
#include "cmd/symbols.h"
#include "event/abi.h"
#include "profile/check/ledger.h"
#include "trace/follow.h"
#include "trace/where.h"
#include "view/records/dump.h"
#include "view/records/header.h"
#include "view/records/recordtext.h"
#include "view/records/script.h"

struct script_command {
	bool is_strict;
	const char *input, *comms, *pids, *tids, *cpus, *time;
	struct symbol_options symbols;
	struct opt_list fields;
	struct script_options print;
	bool stitches;
	bool has_header, has_header_only, has_details, is_json, is_dump;
	bool shows_tasks, shows_mmaps, shows_switches, shows_lost, shows_namespaces, shows_bpf,
		shows_cgroups, shows_pokes, shows_rounds;
	int inlines;
	u64 max_stack;
	unsigned verbose;
};

#define AT(member) offsetof(struct script_command, member)

static const struct opt options[] = {
	{'i', "input", OPT_STR, AT(input), "FILE",
		"read FILE; default perf.data, or what is piped in"},
	{0, NULL, OPT_TITLE, 0, NULL, "What to print of each sample"},
	{'F', "fields", OPT_LIST, AT(fields), "FIELDS",
		"comm,pid,tid,cpu,time,event,period,...; +NAME adds a field, and - before it removes one"},
	{'G', "hide-call-graph", OPT_BOOL, AT(print.hides_chains), NULL, "leave out call chains"},
	{0, "inline", OPT_TRI, AT(inlines), NULL,
		"show inlined functions in call chains (default where there is debug information)"},
	{0, "full-source-path", OPT_BOOL, AT(print.has_full_paths), NULL,
		"show source files with their directories"},
	{0, "max-stack", OPT_U64, AT(max_stack), "N",
		"keep at most N addresses of a chain; default 127", .min = 1, .max = UINT16_MAX},
	{0, "stitch-lbr", OPT_BOOL, AT(stitches), NULL,
		"with --call-graph lbr, complete chains that are too deep for the CPU from the sample before"},
	{0, "ns", OPT_BOOL, AT(print.has_ns), NULL, "print times with nine digits"},
	{0, "reltime", OPT_BOOL, AT(print.is_relative), NULL, "print times since the first sample"},
	{0, "deltatime", OPT_BOOL, AT(print.is_delta), NULL,
		"print times since the previous sample"},
	{0, "json", OPT_BOOL, AT(is_json), NULL,
		"print everything, one line of JSON for each sample"},
	{0, NULL, OPT_TITLE, 0, NULL, "Which samples"},
	{0, "comms", OPT_STR, AT(comms), "NAME,...", "only samples of threads with these names"},
	{0, "pid", OPT_STR, AT(pids), "PID,...", "only samples of these processes"},
	{0, "tid", OPT_STR, AT(tids), "TID,...", "only samples of these threads"},
	{'C', "cpu", OPT_STR, AT(cpus), "LIST", "only samples on these CPUs, like 0-3,8"},
	{0, "time", OPT_STR, AT(time), "SPAN",
		"only samples from START,STOP in seconds, 10%-20%, 10%/2"},
	{0, NULL, OPT_TITLE, 0, NULL, "What to print besides samples"},
	{'D', "dump-raw-trace", OPT_BOOL, AT(is_dump), NULL,
		"print every record instead of samples, byte by byte and field by field"},
	HEADER_ROWS(struct script_command),
	{0, "show-task-events", OPT_BOOL, AT(shows_tasks), NULL, "FORK, COMM and EXIT records"},
	{0, "show-mmap-events", OPT_BOOL, AT(shows_mmaps), NULL, "MMAP and MMAP2 records"},
	{0, "show-switch-events", OPT_BOOL, AT(shows_switches), NULL, "context switches"},
	{0, "show-lost-events", OPT_BOOL, AT(shows_lost), NULL, "records that the kernel dropped"},
	{0, "show-namespace-events", OPT_BOOL, AT(shows_namespaces), NULL, "NAMESPACES records"},
	{0, "show-bpf-events", OPT_BOOL, AT(shows_bpf), NULL, "KSYMBOL and BPF_EVENT records"},
	{0, "show-cgroup-events", OPT_BOOL, AT(shows_cgroups), NULL, "CGROUP records"},
	{0, "show-text-poke-events", OPT_BOOL, AT(shows_pokes), NULL, "changes of kernel code"},
	{0, "show-round-events", OPT_BOOL, AT(shows_rounds), NULL, "ends of rounds"},
	{0, NULL, OPT_TITLE, 0, NULL, "How"},
	SYMBOL_FILE_ROWS(script_command),
	STRICT_ROW(struct script_command),
	SYMBOL_NAME_ROWS(script_command),
	SYMBOL_MADE_ROW(script_command),
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL,
		"say where files were looked for, show parameters of C++ functions"},
	{.kind = OPT_END},
};

/* Which option shows a record of a type. */
static const struct {
	u32 type;
	u16 option; /* offset of the option's bool */
} shown_types[] = {
	{PERF_RECORD_FORK, AT(shows_tasks)},
	{PERF_RECORD_COMM, AT(shows_tasks)},
	{PERF_RECORD_EXIT, AT(shows_tasks)},
	{PERF_RECORD_MMAP, AT(shows_mmaps)},
	{PERF_RECORD_MMAP2, AT(shows_mmaps)},
	{PERF_RECORD_SWITCH, AT(shows_switches)},
	{PERF_RECORD_SWITCH_CPU_WIDE, AT(shows_switches)},
	{PERF_RECORD_LOST, AT(shows_lost)},
	{PERF_RECORD_LOST_SAMPLES, AT(shows_lost)},
	{PERF_RECORD_NAMESPACES, AT(shows_namespaces)},
	{PERF_RECORD_KSYMBOL, AT(shows_bpf)},
	{PERF_RECORD_BPF_EVENT, AT(shows_bpf)},
	{PERF_RECORD_CGROUP, AT(shows_cgroups)},
	{PERF_RECORD_TEXT_POKE, AT(shows_pokes)},
	{PERF_RECORD_FINISHED_ROUND, AT(shows_rounds)},
};

struct scripting {
	const struct script_command *options;
	struct log log;
	struct trace trace;
	struct script script;
	struct tracepoints tracepoints;
	struct ledger ledger;
	struct spans spans;
	struct cpus cpus;
	struct num_list pids, tids;
	struct trace_where where; /* of spans, cpus, pids and tids */
	bool has_all;             /* `where` has all samples */
	struct intern strings;
	struct out out;
};

static void take_sample(struct scripting *s, struct visit *v)
{
	if (!v->sample || v->is_idle)
		return;
	script_take_events(&s->script);
	if (!s->has_all && !trace_where_has(&s->where, v))
		return;
	if (s->options->is_json)
		script_add_json(&s->script, v, &s->out.text);
	else
		script_add_sample(&s->script, v, &s->out.text);
}

static bool is_shown(const struct scripting *s, u32 type)
{
	for (size_t i = 0; i < ARRAY_SIZE(shown_types); i++)
		if (shown_types[i].type == type)
			return *((const bool *)s->options + shown_types[i].option);
	return false;
}

/* Who the record's line begins with: what its trailer says, or the record itself where there are no trailers. */
static struct script_who who_of(const struct visit *v, const union record_body *body)
{
	struct sample trailer = {.cpu = (u32)-1};
	struct script_who who = {.type = v->rec->type, .misc = v->rec->misc};

	if (v->format->trailer) {
		sample_decode_trailer(v->format, v->rec, &trailer);
		who.pid = trailer.pid;
		who.tid = trailer.tid;
		who.cpu = trailer.cpu;
		who.time = trailer.time;
		return who;
	}
	switch (v->rec->type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		who.time = body->task.time;
		who.pid = body->task.pid;
		who.tid = body->task.tid;
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_NAMESPACES:
		who.pid = body->comm.pid;
		who.tid = body->comm.tid;
	}
	return who;
}

/* The thread whose name the line has: the one that the record is about, else the one that it is of. */
static void name_thread(struct scripting *s, const struct visit *v, const union record_body *body,
	struct script_who *who, struct thread_state *t)
{
	u32 pid = who->pid, tid = who->tid;

	switch (v->rec->type) {
	case PERF_RECORD_FORK:
		/* Its name is the parent's until it gets another. */
		pid = body->task.ppid;
		tid = body->task.ptid;
		break;
	case PERF_RECORD_EXIT:
		pid = body->task.pid;
		tid = body->task.tid;
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_NAMESPACES:
		pid = body->comm.pid;
		tid = body->comm.tid;
	}
	/* Maps of the kernel are nobody's. */
	machine_state_at(&s->trace.machine, pid == UINT32_MAX ? 0 : pid, tid, v->time, &s->strings,
		t);
	who->comm = t->comm;
}

static void show_record(struct scripting *s, const struct visit *v, const union record_body *body)
{
	const u64 first = SCRIPT_COMM | SCRIPT_TID | SCRIPT_PID | SCRIPT_CPU | SCRIPT_MISC |
		SCRIPT_TOD | SCRIPT_TIME;
	u32 event = v->event < s->script.n_fields ? v->event : 0;
	struct thread_state t;
	struct script_who who;

	if (v->rec->type < PERF_RECORD_USER_TYPE_START && s->script.n_fields) {
		u64 fields = s->script.fields[event];

		who = who_of(v, body);
		if (s->cpus.n && who.cpu != (u32)-1 && !cpus_has(&s->cpus, who.cpu))
			return;
		name_thread(s, v, body, &who, &t);
		script_add_start(&s->script, &who, fields & first,
			script_shows_chain(&s->script, event), &s->out.text);
	}
	recordtext_add(v->rec, body, &s->out.text);
}

static void take_record(struct scripting *s, const struct visit *v)
{
	const struct record *rec = v->rec;
	union record_body body;
	u32 trailer;
	struct err err;

	if (s->options->is_json || !is_shown(s, rec->type))
		return;
	if (v->body) {
		show_record(s, v, v->body);
		return;
	}
	/* A record of the state that makes no sense is in the tally already. */
	if (record_is_state(rec->type))
		return;
	trailer = record_has_trailer(rec->type) ? v->format->trailer : 0;
	if (record_decode(rec, trailer, &body, &err) < 0)
		s->trace.session.tally.n_undecoded++;
	else
		show_record(s, v, &body);
}

/* What is written to the terminal, or to a pager on it, says itself how far it is, and a line between it would be in its way. */
static bool is_written_to_file(void)
{
	struct stat st;

	return !fstat(STDOUT_FILENO, &st) && S_ISREG(st.st_mode);
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
	if (is_written_to_file()) {
		s->trace.session.progress = &line;
		progress_begin(&line);
	}
	while ((r = follow_next(&follow, &v, err)) > 0) {
		if (v->rec->type == PERF_RECORD_SAMPLE)
			take_sample(s, v);
		else
			take_record(s, v);
		/* For readers of a pipe, each round is flushed when it is complete. */
		if (v->rec->type == PERF_RECORD_FINISHED_ROUND && s->trace.session.reader.is_stream)
			out_flush(&s->out);
		out_flush_some(&s->out);
		if (s->out.sys)
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
	if (num_list_parse(&s->pids, "--pid", o->pids, err) ||
		num_list_parse(&s->tids, "--tid", o->tids, err))
		return err->code;
	s->where = (struct trace_where){.cpus = &s->cpus,
		.spans = &s->spans,
		.pids = &s->pids,
		.tids = &s->tids,
		.comms = o->comms};
	s->has_all = trace_where_is_all(&s->where);
	return 0;
}

static int show_samples(struct scripting *s, struct err *err)
{
	struct reader *r = &s->trace.session.reader;
	struct trace_options how = symbol_options_trace(&s->options->symbols);
	struct err why;

	how.stitches = s->options->stitches;
	if (trace_begin(&s->trace, &how, err))
		return err->code;
	script_init(&s->script, &s->options->print, &s->trace);
	if (tracepoints_open(&s->tracepoints, &r->info.tracing_data, &why))
		log_warn(&s->log, "'%s': %s", r->path, why.msg);
	s->script.tracepoints = s->tracepoints.handle ? &s->tracepoints : NULL;
	return script_check(&s->script, err) ? err->code : walk(s, err);
}

static int run_session(struct scripting *s, struct err *err)
{
	const struct script_command *o = s->options;

	if (o->has_header || o->has_header_only)
		header_add_text(&s->trace.session.reader, o->has_details, &s->out.text);
	if (o->has_header_only)
		return 0;
	if (prepare(s, err) ||
		(o->is_dump ? dump_all(&s->trace.session, &s->out, err) : show_samples(s, err)))
		return err->code;
	ledger_add_tally(&s->ledger, &s->trace.session.tally);
	ledger_warn(&s->ledger, &s->log);
	if (!o->is_dump)
		session_explain_content(&s->trace.session);
	return 0;
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
	struct err err;

	script_default_fields(&o.print);
	status = cmd_parse_reader(&cmd_script, &o, &o.input, argc, argv);
	if (status >= 0)
		return status;
	o.print.max_stack = (u32)o.max_stack;
	o.print.name_style = symbol_options_style(&o.symbols, o.verbose);
	o.print.hides_inlined = !o.inlines;
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
	if (out_close(&s.out, &err))
		status = cmd_fail(&cmd_script, &err, EXIT_FAILED);
	if (status == EXIT_OK && strict_fails(&cmd_script, o.is_strict, o.input, &s.ledger))
		status = EXIT_INCOMPLETE;
	if (status == EXIT_OK && (s.log.has_warned || ledger_has_unread(&s.ledger)))
		status = EXIT_FAILED;
	scripting_fini(&s);
	return status;
}

const struct cmd cmd_script = {
	.name = "script",
	.summary = "print every sample of a recording in time order",
	.usage = {"[OPTIONS] [FILE]", NULL},
	.notes =
		"Fields can be chosen for one kind of event: -F sw:+pid; the kinds are hw, sw, trace, raw, other.\n"
		"A recording can be read from a pipe while it is being made: 'pace script' prints at once what 'record' writes.\n",
	.options = options,
	.is_paged = true,
	.run = run_script,
};
