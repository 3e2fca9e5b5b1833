#include "profile/gather/wallsweep.h"

#include <math.h>
#include <string.h>

/* ---- states ---- */

static bool is_idle(const struct wallsweep *s)
{
	return !s->n_in[WALL_CPU] && !s->n_in[WALL_RUNNABLE];
}

void wallsweep_advance(struct wallsweep *s, u64 time)
{
	double dt = (double)(time - s->now);

	if (s->n_in[WALL_CPU])
		s->clocks[WALL_CPU] += dt / (double)s->n_in[WALL_CPU];
	else if (s->n_in[WALL_RUNNABLE])
		s->clocks[WALL_RUNNABLE] += dt / (double)s->n_in[WALL_RUNNABLE];
	s->now = time;
}

static void enter(struct wallsweep *s, u32 i, enum wall_state state)
{
	struct walllife *l = &s->lives[i];

	l->state = state;
	l->since = l->sure = s->now;
	l->clock = s->clocks[state];
	s->n_in[state]++;
	if (state == WALL_BLOCKED && is_idle(s))
		s->idle_since = s->now;
}

/* The latency of the present state until now. */
static double latency_until_now(const struct wallsweep *s, const struct walllife *l)
{
	return l->state == WALL_BLOCKED ? 0 : s->clocks[l->state] - l->clock;
}

static void leave(struct wallsweep *s, u32 i)
{
	struct walllife *l = &s->lives[i];
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
static u64 take_latency(struct walllife *l, enum wall_state state, double latency)
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

static void rest(struct wall_thread *t, struct walllife *l, enum wall_state state, u64 ns)
{
	unsigned kind = l->is_starting && state == WALL_RUNNABLE ? WALL_REST_STARTING : state;

	t->rest[kind] += ns;
	t->rest_latency[kind] += take_latency(l, state, l->latency[state]);
}

/*
 * Only some waits are sampled, long ones more likely. A sampled wait represents those before it, as samples do
 * for time on CPUs.
 */
static u64 take_seen(struct walllife *l, u64 ns)
{
	ns += l->unseen;
	l->unseen = l->out_time ? 0 : ns;
	if (l->out_time)
		l->seen_time = l->out_time;
	return l->out_time ? ns : 0;
}

/* Gives an absence from CPUs, which is over, to the sample that was taken when it began. */
static void tell_absence(struct wallsweep *s, u32 i)
{
	struct wall_thread *t = &s->wall->threads.at[i];
	struct walllife *l = &s->lives[i];

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

void wallsweep_tell(struct wallsweep *s, u32 i)
{
	struct walllife *l = &s->lives[i];
	const u64 ns = s->now - l->since, out_time = l->out_time;
	const bool is_starting = l->is_starting;

	if (!l->is_alive || l->state == WALL_CPU)
		return;
	s->wall->threads.at[i].ns[l->state] += ns;
	l->off[l->state] += ns;
	l->latency[l->state] += latency_until_now(s, l);
	l->since = s->now;
	l->clock = s->clocks[l->state];
	tell_absence(s, i);
	l->out_time = out_time;
	l->is_starting = is_starting;
}

/* Gives waits that were not sampled, after the last one that was, to that one. */
static void tell_unseen(struct wall_thread *t, struct walllife *l)
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
static void tell_remainder(struct wallsweep *s, u32 i)
{
	struct wall_thread *t = &s->wall->threads.at[i];
	struct walllife *l = &s->lives[i];
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
static void lose(struct wallsweep *s, u32 i)
{
	struct wall_thread *t = &s->wall->threads.at[i];
	struct walllife *l = &s->lives[i];

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

void wallsweep_begin(struct wallsweep *s, u32 i, enum wall_state state)
{
	struct walllife *l = &s->lives[i];

	l->is_alive = true;
	l->out_time = 0;
	l->spoken = 0;
	l->unseen = l->seen_time = 0;
	memset(l->off, 0, sizeof(l->off));
	enter(s, i, state);
}

void wallsweep_end(struct wallsweep *s, u32 i)
{
	struct walllife *l = &s->lives[i];

	if (!l->is_alive)
		return;
	leave(s, i);
	if (l->state != WALL_CPU)
		tell_absence(s, i);
	tell_remainder(s, i);
	l->is_alive = false;
	s->wall->threads.at[i].last = s->now;
}

static void come_in(struct wallsweep *s, u32 i)
{
	struct walllife *l = &s->lives[i];

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

static void go_out(struct wallsweep *s, u32 i, enum wall_state state)
{
	struct wall_thread *t = &s->wall->threads.at[i];
	struct walllife *l = &s->lives[i];

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

static void take_sample(struct wallsweep *s, u32 i)
{
	struct wall_thread *t = &s->wall->threads.at[i];
	struct walllife *l = &s->lives[i];
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
static void leave_soon(struct wallsweep *s, u32 i)
{
	struct walllife *l = &s->lives[i];

	if (!l->is_alive)
		return;
	if (l->state != WALL_CPU) {
		lose(s, i);
		enter(s, i, WALL_CPU);
	}
	l->out_time = l->sure = s->now;
}

void wallsweep_apply(struct wallsweep *s, u32 i, enum wall_mark mark)
{
	struct walllife *l = &s->lives[i];

	switch (mark) {
	case WALL_BORN:
		wallsweep_end(s, i);
		wallsweep_begin(s, i, WALL_RUNNABLE);
		l->is_starting = true;
		return;
	case WALL_ENDED:
		wallsweep_end(s, i);
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
