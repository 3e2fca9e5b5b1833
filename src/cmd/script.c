#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/num.h"
#include "base/out.h"
#include "cmd/cmd.h"
#include "cmd/strict.h"
#include "cmd/symbols.h"
#include "event/abi.h"
#include "file/hardware.h"
#include "profile/ledger.h"
#include "session/decoder.h"
#include "session/periods.h"
#include "session/spans.h"
#include "session/stream.h"
#include "symbol/demangle.h"
#include "view/dump.h"
#include "view/header.h"
#include "view/script.h"

/* Kinds of records that are shown besides samples. */
enum shown {
	SHOW_TASKS = 1 << 0,
	SHOW_MMAPS = 1 << 1,
	SHOW_SWITCHES = 1 << 2,
	SHOW_LOST = 1 << 3,
	SHOW_NAMESPACES = 1 << 4,
	SHOW_KSYMBOLS = 1 << 5,
	SHOW_CGROUPS = 1 << 6,
	SHOW_POKES = 1 << 7,
	SHOW_ROUNDS = 1 << 8,
};

struct script_command {
	bool is_strict;
	const char *input, *comms, *pids, *tids, *cpus, *time;
	struct symbol_options symbols;
	struct opt_list fields;
	struct script_options print;
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
	{0, NULL, OPT_TITLE, 0, NULL, "What of each sample"},
	{'F', "fields", OPT_LIST, AT(fields), "FIELDS",
		"comm,pid,tid,cpu,time,event,period,...; with a + one more, with a - one less"},
	{'G', "hide-call-graph", OPT_BOOL, AT(print.hides_chains), NULL, "no call chains"},
	{0, "inline", OPT_TRI, AT(inlines), NULL,
		"inlined functions in call chains (default, where debug information is)"},
	{0, "full-source-path", OPT_BOOL, AT(print.has_full_paths), NULL,
		"files of source with their directories"},
	{0, "max-stack", OPT_U64, AT(max_stack), "N", "at most N addresses of a chain; default 127",
		.min = 1, .max = UINT16_MAX},
	{0, "stitch-lbr", OPT_BOOL, AT(print.stitches), NULL,
		"of --call-graph lbr, what is too deep for the processor from the sample before"},
	{0, "ns", OPT_BOOL, AT(print.has_ns), NULL, "times with nine digits"},
	{0, "reltime", OPT_BOOL, AT(print.is_relative), NULL, "times since the first sample"},
	{0, "deltatime", OPT_BOOL, AT(print.is_delta), NULL, "times since the sample before"},
	{0, "json", OPT_BOOL, AT(is_json), NULL, "all of it, a line of JSON for each sample"},
	{0, NULL, OPT_TITLE, 0, NULL, "Which samples"},
	{0, "comms", OPT_STR, AT(comms), "NAME,...", "only of threads with these names"},
	{0, "pid", OPT_STR, AT(pids), "PID,...", "only of these processes"},
	{0, "tid", OPT_STR, AT(tids), "TID,...", "only of these threads"},
	{'C', "cpu", OPT_STR, AT(cpus), "LIST", "only on these CPUs, like 0-3,8"},
	{0, "time", OPT_STR, AT(time), "SPAN", "only from START,STOP in seconds, 10%-20%, 10%/2"},
	{0, NULL, OPT_TITLE, 0, NULL, "What besides samples"},
	{'D', "dump-raw-trace", OPT_BOOL, AT(is_dump), NULL,
		"instead of samples every record, byte by byte and field by field"},
	{0, "header", OPT_BOOL, AT(has_header), NULL, "what the recording says of itself, first"},
	{0, "header-only", OPT_BOOL, AT(has_header_only), NULL, "nothing else"},
	{'I', "show-info", OPT_BOOL, AT(has_details), NULL, "in it, topology in full"},
	{0, "show-task-events", OPT_BOOL, AT(shows_tasks), NULL, "FORK, COMM and EXIT records"},
	{0, "show-mmap-events", OPT_BOOL, AT(shows_mmaps), NULL, "MMAP and MMAP2 records"},
	{0, "show-switch-events", OPT_BOOL, AT(shows_switches), NULL, "context switches"},
	{0, "show-lost-events", OPT_BOOL, AT(shows_lost), NULL, "what the kernel dropped"},
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
	u16 option; /* offset of its bool */
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
	struct session session;
	struct machine machine;
	struct embedded embedded;
	struct jitcode jitcode;
	struct resolver resolver;
	struct script script;
	struct tracepoints tracepoints;
	struct ledger ledger;
	struct spans spans;
	struct cpus cpus;
	struct num_list pids, tids;
	struct periods periods;
	struct decoder decoder;
	struct out out;
};

static bool is_named(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (strcspn(p, ",") == n && !memcmp(p, name, n))
			return true;
	return !list;
}

/* `time` is when it was in the stream, `said` what it says itself. */
static bool is_wanted(struct scripting *s, const struct sample *sample, u64 time, u64 said)
{
	struct thread_state t;

	if (!num_list_has(&s->pids, sample->pid) || !num_list_has(&s->tids, sample->tid) ||
		!spans_have(&s->spans, said))
		return false;
	if (s->cpus.n) {
		bool is_there = false;

		vec_each(cpu, &s->cpus)
			is_there |= *cpu == sample->cpu;
		if (!is_there)
			return false;
	}
	if (!s->options->comms)
		return true;
	machine_state_at(&s->machine, sample->pid, sample->tid, time, &s->script.strings, &t);
	return is_named(s->options->comms, t.comm);
}

static void add_sample(struct scripting *s, const struct sample *sample,
	const struct stream_event *e, u32 event)
{
	if (s->options->is_json)
		script_add_json(&s->script, sample, &e->rec, event, e->time, &s->out.text);
	else
		script_add_sample(&s->script, sample, &e->rec, event, e->time, &s->out.text);
}

/*
 * A sample that reads counters stands for what all of them counted since the sample before, shown or
 * not: a line for each that counted anything.
 */
static void take_values(struct scripting *s, const struct stream_event *e, struct sample *sample,
	bool shows)
{
	const struct reader *r = &s->session.reader;
	u64 period = sample->period;

	for (u64 i = 0; i < sample->read.n_values; i++) {
		struct periods_value v = periods_take(&s->periods, &r->formats, &r->events,
			e->event, sample, i, e->time);

		sample->period = v.period;
		if (v.event != TABLE_NONE && v.period && shows)
			add_sample(s, sample, e, v.event);
	}
	sample->period = period;
}

static void take_sample(struct scripting *s, const struct stream_event *e)
{
	struct sample *sample = decoder_next(&s->decoder, &e->rec, e->event);
	const struct sample_format *format;
	bool shows;

	if (!sample)
		return;
	format = &s->session.reader.formats.at[e->event];
	script_take_events(&s->script);
	shows = is_wanted(s, sample, e->time,
		format->type & PERF_SAMPLE_TIME ? sample->time : e->time);
	if (periods_has(format))
		take_values(s, e, sample, shows);
	else if (shows)
		add_sample(s, sample, e, e->event);
}

static bool is_shown(const struct scripting *s, u32 type)
{
	for (size_t i = 0; i < ARRAY_SIZE(shown_types); i++)
		if (shown_types[i].type == type)
			return *((const bool *)s->options + shown_types[i].option);
	return false;
}

static void show_record(struct scripting *s, const struct stream_event *e,
	const union record_body *body, u64 time)
{
	const struct sample_format *format = formats_format(&s->session.reader.formats, e->event);
	struct str *text = &s->out.text;
	struct thread_state t;
	struct sample who = {0};
	u64 fields = s->script.fields[0] & (SCRIPT_COMM | SCRIPT_TID | SCRIPT_PID | SCRIPT_TIME);

	if (e->rec.type < PERF_RECORD_USER_TYPE_START)
		sample_decode_trailer(format, &e->rec, &who);
	/* What was there before says so in its body. */
	if (!who.tid &&
		(e->rec.type == PERF_RECORD_MMAP || e->rec.type == PERF_RECORD_MMAP2 ||
			e->rec.type == PERF_RECORD_COMM)) {
		who.pid = body->comm.pid;
		who.tid = body->comm.tid;
	}
	if (format->type & PERF_SAMPLE_CPU)
		fields |= s->script.fields[0] & SCRIPT_CPU;
	machine_state_at(&s->machine, who.pid, who.tid, time, &s->script.strings, &t);
	script_add_start(&s->script,
		&(struct script_who){t.comm, who.pid, who.tid, who.cpu, time, 0}, fields, false,
		text);
	str_addf(text, "PERF_RECORD_%s ", record_type_name(e->rec.type));
	record_add_text(e->rec.type, e->rec.misc, body, text);
	str_addc(text, '\n');
}

static void take_record(struct scripting *s, const struct stream_event *e)
{
	const struct formats *f = &s->session.reader.formats;
	bool shows =
		!s->options->is_json && is_shown(s, e->rec.type) && spans_have(&s->spans, e->time);
	union record_body body;
	struct err err;
	int state = machine_follow(&s->machine, &s->session, e, &body);
	u32 trailer;

	if (state > 0 && e->rec.type == PERF_RECORD_FORK)
		periods_begin_thread(&s->periods, body.task.tid);

	if (state < 0 || !shows)
		return;
	trailer = record_has_trailer(e->rec.type) ? formats_format(f, e->event)->trailer : 0;
	if (!state && record_decode(&e->rec, trailer, &body, &err) < 0) {
		s->session.tally.n_undecoded++;
		return;
	}
	if (spans_have(&s->spans, e->time))
		show_record(s, e, &body, e->time);
}

static int walk(struct scripting *s, struct err *err)
{
	struct stream stream;
	struct stream_event e;
	int r;

	stream_init(&stream, &s->session);
	while ((r = stream_next(&stream, &e, err)) > 0) {
		machine_advance(&s->machine, MAX(e.time, s->machine.followed_to));
		if (e.rec.type == PERF_RECORD_SAMPLE)
			take_sample(s, &e);
		else
			take_record(s, &e);
		/* Who reads a pipe wants to see what came, when a round of it is over. */
		if (e.rec.type == PERF_RECORD_FINISHED_ROUND && s->session.reader.is_stream)
			out_flush(&s->out);
		out_flush_some(&s->out);
		if (s->out.sys)
			break;
	}
	machine_advance(&s->machine, UINT64_MAX);
	stream_note_disorder(&stream);
	stream_fini(&stream);
	return MIN(r, 0);
}

static int prepare(struct scripting *s, struct err *err)
{
	const struct script_command *o = s->options;
	const struct file_info *info = &s->session.reader.info;

	if (o->time &&
		spans_parse(&s->spans, o->time, info->first_time,
			info->has_times ? info->last_time : 0, err))
		return err->code;
	if (o->cpus && cpus_parse(&s->cpus, o->cpus, err))
		return err_prefix(err, "-C");
	if (num_list_parse(&s->pids, "--pid", o->pids, err) ||
		num_list_parse(&s->tids, "--tid", o->tids, err))
		return err->code;
	return script_check(&s->script, err);
}

static int run_session(struct scripting *s, struct err *err)
{
	struct reader *r = &s->session.reader;
	struct err why;

	if (s->options->has_header || s->options->has_header_only)
		header_add_text(r, s->options->has_details, &s->out.text);
	if (s->options->has_header_only)
		return 0;
	machine_init(&s->machine);
	embedded_attach(&s->embedded, r, &s->log);
	jitcode_init(&s->jitcode, &r->events, s->options->symbols.symfs, &s->log);
	s->jitcode.embedded = &s->embedded;
	s->machine.coder = &s->jitcode.coder;
	machine_set_build_ids(&s->machine, &r->info);
	embedded_prepare(&s->embedded, &s->machine);
	guest_introduce(&s->machine, &s->options->symbols.guest, &s->log);
	symbol_options_init(&s->options->symbols, &s->resolver, &s->machine, &s->log);
	resolver_set_recording(&s->resolver, r, &s->jitcode, &s->embedded);
	script_init(&s->script, &s->options->print, &r->events, &r->formats, &s->machine,
		&s->resolver);
	s->script.info = &r->info;
	s->script.walk.lbr.depth = hardware_branches(&r->info);
	if (tracepoints_open(&s->tracepoints, &r->info.tracing_data, &why))
		log_warn(&s->log, "'%s': %s", r->path, why.msg);
	s->script.tracepoints = s->tracepoints.handle ? &s->tracepoints : NULL;
	decoder_init(&s->decoder, &s->session, UINT64_MAX, &s->session.tally);
	if (prepare(s, err) ||
		(!s->options->is_dump && machine_foresee(&s->machine, &s->session, err)) ||
		(s->options->is_dump ? dump_all(&s->session, &s->out, err) : walk(s, err)))
		return err->code;
	ledger_add_tally(&s->ledger, &s->session.tally);
	ledger_warn(&s->ledger, &s->log);
	if (!s->options->is_dump)
		session_explain_content(&s->session);
	return 0;
}

static void scripting_fini(struct scripting *s)
{
	if (!s->options->has_header_only) {
		script_fini(&s->script);
		resolver_fini(&s->resolver);
		jitcode_fini(&s->jitcode);
		embedded_close(&s->embedded);
		machine_fini(&s->machine);
		tracepoints_close(&s->tracepoints);
	}
	ledger_fini(&s->ledger);
	spans_fini(&s->spans);
	cpus_fini(&s->cpus);
	vec_fini(&s->pids);
	vec_fini(&s->tids);
	periods_fini(&s->periods);
	session_close(&s->session);
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
	if (session_open(&s.session, o.input, &s.log, &err)) {
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
	.summary = "print every sample of a recording in the order of time",
	.usage = {"[OPTIONS] [FILE]", NULL},
	.notes =
		"Fields can be chosen for one kind of event: -F sw:+pid; the kinds are hw, sw, trace, raw, other.\n"
		"While it is being made, a recording can be read from a pipe: what 'record' writes to a pipe, 'pace script' prints at once.\n",
	.options = options,
	.run = run_script,
};
