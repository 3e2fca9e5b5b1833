#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/workers.h"
#include "cmd/cmd.h"
#include "event/abi.h"
#include "profile/gather/aggregate.h"
#include "profile/check/ledger.h"
#include "profile/gather/naming.h"
#include "trace/follow.h"
#include "view/rows/histrows.h"
#include "view/records/readperf.h"
#include "view/forms/text.h"

struct readperf_command {
	const char *input, *folder, *symfs;
	unsigned verbose;
};

#define AT(member) offsetof(struct readperf_command, member)

static const struct opt options[] = {
	{'i', "input", OPT_STR, AT(input), "FILE",
		"read FILE; default perf.data, or what is piped in"},
	{'o', "output", OPT_STR, AT(folder), "DIR",
		"put the tables into DIR, created if missing; default is the current directory"},
	{0, "symfs", OPT_STR, AT(symfs), "DIR", "look for the recorded files below DIR"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL,
		"say where files were looked for, show parameters of C++ functions"},
	{.kind = OPT_END},
};

struct reading {
	const struct readperf_command *options;
	struct log log;
	struct trace trace;
	struct processlist processlist;
	struct aggregate counted;
	struct ledger ledger;
	struct csv stat, overview, processes, results;
	size_t n_columns; /* events that have columns in `processes`, which begins with its first row */
	bool has_processes;
	struct str scratch;
	struct out out;
};

/* ---- the tables ---- */

static void add_process(void *ctx, const struct processlist_process *p)
{
	struct reading *r = ctx;

	if (!r->has_processes) {
		readperf_start_processes(&r->processes, &r->trace.session.reader.events);
		r->n_columns = r->trace.session.reader.events.n;
		r->has_processes = true;
	}
	/* NULL: the recording has no processes. */
	if (p)
		readperf_add_process(&r->processes, p, r->n_columns);
}

static int open_tables(struct reading *r, struct err *err)
{
	const char *dir = r->options->folder;
	int fd, result;

	if (mkdir(dir, 0777) && errno != EEXIST)
		return err_sys(err, errno, "creating the directory '%s'", dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, errno, "opening the directory '%s'", dir);
	result = csv_open(&r->stat, fd, dir, "stat.csv", err) ||
			csv_open(&r->overview, fd, dir, "overview.csv", err) ||
			csv_open(&r->processes, fd, dir, "processes.csv", err) ||
			csv_open(&r->results, fd, dir, "results.csv", err)
		? err->code
		: 0;
	close(fd);
	return result;
}

/* Reports the first table that could not be written. */
static int close_tables(struct reading *r, struct err *err)
{
	struct csv *tables[] = {&r->overview, &r->processes, &r->results, &r->stat};
	struct err ignored;
	int result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (csv_close(tables[i], result ? &ignored : err))
			result = err->code;
	return result;
}

/* ---- records ---- */

/* A sample without a TID belongs to no process. */
static u32 pid_of(const struct visit *v)
{
	return v->format->type & PERF_SAMPLE_TID ? v->sample->pid : PROCESSLIST_NOBODY;
}

/* Adds the sample, as one of that event, to its process and to the place it was taken at. */
static void count(struct reading *r, struct visit *v)
{
	enum { DISTINCT_LEAST = 1 << 16 };
	struct aggregate *a = &r->counted;

	processlist_add_sample(&r->processlist, pid_of(v), v->event, v->sample->period);
	aggregate_add(a, v);
	/* Forgets which samples were alike: later ones are counted apart, and merged at the end. */
	if (a->uniques.n >= MAX(a->profile.rows.n, (size_t)DISTINCT_LEAST))
		aggregate_forget(a);
}

static void take_sample(struct reading *r, struct visit *v, struct readperf_record *row)
{
	const struct event_list *events = &r->trace.session.reader.events;
	u64 fields;

	if (!v->sample)
		return;
	if (!v->is_idle)
		count(r, v);
	fields = v->format->type;
	row->sample = v->sample;
	row->event = events->n > 1 ? events->at[v->taken_by].name : NULL;
	row->has_task = fields & PERF_SAMPLE_TID;
	row->pid = v->sample->pid;
	row->tid = v->sample->tid;
	row->has_time = fields & PERF_SAMPLE_TIME;
	row->time = v->sample->time;
}

/* Fills in which task the record is about, and its time. */
static void describe(const struct visit *v, struct readperf_record *row)
{
	const struct sample_format *format = v->format;
	const union record_body *body = v->body;
	struct sample who = {0};

	if (sample_decode_trailer(format, v->rec, &who)) {
		row->has_task = format->type & PERF_SAMPLE_TID;
		row->pid = who.pid;
		row->tid = who.tid;
		row->has_time = format->type & PERF_SAMPLE_TIME;
		row->time = who.time;
	}
	if (!body || v->rec->type == PERF_RECORD_KSYMBOL)
		return;
	/* The trailer names the task that caused the record, the body the task that it is about. */
	row->has_task = true;
	if (v->rec->type == PERF_RECORD_FORK || v->rec->type == PERF_RECORD_EXIT) {
		row->pid = body->task.pid;
		row->tid = body->task.tid;
		if (!row->has_time)
			row->time = body->task.time;
		row->has_time = true;
	} else {
		row->pid = body->comm.pid;
		row->tid = body->comm.tid;
	}
}

static void take_record(struct reading *r, const struct visit *v, struct readperf_record *row)
{
	if (v->rec->type >= PERF_RECORD_USER_TYPE_START || !r->trace.session.reader.formats.n)
		return;
	row->body = v->body;
	describe(v, row);
	if (v->body)
		processlist_apply(&r->processlist, v->rec, v->body, row->has_time ? row->time : 0);
}

static void take(struct reading *r, struct visit *v)
{
	struct readperf_record row = {.rec = v->rec, .nr = v->nr};

	if (v->rec->type == PERF_RECORD_SAMPLE)
		take_sample(r, v, &row);
	else
		take_record(r, v, &row);
	/* A record that has read several counters is one row. */
	if (v->is_next)
		return;
	readperf_add_record(&r->overview, &row, &r->scratch);
	/* Somebody may follow the tables of a stream: each round is flushed when it is complete. */
	if (v->rec->type == PERF_RECORD_FINISHED_ROUND && r->trace.session.reader.is_stream) {
		out_flush(&r->overview.out);
		out_flush(&r->processes.out);
	}
}

static void warn(struct reading *r)
{
	if (r->processlist.n_doubles)
		log_warn(&r->log,
			"%llu processes were forked with the pid of a process that had not ended: its exit is missing from the recording",
			(unsigned long long)r->processlist.n_doubles);
	if (r->processlist.n_lone_threads)
		log_warn(&r->log,
			"%llu threads were forked by processes that the recording does not know: their start is missing from it",
			(unsigned long long)r->processlist.n_lone_threads);
}

static u64 held(const void *reading)
{
	const struct reading *r = reading;

	return aggregate_bytes(&r->counted) + profile_bytes(&r->counted.profile) +
		r->processlist.n_bytes + r->processlist.slots.n * sizeof(struct processlist_slot);
}

static int walk(struct reading *r, struct err *err)
{
	struct follow follow;
	struct visit *v;
	int result;

	follow_init(&follow, &r->trace, FOLLOW_IN_TIME, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD);
	follow.stream.held = held;
	follow.stream.holder = r;
	while ((result = follow_next(&follow, &v, err)) > 0) {
		if (aggregate_check(&r->trace, err)) {
			result = err->code;
			break;
		}
		take(r, v);
		if (r->overview.out.sys || r->processes.out.sys)
			break;
	}
	if (!result)
		warn(r);
	follow_fini(&follow);
	return MIN(result, 0);
}

/* ---- functions ---- */

static void add_event(struct reading *r, const struct calls *calls, u32 event)
{
	const struct key *symbol = key_find("symbol", 6), *dso = key_find("dso", 3);
	const struct hist_options h = {.keys = {symbol, dso}, .n_keys = 2};
	const struct histrows_options o = {
		.columns = {key_find("overhead", 8), key_find("sample", 6), symbol, dso},
		.n_columns = 4};
	struct histrows rows;
	struct hist hist;

	hist_init(&hist, &r->counted.profile, calls, event, &h);
	readperf_add_results(&r->results, &hist, r->counted.profile.events.n > 1);
	histrows_init(&rows, &hist, &o);
	text_add_table(&r->out, &rows.rows, &(struct text_options){.n_workers = 1});
	histrows_fini(&rows);
	str_addc(&r->out.text, '\n');
	hist_fini(&hist);
}

static void add_functions(struct reading *r)
{
	struct profile *p = &r->counted.profile;
	struct calls calls;
	double *shares;

	aggregate_forget(&r->counted);
	shares = naming_shares(p, r->trace.machine.dsos.at.n);
	r->trace.files.places.shares = shares;
	naming_resolve(p, &r->trace.resolver,
		&(struct naming_options){.n_workers = workers_available(),
			.style = r->options->verbose ? DEMANGLE_PARAMETERS : 0,
			.has_full_paths = true,
			.source = NAMING_FUNCTION_FILES});
	calls_init(&calls, p);
	readperf_start_results(&r->results, p->events.n > 1);
	for (u32 event = 0; event < p->events.n; event++)
		/* Events without samples are listed only if there is nothing else to list. */
		if (p->events.at[event].n_samples || p->events.n == 1 || (!p->rows.n && !event))
			add_event(r, &calls, event);
	ledger_add_tally(&r->ledger, &r->trace.session.tally);
	ledger_add_nameless(&r->ledger, p, &r->trace.resolver);
	ledger_add_text(&r->ledger, false, &r->out.text);
	calls_fini(&calls);
	r->trace.files.places.shares = NULL;
	mem_free(shares);
}

/* ---- the command ---- */

static void let_pass(int signal)
{
	(void)signal;
}

/*
 * ^C reaches the recorder too: it ends the recording, the rest comes through the pipe, and the tables are completed. A
 * second ^C ends this process.
 */
static void outlive_recorder(const struct session *s)
{
	const struct sigaction pass = {.sa_handler = let_pass,
		.sa_flags = SA_RESTART | (int)SA_RESETHAND};
	struct sigaction now;

	if (s->reader.is_stream && !sigaction(SIGINT, NULL, &now) && now.sa_handler != SIG_IGN)
		sigaction(SIGINT, &pass, NULL);
}

static int run_session(struct reading *r, struct err *err)
{
	const struct trace_options how = {.symfs = r->options->symfs,
		/* Programs that read the tables handle code without a name themselves. */
		.ignores_made_names = true};
	int result;

	outlive_recorder(&r->trace.session);
	/* With SIGXFSZ ignored, a limit of file sizes is an error like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	/* The reader of stdout may leave early: the tables are completed all the same. */
	signal(SIGPIPE, SIG_IGN);
	if (trace_begin(&r->trace, &how, err))
		return err->code;
	processlist_init(&r->processlist, add_process, r);
	r->processlist.is_unordered = !r->trace.session.has_times;
	aggregate_init(&r->counted, &r->trace, &(struct aggregate_options){0}, NULL);
	readperf_start_overview(&r->overview);
	result = walk(r, err);
	processlist_close(&r->processlist);
	/* Tables of a part of the recording would be wrong. close_tables() reports why it is a part. */
	if (result || r->overview.out.sys || r->processes.out.sys)
		return result;
	add_process(r, NULL);
	readperf_add_stat(&r->stat, r->trace.session.tally.n_by_type,
		ARRAY_SIZE(r->trace.session.tally.n_by_type));
	add_functions(r);
	ledger_warn(&r->ledger, &r->log);
	session_explain_content(&r->trace.session);
	return 0;
}

static void reading_fini(struct reading *r)
{
	aggregate_fini(&r->counted);
	trace_close(&r->trace);
	ledger_fini(&r->ledger);
	str_fini(&r->scratch);
	log_fini(&r->log);
}

static int run_readperf(int argc, char **argv)
{
	struct readperf_command o = {.folder = "."};
	struct reading r = {.options = &o, .out.fd = STDOUT_FILENO};
	int status = cmd_parse_reader(&cmd_readperf, &o, &o.input, argc, argv);
	struct err err;

	if (status >= 0)
		return status;
	o.input = cmd_input(o.input);
	cmd_log_init(&r.log, o.verbose ? LOG_DEBUG : LOG_NOTE);
	if (trace_open(&r.trace, o.input, &r.log, &err)) {
		cmd_explain_missing(o.input, &err);
		log_fini(&r.log);
		return cmd_fail(&cmd_readperf, &err, EXIT_USAGE);
	}
	status = EXIT_OK;
	if (open_tables(&r, &err) || run_session(&r, &err))
		status = cmd_fail(&cmd_readperf, &err, EXIT_FAILED);
	if (close_tables(&r, &err))
		status = cmd_fail(&cmd_readperf, &err, EXIT_FAILED);
	if (out_close(&r.out, &err) && err.sys != EPIPE)
		status = cmd_fail(&cmd_readperf, &err, EXIT_FAILED);
	if (status == EXIT_OK && ledger_has_unread(&r.ledger))
		status = EXIT_FAILED;
	reading_fini(&r);
	return status;
}

const struct cmd cmd_readperf = {
	.name = "readperf",
	.summary = "write a recording as four tables: records, processes, functions, numbers",
	.usage = {"[OPTIONS] [FILE]", NULL},
	.notes =
		"stat.csv: records by type; overview.csv: every record; processes.csv; results.csv: functions.\n"
		"A recording can be read from a pipe while it is being made: 'perf record -o - ... | pace readperf -'.\n",
	.options = options,
	.is_paged = true,
	.run = run_readperf,
};
