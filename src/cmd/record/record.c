#include "cmd/record/recording.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/out.h"
#include "base/selfname.h"
#include "cmd/cmd.h"
#include "collect/open/open.h"
#include "collect/open/setuid.h"
#include "event/abi.h"
#include "event/pmu.h"
#include "event/tsx.h"

/* ---- set-up ---- */

/* Turns copies of the stack into call chains before samples are written to the file. */
static void unwind_meanwhile(struct recording *rec)
{
	struct find_places places = {.symfs = "",
		.log = &rec->log,
		.kept = &rec->roots,
		.is_now = true};
	bool has_dumps = false;

	vec_each(e, &rec->events)
		has_dumps |= (e->attr.sample_type & PERF_SAMPLE_STACK_USER) != 0;
	if (!has_dumps)
		return;
	liveunwind_describe(&rec->events, &rec->unwound);
	liveunwind_init(&rec->liveunwind, &rec->events, &places);
	rec->recorder.filter = &rec->liveunwind.filter;
}

/* Notes that the kernel takes the counters away from a set-user-ID command: there will be next to no samples. */
static void say_if_taken_away(struct recording *rec)
{
	struct str why = {0};

	rec->loses_counters = setuid_takes_counters(rec->command[0], &why);
	if (rec->loses_counters)
		log_note(&rec->log, "%s", str_text(&why));
	str_fini(&why);
}

/* Under -vv: logs the attrs that the kernel gets. */
static void say_attrs(struct recording *rec)
{
	vec_each(e, &rec->events) {
		struct str text = {0};

		attr_add_text(&e->attr, ": ", &text);
		log_debug(&rec->log, "%s: %s", e->name, str_text(&text));
		str_fini(&text);
	}
}

/* CPUs that come back online bring new ids: the file keeps room for one more set of them. */
static void foresee_ids(struct recording *rec)
{
	if (!rec->target.is_system_wide)
		return;
	vec_each(e, &rec->events)
		e->n_more_ids = e->n_ids;
	vec_each(e, &rec->unwound)
		e->n_more_ids = e->n_ids;
}

/* Where the recording goes. */
static int choose_output(struct recording *rec, struct err *err)
{
	const struct record_options *o = rec->options;

	rec->is_pipe = !strcmp(o->files.output, "-");
	rec->rotation = (struct rotation){.path = o->files.output, .most = o->files.max_files};
	if (rec->is_pipe && record_has_rotation(o))
		return err_set(err, ERR_INVAL,
			"-o - writes a single stream without a name: it does not work with --switch-output and --timestamp-filename");
	return rec->is_pipe ? cmd_divert_stdout(&rec->pipe_fd, err) : 0;
}

/* Works out what the options mean; opens nothing yet. */
static int understand(struct recording *rec, struct sampling *sampling, struct compat *compat,
	u64 *ret_pages, struct err *err)
{
	const struct record_options *o = rec->options;
	/* A timer can replace cycles that are sampled, but not those that are only open (-n). */
	const char *defaults =
		o->has_no_samples && !pmu_is_core_there("/sys") ? "cpu-clock" : "cycles:P";

	if (record_check(o, &rec->log, err) || record_watchers_check(o, err) ||
		record_sampling(o, sampling, err) ||
		(o->timing.delay && schedule_parse(&rec->pilot.schedule, o->timing.delay, err)))
		return err->code;
	sampling->is_late = rec->pilot.schedule.is_late;
	if (o->files.compat) {
		if (compat_find(o->files.compat, compat, err))
			return err_prefix(err, "--compat");
		sampling->compat = compat;
	}
	if (record_parse_pages(o, ret_pages, err) ||
		event_words_parse(&o->events, defaults, &rec->events, &rec->log, err) ||
		target_init(&rec->target, &o->target, err))
		return err->code;
	if (o->records.has_wall)
		record_wall_add(&rec->events, &rec->log);
	rec->measures_workload = !rec->target.is_system_wide && !rec->target.threads.n;
	if (rec->measures_workload && !rec->command)
		return err_set(err, ERR_INVAL,
			"nothing to record: give a command, a process (-p), a thread (-t) or the whole system (-a)");
	if (o->is_one_group)
		event_make_group(&rec->events);
	return choose_output(rec, err);
}

/* Starts the command, which waits at its gate. */
static int start_command(struct recording *rec, struct err *err)
{
	if (rec->measures_workload)
		say_if_taken_away(rec);
	if (rec->command) {
		if (workload_start(&rec->workload, rec->command, err))
			return err->code;
		rec->has_workload = true;
	}
	if (rec->measures_workload)
		vec_add(&rec->target.threads,
			((struct target_thread){rec->workload.pid, rec->workload.pid}));
	return 0;
}

static int open_samplers(void *ctx, struct err *err)
{
	struct recording *rec = ctx;

	if (open_events(&rec->events, &rec->target, &rec->counters, &rec->log, err))
		return err->code;
	if (!record_deeper_open(rec, err))
		return 0;
	counters_close(&rec->counters);
	return err->code;
}

static void close_samplers(void *ctx)
{
	struct recording *rec = ctx;

	counters_close(&rec->counters);
}

/* Samples on a CPU that is back online; returns how many events failed to open. */
static size_t sample_again(void *ctx, s32 cpu)
{
	struct recording *rec = ctx;
	size_t n_failed = recorder_reopen_cpu(&rec->recorder, cpu, rec->pilot.is_off);

	/* If stacks are walked, the file has its own list of events, with the same ids. */
	for (size_t i = 0; i < rec->unwound.n; i++) {
		rec->unwound.at[i].ids = rec->events.at[i].ids;
		rec->unwound.at[i].n_ids = rec->events.at[i].n_ids;
	}
	if (rec->recorder.filter)
		liveunwind_change_ids(&rec->liveunwind);
	pacing_reopened(&rec->pacing, cpu);
	writer_change_ids(&rec->writer, rec->unwound.n ? &rec->unwound : &rec->events);
	return n_failed;
}

/* Opens everything that is measured on the target, for the recording and its watchers. */
static int open_on_target(struct recording *rec, const struct sampling *sampling, struct err *err)
{
	struct attach *a = &rec->attach;

	attach_init(a, &rec->target, "recorded", &rec->log);
	attach_add(a, &(struct attach_part){rec, open_samplers, close_samplers, sample_again});
	if (record_watchers_add(rec, err) ||
		attach_open(a, sampling->has_no_inherit ? NULL : &rec->options->target, err))
		return err->code;
	attach_warn(a, "samples");
	if (a->late.n) {
		str_add(&rec->notes, "attach: ");
		attach_add_late(a, "samples", &rec->notes);
		str_addc(&rec->notes, '\n');
	}
	return 0;
}

/* Samples that are larger than their ring would all be lost. */
static int check_room(const struct recording *rec, struct err *err)
{
	u64 room = rec->recorder.pages * (u64)sysconf(_SC_PAGESIZE);

	vec_each(e, &rec->events)
		if (e->attr.sample_type & PERF_SAMPLE_STACK_USER &&
			e->attr.sample_stack_user >= room)
			return err_set(err, ERR_INVAL,
				"rings of %llu KiB have no room for samples with %u KiB of stack each: larger rings (-m), less of the stack (--call-graph dwarf,1024) or frame pointers alone (--call-graph fp) help",
				(unsigned long long)room / 1024, e->attr.sample_stack_user / 1024);
	return 0;
}

/*
 * Whole stacks take more room than chains of frame pointers, and repeat the same callers: they are compressed. A stream
 * is not: it is gone when it is read, and its reader may not be able to unpack it.
 */
static int choose_level(struct recording *rec, const struct compat *compat, struct err *err)
{
	bool can_unpack = !compat || compat->can_unpack;

	rec->level = rec->options->files.level;
	if (rec->level > 0 && !can_unpack)
		return err_set(err, ERR_INVAL,
			"-z: perf %s cannot read compressed recordings, 5.2 is the first that can",
			rec->options->files.compat);
	if (rec->level < 0)
		rec->level = rec->recorder.filter && !rec->is_pipe && can_unpack ? PACKER_LEVEL : 0;
	return 0;
}

/*
 * With -C: programs come from other CPUs, where they were started and mapped their files. The tracker reports that from all CPUs, and
 * the events stay on theirs. False: some event would have none left.
 */
static bool keep_to_cpus(struct event_list *events, const struct cpus *list)
{
	vec_each(e, events) {
		size_t n = 0;

		for (size_t i = 0; i < e->cpus.n; i++)
			n += cpus_has(list, e->cpus.at[i]);
		if (e->cpus.n && !n)
			return false;
	}
	vec_each(e, events) {
		size_t n = 0;

		if (!e->cpus.n)
			cpus_add_all(&e->cpus, list);
		for (size_t i = 0; i < e->cpus.n; i++)
			if (cpus_has(list, e->cpus.at[i]))
				e->cpus.at[n++] = e->cpus.at[i];
		e->cpus.n = n;
	}
	return true;
}

static void track_everywhere(struct recording *rec, struct sampling *sampling)
{
	struct cpus online = {0}, *list = &rec->target.cpus;
	bool is_part = false;
	struct err ignored;

	if (!rec->target.has_cpu_list || !rec->target.is_system_wide ||
		cpus_online(&online, &ignored))
		return;
	vec_each(cpu, &online)
		is_part |= !cpus_has(list, *cpu);
	if (is_part && keep_to_cpus(&rec->events, list)) {
		const struct cpus swapped = *list;

		*list = online;
		online = swapped;
		sampling->tracks_everywhere = true;
	}
	cpus_fini(&online);
}

/* Opens the events and maps the rings. */
static int open_rings(struct recording *rec, struct sampling *sampling, u64 pages, struct err *err)
{
	const struct record_options *o = rec->options;
	u64 page_size = (u64)sysconf(_SC_PAGESIZE);

	sampling->is_command = rec->measures_workload;
	record_choose_callers(o, &rec->target, pages, sampling);
	sampling->runs_transactions = tsx_state_here("/sys") == TSX_COUNTED;
	tsx_note_raw("/sys", &rec->events, &rec->log);
	track_everywhere(rec, sampling);
	if (sampling_apply(sampling, &rec->events, &rec->target, &rec->log, err))
		return err->code;
	if (o->verbose > 1)
		say_attrs(rec);
	if (open_on_target(rec, sampling, err) ||
		recorder_open(&rec->recorder, &rec->counters, &rec->events, pages, &rec->log,
			err) ||
		check_room(rec, err))
		return err->code;
	rec->recorder.flush_bytes = MIN(o->rings.flush_bytes, rec->recorder.pages * page_size / 4);
	rec->recorder.affinity = o->rings.affinity;
	if (!o->callers.keeps_stacks)
		unwind_meanwhile(rec);
	foresee_ids(rec);
	return 0;
}

/* Sets up the target, the command at its gate, the events, the rings and the file. */
static int set_up(struct recording *rec, struct err *err)
{
	const struct record_options *o = rec->options;
	struct sampling sampling;
	struct compat compat;
	u64 pages;

	if (understand(rec, &sampling, &compat, &pages, err))
		return err->code;
	if (o->is_dry)
		return 0;
	if (start_command(rec, err) || open_rings(rec, &sampling, pages, err) ||
		choose_level(rec, sampling.compat, err) || record_pilot_open(rec, err))
		return err->code;
	if (o->rings.priority &&
		sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK,
			&(struct sched_param){(int)o->rings.priority}))
		return err_sys(err, errno, "-r %llu: running with a real-time priority",
			(unsigned long long)o->rings.priority);
	if (record_open_output(rec, err))
		return err->code;
	record_watchers_begin(rec);
	return 0;
}

/* Notes that the command outlives its recording. */
static void say_if_running(struct recording *rec)
{
	if (rec->has_workload && !workload_reap(&rec->workload, false))
		log_note(&rec->log, "'%s' (process %d) is still running", rec->command[0],
			rec->workload.pid);
}

/* After Ctrl-C nobody wants to wait: a second one ends the process, and the file keeps what is in it. */
static void let_abort(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
}

/*
 * The recording is over before its command is. A user who says stop means the command too, as with perf; a limit does
 * not.
 */
static void await_command(struct recording *rec)
{
	struct stop *stop = &rec->recorder.stop;
	bool is_running = rec->has_workload && !workload_reap(&rec->workload, false);

	log_note(&rec->log, "%s%s", rec->pilot.why,
		!is_running                  ? ""
			: rec->pilot.is_told ? ": the command is told to end"
					     : "; waiting for the command to end");
	if (!is_running)
		return;
	if (rec->pilot.is_told)
		kill(rec->workload.pid, SIGTERM);
	while (!workload_reap(&rec->workload, false)) {
		poll(&(struct pollfd){.fd = stop->fd, .events = POLLIN}, 1, -1);
		stop_take(stop, &rec->workload);
		if (stop->signal && !stop->is_group)
			kill(rec->workload.pid, stop->signal);
		stop->signal = 0;
	}
}

/* Writes the beginning of the file, then starts the target. */
static int begin(struct recording *rec, struct err *err)
{
	/* From here on the file can be read, even if this process is killed. */
	if (record_write_beginning(rec, err) || writer_sync(&rec->writer, err))
		return err->code;
	if (!rec->measures_workload && !rec->pilot.schedule.is_late &&
		counters_enable(&rec->counters, err))
		return err->code;
	if (rec->has_workload && workload_go(&rec->workload, rec->command[0], err))
		return err->code;
	rec->has_begun = true;
	if (rec->pilot.schedule.is_late && !rec->options->is_quiet)
		fprintf(stderr, "Events disabled\n");
	record_pilot_start(rec);
	return 0;
}

/* The reader of the stream has left. The command goes on all the same; its status is ours unless it is 0. */
static int outlive_reader(struct recording *rec, const struct err *why)
{
	int status;

	log_warn(&rec->log, "%s: the process that read the recording has left", why->msg);
	rec->pilot.why = "the recording is over";
	rec->pilot.is_told = false;
	await_command(rec);
	workload_reap(&rec->workload, true);
	status = workload_exit_status(&rec->workload);
	return status ? status : EXIT_FAILED;
}

/* Completes the file with what was written or kept. *err has the reason already; returns whether it is an error. */
static bool save_what_is_there(struct recording *rec, int *ret_status, const struct err *err)
{
	struct err ignored;

	record_ring_spill(rec, "the end", &ignored);
	record_finish(rec, &ignored);
	if (rec->is_pipe && rec->has_workload && err->sys == EPIPE) {
		*ret_status = outlive_reader(rec, err);
		return false;
	}
	say_if_running(rec);
	return true;
}

static void hand_signal_on(struct recording *rec)
{
	int signal = stop_signal_of_command(&rec->recorder.stop);

	if (rec->has_workload && signal)
		kill(rec->workload.pid, signal);
}

/* Starts the target and records it until it ends. */
static int run(struct recording *rec, int *ret_status, struct err *err)
{
	enum recorder_end end;
	int r;

	if (begin(rec, err))
		return err->code;
	end = recorder_run(&rec->recorder, rec->has_workload ? &rec->workload : NULL, err);
	*ret_status = end == RECORDER_SIGNAL ? 128 + rec->recorder.stop.signal : EXIT_OK;
	record_watchers_say(rec);
	if (end == RECORDER_SIGNAL)
		hand_signal_on(rec);
	if (end == RECORDER_FAILED || record_ring_spill(rec, "the end", err))
		return save_what_is_there(rec, ret_status, err) ? err->code : 0;
	if (end == RECORDER_SIGNAL && rec->recorder.stop.signal == SIGINT)
		let_abort();
	r = record_finish(rec, err);
	if (end == RECORDER_SIGNAL)
		say_if_running(rec);
	if (end == RECORDER_ENOUGH)
		await_command(rec);
	if (rec->has_workload && (end == RECORDER_TARGET_ENDED || end == RECORDER_ENOUGH)) {
		workload_reap(&rec->workload, true);
		*ret_status = workload_exit_status(&rec->workload);
	}
	return r;
}

struct attempt {
	struct recording *rec;
	int status;
};

static void attempt(void *ctx)
{
	struct attempt *a = ctx;
	struct recording *rec = a->rec;
	struct err err;

	if (set_up(rec, &err)) {
		log_forget(&rec->log);
		a->status = cmd_fail(&cmd_record, &err,
			err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED);
		return;
	}
	log_release(&rec->log);
	if (rec->options->is_dry)
		a->status = EXIT_OK;
	else if (run(rec, &a->status, &err))
		a->status = cmd_fail(&cmd_record, &err, EXIT_FAILED);
}

/* Called in the middle of anything, so it closes nothing but the file, with what is in it. Allocates no memory. */
static void leave_without_memory(struct recording *rec, size_t size)
{
	const char *kept = "";
	char running[64] = "";
	struct err err = {0};

	if (rec->has_begun) {
		writer_sync(&rec->writer, &err);
		if (rec->writer.is_file)
			kept = "; what was recorded until then is kept";
		if (rec->has_workload && !workload_reap(&rec->workload, false))
			snprintf(running, sizeof(running), "; process %d is still running",
				rec->workload.pid);
	}
	writer_close(&rec->writer, rec->has_begun);
	if (size)
		fprintf(stderr, "%s record: out of memory (%zu bytes more were needed)%s%s\n",
			program_name(), size, kept, running);
	else
		fprintf(stderr, "%s record: out of memory%s%s\n", program_name(), kept, running);
	_exit(EXIT_FAILED);
}

static void tear_down(struct recording *rec, bool keep_file)
{
	record_switch_close(rec);
	record_pilot_close(rec);
	record_watchers_close(rec);
	attach_fini(&rec->attach);
	roots_fini(&rec->roots);
	str_fini(&rec->notes);
	rotation_fini(&rec->rotation);
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

static int list_registers(const struct record_options *o)
{
	struct out out = {.fd = STDOUT_FILENO};
	struct err err;

	record_add_registers(o, &out.text);
	return out_close(&out, &err) ? cmd_fail(&cmd_record, &err, EXIT_FAILED) : EXIT_OK;
}

static int run_record(int argc, char **argv)
{
	struct record_options o = RECORD_OPTIONS_DEFAULT;
	char **whole = memcpy(mem_alloc((argc + 1) * sizeof(*argv)), argv, argc * sizeof(*argv));
	int whole_n = argc, status = cmd_parse(&cmd_record, &o, OPTS_STOP, &argc, argv);
	struct recording rec = {.options = &o,
		.command = argc ? argv : NULL,
		.argc = whole_n,
		.argv = whole};
	struct attempt one = {.rec = &rec};
	sigset_t signals;
	size_t size;

	if (status >= 0) {
		mem_free(whole);
		return status;
	}
	argv[argc] = NULL;
	if (o.records.has_wall)
		record_wall_imply(&o, record_wall_is_blind());
	if (o.samples.lists_intr_regs || o.samples.lists_user_regs) {
		mem_free(whole);
		return list_registers(&o);
	}
	rec.writer.fd = rec.recorder.epoll_fd = rec.recorder.stop.fd = -1;
	rec.pilot.snapshot_fd = rec.pilot.control.fd = rec.pilot.control.ack_fd = -1;
	rec.growth.growth.fd = rec.growth.clock.fd = rec.pacing.clock.fd = -1;
	cmd_log_init(&rec.log, o.verbose ? LOG_DEBUG : LOG_NOTE);
	if (o.is_quiet)
		rec.log.write = NULL;
	stop_signals(&signals);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* Notes about fallbacks are of no use if the event does not open in the end: they are held until it has. */
	if (!o.verbose)
		log_hold(&rec.log);
	if (!mem_try(attempt, &one, &size))
		leave_without_memory(&rec, size);
	status = one.status;
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
