#include "profile/gather/wall.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"

/* ---- marks ---- */

static u32 find_thread(const struct wall *w, u32 tid)
{
	struct table_probe probe = table_probe(&w->by_tid, hash_u64(tid));
	u32 i;

	while ((i = table_next(&w->by_tid, &probe)) != TABLE_NONE)
		if (w->threads.at[i].tid == tid)
			return i;
	return TABLE_NONE;
}

void wall_add(struct wall *w, u32 pid, u32 tid, u64 time, enum wall_mark mark)
{
	u32 i;

	/* tid 0 is the idle task; a thread that has just ended has the tid -1. */
	if (!tid || tid == UINT32_MAX)
		return;
	i = find_thread(w, tid);
	if (i == TABLE_NONE) {
		i = w->threads.n;
		table_add(&w->by_tid, hash_u64(tid), i);
		vec_add(&w->threads, ((struct wall_thread){.pid = pid, .tid = tid}));
	}
	/* A reused tid belongs to its latest thread. */
	if (mark == WALL_BORN) {
		w->threads.at[i].pid = pid;
		w->threads.at[i].is_told = true;
		w->has_told |= !time;
	}
	w->threads.at[i].has_switched |=
		mark == WALL_IN || mark == WALL_PREEMPTED || mark == WALL_LEFT;
	if (time)
		vec_add(&w->marks, ((struct sort_item){time, (u64)i << 8 | mark}));
	w->has_outs |= mark == WALL_SAMPLED_OUT;
	w->has_waits |= mark == WALL_SEEN_WAITING;
	w->has_wakes |= mark == WALL_WOKEN;
}

/* ---- cutting ---- */

/* The state of a thread during the sweep through time. */
struct life {
	bool is_alive, has_run, is_known, is_gone;
	bool is_out;      /* it was last seen leaving a CPU */
	bool is_starting; /* born, and not on a CPU yet */
	u8 state;
	u64 since;             /* when the state began */
	double clock;          /* the state's clock at that time */
	u64 sure;              /* until when it was certainly on the CPU */
	u64 unseen, seen_time; /* ns blocked since the last sampled wait; when that was */
	u64 out_time;          /* of the sample taken when it left the CPU; 0: none */
	u64 off[WALL_STATES];  /* ns of the present absence from CPUs */
	double latency[WALL_STATES];
	u64 told_latency[WALL_STATES], told_cpu; /* the part that shares and rests have already */
	size_t spoken;                           /* share of the last sample on a CPU, + 1 */
};

/*
 * Clocks distribute latency: the clock of running threads advances by 1/n of the time while n threads run; the
 * clock of runnable threads does the same while none runs.
 */
struct sweep {
	struct wall *wall;
	struct life *lives; /* by thread */
	u64 now;
	u64 n_in[WALL_STATES];
	double clocks[WALL_STATES];
	u64 idle_since; /* when the last thread blocked; valid while no thread is on a CPU or runnable */
};

static bool is_idle(const struct sweep *s)
{
	return !s->n_in[WALL_CPU] && !s->n_in[WALL_RUNNABLE];
}

static void advance(struct sweep *s, u64 time)
{
	double dt = (double)(time - s->now);

	if (s->n_in[WALL_CPU])
		s->clocks[WALL_CPU] += dt / (double)s->n_in[WALL_CPU];
	else if (s->n_in[WALL_RUNNABLE])
		s->clocks[WALL_RUNNABLE] += dt / (double)s->n_in[WALL_RUNNABLE];
	s->now = time;
}

static void enter(struct sweep *s, u32 i, enum wall_state state)
{
	struct life *l = &s->lives[i];

	l->state = state;
	l->since = l->sure = s->now;
	l->clock = s->clocks[state];
	s->n_in[state]++;
	if (state == WALL_BLOCKED && is_idle(s))
		s->idle_since = s->now;
}

/* The latency of the present state until now. */
static double latency_until_now(const struct sweep *s, const struct life *l)
{
	return l->state == WALL_BLOCKED ? 0 : s->clocks[l->state] - l->clock;
}

static void leave(struct sweep *s, u32 i)
{
	struct life *l = &s->lives[i];
	u64 ns = s->now - l->since;

	s->wall->threads.at[i].ns[l->state] += ns;
	l->off[l->state] += ns;
	l->latency[l->state] += latency_until_now(s, l);
	/* All threads waited, and this wait is the first to end. */
	if (l->state == WALL_BLOCKED && is_idle(s)) {
		l->latency[WALL_BLOCKED] += (double)(s->now - s->idle_since);
		s->idle_since = s->now;
	}
	s->n_in[l->state]--;
	if (l->state != WALL_BLOCKED && is_idle(s))
		s->idle_since = s->now;
}

/* Takes the part of a state's latency that no share or rest has yet. */
static u64 take_latency(struct life *l, enum wall_state state, double latency)
{
	u64 all = (u64)llround(latency), mine = all - MIN(all, l->told_latency[state]);

	l->told_latency[state] += mine;
	return mine;
}

/* Adds a share, or adds it to the one that the same sample has of this state. */
static void add_share(struct wall_thread *t, const struct wall_share *share)
{
	size_t n = MIN(t->shares.n, (size_t)WALL_STATES);

	for (size_t i = t->shares.n - n; i < t->shares.n; i++) {
		struct wall_share *s = &t->shares.at[i];

		if (s->time != share->time || s->state != share->state ||
			s->is_out != share->is_out)
			continue;
		s->ns += share->ns;
		s->latency += share->latency;
		return;
	}
	vec_add(&t->shares, *share);
}

static void rest(struct wall_thread *t, struct life *l, enum wall_state state, u64 ns)
{
	unsigned kind = l->is_starting && state == WALL_RUNNABLE ? WALL_REST_STARTING : state;

	t->rest[kind] += ns;
	t->rest_latency[kind] += take_latency(l, state, l->latency[state]);
}

/*
 * Only some waits are sampled, long ones more likely. A sampled wait represents those before it, as samples do
 * for time on CPUs.
 */
static u64 take_seen(struct life *l, u64 ns)
{
	ns += l->unseen;
	l->unseen = l->out_time ? 0 : ns;
	if (l->out_time)
		l->seen_time = l->out_time;
	return l->out_time ? ns : 0;
}

/* Gives an absence from CPUs, which is over, to the sample that was taken when it began. */
static void tell_absence(struct sweep *s, u32 i)
{
	struct wall_thread *t = &s->wall->threads.at[i];
	struct life *l = &s->lives[i];

	for (unsigned state = WALL_RUNNABLE; state < WALL_STATES; state++) {
		struct wall_share share = {.ns = l->off[state],
			.state = (u8)state,
			.is_out = l->out_time != 0};

		l->off[state] = 0;
		if (state == WALL_BLOCKED && s->wall->has_waits && !s->wall->has_outs)
			share.ns = take_seen(l, share.ns);
		/* If no sample was taken then, the last sample before represents it. */
		share.time = l->out_time;
		if (!share.time && !s->wall->has_outs && l->spoken)
			share.time = t->shares.at[l->spoken - 1].time;
		if (!share.ns)
			continue;
		if (!share.time) {
			rest(t, l, state, share.ns);
			continue;
		}
		share.latency = take_latency(l, state, l->latency[state]);
		add_share(t, &share);
	}
	l->off[WALL_CPU] = 0;
	l->out_time = 0;
	l->is_starting = false;
}

/* Gives waits that were not sampled, after the last one that was, to that one. */
static void tell_unseen(struct wall_thread *t, struct life *l)
{
	struct wall_share share = {.time = l->seen_time,
		.ns = l->unseen,
		.state = WALL_BLOCKED,
		.is_out = l->seen_time != 0};

	if (!l->unseen)
		return;
	if (!share.time && l->spoken)
		share.time = t->shares.at[l->spoken - 1].time;
	l->unseen = 0;
	if (!share.time) {
		rest(t, l, WALL_BLOCKED, share.ns);
		return;
	}
	share.latency = take_latency(l, WALL_BLOCKED, l->latency[WALL_BLOCKED]);
	add_share(t, &share);
}

/* Gives the time on the CPU after the last sample to that sample. */
static void tell_remainder(struct sweep *s, u32 i)
{
	struct wall_thread *t = &s->wall->threads.at[i];
	struct life *l = &s->lives[i];
	u64 ns = t->ns[WALL_CPU] - l->told_cpu;

	tell_unseen(t, l);
	l->told_cpu += ns;
	if (!l->spoken) {
		rest(t, l, WALL_CPU, ns);
		return;
	}
	t->shares.at[l->spoken - 1].ns += ns;
	t->shares.at[l->spoken - 1].latency += take_latency(l, WALL_CPU, l->latency[WALL_CPU]);
}

/* ---- what marks mean ---- */

/* Handles a switch that cannot follow the last one: records between them are missing. */
static void lose(struct sweep *s, u32 i)
{
	struct wall_thread *t = &s->wall->threads.at[i];
	struct life *l = &s->lives[i];

	s->wall->n_contradictions++;
	leave(s, i);
	if (l->state == WALL_CPU) {
		t->ns[WALL_CPU] -= s->now - l->sure;
		t->unaccounted += s->now - l->sure;
	} else {
		for (unsigned state = WALL_RUNNABLE; state < WALL_STATES; state++) {
			t->ns[state] -= l->off[state];
			t->unaccounted += l->off[state];
		}
	}
	memset(l->off, 0, sizeof(l->off));
	l->out_time = 0;
}

static void begin_life(struct sweep *s, u32 i, enum wall_state state)
{
	struct life *l = &s->lives[i];

	l->is_alive = true;
	l->out_time = 0;
	l->spoken = 0;
	l->unseen = l->seen_time = 0;
	memset(l->off, 0, sizeof(l->off));
	enter(s, i, state);
}

static void end_life(struct sweep *s, u32 i)
{
	struct life *l = &s->lives[i];

	if (!l->is_alive)
		return;
	leave(s, i);
	if (l->state != WALL_CPU)
		tell_absence(s, i);
	tell_remainder(s, i);
	l->is_alive = false;
	s->wall->threads.at[i].last = s->now;
}

static void come_in(struct sweep *s, u32 i)
{
	struct life *l = &s->lives[i];

	/* With per-CPU events, a thread still switches after its EXIT record. */
	if (!l->is_alive)
		return;
	if (l->state == WALL_CPU) {
		lose(s, i);
	} else {
		leave(s, i);
		tell_absence(s, i);
	}
	enter(s, i, WALL_CPU);
}

static void go_out(struct sweep *s, u32 i, enum wall_state state)
{
	struct wall_thread *t = &s->wall->threads.at[i];
	struct life *l = &s->lives[i];

	/* The thread has ended; this is the switch to the next one. */
	if (!l->is_alive)
		return;
	*(state == WALL_BLOCKED ? &t->n_left : &t->n_preempted) += 1;
	if (l->state == WALL_CPU) {
		leave(s, i);
		memset(l->off, 0, sizeof(l->off));
	} else {
		lose(s, i);
	}
	enter(s, i, state);
}

static void take_sample(struct sweep *s, u32 i)
{
	struct wall_thread *t = &s->wall->threads.at[i];
	struct life *l = &s->lives[i];
	struct wall_share share = {.time = s->now, .state = WALL_CPU};
	double latency = l->latency[WALL_CPU];
	u64 cpu = t->ns[WALL_CPU];

	if (!l->is_alive)
		return;
	if (l->state == WALL_CPU) {
		cpu += s->now - l->since;
		latency += latency_until_now(s, l);
		l->sure = s->now;
	}
	share.ns = cpu - MIN(cpu, l->told_cpu);
	l->told_cpu += share.ns;
	share.latency = take_latency(l, WALL_CPU, latency);
	vec_add(&t->shares, share);
	l->spoken = t->shares.n;
}

/* A thread that is about to leave a CPU is on one, even if no record says how it got there. */
static void leave_soon(struct sweep *s, u32 i)
{
	struct life *l = &s->lives[i];

	if (!l->is_alive)
		return;
	if (l->state != WALL_CPU) {
		lose(s, i);
		enter(s, i, WALL_CPU);
	}
	l->out_time = l->sure = s->now;
}

static void apply(struct sweep *s, u32 i, enum wall_mark mark)
{
	struct life *l = &s->lives[i];

	switch (mark) {
	case WALL_BORN:
		end_life(s, i);
		begin_life(s, i, WALL_RUNNABLE);
		l->is_starting = true;
		return;
	case WALL_ENDED:
		end_life(s, i);
		return;
	case WALL_IN:
		come_in(s, i);
		return;
	case WALL_PREEMPTED:
		go_out(s, i, WALL_RUNNABLE);
		return;
	case WALL_LEFT:
		go_out(s, i, WALL_BLOCKED);
		return;
	case WALL_WOKEN:
		if (!l->is_alive || l->state != WALL_BLOCKED)
			return;
		leave(s, i);
		enter(s, i, WALL_RUNNABLE);
		return;
	case WALL_SAMPLED:
		take_sample(s, i);
		return;
	case WALL_SAMPLED_OUT:
		leave_soon(s, i);
		return;
	case WALL_SEEN_WAITING:
		if (l->is_alive && l->state != WALL_CPU && !l->out_time)
			l->out_time = s->now;
		return;
	}
}

/* ---- all of it ---- */

static u32 thread_of(const struct sort_item *mark)
{
	return (u32)(mark->value >> 8);
}

static enum wall_mark kind_of(const struct sort_item *mark)
{
	return (enum wall_mark)(mark->value & 0xff);
}

static bool tells_of_running(enum wall_mark mark)
{
	return mark != WALL_BORN && mark != WALL_ENDED && mark != WALL_WOKEN &&
		mark != WALL_SEEN_WAITING;
}

/*
 * Sets begin and end to the first and last moment in which a thread ran. In a recording that was cut, births
 * and ends may lie before or after all switches. A thread ends on a CPU: if it had left one before, it
 * returned unrecorded, and its end does not count.
 */
static void find_bounds(const struct sweep *s)
{
	struct wall *w = s->wall;

	vec_each(mark, &w->marks) {
		enum wall_mark kind = kind_of(mark);
		bool *is_out = &s->lives[thread_of(mark)].is_out;

		if (tells_of_running(kind)) {
			w->begin = w->begin ? w->begin : mark->key;
			*is_out = kind == WALL_PREEMPTED || kind == WALL_LEFT;
		}
		if (tells_of_running(kind) ||
			(kind == WALL_ENDED && w->begin && !*is_out &&
				s->lives[thread_of(mark)].has_run))
			w->end = mark->key;
		s->lives[thread_of(mark)].has_run |= tells_of_running(kind);
	}
}

/*
 * Whether a thread ended before the recording and was only sampled in its last steps: its last switch, to the
 * next thread, no longer names it.
 */
static bool is_ghost(const struct wall *w, u32 i)
{
	return w->has_told && !w->threads.at[i].is_told && !w->threads.at[i].has_switched;
}

/* Begins the lives of the threads that existed at the beginning; the first mark of each tells its state then. */
static void begin_all(struct sweep *s)
{
	struct wall *w = s->wall;

	vec_each(mark, &w->marks) {
		u32 i = thread_of(mark);
		enum wall_mark kind = kind_of(mark);
		struct life *l = &s->lives[i];

		if (mark->key < w->begin)
			l->is_gone = kind == WALL_ENDED;
		if (mark->key < w->begin || l->is_known)
			continue;
		l->is_known = true;
		if (kind != WALL_BORN && !is_ghost(w, i))
			begin_life(s, i,
				kind == WALL_IN || kind == WALL_WOKEN || kind == WALL_ENDED ||
						kind == WALL_SEEN_WAITING
					? WALL_BLOCKED
					: WALL_CPU);
	}
	/* A thread without a running mark in all that time did not run; it is left out. */
	for (u32 i = 0; i < w->threads.n; i++) {
		if (s->lives[i].has_run)
			continue;
		w->n_slept += !s->lives[i].is_known && !s->lives[i].is_gone;
		if (s->lives[i].is_alive)
			s->n_in[s->lives[i].state]--;
		s->lives[i].is_alive = false;
	}
}

static bool is_later(const struct wall_share *a, const struct wall_share *b)
{
	return a->time > b->time || (a->time == b->time && a->is_out > b->is_out);
}

/* Samples represent time before or after them, so shares may be out of order. */
static void order_shares(struct wall_thread *t)
{
	for (size_t i = 1; i < t->shares.n; i++) {
		struct wall_share share = t->shares.at[i];
		size_t j = i;

		for (; j > 0 && is_later(&t->shares.at[j - 1], &share); j--)
			t->shares.at[j] = t->shares.at[j - 1];
		t->shares.at[j] = share;
	}
}

static void sum_up(struct wall *w)
{
	vec_each(t, &w->threads) {
		t->lived = t->unaccounted;
		for (unsigned state = 0; state < WALL_STATES; state++) {
			t->lived += t->ns[state];
			t->latency[state] = t->rest_latency[state];
		}
		t->latency[WALL_RUNNABLE] += t->rest_latency[WALL_REST_STARTING];
		order_shares(t);
		vec_each(share, &t->shares)
			t->latency[share->state] += share->latency;
		for (unsigned state = 0; state < WALL_STATES; state++) {
			w->ns[state] += t->ns[state];
			w->latency[state] += t->latency[state];
		}
		w->lived += t->lived;
		w->unaccounted += t->unaccounted;
		w->n_left += t->n_left;
		w->n_preempted += t->n_preempted;
	}
}

/* Removes threads that never ran; positions change. */
static void drop_sleepers(struct wall *w, const struct life *lives)
{
	size_t n = 0;

	table_clear(&w->by_tid);
	for (size_t i = 0; i < w->threads.n; i++) {
		if (!lives[i].has_run) {
			vec_fini(&w->threads.at[i].shares);
			continue;
		}
		table_add(&w->by_tid, hash_u64(w->threads.at[i].tid), (u32)n);
		w->threads.at[n++] = w->threads.at[i];
	}
	w->threads.n = n;
}

void wall_cut(struct wall *w)
{
	struct sweep s = {.wall = w};

	sort_by_key(w->marks.at, w->marks.n);
	s.lives = mem_zalloc((w->threads.n + 1) * sizeof(*s.lives));
	find_bounds(&s);
	s.now = s.idle_since = w->begin;
	begin_all(&s);
	vec_each(mark, &w->marks) {
		if (mark->key < w->begin || !s.lives[thread_of(mark)].has_run)
			continue;
		if (mark->key > w->end)
			break;
		advance(&s, mark->key);
		apply(&s, thread_of(mark), kind_of(mark));
	}
	advance(&s, w->end);
	for (u32 i = 0; i < w->threads.n; i++)
		end_life(&s, i);
	drop_sleepers(w, s.lives);
	sum_up(w);
	mem_free(s.lives);
	vec_fini(&w->marks);
}

/* ---- look-ups ---- */

const struct wall_share *wall_find(const struct wall *w, u32 tid, u64 time, bool is_out,
	size_t *ret_n)
{
	u32 i = find_thread(w, tid);
	const struct wall_share *shares;
	const struct wall_thread *t;
	size_t low, n = 0;

	*ret_n = 0;
	if (i == TABLE_NONE)
		return NULL;
	t = &w->threads.at[i];
	shares = t->shares.at;
	low = search_first(k, t->shares.n,
		shares[k].time > time || (shares[k].time == time && shares[k].is_out >= is_out));
	while (low + n < t->shares.n && shares[low + n].time == time &&
		shares[low + n].is_out == is_out)
		n++;
	*ret_n = n;
	return shares + low;
}

void wall_fini(struct wall *w)
{
	vec_each(t, &w->threads)
		vec_fini(&t->shares);
	vec_fini(&w->threads);
	vec_fini(&w->marks);
	table_fini(&w->by_tid);
	memset(w, 0, sizeof(*w));
}
