#include "profile/chart/chart.h"

#include <stdio.h>

#include "base/hash.h"
#include "profile/chart/bounds.h"

enum {
	CPUS_MOST = 1 << 16, /* a CPU's number beyond that is damage */
	ROWS_SEARCHED = 64,  /* rows of one name that may take in another life */
	ERRNOS = 4096,
};

void chart_init(struct chart *t, const struct chart_limits *limits)
{
	*t = (struct chart){.limits = *limits, .begin = UINT64_MAX, .samples_every = 1};
}

void chart_fini(struct chart *t)
{
	vec_each(c, &t->cpus) {
		lane_fini(&c->lane);
		vec_fini(&c->speeds);
	}
	vec_each(r, &t->rows)
		lane_fini(&r->lane);
	vec_each(task, &t->tasks)
		lane_fini(&task->lane);
	vec_fini(&t->cpus);
	vec_fini(&t->rows);
	vec_fini(&t->lives);
	vec_fini(&t->wakes);
	vec_fini(&t->ios);
	vec_fini(&t->waits);
	vec_fini(&t->samples);
	vec_fini(&t->tasks);
	vec_fini(&t->awake);
	table_fini(&t->by_tid);
	table_fini(&t->by_name);
	intern_fini(&t->names);
}

void chart_reach(struct chart *t, u64 time)
{
	t->begin = MIN(t->begin, time);
	t->end = MAX(t->end, time);
}

const char *chart_state_name(enum lane_state state)
{
	static const char *const names[] = {"Nothing", "Running", "Idle", "Deeper Idle",
		"Deepest Idle", "Sleeping", "Waiting for CPU", "Blocked on IO"};

	return names[state];
}

/* ---- tasks ---- */

static struct chart_task *task_get(struct chart *t, u32 tid)
{
	const u64 hash = hash_u64(tid);
	struct table_probe probe = table_probe(&t->by_tid, hash);
	struct chart_task *task;
	u32 i;

	while ((i = table_next(&t->by_tid, &probe)) != TABLE_NONE)
		if (t->tasks.at[i].tid == tid)
			return &t->tasks.at[i];
	table_add(&t->by_tid, hash, (u32)t->tasks.n);
	task = vec_push(&t->tasks);
	*task = (struct chart_task){.tid = tid, .life = CHART_NONE};
	return task;
}

static void rename_task(struct chart *t, struct chart_task *task, const char *name, size_t n)
{
	n = strnlen(name, n);
	if (!n || (task->name && !strncmp(task->name, name, n) && !task->name[n]))
		return;
	task->name = intern_add(&t->names, name, n);
	if (task->life != CHART_NONE)
		t->lives.at[task->life].name = task->name;
}

void chart_know(struct chart *t, u32 pid, u32 tid, const char *name, size_t n)
{
	struct chart_task *task;

	if (!tid)
		return;
	task = task_get(t, tid);
	if (pid) {
		task->pid = pid;
		if (task->life != CHART_NONE)
			t->lives.at[task->life].pid = pid;
	}
	if (name)
		rename_task(t, task, name, n);
}

static void begin_life(struct chart *t, struct chart_task *task, u64 from, bool is_born)
{
	char text[16];

	if (!task->name) {
		snprintf(text, sizeof(text), ":%u", task->tid);
		task->name = intern_str(&t->names, text);
	}
	task->life = (u32)t->lives.n;
	task->state = LANE_NOTHING;
	task->since = from;
	task->is_ending = task->has_waker = task->is_in_io = false;
	task->stack = 0;
	vec_add(&t->lives,
		((struct chart_life){.tid = task->tid,
			.pid = task->pid,
			.name = task->name,
			.from = from,
			.until = from,
			.row = CHART_NONE,
			.is_born = is_born}));
	memset(task->last_io, 0xff, sizeof(task->last_io));
}

static struct chart_task *task_living(struct chart *t, u32 tid)
{
	struct chart_task *task = task_get(t, tid);

	if (task->life == CHART_NONE)
		begin_life(t, task, t->begin, false);
	return task;
}

bool chart_has_seen(struct chart *t, u32 tid)
{
	return task_get(t, tid)->life != CHART_NONE;
}

static void put(struct chart *t, struct lane *l, u64 time, enum lane_state state, u32 who)
{
	const size_t before = l->pieces.n;

	lane_put(l, time, state, who);
	t->n_pieces += l->pieces.n - before;
}

/* What the task did off the CPU ends, and it is known where it was meanwhile. */
static void add_wait(struct chart *t, const struct chart_task *task, u64 until)
{
	if (!t->limits.waits || !task->stack || until == task->since ||
		(task->state != LANE_SLEEPING && task->state != LANE_WAITING &&
			task->state != LANE_BLOCKED) ||
		until - task->since < t->waits_shortest)
		return;
	vec_add(&t->waits,
		((struct chart_wait){task->since, until, task->life, task->stack, task->state}));
	bounds_keep_waits(t);
}

static bool is_awake(const struct chart_task *task)
{
	return task->life != CHART_NONE &&
		(task->state == LANE_RUNNING || task->state == LANE_WAITING);
}

static void set_state(struct chart *t, struct chart_task *task, u64 time, enum lane_state state,
	u32 cpu)
{
	struct chart_life *life = &t->lives.at[task->life];

	time = MAX(time, task->since);
	add_wait(t, task, time);
	life->ns[task->state] += time - task->since;
	life->until = time;
	task->since = time;
	task->state = state;
	task->cpu = cpu;
	put(t, &task->lane, time, state, cpu);
	if (task->is_listed || !is_awake(task))
		return;
	task->is_listed = true;
	vec_add(&t->awake, (u32)(task - t->tasks.at));
}

/* ---- rows ---- */

static struct chart_row *row_for(struct chart *t, const struct chart_life *life)
{
	const u32 pid = life->pid == life->tid ? 0 : life->pid;
	const u64 hash = hash_mix((u64)(uintptr_t)life->name, pid);
	struct table_probe probe = table_probe(&t->by_name, hash);
	u32 i, best = CHART_NONE, n = 0;

	while ((i = table_next(&t->by_name, &probe)) != TABLE_NONE) {
		const struct chart_row *r = &t->rows.at[i];

		if (r->name != life->name || r->pid != pid)
			continue;
		n++;
		if (r->until <= life->from)
			best = MIN(best, i);
	}
	if (best != CHART_NONE)
		return &t->rows.at[best];
	if (n < ROWS_SEARCHED)
		table_add(&t->by_name, hash, (u32)t->rows.n);
	vec_add(&t->rows,
		((struct chart_row){.name = life->name,
			.pid = pid,
			.from = life->from,
			.first = (u32)(life - t->lives.at)}));
	return &t->rows.at[t->rows.n - 1];
}

static void end_life(struct chart *t, struct chart_task *task, u64 time, bool has_ended)
{
	struct chart_life *life = &t->lives.at[task->life];
	struct chart_row *row;
	size_t before;

	set_state(t, task, time, LANE_NOTHING, LANE_SEVERAL);
	life->has_ended = has_ended;
	row = row_for(t, life);
	life->row = (u32)(row - t->rows.at);
	row->n_lives++;
	row->until = MAX(row->until, life->until);
	for (size_t s = 0; s < LANE_STATES; s++)
		row->ns[s] += life->ns[s];
	before = row->lane.pieces.n + task->lane.pieces.n;
	lane_append(&row->lane, &task->lane);
	lane_fini(&task->lane);
	task->lane.end = 0;
	t->n_pieces += row->lane.pieces.n - before;
	task->life = CHART_NONE;
	task->name = NULL;
}

void chart_birth(struct chart *t, u64 time, u32 pid, u32 tid, u32 parent)
{
	struct chart_task *task;
	const char *name;

	if (!tid)
		return;
	chart_reach(t, time);
	/* The parent first: getting the child may move it. */
	name = parent ? task_get(t, parent)->name : NULL;
	task = task_get(t, tid);
	if (task->life != CHART_NONE)
		end_life(t, task, time, true);
	task->pid = pid;
	task->name = name;
	begin_life(t, task, time, true);
}

void chart_exit(struct chart *t, u64 time, u32 tid, bool is_last)
{
	struct chart_task *task;

	if (!tid)
		return;
	chart_reach(t, time);
	task = task_living(t, tid);
	task->is_ending = true;
	if (is_last)
		end_life(t, task, time, true);
}

/* Its last switches may come after its end. */
static bool is_gone(struct chart *t, u32 tid)
{
	const struct chart_task *task = task_get(t, tid);

	return task->life == CHART_NONE && task->is_ending;
}

/* ---- CPUs ---- */

static struct chart_cpu *cpu_get(struct chart *t, u32 cpu)
{
	if (cpu >= CPUS_MOST)
		return NULL;
	while (t->cpus.n <= cpu)
		vec_add(&t->cpus,
			((struct chart_cpu){.running = CHART_NONE, .idle_state = LANE_IDLE}));
	return &t->cpus.at[cpu];
}

/* Of the task that was thought to run there nothing is known until it is seen again. */
static void lose_running(struct chart *t, struct chart_cpu *c, u64 time)
{
	struct chart_task *task;

	t->n_contradictions++;
	task = task_get(t, t->lives.at[c->running].tid);
	if (task->life == c->running && task->state == LANE_RUNNING)
		set_state(t, task, time, LANE_NOTHING, LANE_SEVERAL);
	c->running = CHART_NONE;
}

static void leave(struct chart *t, struct chart_cpu *c, u64 time, u32 tid, enum chart_leave why)
{
	struct chart_task *task;

	if (is_gone(t, tid)) {
		if (c)
			c->running = CHART_NONE;
		return;
	}
	task = task_living(t, tid);
	if (c && c->running != CHART_NONE && c->running != task->life)
		lose_running(t, c, time);
	if (c)
		c->running = CHART_NONE;
	if (why == CHART_DIES || (task->is_ending && why == CHART_MAY_DIE)) {
		end_life(t, task, time, true);
		return;
	}
	set_state(t, task, time,
		why == CHART_PREEMPTED        ? LANE_WAITING
			: why == CHART_BLOCKS ? LANE_BLOCKED
					      : LANE_SLEEPING,
		LANE_SEVERAL);
	task->stack = t->stack;
}

void chart_loss(struct chart *t, u64 time, u32 cpu)
{
	size_t n = 0;

	chart_reach(t, time);
	/* There may be many losses, and many tasks that sleep. */
	vec_each(i, &t->awake) {
		struct chart_task *task = &t->tasks.at[*i];
		const bool is_elsewhere =
			task->state == LANE_RUNNING && cpu != CHART_NONE && task->cpu != cpu;

		if (is_awake(task) && !is_elsewhere)
			set_state(t, task, time, LANE_NOTHING, LANE_SEVERAL);
		task->is_listed = is_awake(task);
		if (task->is_listed)
			t->awake.at[n++] = *i;
	}
	t->awake.n = n;
	for (u32 i = 0; i < t->cpus.n; i++) {
		struct chart_cpu *c = &t->cpus.at[i];

		if (c->running == CHART_NONE || (cpu != CHART_NONE && cpu != i))
			continue;
		c->running = CHART_NONE;
		put(t, &c->lane, time, LANE_NOTHING, LANE_SEVERAL);
	}
	bounds_keep_pieces(t);
}

/* The CPU that the task was thought to run on does something else, it is not known what. */
static void tear_away(struct chart *t, const struct chart_task *task, u64 time)
{
	struct chart_cpu *other = cpu_get(t, task->cpu);

	t->n_contradictions++;
	if (!other || other->running != task->life)
		return;
	other->running = CHART_NONE;
	put(t, &other->lane, time, LANE_NOTHING, LANE_SEVERAL);
}

static void arrive(struct chart *t, struct chart_cpu *c, u64 time, u32 cpu, u32 tid)
{
	struct chart_task *task;

	if (is_gone(t, tid))
		return;
	task = task_living(t, tid);
	if (c && c->running != CHART_NONE && c->running != task->life)
		lose_running(t, c, time);
	if (task->state == LANE_RUNNING && task->cpu != cpu)
		tear_away(t, task, time);
	t->lives.at[task->life].n_runs++;
	set_state(t, task, time, LANE_RUNNING, cpu);
	task->stack = 0;
	if (!c)
		return;
	c->running = task->life;
	put(t, &c->lane, time, LANE_RUNNING, task->life);
}

static void rest(struct chart *t, struct chart_cpu *c, u64 time)
{
	if (c->running != CHART_NONE)
		lose_running(t, c, time);
	c->idle_state = c->is_idle_known ? c->idle_state : LANE_IDLE;
	put(t, &c->lane, time, c->idle_state, LANE_SEVERAL);
}

void chart_switch(struct chart *t, u64 time, u32 cpu, u32 prev, enum chart_leave why, u32 next)
{
	struct chart_cpu *c = cpu_get(t, cpu);

	if (!c) {
		t->n_contradictions++;
		return;
	}
	chart_reach(t, time);
	c->is_seen = true;
	if (prev)
		leave(t, c, time, prev, why);
	if (next)
		arrive(t, c, time, cpu, next);
	else
		rest(t, c, time);
	bounds_keep_pieces(t);
}

void chart_in(struct chart *t, u64 time, u32 cpu, u32 tid)
{
	struct chart_cpu *c = cpu_get(t, cpu);

	chart_reach(t, time);
	if (c)
		c->is_seen = true;
	if (tid)
		arrive(t, c, time, cpu, tid);
	else if (c)
		rest(t, c, time);
	bounds_keep_pieces(t);
}

void chart_out(struct chart *t, u64 time, u32 cpu, u32 tid, enum chart_leave why)
{
	struct chart_cpu *c = cpu_get(t, cpu);

	chart_reach(t, time);
	if (tid)
		leave(t, c, time, tid, why);
	if (c) {
		c->is_seen = true;
		put(t, &c->lane, time, LANE_NOTHING, LANE_SEVERAL);
	}
	bounds_keep_pieces(t);
}

void chart_idle(struct chart *t, u64 time, u32 cpu, u32 state)
{
	struct chart_cpu *c = cpu_get(t, cpu);

	if (!c) {
		t->n_contradictions++;
		return;
	}
	chart_reach(t, time);
	t->has_idle = true;
	c->is_idle_known = state != UINT32_MAX;
	c->idle_state = state == UINT32_MAX || state < 2 ? LANE_IDLE
		: state == 2                             ? LANE_DEEPER_IDLE
							 : LANE_DEEPEST_IDLE;
	if (c->running != CHART_NONE)
		return;
	/* Without switches, a CPU that is not idle runs something. */
	put(t, &c->lane, time, !c->is_seen && state == UINT32_MAX ? LANE_RUNNING : c->idle_state,
		LANE_SEVERAL);
	bounds_keep_pieces(t);
}

void chart_frequency(struct chart *t, u64 time, u32 cpu, u64 khz)
{
	struct chart_cpu *c = cpu_get(t, cpu);

	if (!c) {
		t->n_contradictions++;
		return;
	}
	chart_reach(t, time);
	if (c->speeds.n && c->speeds.at[c->speeds.n - 1].khz == khz)
		return;
	vec_add(&c->speeds, ((struct chart_speed){time, khz}));
	bounds_keep_speeds(t, c);
}

/* ---- wake-ups ---- */

void chart_waking(struct chart *t, u32 tid, u32 waker)
{
	struct chart_task *task;

	if (!tid)
		return;
	task = task_get(t, tid);
	task->has_waker = true;
	task->waker = waker;
	task->waker_stack = t->stack;
}

void chart_wakeup(struct chart *t, u64 time, u32 tid, u32 waker)
{
	struct chart_task *task;
	u32 from = CHART_NONE, stack = t->stack;

	if (!tid)
		return;
	chart_reach(t, time);
	task = task_living(t, tid);
	if (task->has_waker) {
		waker = task->waker;
		stack = task->waker_stack;
	}
	task->has_waker = false;
	if (task->state == LANE_RUNNING || task->state == LANE_WAITING)
		return;
	set_state(t, task, time, LANE_WAITING, LANE_SEVERAL);
	if (waker)
		from = task_get(t, waker)->life;
	t->has_wakes = true;
	t->n_wakes++;
	/* The table of tasks may have moved. */
	vec_add(&t->wakes, ((struct chart_wake){time, from, task_get(t, tid)->life, 1, stack}));
	bounds_keep_wakes(t);
	bounds_keep_pieces(t);
}

/* ---- I/O ---- */

void chart_io_begin(struct chart *t, u64 time, u32 tid, enum chart_io_kind kind, s32 fd)
{
	struct chart_task *task;

	if (!tid)
		return;
	chart_reach(t, time);
	task = task_living(t, tid);
	task->is_in_io = true;
	task->io_since = time;
	task->io_kind = kind;
	task->io_fd = fd;
}

/* Adds to the task's last I/O of that kind, if it is the same and close enough. */
static bool join_io(struct chart *t, const struct chart_task *task, u64 time, u64 bytes, s32 error)
{
	const u32 last = task->last_io[task->io_kind];
	struct chart_io *io = last < t->ios.n ? &t->ios.at[last] : NULL;

	if (!io || io->life != task->life || io->kind != task->io_kind || io->fd != task->io_fd ||
		io->error != error || task->io_since < io->until ||
		task->io_since - io->until >= t->limits.io_merge_ns)
		return false;
	io->until = MAX(io->until, time);
	io->bytes += bytes;
	io->n++;
	return true;
}

void chart_io_end(struct chart *t, u64 time, u32 tid, s64 result)
{
	struct chart_task *task;
	const bool is_error = result < 0 && result > -ERRNOS;
	const s32 error = is_error ? (s32)-result : 0;
	u64 bytes;

	if (!tid)
		return;
	chart_reach(t, time);
	task = task_get(t, tid);
	if (!task->is_in_io || task->life == CHART_NONE)
		return;
	task->is_in_io = false;
	t->n_ios++;
	bytes = result > 0 && task->io_kind != CHART_POLL ? (u64)result : 0;
	t->lives.at[task->life].until = MAX(t->lives.at[task->life].until, time);
	if (join_io(t, task, time, bytes, error))
		return;
	task->last_io[task->io_kind] = (u32)t->ios.n;
	vec_add(&t->ios,
		((struct chart_io){.from = task->io_since,
			.until = time,
			.bytes = bytes,
			.life = task->life,
			.n = 1,
			.fd = task->io_fd,
			.error = error,
			.kind = task->io_kind}));
	bounds_keep_ios(t);
}

/* ---- samples ---- */

void chart_sampled(struct chart *t, u64 time, u32 tid)
{
	struct chart_task *task;

	if (!tid || !t->limits.waits || !t->stack)
		return;
	chart_reach(t, time);
	task = task_living(t, tid);
	if (t->n_samples++ % t->samples_every)
		return;
	vec_add(&t->samples, ((struct chart_sample){time, task->life, t->stack}));
	bounds_keep_samples(t);
}

/* ---- the end ---- */

void chart_finish(struct chart *t)
{
	if (t->begin == UINT64_MAX)
		t->begin = t->end = 0;
	vec_each(c, &t->cpus)
		lane_extend(&c->lane, t->end);
	for (size_t i = 0; i < t->tasks.n; i++)
		if (t->tasks.at[i].life != CHART_NONE)
			end_life(t, &t->tasks.at[i], t->end, false);
	bounds_keep_pieces(t);
}

u64 chart_bytes(const void *chart)
{
	const struct chart *t = chart;

	return t->tasks.n * (sizeof(*t->tasks.at) + sizeof(*t->awake.at)) +
		t->lives.n * sizeof(*t->lives.at) + t->rows.n * sizeof(*t->rows.at) +
		t->n_pieces * sizeof(struct lane_piece) + t->wakes.n * sizeof(*t->wakes.at) +
		t->ios.n * sizeof(*t->ios.at) + t->waits.n * sizeof(*t->waits.at) +
		t->samples.n * sizeof(*t->samples.at);
}
