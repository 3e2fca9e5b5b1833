#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/mapped.h"
#include "base/term.h"
#include "base/workers.h"
#include "cmd/cmd.h"
#include "cmd/record_options.h"
#include "cmd/version.h"
#include "collect/bpf.h"
#include "collect/open.h"
#include "collect/sampling.h"
#include "collect/synth.h"
#include "file/identity.h"
#include "file/recorder.h"
#include "file/tracing.h"
#include "profile/lookback.h"
#include "symbol/liveunwind.h"

/* Everything that is open while recording. */
struct recording {
	const struct record_options *options;
	struct log log;
	struct event_list events;
	struct event_list unwound; /* as the file describes them, if stacks are walked meanwhile */
	struct liveunwind liveunwind;
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

/* ---- what the file says of itself ---- */

static const struct event_list *events_of_file(const struct recording *rec)
{
	return rec->unwound.n ? &rec->unwound : &rec->events;
}

/* What the file's sections say: this machine, this command line, these events. */
static void describe(struct recording *rec, struct file_info *info)
{
	struct err err;

	identity_fill(info, events_of_file(rec), version_text(), rec->argc, rec->argv);
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

/* ---- set-up ---- */

static int open_output(struct recording *rec, struct err *err)
{
	const struct record_options *o = rec->options;
	struct file_info info;
	int r;

	if (!rec->is_pipe) {
		r = writer_open(&rec->writer, o->output, events_of_file(rec), err);
	} else {
		describe(rec, &info);
		r = writer_open_pipe(&rec->writer, rec->pipe_fd, events_of_file(rec), &info, err);
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

/* Samples with copies of the stack become such with call chains, before they are in the file. */
static void unwind_meanwhile(struct recording *rec)
{
	struct find_places places = {.symfs = "", .log = &rec->log};
	bool has_dumps = false;

	vec_each(e, &rec->events)
		has_dumps |= (e->attr.sample_type & PERF_SAMPLE_STACK_USER) != 0;
	if (!has_dumps)
		return;
	liveunwind_describe(&rec->events, &rec->unwound);
	liveunwind_init(&rec->liveunwind, &rec->events, &places, NULL);
	rec->recorder.filter = &rec->liveunwind.filter;
	mapped_read_zeros();
}

/* Target, workload at its gate, events opened, rings mapped, file created. */
static int set_up(struct recording *rec, struct err *err)
{
	const struct record_options *o = rec->options;
	struct sampling sampling = {.has_chains = o->has_chains,
		.stack_bytes = (u32)o->stack_bytes,
		.has_branches = o->has_branches,
		.max_stack = (u16)o->max_stack,
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
	if (record_parse_frequency(o, &sampling, err) || record_parse_pages(o, &pages, err) ||
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
	if (!o->keeps_stacks)
		unwind_meanwhile(rec);
	return open_output(rec, err);
}

struct synth_to_file {
	struct synth *synth;
	struct recording *rec;
};

static int flush_synth(void *ctx, struct err *err)
{
	struct synth_to_file *to = ctx;
	struct iovec run = {to->synth->out.at, to->synth->out.n};
	int r = run.iov_len ? writer_append(&to->rec->writer, &run, 1, err) : 0;

	if (to->rec->recorder.filter)
		liveunwind_begin(&to->rec->liveunwind, run.iov_base, run.iov_len);
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
	struct synth_to_file to = {&synth, rec};
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

/* Under -v: how the stacks ended that were walked. */
static void say_endings(const struct liveunwind *u, struct log *log)
{
	log_debug(log, "%llu stacks were walked, %llu frames", (unsigned long long)u->n_samples,
		(unsigned long long)u->walk.stack.n_frames);
	for (unsigned i = 0; i < STACK_ENDINGS; i++)
		if (u->n_ended[i])
			log_debug(log, "%llu stacks: %s", (unsigned long long)u->n_ended[i],
				stack_ending_text(i));
	if (u->n_unreadable)
		log_warn(log, "%llu samples could not be read and count as lost",
			(unsigned long long)u->n_unreadable);
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
	if (rec->recorder.filter)
		say_endings(&rec->liveunwind, &rec->log);
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
	liveunwind_fini(&rec->liveunwind);
	event_list_fini(&rec->unwound);
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
	.options = record_option_rows,
	.run = run_record,
};
