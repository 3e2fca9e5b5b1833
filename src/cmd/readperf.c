#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/workers.h"
#include "cmd/cmd.h"
#include "event/abi.h"
#include "profile/ledger.h"
#include "profile/naming.h"
#include "profile/places.h"
#include "session/decoder.h"
#include "session/periods.h"
#include "session/stream.h"
#include "view/readperf.h"
#include "view/text.h"

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
	struct session session;
	struct machine machine;
	struct embedded embedded;
	struct jitcode jitcode;
	struct intern strings;
	struct roster roster;
	struct places places;
	struct ledger ledger;
	struct decoder decoder;
	struct periods periods;
	size_t n_events; /* that `places` knows */
	struct csv stat, overview, processes, results;
	size_t n_columns; /* events that have columns in `processes`, which begins with its first row */
	bool has_processes;
	struct str scratch;
	struct out out;
};

/* ---- the tables ---- */

static void add_process(void *ctx, const struct roster_process *p)
{
	struct reading *r = ctx;

	if (!r->has_processes) {
		readperf_start_processes(&r->processes, &r->session.reader.events);
		r->n_columns = r->session.reader.events.n;
		r->has_processes = true;
	}
	/* NULL: there was none at all. */
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

/* The first that could not be written is told of. */
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

/* Events may come while a pipe is read. */
static void follow_events(struct reading *r)
{
	const struct event_list *events = &r->session.reader.events;

	for (; r->n_events < events->n; r->n_events++)
		places_add_event(&r->places, events->at[r->n_events].name);
}

/* Adds the sample, as one of that event, to its process and to the place it was taken at. */
static void count(struct reading *r, const struct stream_event *e, const struct sample *sample,
	u32 event, u64 period)
{
	u8 mode = e->rec.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	const struct map *map = NULL;
	struct thread_state t;

	machine_state_at(&r->machine, sample->pid, sample->tid, e->time, &r->strings, &t);
	map = machine_find(machine_space(&t, mode), sample->ip);
	roster_add_sample(&r->roster, sample->pid, event, period);
	places_add(&r->places, event, map ? map->dso : r->machine.dsos.at.at[0],
		map ? map_offset(map, sample->ip) : sample->ip, mode, period);
}

/* What it has read are samples of the counters' events, as far as they have counted since. */
static void count_values(struct reading *r, const struct stream_event *e,
	const struct sample *sample)
{
	const struct reader *reader = &r->session.reader;

	for (u64 i = 0; i < sample->read.n_values; i++) {
		struct periods_value v = periods_take(&r->periods, &reader->formats,
			&reader->events, e->event, sample, i, e->time);

		if (v.event != TABLE_NONE && v.period)
			count(r, e, sample, v.event, v.period);
	}
}

static void take_sample(struct reading *r, const struct stream_event *e,
	struct readperf_record *row)
{
	const struct event_list *events = &r->session.reader.events;
	struct sample *sample = decoder_next(&r->decoder, &e->rec, e->event);
	u64 fields;

	if (!sample)
		return;
	follow_events(r);
	fields = r->session.reader.formats.at[e->event].type;
	/* A sample that does not say whose it is, is nobody's. */
	if (!(fields & PERF_SAMPLE_TID))
		sample->pid = sample->tid = ROSTER_NOBODY;
	if (periods_has(&r->session.reader.formats.at[e->event]))
		count_values(r, e, sample);
	else
		count(r, e, sample, e->event, sample->period);
	row->sample = sample;
	row->event = events->n > 1 ? events->at[e->event].name : NULL;
	row->has_task = fields & PERF_SAMPLE_TID;
	row->pid = sample->pid;
	row->tid = sample->tid;
	row->has_time = fields & PERF_SAMPLE_TIME;
	row->time = sample->time;
}

/* Whom the record is about, and when. */
static void describe(const struct reading *r, const struct stream_event *e,
	struct readperf_record *row)
{
	const struct formats *f = &r->session.reader.formats;
	const struct sample_format *format = formats_format(f, e->event);
	const union record_body *body = row->body;
	struct sample who = {0};

	if (sample_decode_trailer(format, &e->rec, &who)) {
		row->has_task = format->type & PERF_SAMPLE_TID;
		row->pid = who.pid;
		row->tid = who.tid;
		row->has_time = format->type & PERF_SAMPLE_TIME;
		row->time = who.time;
	}
	if (!body || e->rec.type == PERF_RECORD_KSYMBOL)
		return;
	/* The trailer has who caused the record; the body whom it is about. */
	row->has_task = true;
	if (e->rec.type == PERF_RECORD_FORK || e->rec.type == PERF_RECORD_EXIT) {
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

static void take_record(struct reading *r, const struct stream_event *e, union record_body *body,
	struct readperf_record *row)
{
	if (e->rec.type >= PERF_RECORD_USER_TYPE_START || !r->session.reader.formats.n)
		return;
	if (machine_follow(&r->machine, &r->session, e, body) > 0)
		row->body = body;
	if (row->body && e->rec.type == PERF_RECORD_FORK)
		periods_begin_thread(&r->periods, body->task.tid);
	describe(r, e, row);
	if (row->body)
		roster_apply(&r->roster, &e->rec, body, row->has_time ? row->time : 0);
}

static void take(struct reading *r, const struct stream_event *e)
{
	struct readperf_record row = {.rec = &e->rec};
	union record_body body;

	if (e->rec.type == PERF_RECORD_SAMPLE)
		take_sample(r, e, &row);
	else
		take_record(r, e, &body, &row);
	row.nr = e->nr;
	readperf_add_record(&r->overview, &row, &r->scratch);
	/* Who looks on wants to see what came, when a round of it is over. */
	if (e->rec.type == PERF_RECORD_FINISHED_ROUND && r->session.reader.is_stream) {
		out_flush(&r->overview.out);
		out_flush(&r->processes.out);
	}
}

static void warn(struct reading *r)
{
	if (r->roster.n_doubles)
		log_warn(&r->log,
			"%llu processes were forked with the number of one that had not ended: its exit is not in the recording",
			(unsigned long long)r->roster.n_doubles);
	if (r->roster.n_lone_threads)
		log_warn(&r->log,
			"%llu threads were forked in a process that the recording does not know: its beginning is missing",
			(unsigned long long)r->roster.n_lone_threads);
}

static int walk(struct reading *r, struct err *err)
{
	struct stream stream;
	struct stream_event e;
	int result;

	stream_init(&stream, &r->session);
	while ((result = stream_next(&stream, &e, err)) > 0) {
		machine_advance(&r->machine, MAX(e.time, r->machine.followed_to));
		take(r, &e);
		if (r->overview.out.sys || r->processes.out.sys)
			break;
	}
	machine_advance(&r->machine, UINT64_MAX);
	if (!result) {
		stream_note_disorder(&stream);
		warn(r);
	}
	stream_fini(&stream);
	return MIN(result, 0);
}

/* ---- functions ---- */

static void add_event(struct reading *r, const struct calls *calls, u32 event)
{
	const struct key *symbol = key_find("symbol", 6), *dso = key_find("dso", 3);
	const struct hist_options h = {.keys = {symbol, dso}, .n_keys = 2};
	const struct text_options t = {
		.columns = {key_find("overhead", 8), key_find("sample", 6), symbol, dso},
		.n_columns = 4,
		.n_workers = 1};
	struct hist hist;

	hist_init(&hist, &r->places.profile, calls, event, &h);
	readperf_add_results(&r->results, &hist, r->places.profile.events.n > 1);
	text_report(&r->out, &hist, &t);
	str_addc(&r->out.text, '\n');
	hist_fini(&hist);
}

static void add_functions(struct reading *r)
{
	struct profile *p = &r->places.profile;
	struct resolver resolver;
	struct calls calls;

	resolver_init(&resolver, &r->machine, r->options->symfs, &r->log);
	/* Its readers know what to do with code that has no name. */
	resolver.ignores_made = true;
	resolver_set_recording(&resolver, &r->session.reader, &r->jitcode, &r->embedded);
	naming_resolve(p, &resolver,
		&(struct naming_options){.n_workers = workers_available(),
			.style = r->options->verbose ? DEMANGLE_PARAMETERS : 0,
			.has_full_paths = true,
			.source = NAMING_FUNCTION_FILES});
	calls_init(&calls, p);
	readperf_start_results(&r->results, p->events.n > 1);
	for (u32 event = 0; event < p->events.n; event++)
		/* Events without samples say so only where they are all there is to say. */
		if (p->events.at[event].n_samples || p->events.n == 1 || (!p->rows.n && !event))
			add_event(r, &calls, event);
	ledger_add_tally(&r->ledger, &r->session.tally);
	ledger_add_nameless(&r->ledger, p, &resolver);
	ledger_add_text(&r->ledger, false, &r->out.text);
	calls_fini(&calls);
	resolver_fini(&resolver);
}

/* ---- the command ---- */

static void let_pass(int signal)
{
	(void)signal;
}

/*
 * ^C is for the recorder too: it ends the recording, the rest comes through the pipe, and the
 * tables get whole. Who presses it again means it.
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
	struct reader *reader = &r->session.reader;
	int result;

	outlive_recorder(&r->session);
	/* A limit of file sizes is an error like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	/* Who reads the functions may have seen enough: the tables get whole all the same. */
	signal(SIGPIPE, SIG_IGN);
	machine_init(&r->machine);
	embedded_attach(&r->embedded, reader, &r->log);
	jitcode_init(&r->jitcode, &reader->events, r->options->symfs, &r->log);
	r->jitcode.embedded = &r->embedded;
	r->machine.coder = &r->jitcode.coder;
	machine_set_build_ids(&r->machine, &reader->info);
	embedded_prepare(&r->embedded, &r->machine);
	if (machine_foresee(&r->machine, &r->session, err))
		return err->code;
	roster_init(&r->roster, add_process, r);
	r->roster.is_unordered = !r->session.has_times;
	places_init(&r->places);
	decoder_init(&r->decoder, &r->session,
		PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
			PERF_SAMPLE_READ,
		&r->session.tally);
	readperf_start_overview(&r->overview);
	result = walk(r, err);
	roster_close(&r->roster);
	/* Tables of a part of the recording would be wrong; why it is a part, close_tables() says. */
	if (result || r->overview.out.sys || r->processes.out.sys)
		return result;
	follow_events(r);
	add_process(r, NULL);
	readperf_add_stat(&r->stat, r->session.tally.n_by_type,
		ARRAY_SIZE(r->session.tally.n_by_type));
	add_functions(r);
	ledger_warn(&r->ledger, &r->log);
	session_explain_content(&r->session);
	return 0;
}

static void reading_fini(struct reading *r)
{
	places_fini(&r->places);
	periods_fini(&r->periods);
	jitcode_fini(&r->jitcode);
	embedded_close(&r->embedded);
	machine_fini(&r->machine);
	ledger_fini(&r->ledger);
	intern_fini(&r->strings);
	str_fini(&r->scratch);
	session_close(&r->session);
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
	if (session_open(&r.session, o.input, &r.log, &err)) {
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
		"While it is being made, a recording can be read from a pipe: 'perf record -o - ... | pace readperf -'.\n",
	.options = options,
	.run = run_readperf,
};
