#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "base/term.h"
#include "base/workers.h"
#include "cmd/cmd.h"
#include "cmd/events.h"
#include "cmd/version.h"
#include "collect/bpf.h"
#include "collect/open.h"
#include "collect/sampling.h"
#include "collect/synth.h"
#include "event/clockid.h"
#include "file/identity.h"
#include "file/recorder.h"
#include "file/tracing.h"
#include "profile/lookback.h"

struct record_options {
	struct event_words events; /* first: see cmd/events.h */
	const char *frequency, *pages;
	u64 period;
	struct target_words target;
	const char *output;
	const char *call_graph;
	const char *compat;
	u64 stack_bytes;
	bool has_chains, has_data, is_quiet, has_timestamps, has_no_build_ids, has_no_embedding;
	unsigned verbose;
	bool is_compressed;
	u64 level;
	bool has_clock;
	s32 clock;
};

#define AT(member) offsetof(struct record_options, member)

static int set_call_graph(void *target, const char *value, struct err *err)
{
	struct record_options *o = target;
	bool has_size = !strncmp(value, "dwarf,", 6);

	o->has_chains = true;
	o->stack_bytes = 0;
	if (!strcmp(value, "fp"))
		return 0;
	if (strcmp(value, "dwarf") && !has_size)
		return err_set(err, ERR_UNSUPPORTED,
			"'%s' is not there yet; 'fp' (frame pointers) and 'dwarf' (copies of the stack) are",
			value);
	o->stack_bytes = SAMPLING_DEFAULT_STACK;
	if (has_size && num_parse_bytes(value + 6, &o->stack_bytes, err))
		return err->code;
	if (!o->stack_bytes || align_up(o->stack_bytes, 8) > SAMPLING_MAX_STACK)
		return err_set(err, ERR_INVAL, "'%s': a sample can hold 1 to %d bytes of stack",
			value, SAMPLING_MAX_STACK);
	return 0;
}

static int set_clock(void *target, const char *value, struct err *err)
{
	struct record_options *o = target;

	o->has_clock = true;
	return clockid_parse(value, &o->clock, err);
}

static int set_compression(void *target, const char *value, struct err *err)
{
	struct record_options *o = target;

	o->is_compressed = true;
	o->level = PACKER_LEVEL;
	if (value && (num_parse(value, &o->level, err) || o->level < 1 || o->level > 22))
		return err_set(err, ERR_INVAL, "'%s' is no level from 1 to 22", value);
	return 0;
}

static const struct opt options[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "What to measure"},
	EVENT_ROWS("events to sample; default cycles, or cpu-clock without a PMU"),
	{'F', "freq", OPT_STR, AT(frequency), "HZ", "samples a second, or 'max'; default 4000"},
	{'c', "count", OPT_U64, AT(period), "N", "one sample each N events instead", .min = 1},
	{'g', NULL, OPT_BOOL, AT(has_chains), NULL, "record call chains (by frame pointers)"},
	{0, "call-graph", OPT_CALL, 0, "MODE",
		"fp: the same; dwarf[,SIZE]: copy SIZE bytes of the stack (8192), out of which callers are found later",
		.call = set_call_graph},
	{'d', "data", OPT_BOOL, AT(has_data), NULL,
		"record the addresses of data, and maps that hold data"},
	{'T', "timestamp", OPT_BOOL, AT(has_timestamps), NULL,
		"record the time of samples (always done)"},
	{'k', "clockid", OPT_CALL, 0, "CLOCK",
		"by this clock: monotonic (mono), monotonic_raw, realtime, boottime, tai",
		.call = set_clock},
	{0, NULL, OPT_TITLE, 0, NULL, "Whom to measure"},
	{'a', "all-cpus", OPT_BOOL, AT(target.all_cpus), NULL, "everything that runs, on all CPUs"},
	{'C', "cpu", OPT_STR, AT(target.cpus), "LIST", "only these CPUs, like 0-3,8"},
	{'p', "pid", OPT_STR, AT(target.pids), "PID,...",
		"running processes with all their threads"},
	{'t', "tid", OPT_STR, AT(target.tids), "TID,...", "running threads"},
	{0, NULL, OPT_TITLE, 0, NULL, "How"},
	{'o', "output", OPT_STR, AT(output), "FILE",
		"write to FILE, or with - to standard output as a stream; default perf.data"},
	{'z', "compression-level", OPT_CALL, 0, "LEVEL",
		"compress the recording with zstd, 1 (the default) to 22", .call = set_compression,
		.flags = OPT_OPTIONAL | OPT_ATTACHED},
	{'m', "mmap-pages", OPT_STR, AT(pages), "PAGES",
		"size of each CPU's ring: pages, or bytes with B, K, M, G"},
	{0, "compat", OPT_STR, AT(compat), "VERSION",
		"so that perf of that VERSION, like 5.10, can read it"},
	{'B', "no-buildid", OPT_BOOL, AT(has_no_build_ids), NULL,
		"do not look for the build-ids of sampled files"},
	{0, "no-embed", OPT_BOOL, AT(has_no_embedding), NULL,
		"do not put names, lines and code of what was sampled into the recording"},
	{'q', "quiet", OPT_BOOL, AT(is_quiet), NULL, "say nothing but errors"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL,
		"say how events were opened and files found"},
	{.kind = OPT_END},
};

/* Everything that is open while recording. */
struct recording {
	const struct record_options *options;
	struct log log;
	struct event_list events;
	struct target target;
	struct workload workload;
	bool has_workload, measures_workload;
	bool has_begun; /* the target was measured: whatever comes now, the file is a recording */
	struct counters counters;
	struct recorder recorder;
	struct writer writer;
	struct packer packer;
	bool is_pipe; /* -o -: the descriptor is the writer's, stdout is stderr */
	int pipe_fd;
	char **command;
	int argc;
	char **argv; /* the whole command line */
};

/* ---- set-up ---- */

static int parse_frequency(const struct record_options *o, struct sampling *s, struct err *err)
{
	s->period = o->period;
	if (!o->frequency)
		return 0;
	if (o->period)
		return err_set(err, ERR_INVAL,
			"-c asks for a fixed period, -F for a frequency: choose one");
	if (!strcmp(o->frequency, "max")) {
		s->is_max = true;
		return 0;
	}
	if (num_parse(o->frequency, &s->frequency, err))
		return err_prefix(err, "-F");
	return s->frequency ? 0 : err_set(err, ERR_INVAL, "-F 0: a frequency is at least 1");
}

/* -m: a number of pages, or bytes with a letter; a power of two either way. */
static int parse_pages(const char *text, u64 *ret_pages, struct err *err)
{
	u64 page_size = sysconf(_SC_PAGESIZE), n, most = 1ULL << 30;
	bool is_bytes;

	*ret_pages = 0;
	if (!text)
		return 0;
	if (num_parse_bytes(text, &n, err))
		return err_prefix(err, "-m");
	is_bytes = text[0] && strchr("bkmgtBKMGT", text[strlen(text) - 1]);
	if (is_bytes)
		n = (n + page_size - 1) / page_size;
	if (!n || n > most / page_size)
		return err_set(err, ERR_INVAL,
			"-m %s: a ring has 1 to %llu pages of %llu bytes (1 GiB)", text,
			(unsigned long long)(most / page_size), (unsigned long long)page_size);
	*ret_pages = 1;
	while (*ret_pages < n)
		*ret_pages *= 2;
	return 0;
}

/* ---- what the file says of itself ---- */

/* What the file's sections say: this machine, this command line, these events. */
static void describe(struct recording *rec, struct file_info *info)
{
	struct err err;

	identity_fill(info, &rec->events, version_text(), rec->argc, rec->argv);
	if (rec->options->has_clock)
		identity_add_clock(info, rec->options->clock);
	if (rec->options->is_compressed) {
		const struct packer *p = &rec->packer;

		info->has_compression = true;
		info->compression = (struct file_compression){.level = (u32)rec->options->level,
			.ratio = p->n_out ? (u32)((p->n_in + p->n_out / 2) / p->n_out) : 1,
			.chunk = PACKER_CHUNK};
	}
	if (tracing_is_needed(&rec->events) &&
		tracing_write(NULL, &rec->events, &info->tracing_data, &err)) {
		str_clear(&info->tracing_data);
		log_warn(&rec->log, "the formats of the tracepoints are not in the file: %s",
			err.msg);
	}
}

/* ---- set-up, part two ---- */

static int open_output(struct recording *rec, struct err *err)
{
	const struct record_options *o = rec->options;
	struct file_info info;
	int r;

	if (!rec->is_pipe) {
		r = writer_open(&rec->writer, o->output, &rec->events, err);
	} else {
		describe(rec, &info);
		r = writer_open_pipe(&rec->writer, rec->pipe_fd, &rec->events, &info, err);
		file_info_fini(&info);
	}
	if (!r && o->is_compressed) {
		r = packer_init(&rec->packer, (int)o->level, err);
		rec->writer.packer = &rec->packer;
	}
	return r;
}

/*
 * Who reads the stream must not get what the command prints: that goes where our own messages go.
 */
static int divert_stdout(struct recording *rec, struct err *err)
{
	if (isatty(STDOUT_FILENO))
		return err_set(err, ERR_INVAL,
			"-o -: standard output is a terminal, which cannot show a recording: pipe it into 'pace report' or a file");
	rec->pipe_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (rec->pipe_fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return err_sys(err, errno, "opening standard output");
	return 0;
}

/* Target, workload at its gate, events opened, rings mapped, file created. */
static int set_up(struct recording *rec, struct err *err)
{
	const struct record_options *o = rec->options;
	struct sampling sampling = {.has_chains = o->has_chains,
		.stack_bytes = (u32)o->stack_bytes,
		.has_data_addresses = o->has_data,
		.has_clock = o->has_clock,
		.clock = o->clock};
	struct compat compat;
	u64 pages;

	if (o->compat) {
		if (compat_find(o->compat, &compat, err))
			return err_prefix(err, "--compat");
		sampling.compat = &compat;
	}
	if (parse_frequency(o, &sampling, err) || parse_pages(o->pages, &pages, err) ||
		event_words_parse(&o->events, "cycles:P", &rec->events, &rec->log, err) ||
		target_init(&rec->target, &o->target, err))
		return err->code;
	rec->measures_workload = !rec->target.is_system_wide && !rec->target.threads.n;
	if (rec->measures_workload && !rec->command)
		return err_set(err, ERR_INVAL,
			"nothing to record: give a command, a process (-p), a thread (-t) or the whole system (-a)");
	rec->is_pipe = !strcmp(o->output, "-");
	if (rec->is_pipe && divert_stdout(rec, err))
		return err->code;
	if (rec->command) {
		if (workload_start(&rec->workload, rec->command, err))
			return err->code;
		rec->has_workload = true;
	}
	if (rec->measures_workload)
		vec_add(&rec->target.threads,
			((struct target_thread){rec->workload.pid, rec->workload.pid}));
	sampling.is_command = rec->measures_workload;
	if (sampling_apply(&sampling, &rec->events, &rec->target, &rec->log, err) ||
		open_events(&rec->events, &rec->target, &rec->counters, &rec->log, err) ||
		recorder_open(&rec->recorder, &rec->counters, &rec->events, pages, &rec->log, err))
		return err->code;
	return open_output(rec, err);
}

struct synth_to_file {
	struct synth *synth;
	struct writer *writer;
};

static int flush_synth(void *ctx, struct err *err)
{
	struct synth_to_file *to = ctx;
	struct iovec run = {to->synth->out.at, to->synth->out.n};
	int r = run.iov_len ? writer_append(to->writer, &run, 1, err) : 0;

	str_clear(&to->synth->out);
	return r;
}

static bool measures_kernel(const struct event_list *events)
{
	vec_each(e, events)
		if (!(e->attr.flags & ATTR_EXCLUDE_KERNEL))
			return true;
	return false;
}

/* What was there before the first sample. */
static int write_beginning(struct recording *rec, struct err *err)
{
	struct sample_format format;
	struct synth synth;
	struct synth_to_file to = {&synth, &rec->writer};
	int r = 0;

	sample_format_init(&format, &rec->events.at[0].attr);
	synth_init(&synth, format.trailer, &rec->log);
	vec_each(e, &rec->events)
		synth.has_data_maps |= (e->attr.flags & ATTR_MMAP_DATA) != 0;
	/*
	 * perf 6.1 takes a library for loaded at the lowest address that its process ever had it at,
	 * so it cannot unwind a program if it knows what was mapped before the exec.
	 */
	vec_each(e, &rec->events)
		synth.has_no_maps |= rec->measures_workload && e->attr.sample_stack_user;
	if (measures_kernel(&rec->events)) {
		synth_kernel(&synth);
		synth_modules(&synth);
		bpf_synth(synth.trailer, &synth.out);
	}
	if (rec->target.is_system_wide) {
		r = synth_all(&synth, flush_synth, &to, err);
	} else {
		pid_t last = 0;

		vec_each(t, &rec->target.threads) {
			if (t->pid != last)
				synth_process(&synth, t->pid);
			last = t->pid;
		}
		r = flush_synth(&to, err);
	}
	synth_fini(&synth);
	return r;
}

/* ---- the end ---- */

static void say_result(const struct recording *rec, const struct session_tally *tally)
{
	u64 bytes = writer_data_bytes(&rec->writer);

	fprintf(stderr, "[ pace record: Woken up %llu times to write data ]\n",
		(unsigned long long)rec->recorder.n_wakeups);
	fprintf(stderr, "[ pace record: Captured and wrote %.3f MB %s", (double)bytes / 1024 / 1024,
		rec->options->output);
	if (rec->options->is_compressed && rec->packer.n_out)
		fprintf(stderr, ", compressed (original %.3f MB, ratio is %.3f)",
			(double)rec->packer.n_in / 1024 / 1024,
			(double)rec->packer.n_in / (double)rec->packer.n_out);
	if (rec->is_pipe)
		fprintf(stderr, " ]\n");
	else
		fprintf(stderr, " (%llu samples) ]\n", (unsigned long long)tally->n_samples);
	if (!tally->n_samples && rec->writer.is_file)
		fprintf(stderr, "[ pace record: Nothing was sampled: %s ]\n",
			rec->measures_workload
				? "the command was over too soon, or slept; a higher frequency (-F) sees more"
				: "the target did not run meanwhile");
	if (tally->n_lost_samples)
		fprintf(stderr,
			"[ pace record: %llu samples (%.2f%%) were lost because rings were full: larger rings (-m) or a lower frequency (-F) help ]\n",
			(unsigned long long)tally->n_lost_samples,
			100.0 * (double)tally->n_lost_samples /
				(double)(tally->n_samples + tally->n_lost_samples));
	else if (tally->n_lost_records)
		fprintf(stderr,
			"[ pace record: %llu records were lost because rings were full: larger rings (-m) help ]\n",
			(unsigned long long)tally->n_lost_records);
}

/* ---- what others need to read it ---- */

struct embedding_progress {
	struct recording *rec;
	u64 began_ns, said_ns;
};

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static void say_progress(void *ctx, u64 done, u64 all)
{
	enum { QUIET_NS = 500000000, EACH_NS = 100000000 };
	struct embedding_progress *p = ctx;
	u64 now = now_ns();

	if (p->rec->options->is_quiet || now - p->began_ns < QUIET_NS ||
		now - p->said_ns < EACH_NS || !term_is_terminal(STDERR_FILENO))
		return;
	p->said_ns = now;
	fprintf(stderr, "\r[ pace record: looking up names and lines: %llu%%, Ctrl-C skips it ]",
		(unsigned long long)(all ? 100 * MIN(done, all) / all : 100));
}

static bool is_stopped(void *ctx)
{
	struct embedding_progress *p = ctx;

	return stop_came_again(&p->rec->recorder.stop);
}

/* A second, or a tenth of what was recorded, is what it may cost. */
static u64 embedding_deadline(const struct file_info *info)
{
	enum { LEAST_NS = 1000000000, PART = 10 };

	return now_ns() + MAX((info->last_time - info->first_time) / PART, (u64)LEAST_NS);
}

/* Adds the section to the file, which is whole without it. */
static void embed(struct recording *rec, struct lookback *back, struct file_info *info)
{
	struct embedding_progress progress = {rec, now_ns(), 0};
	struct embed_options how = {.n_workers = workers_available(),
		.deadline_ns = embedding_deadline(info),
		.progress = say_progress,
		.is_stopped = is_stopped,
		.ctx = &progress};
	struct embed_tally tally;
	struct err err, ignored;

	if (lookback_embed(back, NULL, &how, &info->embedded, &tally, &err)) {
		log_warn(&rec->log, "names are not put into the recording: %s", err.msg);
		return;
	}
	if (progress.said_ns)
		fprintf(stderr, "\r\033[K");
	if (tally.n_lineless || tally.is_stopped)
		log_note(&rec->log,
			"source lines of %llu of %llu places are not in the recording, %s: 'pace data pack' adds them",
			(unsigned long long)tally.n_lineless, (unsigned long long)tally.n_places,
			tally.is_stopped ? "as you wished" : "it would have taken too long");
	if (info->embedded.n && writer_finish(&rec->writer, info, &err)) {
		log_warn(&rec->log, "names are not put into the recording: %s", err.msg);
		str_clear(&info->embedded);
		writer_finish(&rec->writer, info, &ignored);
	}
}

/* Completes the file after the recording itself, whether that ended well or not. */
static int finish(struct recording *rec, struct err *err)
{
	struct lookback_wishes wishes = {.has_hits = !rec->options->has_no_build_ids,
		.has_places = !rec->options->has_no_embedding,
		.n_workers = workers_available()};
	struct session_tally tally = {0};
	struct lookback back;
	struct file_info info;
	struct err why;
	bool has_back = false;
	int r;

	describe(rec, &info);
	if (rec->writer.is_file) {
		has_back = !lookback_open(&back, rec->options->output, &wishes, NULL, &why);
		if (!has_back)
			log_warn(&rec->log, "reading the recording back: %s", why.msg);
	}
	if (has_back) {
		tally = back.session.tally;
		lookback_describe(&back, &info);
		if (rec->options->has_no_build_ids)
			info.build_ids.n = 0;
	}
	r = writer_finish(&rec->writer, &info, err);
	if (!r && has_back && wishes.has_places)
		embed(rec, &back, &info);
	if (has_back)
		lookback_close(&back);
	if (!rec->options->is_quiet)
		say_result(rec, &tally);
	if (rec->recorder.n_broken_rings)
		log_warn(&rec->log,
			"%llu times a ring's positions made no sense and it was skipped",
			(unsigned long long)rec->recorder.n_broken_rings);
	file_info_fini(&info);
	return r;
}

/* A command that outlives its recording is nobody's surprise. */
static void say_if_running(struct recording *rec)
{
	if (rec->has_workload && !workload_reap(&rec->workload, false))
		log_note(&rec->log, "'%s' (process %d) goes on running", rec->command[0],
			rec->workload.pid);
}

/* Starts the target and records it to its end. */
static int run(struct recording *rec, int *ret_status, struct err *err)
{
	enum recorder_end end;
	int r;

	if (write_beginning(rec, err))
		return err->code;
	if (!rec->measures_workload && counters_enable(&rec->counters, err))
		return err->code;
	if (rec->has_workload && workload_go(&rec->workload, rec->command[0], err))
		return err->code;
	rec->has_begun = true;
	end = recorder_run(&rec->recorder, &rec->writer, rec->has_workload ? &rec->workload : NULL,
		err);
	*ret_status = EXIT_OK;
	if (end == RECORDER_SIGNAL) {
		*ret_status = 128 + rec->recorder.stop.signal;
		/*
		 * Who stops us with kill(1) means the command too; a terminal has told it already.
		 */
		if (rec->has_workload && !rec->recorder.stop.is_group &&
			rec->recorder.stop.signal != SIGHUP)
			kill(rec->workload.pid, rec->recorder.stop.signal);
	}
	if (end == RECORDER_FAILED) {
		struct err ignored;

		/* The reason is in err; what was written stays, and is completed. */
		finish(rec, &ignored);
		say_if_running(rec);
		return err->code;
	}
	r = finish(rec, err);
	if (end == RECORDER_SIGNAL)
		say_if_running(rec);
	if (rec->has_workload && end == RECORDER_TARGET_ENDED) {
		workload_reap(&rec->workload, true);
		*ret_status = workload_exit_status(&rec->workload);
	}
	return r;
}

static void tear_down(struct recording *rec, bool keep_file)
{
	packer_fini(&rec->packer);
	writer_close(&rec->writer, keep_file);
	recorder_close(&rec->recorder);
	counters_close(&rec->counters);
	if (rec->has_workload)
		workload_close(&rec->workload);
	target_fini(&rec->target);
	event_list_fini(&rec->events);
	log_fini(&rec->log);
}

static int run_record(int argc, char **argv)
{
	struct record_options o = {.output = "perf.data"};
	char **whole = memcpy(mem_alloc((argc + 1) * sizeof(*argv)), argv, argc * sizeof(*argv));
	int whole_n = argc, status = cmd_parse(&cmd_record, &o, OPTS_STOP, &argc, argv);
	struct recording rec = {.options = &o,
		.command = argc ? argv : NULL,
		.argc = whole_n,
		.argv = whole};
	sigset_t signals;
	struct err err;

	if (status >= 0) {
		mem_free(whole);
		return status;
	}
	argv[argc] = NULL;
	rec.writer.fd = rec.recorder.epoll_fd = rec.recorder.stop.fd = -1;
	cmd_log_init(&rec.log, o.verbose ? LOG_DEBUG : LOG_NOTE);
	if (o.is_quiet)
		rec.log.write = NULL;
	stop_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/*
	 * What was given up on the way to an event that in the end did not open is of no use to
	 * anybody.
	 */
	if (!o.verbose)
		log_hold(&rec.log);
	if (set_up(&rec, &err)) {
		log_forget(&rec.log);
		status = cmd_fail(&cmd_record, &err,
			err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED);
	} else {
		log_release(&rec.log);
		if (run(&rec, &status, &err))
			status = cmd_fail(&cmd_record, &err, EXIT_FAILED);
	}
	/* Without a recording the old file comes back. */
	tear_down(&rec, rec.has_begun);
	event_words_fini(&o.events);
	mem_free(whole);
	return status;
}

const struct cmd cmd_record = {
	.name = "record",
	.summary = "run a command, or watch processes, and record samples into perf.data",
	.usage = {"[OPTIONS] COMMAND [ARGS]", "[OPTIONS] -p PID | -t TID | -a", NULL},
	.notes =
		"Recording ends when the command does, or with Ctrl-C. 'pace report' then shows where the time went.\n"
		"Events are written as for perf: names (cycles:u), rHEX, pmu/term=1/, system:tracepoint, {a,b}.\n",
	.options = options,
	.run = run_record,
};
