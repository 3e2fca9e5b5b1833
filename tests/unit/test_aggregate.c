#include "profile/gather/aggregate.h"

#include "event/abi.h"
#include "test.h"
#include "trace/follow.h"
#include "unit/recording.h"

/* ---- a machine that is measured now ---- */

struct scene {
	struct event events[2];
	struct event_list list;
	struct trace trace;
	struct visits visits;
	struct sample_format format;
	struct label_facts facts;
	struct aggregate counted;
};

static void begin(struct scene *s, const struct aggregate_options *options)
{
	struct err err;

	memset(s, 0, sizeof(*s));
	s->events[0].name = "cycles";
	s->events[1].name = "faults";
	s->list.at = s->events;
	s->list.n = ARRAY_SIZE(s->events);
	s->format.type = PERF_SAMPLE_CALLCHAIN;
	trace_begin_live(&s->trace, &s->list, NULL);
	visits_init(&s->visits, &s->trace);
	CHECK(!label_facts_init(&s->facts, &s->trace.session, &s->trace.machine, 0, &err));
	aggregate_init(&s->counted, &s->trace, options, &s->facts);
}

static void end(struct scene *s)
{
	aggregate_fini(&s->counted);
	label_facts_fini(&s->facts);
	visits_fini(&s->visits);
	trace_close(&s->trace);
}

static void apply(struct scene *s, u32 type, u16 misc, const union record_body *body, u64 time)
{
	const struct record rec = {.type = type, .misc = misc, .size = 8};

	machine_apply(&s->trace.machine, &rec, body, time);
}

static struct record_bytes run_of(const char *text)
{
	return (struct record_bytes){(const u8 *)text, strlen(text)};
}

static void map(struct scene *s, u64 time, u32 pid, u64 addr, const char *path)
{
	const union record_body body = {.mmap = {.pid = pid,
						.tid = pid,
						.addr = addr,
						.len = 0x1000,
						.path = run_of(path)}};

	apply(s, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, &body, time);
}

static void exec(struct scene *s, u64 time, u32 pid, const char *name)
{
	const union record_body body = {.comm = {pid, pid, run_of(name)}};

	apply(s, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, &body, time);
}

static void fork_or_exit(struct scene *s, u32 type, u64 time, u32 ppid, u32 pid)
{
	const union record_body body = {
		.task = {.pid = pid, .ppid = ppid, .tid = pid, .ptid = ppid, .time = time}};

	apply(s, type, PERF_RECORD_MISC_USER, &body, time);
}

struct at {
	u32 event, pid;
	u64 time, ip, caller; /* 0: none */
};

static void add(struct scene *s, struct at at, u64 period)
{
	const u64 chain[] = {PERF_CONTEXT_USER, at.ip, at.caller};
	const struct sample sample = {.ip = at.ip,
		.pid = at.pid,
		.tid = at.pid,
		.time = at.time,
		.period = period,
		.chain = {(const u8 *)chain, at.caller ? 3 : 0}};
	const struct record rec = {.type = PERF_RECORD_SAMPLE, .size = 8};
	struct visit v = {.visits = &s->visits,
		.rec = &rec,
		.sample = &sample,
		.format = &s->format,
		.time = at.time,
		.event = at.event,
		.taken_by = at.event,
		.mode = PERF_RECORD_MISC_USER};

	visits_follow(&s->visits);
	aggregate_add(&s->counted, &v);
}

/* ---- a profile as text ---- */

static void add_frame(const struct profile *p, u32 frame, struct str *text)
{
	const struct profile_frame *f = &p->frames.at[frame];

	if (f->ending)
		str_addf(text, "!%u ", f->ending);
	else
		str_addf(text, "%s+0x%llx ", p->dsos.at[f->dso].name,
			(unsigned long long)f->address);
}

static const char *text_of(const struct profile *p)
{
	static struct str text;

	str_clear(&text);
	for (size_t i = 0; i < p->rows.n; i++) {
		const struct profile_row *row = &p->rows.at[i];

		str_addf(&text, "%s ", p->events.at[row->event].name);
		if (p->labels & LABEL_BIT(LABEL_COMM))
			str_addf(&text, "%s ", profile_text(profile_label(p, i, LABEL_COMM)));
		add_frame(p, row->frame, &text);
		for (u32 n = row->callers; n; n = p->stacks.at[n].parent)
			add_frame(p, p->stacks.at[n].frame, &text);
		str_addf(&text, "%llu %llu\n", (unsigned long long)row->n_samples,
			(unsigned long long)row->period);
	}
	vec_each(e, &p->events)
		str_addf(&text, "%s %llu %llu\n", e->name, (unsigned long long)e->n_samples,
			(unsigned long long)e->period);
	vec_each(e, &p->endings)
		str_addf(&text, "!%u %s %llu\n", e->ending, p->dsos.at[e->dso].name,
			(unsigned long long)e->n_samples);
	return str_text(&text);
}

/* ---- tests ---- */

static const struct aggregate_options all = {.labels = LABEL_BIT(LABEL_COMM), .has_stacks = true};

static void add_some(struct scene *s, u64 time, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		add(s, (struct at){0, 7, time, 0x1010, 0x2020}, 10);
		add(s, (struct at){0, 7, time, 0x1010, 0}, 20);
		add(s, (struct at){1, 7, time, 0x1010 + i, 0x2020}, 1);
		/* A caller where no map is: who compiled this kept no frame pointer. */
		add(s, (struct at){0, 7, time, 0x1014, 0x9000}, 4);
	}
}

static void set_up(struct scene *s)
{
	exec(s, 1, 7, "seven");
	map(s, 2, 7, 0x1000, "/bin/seven");
	map(s, 2, 7, 0x2000, "/lib/libc.so");
}

TEST(aggregate_that_is_flushed_often_has_what_is_flushed_once)
{
	struct scene s;
	char *once;

	begin(&s, &all);
	set_up(&s);
	add_some(&s, 10, 4);
	exec(&s, 20, 7, "eight");
	map(&s, 21, 7, 0x1000, "/bin/eight");
	add_some(&s, 30, 6);
	CHECK(aggregate_flush(&s.counted, UINT64_MAX));
	once = mem_strdup(text_of(&s.counted.profile));
	end(&s);
	CHECK_HAS(once, "cycles seven seven+0x10 libc.so+0x20 4 40\n");
	CHECK_HAS(once, "cycles eight eight+0x10 6 120\n");
	CHECK_HAS(once, "cycles 30 340\nfaults 10 10\n");

	begin(&s, &all);
	set_up(&s);
	add_some(&s, 10, 1);
	CHECK(aggregate_flush(&s.counted, UINT64_MAX));
	CHECK(aggregate_flush(&s.counted, UINT64_MAX));
	add_some(&s, 11, 4); /* of which some are new */
	CHECK(aggregate_flush(&s.counted, UINT64_MAX));
	CHECK_HAS(text_of(&s.counted.profile), "cycles seven seven+0x10 libc.so+0x20 5 50\n");
	end(&s);

	begin(&s, &all);
	set_up(&s);
	add_some(&s, 10, 4);
	CHECK(aggregate_flush(&s.counted, UINT64_MAX));
	exec(&s, 20, 7, "eight");
	map(&s, 21, 7, 0x1000, "/bin/eight");
	for (unsigned i = 0; i < 6; i++) {
		add(&s, (struct at){0, 7, 30, 0x1010, 0x2020}, 10);
		add(&s, (struct at){0, 7, 30, 0x1010, 0}, 20);
		CHECK(aggregate_flush(&s.counted, UINT64_MAX));
		add(&s, (struct at){1, 7, 30, 0x1010 + i, 0x2020}, 1);
		add(&s, (struct at){0, 7, 30, 0x1014, 0x9000}, 4);
		CHECK(aggregate_flush(&s.counted, UINT64_MAX));
	}
	CHECK_STR(text_of(&s.counted.profile), once);
	end(&s);
	mem_free(once);
}

TEST(aggregate_that_decays_by_half_has_half_of_all)
{
	struct scene s;
	char *before;

	begin(&s, &all);
	set_up(&s);
	add_some(&s, 10, 1);
	CHECK(aggregate_flush(&s.counted, UINT64_MAX));
	before = mem_strdup(text_of(&s.counted.profile));
	add_some(&s, 11, 1);
	/* What was not flushed yet decays as well. */
	aggregate_decay(&s.counted, 0.5);
	CHECK_STR(text_of(&s.counted.profile), before);
	mem_free(before);
	/* And goes on: a sample and a half of nothing else than before. */
	aggregate_decay(&s.counted, 0.5);
	add_some(&s, 12, 1);
	CHECK(aggregate_flush(&s.counted, UINT64_MAX));
	CHECK_HAS(text_of(&s.counted.profile), "cycles seven seven+0x10 1 30\n");
	CHECK_HAS(text_of(&s.counted.profile), "cycles 3 51\n");
	end(&s);
}

TEST(aggregate_that_forgets_has_rows_that_say_the_same_once_and_none_that_is_nothing)
{
	struct scene s;

	begin(&s, &all);
	set_up(&s);
	add(&s, (struct at){1, 7, 10, 0x1fff, 0x2fff}, 1);
	aggregate_decay(&s.counted, 0.5);
	add(&s, (struct at){0, 7, 10, 0x1010, 0x2020}, 10);
	/* The same program in another space. */
	exec(&s, 20, 7, "seven");
	map(&s, 20, 7, 0x1000, "/bin/seven");
	map(&s, 20, 7, 0x2000, "/lib/libc.so");
	add(&s, (struct at){0, 7, 30, 0x1010, 0x2020}, 10);
	CHECK(aggregate_flush(&s.counted, UINT64_MAX));
	CHECK_EQ(s.counted.profile.rows.n, 3);
	aggregate_forget(&s.counted);
	machine_forget(&s.trace.machine, 30);
	CHECK_STR(text_of(&s.counted.profile),
		"cycles seven seven+0x10 libc.so+0x20 2 20\ncycles 2 20\nfaults 0 0\n!0 [unknown] 2\n");
	CHECK_EQ(s.counted.profile.frames.n, 2);
	CHECK_EQ(s.counted.profile.stacks.n, 2);
	add(&s, (struct at){0, 7, 31, 0x1010, 0x2020}, 10);
	aggregate_forget(&s.counted);
	CHECK_EQ(s.counted.profile.rows.n, 1);
	CHECK_EQ(s.counted.profile.rows.at[0].period, 30);
	end(&s);
}

/* As in perf's top: what a rare stack cost counts until nothing is left of it, although its sample is used up first. */
TEST(aggregate_that_forgets_keeps_rows_as_long_as_they_have_a_period)
{
	struct scene s;

	begin(&s, &all);
	set_up(&s);
	add(&s, (struct at){0, 7, 10, 0x1010, 0x2020}, 1000);
	for (unsigned left = 500; left; left /= 2) {
		aggregate_decay(&s.counted, 0.5);
		aggregate_forget(&s.counted);
		CHECK_EQ(s.counted.profile.rows.n, 1);
		CHECK_EQ(s.counted.profile.rows.at[0].period, left);
		CHECK_EQ(s.counted.profile.rows.at[0].n_samples, 0);
	}
	aggregate_decay(&s.counted, 0.5);
	aggregate_forget(&s.counted);
	CHECK_EQ(s.counted.profile.rows.n, 0);
	CHECK_EQ(s.counted.profile.stacks.n, 1);
	end(&s);
}

/* What is held for it, all in all. */
static u64 held(const struct scene *s)
{
	const struct machine *m = &s->trace.machine;
	const struct profile *p = &s->counted.profile;

	return aggregate_bytes(&s->counted) + m->arena.total + m->maps.arena.total +
		m->threads.cap * sizeof(void *) + p->strings.arena.total + p->frames.cap +
		p->rows.cap + p->stacks.cap + p->cells.cap + p->dsos.cap;
}

TEST(aggregate_that_forgets_has_room_for_any_number_of_processes_that_end)
{
	enum { PROCESSES = 100000, LIFE = 10, EACH = 1000, PERIOD = 1000 };
	struct scene s;
	u64 early = 0;

	begin(&s, &all);
	exec(&s, 1, 1, "init");
	map(&s, 2, 1, 0x2000, "/lib/libc.so");
	for (u32 i = 1; i <= PROCESSES; i++) {
		const u32 pid = 2 + i % 30000;
		const u64 now = (u64)i * LIFE;

		fork_or_exit(&s, PERF_RECORD_FORK, now, 1, pid);
		exec(&s, now + 1, pid, i % 2 ? "odd" : "even");
		map(&s, now + 2, pid, 0x1000, "/bin/short");
		map(&s, now + 2, pid, 0x2000, "/lib/libc.so");
		add(&s, (struct at){0, pid, now + 3, 0x1010, 0x2020}, PERIOD);
		add(&s, (struct at){0, pid, now + 3, 0x1000 + i % 0x1000, 0}, PERIOD);
		fork_or_exit(&s, PERF_RECORD_EXIT, now + 5, 1, pid);
		if (i % EACH)
			continue;
		aggregate_decay(&s.counted, 0.875);
		aggregate_forget(&s.counted);
		machine_forget(&s.trace.machine, now);
		if (i == PROCESSES / 10)
			early = held(&s);
	}
	CHECK(held(&s) <= 2 * early);
	/* An eighth decays each time: seven times of what comes in between remain. */
	CHECK(s.counted.profile.events.at[0].period > 6 * 2 * EACH * PERIOD);
	CHECK(s.counted.profile.events.at[0].period <= 7 * 2 * EACH * PERIOD);
	end(&s);
}

/* ---- that follows what is measured now ---- */

enum { FIELDS = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME };

static void let_go(void *counted)
{
	aggregate_forget(counted);
}

/* A process that lives for half a millisecond. */
static void add_process(struct recording *r, u32 pid, u64 now, bool is_odd)
{
	struct recording_who who = {pid, pid, now};

	recording_fork(r, 1, 1, who);
	recording_comm(r, PERF_RECORD_MISC_COMM_EXEC, who, is_odd ? "odd" : "even");
	recording_mmap(r, PERF_RECORD_MISC_USER, who, 0x1000, 0x1000, 0,
		is_odd ? "/bin/odd" : "/bin/even");
	recording_sample(r, 0, PERF_RECORD_MISC_USER,
		&(struct sample){.id = 1, .ip = 0x1010, .pid = pid, .tid = pid, .time = now + 1});
	who.time += 500000;
	recording_exit(r, who);
}

static void count_all(struct follow *f, struct aggregate *counted)
{
	struct visit *v;
	struct err err;
	int r;

	while ((r = follow_next(f, &v, &err)) > 0)
		if (v->sample)
			aggregate_add(counted, v);
	CHECK_EQ(r, 0);
}

TEST(aggregate_of_a_live_trace_lets_go_of_what_the_machine_forgets)
{
	enum { PROCESSES = 6000, ROUND = 100 };
	const struct aggregate_options options = {.labels = LABEL_BIT(LABEL_COMM)};
	struct recording r = {0};
	struct label_facts facts;
	struct aggregate counted;
	struct follow f;
	struct trace t;
	struct sink sink;
	struct err err;

	recording_event(&r, "cycles", FIELDS, 1, 1);
	trace_begin_live(&t, &r.events, NULL);
	follow_init(&f, &t, FOLLOW_LIVE, FIELDS);
	CHECK(!label_facts_init(&facts, &t.session, &t.machine, options.labels, &err));
	aggregate_init(&counted, &t, &options, &facts);
	f.let_go = let_go;
	f.borrower = &counted;
	sink = follow_sink(&f);
	/* Nothing is flushed in between: that is up to whoever looks at it. */
	for (u32 i = 1; i <= PROCESSES; i++) {
		add_process(&r, 1 + i, (u64)i * 1000000, i % 2);
		if (i % ROUND)
			continue;
		recording_raw(&r, PERF_RECORD_FINISHED_ROUND, 0, NULL, 0);
		CHECK_EQ(sink_append(&sink, r.data.at, r.data.n, &err), 0);
		str_clear(&r.data);
		count_all(&f, &counted);
	}
	follow_end(&f);
	count_all(&f, &counted);
	CHECK(t.machine.threads.n < PROCESSES / 2);
	aggregate_forget(&counted);
	CHECK_STR(text_of(&counted.profile),
		"cycles odd odd+0x10 3000 3000000\n"
		"cycles even even+0x10 3000 3000000\n"
		"cycles 6000 6000000\n");
	aggregate_fini(&counted);
	label_facts_fini(&facts);
	follow_fini(&f);
	trace_close(&t);
	recording_fini(&r);
}
