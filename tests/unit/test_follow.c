#include "trace/follow.h"

#include <malloc.h>
#include <unistd.h>

#include "record/regs.h"
#include "test.h"
#include "unit/caught.h"
#include "unit/recording.h"

enum {
	FIELDS = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_PERIOD,
};

/* "time:TYPE of comm" for each record, samples with their event and their function's file. */
static void tell(struct str *text, struct visit *v)
{
	const struct thread_state *state;
	const struct map *map;

	str_addf(text, "%llu %llu:%s", (unsigned long long)v->nr, (unsigned long long)v->time,
		record_type_name(v->rec->type));
	if (v->sample) {
		state = visit_state(v);
		map = machine_find(state->user, v->sample->ip);
		str_addf(text, " %u %llu of %s in %s", v->event,
			(unsigned long long)v->sample->period, state->comm,
			map ? map->dso->path : "nothing");
	}
	str_add(text, "\n");
}

static void tell_all(struct str *text, struct follow *f)
{
	struct visit *v;
	struct err err;
	int r;

	while ((r = follow_next(f, &v, &err)) > 0)
		tell(text, v);
	CHECK_EQ(r, 0);
}

/* As if a recorder had found that much in its rings, in two pieces that part anywhere. */
static void push(struct follow *f, const void *records, size_t n, size_t cut)
{
	struct iovec runs[2] = {{(void *)records, cut}, {(u8 *)records + cut, n - cut}};
	struct sink sink = follow_sink(f);
	struct err err;

	CHECK_EQ(sink.append(sink.ctx, runs, 2, &err), 0);
	CHECK_EQ(sink_sync(&sink, &err), 0);
}

/* Records of two rings by turns, round by round: those of one moment are far from each other. */
static void make_disorder(struct recording *r)
{
	const struct recording_who who = {7, 7, 0};

	recording_event(r, "first", FIELDS, 1, 1);
	recording_event(r, "second", FIELDS, 2, 1);
	recording_comm(r, 0, who, "begins");
	recording_mmap(r, PERF_RECORD_MISC_USER, who, 0x1000, 0x1000, 0, "/bin/one");
	for (u64 round = 0; round < 50; round++) {
		for (u64 i = 0; i < 7; i++)
			recording_sample(r, 0, PERF_RECORD_MISC_USER,
				&(struct sample){.id = 1,
					.ip = 0x1800,
					.pid = 7,
					.tid = 7,
					.time = 10 + round * 20 + 2 * i,
					.period = 1});
		for (u64 i = 0; i < 5; i++) {
			struct recording_who then = {7, 7, 11 + round * 20 + 3 * i};

			if (i == 2)
				recording_comm(r, 0, then, round % 2 ? "odd" : "even");
			else if (i == 3 && round % 8 == 7)
				recording_mmap(r, PERF_RECORD_MISC_USER, then, 0x1000, 0x1000, 0,
					round % 16 == 7 ? "/bin/two" : "/bin/three");
			else
				recording_sample(r, 1, PERF_RECORD_MISC_USER,
					&(struct sample){.id = 2,
						.ip = 0x1800,
						.pid = 7,
						.tid = 7,
						.time = then.time,
						.period = i});
		}
		recording_raw(r, PERF_RECORD_FINISHED_ROUND, 0, NULL, 0);
	}
}

TEST(follow_live_says_what_the_same_records_say_out_of_a_file)
{
	struct str of_file = {0}, live = {0};
	struct trace_options options = {0};
	struct recording r = {0};
	struct trace t = {0}, now = {0};
	struct follow f = {0};
	struct err err;
	size_t at = 0;

	make_disorder(&r);
	recording_write(&r, NULL, test_path("perf.data"));
	CHECK_EQ(trace_open(&t, test_path("perf.data"), NULL, &err), 0);
	CHECK_EQ(trace_begin(&t, &options, &err), 0);
	follow_init(&f, &t, FOLLOW_IN_TIME, FIELDS);
	tell_all(&of_file, &f);
	CHECK_EQ(t.session.tally.n_samples, f.stream.n_read - 108);
	follow_fini(&f);
	trace_close(&t);
	/* With pauses at the ends of rounds, in the middle of them, and at once. */
	for (size_t each = 100; each < 100000; each *= 7) {
		str_clear(&live);
		trace_begin_live(&now, &r.events, NULL);
		follow_init(&f, &now, FOLLOW_LIVE, FIELDS);
		for (size_t next, i = at = 0; at < r.data.n; at = next) {
			for (next = at; next < r.data.n && next < at + each;)
				next = ++i < r.starts.n ? r.starts.at[i] : r.data.n;
			push(&f, r.data.at + at, next - at, (next - at) / 2 + 3);
			tell_all(&live, &f);
		}
		CHECK(strcmp(str_text(&live), str_text(&of_file)));
		follow_end(&f);
		tell_all(&live, &f);
		CHECK_STR(str_text(&live), str_text(&of_file));
		CHECK_EQ(f.stream.disorder.n_late, 0);
		CHECK(f.stream.disorder.n_backwards > 100);
		follow_fini(&f);
		trace_close(&now);
	}
	CHECK(strstr(str_text(&of_file), "of odd in /bin/two"));
	str_fini(&of_file);
	str_fini(&live);
	recording_fini(&r);
}

TEST(follow_live_has_every_visit_two_rounds_later)
{
	struct recording r = {0};
	struct trace t = {0};
	struct follow f = {0};
	struct visit *v;
	struct err err;
	u64 last = 0, n = 0;
	size_t from = 0;

	make_disorder(&r);
	trace_begin_live(&t, &r.events, NULL);
	follow_init(&f, &t, FOLLOW_LIVE, FIELDS);
	for (size_t i = 0; i < r.starts.n; i++) {
		struct record rec =
			recording_view(r.data.at + r.starts.at[i], r.data.n - r.starts.at[i]);

		if (rec.type != PERF_RECORD_FINISHED_ROUND)
			continue;
		push(&f, r.data.at + from, r.starts.at[i] + rec.size - from, 0);
		from = r.starts.at[i] + rec.size;
		while (follow_next(&f, &v, &err) > 0) {
			last = v->time ? v->time : last;
			n += v->sample != NULL;
		}
		CHECK(!n || last + 20 >= f.stream.n_read / 13 * 20 - 40);
	}
	CHECK_EQ(last, 10 + 48 * 20 + 13);
	CHECK(n >= 49 * 10 && n < t.session.tally.n_samples);
	follow_fini(&f);
	trace_close(&t);
	recording_fini(&r);
}

/* ---- for days ---- */

#if defined(__x86_64__)

#if defined(__SANITIZE_ADDRESS__)
size_t __sanitizer_get_current_allocated_bytes(void);
#endif

static u64 bytes_in_use(void)
{
#if defined(__SANITIZE_ADDRESS__)
	return __sanitizer_get_current_allocated_bytes();
#else
	return mallinfo2().uordblks;
#endif
}

struct churn {
	const struct caught *caught;
	struct recording recording;
	struct trace trace;
	struct follow follow;
	u64 n_samples, n_odd, n_walked;
};

static void init_churn(struct churn *c)
{
	struct event *e;

	c->caught = caught();
	recording_event(&c->recording, "with dumps",
		FIELDS | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, 1, 1);
	e = &c->recording.events.at[0];
	e->attr.sample_regs_user = regs_for_callers(arch_of_host());
	e->attr.sample_stack_user = CAUGHT_STACK;
	trace_begin_live(&c->trace, &c->recording.events, NULL);
	follow_init(&c->follow, &c->trace, FOLLOW_LIVE, UINT64_MAX);
}

/* A process that does what this one does, for 10 us. The sample's ring is read before that of its maps. */
static void add_process(struct churn *c, u32 pid, u64 now, const char *comm)
{
	const struct caught *all = c->caught;
	struct recording *r = &c->recording;
	struct recording_who who = {pid, pid, now};
	u64 n = all->n_stack & ~7ull;

	recording_sample(r, 0, PERF_RECORD_MISC_USER,
		&(struct sample){.id = 1,
			.ip = all->regs[8],
			.pid = pid,
			.tid = pid,
			.time = now + 5000,
			.period = 1,
			.user_regs = {PERF_SAMPLE_REGS_ABI_64, {(const u8 *)all->regs, 20}},
			.user_stack = {{all->stack, (u32)n}, n}});
	recording_fork(r, 1, 1, who);
	who.time += 1000;
	recording_comm(r, PERF_RECORD_MISC_COMM_EXEC, who, comm);
	for (size_t i = 0; i < all->n_code; i++)
		recording_mmap(r, PERF_RECORD_MISC_USER, who, all->code[i].start,
			all->code[i].end - all->code[i].start, all->code[i].pgoff,
			all->code[i].path);
	who.time += 8000;
	recording_exit(r, who);
}

static void check_visit(struct churn *c, struct visit *v)
{
	const struct caught *all = c->caught;
	const struct thread_state *state;

	if (!v->sample)
		return;
	state = visit_state(v);
	CHECK_EQ(state->thread->pid, v->sample->pid);
	CHECK_STR(state->comm, v->sample->time / 10000 % 2 ? "odd" : "even");
	CHECK(machine_find(state->user, v->sample->ip));
	c->n_odd += !strcmp(state->comm, "odd");
	/* Under the sanitizers walks take long; some fill what remembers the latest ones. */
	if (c->n_samples++ % 10)
		return;
	CHECK(visit_callers(v));
	CHECK_EQ(v->end.ending, STACK_COMPLETE);
	CHECK(v->chain.n > (u64)all->n_callers);
	for (int i = 1; i < all->n_callers; i++)
		CHECK_EQ(load_u64(v->chain.at + 8 * (i + 1)), (u64)(uintptr_t)all->callers[i]);
	c->n_walked++;
}

static void pump(struct churn *c)
{
	struct recording *r = &c->recording;
	struct visit *v;
	struct err err;
	int result;

	push(&c->follow, r->data.at, r->data.n, r->data.n / 3);
	str_clear(&r->data);
	r->starts.n = 0;
	while ((result = follow_next(&c->follow, &v, &err)) > 0)
		check_visit(c, v);
	CHECK_EQ(result, 0);
}

TEST(follow_live_of_100000_short_processes_takes_no_more_memory_than_of_some)
{
	enum { PROCESSES = 100000, A_ROUND = 100, NS = 10000 };
	static struct churn c; /* not on the stack, which is to fit into a copy */
	u64 most = 0, most_of_half = 0;

	init_churn(&c);
	/* 100 a second. */
	for (u32 i = 1; i <= PROCESSES; i++) {
		u64 now = (u64)i * 1000 * NS + (i % 2 ? NS : 0);

		add_process(&c, 2 + i % 30000, now, i % 2 ? "odd" : "even");
		if (i % A_ROUND)
			continue;
		recording_raw(&c.recording, PERF_RECORD_FINISHED_ROUND, 0, NULL, 0);
		pump(&c);
		/* It goes up and down, as what has ended is forgotten together. */
		most = MAX(most, bytes_in_use());
		if (i <= PROCESSES / 2)
			most_of_half = most;
	}
	CHECK(most <= most_of_half + most_of_half / 50);
	CHECK(c.trace.machine.threads.n < 2000);
	follow_end(&c.follow);
	pump(&c);
	CHECK_EQ(c.n_samples, PROCESSES);
	CHECK_EQ(c.n_odd, PROCESSES / 2);
	CHECK_EQ(c.n_walked, PROCESSES / 10);
	CHECK_EQ(c.follow.stream.disorder.n_late, 0);
	CHECK_EQ(c.trace.session.tally.n_undecoded, 0);
	follow_fini(&c.follow);
	trace_close(&c.trace);
	recording_fini(&c.recording);
}

#endif
