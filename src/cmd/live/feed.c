#include "cmd/live/feed.h"

#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/live/feedfleet.h"
#include "collect/around/privilege.h"
#include "collect/open/open.h"
#include "collect/record/bpf.h"
#include "collect/record/synth.h"
#include "event/abi.h"
#include "file/tracing.h"
#include "profile/gather/matching.h"

#define HOUR_NS (3600 * 1000000000ULL)

enum {
	NS = 1000000000,
	HOTPLUG_NS = NS / 2,
	QUANTUM_NS = NS / 10, /* of the key time */
	/* How often rings are read, so that what is shown is not older than half a second. */
	READ_NS = NS / 4,
	FORGET_REFRESHES = 8,
	FORGET_BYTES = 4 << 20,
	TRIM_BYTES = 32 << 20,
	RARE_S = 10, /* refreshes that are so rare can give back memory each time */
	STACK_MOST = 127,
	/* Copies of stacks: finding callers at perf's rate takes a fifth of a CPU, and nobody reads so fast. */
	DUMPS_HZ = 1000,
	READ_DUMPS_NS = NS / 20,
	AHEAD_NICE = -10,
};

/* ---- counting ---- */

bool feed_hides(const struct feed_settings *s, u8 mode)
{
	return mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_GUEST_KERNEL
		? s->hides_kernel
		: s->hides_user;
}

static bool is_hidden(const void *feed, u8 mode)
{
	return feed_hides(&((const struct feed *)feed)->settings, mode);
}

/* per record */
static void take(struct feed *f, struct visit *v)
{
	const bool is_sample = v->sample && !v->is_idle;

	f->facts.n_samples += is_sample;
	if (f->wall.is_on)
		wallnow_take(&f->wall.now, v);
	else if (is_sample && !is_hidden(f, v->mode))
		aggregate_add(&f->counted, v);
}

static int take_all(struct feed *f, struct err *err)
{
	struct visit *v;
	int r;

	while ((r = follow_next(&f->follow, &v, err)) > 0)
		take(f, v);
	return r;
}

/* The machine forgets what has ended: counts must not point there. */
static void let_go(void *counted)
{
	aggregate_forget(counted);
}

/* ---- a refresh ---- */

static u64 resident_bytes(void)
{
	unsigned long long pages = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%llu %llu", &pages, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident * (u64)sysconf(_SC_PAGESIZE);
}

void feed_note_costs(struct feed *f, u64 now)
{
	const u64 cpu = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
	struct feed_facts *facts = &f->facts;

	facts->nr++;
	facts->time_ns = clock_ns_of(CLOCK_REALTIME);
	facts->span_ns = now - f->shown_ns;
	facts->own_cpu_pct = 100 * (double)(cpu - f->cpu_ns) / (double)MAX(facts->span_ns, (u64)1);
	facts->own_bytes = resident_bytes();
	f->shown_ns = now;
	f->cpu_ns = cpu;
}

static void note_losses(struct feed *f)
{
	const struct session_tally *t = &f->trace.session.tally;
	const u64 lost = t->n_lost_records + t->n_lost_samples;

	f->facts.n_lost = lost - f->facts.n_lost_all;
	f->facts.n_lost_all = lost;
}

/*
 * Closes files that no count is in any more. Names of code that programs make are read again: they make more all the
 * time.
 */
static void close_files(struct feed *f)
{
	struct resolver *r = &f->trace.resolver;
	bool *is_kept = mem_zalloc(r->n_dsos + 1);

	vec_each(dso, &f->counted.profile.dsos)
		if (dso->source < r->n_dsos)
			is_kept[dso->source] = dso->kind != DSO_JIT;
	resolver_forget(r, is_kept);
	mem_free(is_kept);
}

static void fade(struct feed *f)
{
	/* Of time on and off CPUs all that passed since the last refresh is known: nothing has to be added up for longer. */
	if (f->settings.is_zeroed || f->wall.is_on)
		aggregate_decay(&f->counted, 0);
	else
		aggregate_fade(&f->counted, 7, 8, &f->fade_rest);
	if (f->facts.nr % FORGET_REFRESHES == 0 || f->settings.is_zeroed || f->wall.is_on ||
		aggregate_bytes(&f->counted) > FORGET_BYTES)
		aggregate_forget(&f->counted);
	if (f->facts.nr % FORGET_REFRESHES == 0)
		close_files(f);
}

/*
 * Opens the files of the DSOs that were counted. Reading a table of symbols touches more of a file than using it: the
 * memory is given back before the next one is read.
 */
static void open_files(struct feed *f)
{
	struct trace *t = &f->trace;

	resolver_settle(&t->resolver);
	vec_each(dso, &f->counted.profile.dsos) {
		if (resolver_has_loaded(&t->resolver, dso->source))
			continue;
		resolver_load(&t->resolver, t->machine.dsos.at.at[dso->source]);
		dso_files_rest(&t->files);
	}
}

/* A refresh is what costs most, so looks are at refreshes; the first one opens files that stay open. */
static int keep_pace(struct feed *f, struct err *err)
{
	enum governor_reason reason;
	double overhead;

	if (!f->pacing.recorder)
		return 0;
	if (f->facts.nr > 1)
		return pacing_look(&f->pacing, clock_now_ns(), &reason, &overhead, err);
	f->pacing.looked_ns = clock_now_ns();
	f->pacing.cpu_ns = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
	return 0;
}

/* When the next refresh is due. */
static u64 next_due(const struct feed *f)
{
	const u64 delay = (u64)(f->settings.delay_s * NS), now = clock_now_ns();
	u64 real, next;

	if (!f->options.is_aligned)
		return now + delay;
	real = clock_ns_of(CLOCK_REALTIME);
	next = MIN(real - real % delay + delay, real - real % HOUR_NS + HOUR_NS);
	return now + (next - real);
}

static bool refresh(struct feed *f)
{
	struct moment shown;
	bool is_enough;

	if (f->wall.is_on)
		livewall_settle(&f->wall, f->trace.machine.followed_to, &f->follow.visits,
			&f->facts.wall);
	aggregate_flush(&f->counted, UINT64_MAX);
	open_files(f);
	moment_init(&shown, &f->counted, &f->trace.resolver, &f->showing);
	dso_files_rest(&f->trace.files);
	feed_note_costs(f, clock_now_ns());
	note_losses(f);
	is_enough = f->show(f->ctx, &shown, &f->facts);
	f->facts.n_samples = 0;
	fade(f);
	/* What making it took lies in many small pieces. */
	if (f->facts.own_bytes > TRIM_BYTES || f->settings.delay_s >= RARE_S)
		malloc_trim(0);
	return is_enough;
}

void feed_forget(struct feed *f)
{
	if (f->fleet) {
		f->due_ns = 0;
		return;
	}
	aggregate_decay(&f->counted, 0);
	aggregate_forget(&f->counted);
	f->due_ns = MIN(f->due_ns, clock_now_ns() + READ_NS);
}

void feed_pause(struct feed *f, bool is_paused)
{
	struct err ignored;

	if (f->settings.is_paused == is_paused)
		return;
	f->settings.is_paused = is_paused;
	if (f->fleet)
		return;
	/* What threads do meanwhile is not known. */
	if (f->wall.is_on)
		wallnow_forget(&f->wall.now);
	(void)(is_paused ? counters_disable(&f->counters, &ignored)
			 : counters_enable(&f->counters, &ignored));
}

static bool steer(struct feed *f)
{
	u64 ignored;

	if (f->wake_fd)
		(void)!read(f->wake_fd, &ignored, sizeof(ignored));
	return f->steer(f->ctx);
}

static int look(void *ctx, bool *ret_is_end, struct err *err)
{
	struct feed *f = ctx;
	u64 now;

	if (take_all(f, err))
		return err->code;
	if (f->wall.is_on && !f->settings.is_paused && livewall_look(&f->wall, &f->sink, err))
		return err->code;
	if (f->steer && steer(f)) {
		*ret_is_end = true;
		return 0;
	}
	now = clock_now_ns();
	if (now >= f->hotplug_ns) {
		attach_look(&f->attach);
		f->hotplug_ns = now + HOTPLUG_NS;
	}
	if (now >= f->due_ns) {
		*ret_is_end = !f->settings.is_paused && refresh(f);
		f->due_ns = next_due(f);
		if (keep_pace(f, err))
			return err->code;
	}
	f->pilot.due_ns = MIN(f->due_ns, clock_now_ns() + (f->has_dumps ? READ_DUMPS_NS : READ_NS));
	f->pilot.due_ns = MIN(f->pilot.due_ns, livewall_due(&f->wall));
	return 0;
}

/* ---- whom ---- */

static bool is_anybody_named(const struct target_words *w)
{
	return w->all_cpus || w->pids || w->tids || w->cpus || w->users;
}

/* Without -a and the like: everything, or all that this user may see. */
static void choose_target(struct feed *f, struct target_words *w)
{
	struct privilege privilege;
	char why[512];

	f->whose = w->pids || w->tids ? "named processes"
		: w->users            ? "processes of a user"
		: f->command          ? "a command"
		: w->cpus             ? "all processes on some CPUs"
				      : "all processes";
	if (is_anybody_named(w) || f->command)
		return;
	privilege_read(&privilege);
	if (privilege_allows(&privilege, PRIVILEGE_CPU)) {
		w->all_cpus = true;
		return;
	}
	snprintf(f->uid, sizeof(f->uid), "%u", geteuid());
	w->users = f->uid;
	f->whose = "your own processes";
	log_note(f->log, "only your own processes are %s: %s", f->options.done,
		privilege_explain(&privilege, PRIVILEGE_CPU, why, sizeof(why)));
}

/* That nothing runs as this user is said in other words to one who named no user. */
static int find_target(struct feed *f, const struct target_words *words, struct err *err)
{
	if (target_init(&f->target, words, err) != ERR_NOENT || words->users != f->uid)
		return err->code;
	return err_set(err, ERR_NOENT,
		"only your own processes can be %s, and nothing else runs as user %s: %s, or get the right to see all processes ('pace doctor' says how)",
		f->options.done, f->uid, f->options.instead);
}

/* ---- opening ---- */

static int open_samplers(void *ctx, struct err *err)
{
	struct feed *f = ctx;

	return open_events(&f->events, &f->target, &f->counters, f->log, err);
}

static void close_samplers(void *ctx)
{
	counters_close(&((struct feed *)ctx)->counters);
}

/* Samples on a CPU that is back online. */
static size_t sample_again(void *ctx, s32 cpu)
{
	struct feed *f = ctx;
	const size_t n_failed = recorder_reopen_cpu(&f->recorder, cpu, false);

	pacing_reopened(&f->pacing, cpu);
	session_change_ids(&f->trace.session);
	return n_failed;
}

static int open_counters(struct feed *f, struct err *err)
{
	const struct feed_options *o = &f->options;
	struct record_options record = *o->record;
	struct target_words words = o->record->target;
	struct sampling sampling;
	u64 pages;

	choose_target(f, &words);
	if (record.records.has_wall)
		record_wall_imply(&record, true);
	if (record_sampling(&record, &sampling, err) ||
		record_parse_pages(o->record, &pages, err) ||
		event_words_parse(&o->record->events, "cycles:P", &f->events, f->log, err) ||
		find_target(f, &words, err))
		return err->code;
	f->n_events = (u32)f->events.n;
	if (record.records.has_wall)
		record_wall_add(&f->events, f->log);
	if (f->command) {
		if (workload_start(&f->workload, f->command, err))
			return err->code;
		f->has_workload = true;
		f->measures_workload = !f->target.is_system_wide && !f->target.threads.n;
		if (f->measures_workload)
			vec_add(&f->target.threads,
				((struct target_thread){f->workload.pid, f->workload.pid}));
	}
	/* Copies of stacks at every switch are for those who ask for callers. */
	if (o->record->callers.has_chains)
		record_choose_callers(&record, &f->target, pages, &sampling);
	f->has_dumps = sampling.stack_bytes;
	if (f->has_dumps && !sampling.frequency && !sampling.period && !sampling.is_max)
		sampling.frequency = DUMPS_HZ;
	sampling.is_command = f->measures_workload;
	if (sampling_apply(&sampling, &f->events, &f->target, f->log, err))
		return err->code;
	attach_init(&f->attach, &f->target, f->options.done, f->log);
	attach_add(&f->attach,
		&(struct attach_part){f, open_samplers, close_samplers, sample_again});
	if (attach_open(&f->attach, sampling.has_no_inherit ? NULL : &words, err))
		return err->code;
	attach_warn(&f->attach, "samples");
	return recorder_open(&f->recorder, &f->counters, &f->events, pages, f->log, err);
}

struct synth_to_feed {
	struct synth synth;
	struct feed *feed;
};

static int flush_synth(void *ctx, struct err *err)
{
	struct synth_to_feed *to = ctx;
	int r = sink_append(&to->feed->sink, to->synth.out.at, to->synth.out.n, err);

	str_clear(&to->synth.out);
	return r;
}

/* What exists already, as records in front of all others. */
static int describe(struct feed *f, struct err *err)
{
	struct synth_to_feed to = {.feed = f};
	struct sample_format format;
	pid_t last = 0;
	int r = 0;

	sample_format_init(&format, &f->events.at[0].attr);
	synth_init(&to.synth, format.trailer, f->log);
	to.synth.what = SYNTH_ALL;
	to.synth.has_no_maps = f->measures_workload;
	synth_kernel(&to.synth);
	synth_modules(&to.synth);
	bpf_synth(to.synth.trailer, &to.synth.out);
	if (f->options.record->records.has_cgroups)
		synth_cgroups(&to.synth);
	if (f->target.is_system_wide)
		r = synth_all(&to.synth, flush_synth, &to, err);
	vec_each(t, &f->target.threads) {
		if (t->pid != last)
			synth_process(&to.synth, t->pid);
		last = t->pid;
	}
	r = r || flush_synth(&to, err);
	synth_fini(&to.synth);
	return r ? err->code : 0;
}

void feed_choose_names(const struct feed *f, struct resolver *r)
{
	const struct symbol_options *s = f->options.symbols;

	r->vmlinux = s->vmlinux;
	r->kallsyms_copy = s->kallsyms;
	r->ignores_vmlinux = s->ignores_vmlinux;
	r->ignores_made = !s->makes_names;
}

/* What moments are made from. */
static void choose_showing(struct feed *f, enum naming_source source)
{
	const struct symbol_options *s = f->options.symbols;

	f->showing = (struct moment_options){
		.naming = {.n_workers = 1,
			.style = symbol_options_style(s, f->options.record->verbose),
			.source = source,
			.has_inlined = f->options.has_inlined && !source},
		.has_idle = f->options.has_idle,
		.has_wall = f->options.record->records.has_wall,
		.filter = f->options.filter,
		.ignored_callees = f->ignores_callees ? &f->ignored_callees : NULL};
}

static int append_to_both(void *ctx, const struct iovec *runs, int n, struct err *err)
{
	const struct feed *f = ctx;
	const struct sink *also = f->options.also;

	return also->append(also->ctx, runs, n, err)
		? err->code
		: f->counting_sink.append(f->counting_sink.ctx, runs, n, err);
}

static int sync_counting(void *ctx, struct err *err)
{
	return sink_sync(&((const struct feed *)ctx)->counting_sink, err);
}

static int open_counting(struct feed *f, const struct feed_needs *needs, struct err *err)
{
	const struct feed_options *o = &f->options;
	struct find_places places = {.symfs = o->symbols->symfs ? o->symbols->symfs : "",
		.log = f->log,
		.is_now = true};

	const bool has_wall = o->record->records.has_wall;
	struct err lacking;

	trace_begin_live(&f->trace, &f->events, &places);
	/* Where in their samples wake-ups name a thread. */
	if (has_wall && tracing_is_needed(&f->events) &&
		tracing_write(NULL, &f->events, &f->trace.session.reader.info.tracing_data, err))
		return err->code;
	feed_choose_names(f, &f->trace.resolver);
	choose_showing(f, needs->source);
	f->counting = (struct aggregate_options){.labels = needs->labels |
			profile_filter_labels(o->filter),
		.has_stacks = o->record->callers.has_chains || has_wall,
		.wall = has_wall ? &f->wall.now.wall : NULL,
		.max_stack = o->count_most ? (u32)o->count_most : STACK_MOST};
	for (unsigned label = LABEL_NONE + 1; label < LABEL_COUNT; label++)
		if (needs->welcome & LABEL_BIT(label) &&
			!label_check(&f->trace.session, label, &lacking))
			f->counting.labels |= LABEL_BIT(label);
	for (unsigned label = LABEL_NONE + 1; label < LABEL_COUNT; label++)
		if (f->counting.labels & LABEL_BIT(label) &&
			label_check(&f->trace.session, label, err))
			return err->code;
	follow_init(&f->follow, &f->trace, FOLLOW_LIVE,
		aggregate_needs(&f->counting) | (has_wall ? PERF_SAMPLE_RAW : 0) |
			(f->counting.has_stacks ? visits_need_for_callers(&f->trace) : 0));
	if (label_facts_init(&f->label_facts, &f->trace.session, &f->trace.machine,
		    f->counting.labels, err))
		return err->code;
	f->label_facts.time_quantum = QUANTUM_NS;
	aggregate_init(&f->counted, &f->trace, &f->counting, &f->label_facts);
	if (has_wall) {
		f->facts.has_wall = true;
		f->wall.counted = &f->counted;
		f->wall.is_hidden = is_hidden;
		f->wall.ctx = f;
		livewall_begin(&f->wall, &f->trace.session, &f->events, &f->target,
			o->record->target.tids);
	}
	f->follow.let_go = let_go;
	f->follow.borrower = &f->counted;
	f->sink = f->counting_sink = follow_sink(&f->follow);
	if (o->also)
		f->sink = (struct sink){f, append_to_both, sync_counting};
	f->recorder.sink = &f->sink;
	return 0;
}

int feed_open(struct feed *f, const struct feed_needs *needs, struct err *err)
{
	const struct feed_options *o = &f->options;

	f->recorder.epoll_fd = f->recorder.stop.fd = -1;
	f->settings = (struct feed_settings){o->hides_kernel, o->hides_user, o->is_zeroed, false,
		o->delay_s};
	if (o->ignored_callees) {
		if (matching_compile(&f->ignored_callees, o->ignored_callees, err))
			return err_prefix(err, "--ignore-callees");
		f->ignores_callees = true;
	}
	if (o->fleet)
		return feedfleet_open(f, needs, err);
	if (open_counters(f, err) || open_counting(f, needs, err) || describe(f, err))
		return err->code;
	if (o->record->rings.priority &&
		sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK,
			&(struct sched_param){(int)o->record->rings.priority}))
		return err_sys(err, errno, "-r %llu: running with a real-time priority",
			(unsigned long long)o->record->rings.priority);
	f->shown_ns = clock_now_ns();
	f->cpu_ns = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
	f->due_ns = next_due(f);
	f->hotplug_ns = f->target.is_system_wide ? f->shown_ns + HOTPLUG_NS : UINT64_MAX;
	if (f->wake_fd && recorder_watch(&f->recorder, f->wake_fd, err))
		return err->code;
	f->pilot = (struct recorder_pilot){f, f->shown_ns + READ_NS, look};
	f->recorder.pilot = &f->pilot;
	return 0;
}

enum recorder_end feed_run(struct feed *f, struct err *err)
{
	enum recorder_end end;

	if (f->fleet)
		return feedfleet_run(f, err);
	if (!f->measures_workload && counters_enable(&f->counters, err))
		return RECORDER_FAILED;
	if (f->has_workload && workload_go(&f->workload, f->command[0], err))
		return RECORDER_FAILED;
	/* Copies of stacks fill a ring in the time that busy programs may make us wait for a CPU. */
	if (f->has_dumps)
		(void)setpriority(PRIO_PROCESS, 0, AHEAD_NICE);
	if (f->options.record->timing.overhead_pct)
		pacing_begin(&f->pacing, &f->recorder, &f->target,
			f->options.record->timing.overhead_pct / 100, f->log);
	end = recorder_run(&f->recorder, f->has_workload ? &f->workload : NULL, err);
	if (end != RECORDER_TARGET_ENDED && (end != RECORDER_SIGNAL || !f->options.shows_rest))
		return end;
	follow_end(&f->follow);
	if (take_all(f, err) < 0)
		return RECORDER_FAILED;
	refresh(f);
	return end;
}

void feed_close(struct feed *f)
{
	feedfleet_close(f);
	attach_fini(&f->attach);
	pacing_end(&f->pacing);
	recorder_close(&f->recorder);
	counters_close(&f->counters);
	if (f->has_workload)
		workload_close(&f->workload);
	if (f->counted.trace)
		aggregate_fini(&f->counted);
	livewall_end(&f->wall);
	if (f->label_facts.session)
		label_facts_fini(&f->label_facts);
	follow_fini(&f->follow);
	if (f->trace.log)
		trace_close(&f->trace);
	if (f->ignores_callees)
		regfree(&f->ignored_callees);
	target_fini(&f->target);
	event_list_fini(&f->events);
}
