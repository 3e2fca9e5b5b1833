#include "profile/gather/wallnow.h"

#include <string.h>

#include "base/hash.h"

enum {
	ENDED_LEAST = 64
}; /* threads that have ended are forgotten when they are so many, and half of all */

static const u64 LOST_NS = 60000000000;

/* ---- samples that are kept ---- */

static void keep(struct wallnow_sample *k, struct visit *v, bool has_callers)
{
	const struct sample *s = v->sample;

	k->sample = *s;
	k->sample.read = (struct sample_read){0};
	k->sample.chain = (struct sample_words){0};
	k->sample.raw = k->sample.aux = (struct record_bytes){0};
	k->sample.branches = (struct sample_branches){0};
	k->sample.user_regs = k->sample.intr_regs = (struct sample_regs){0};
	k->sample.user_stack = (struct sample_stack){0};
	k->format = v->format;
	k->event = v->event;
	k->mode = v->mode;
	k->is_there = true;
	k->chain.n = 0;
	if (!has_callers)
		return;
	k->has_end = visit_callers(v);
	k->end = v->end;
	vec_reserve(&k->chain, v->chain.n);
	if (v->chain.n)
		memcpy(k->chain.at, v->chain.at, v->chain.n * sizeof(*k->chain.at));
	k->chain.n = v->chain.n;
}

static void tell_one(struct wallnow *w, const struct wallnow_sample *k, struct visits *visits,
	const struct wall_share *piece)
{
	struct visit v = {.visits = visits,
		.sample = &k->sample,
		.format = k->format,
		.time = w->sweep.now,
		.event = k->event,
		.taken_by = k->event,
		.mode = k->mode,
		.has_callers = true,
		.has_end = k->has_end,
		.chain = {(const u8 *)k->chain.at, k->chain.n},
		.end = k->end};

	w->tell(w->ctx, &v, piece);
}

/* Tells the pieces that the thread's samples represent now. */
static void tell_all(struct wallnow *w, u32 i, struct visits *visits)
{
	struct wall_thread *t = &w->wall.threads.at[i];
	const struct wallnow_thread *samples = &w->samples.at[i];
	struct walllife *l = &w->lives.at[i];

	vec_each(share, &t->shares) {
		const struct wallnow_sample *k = share->is_out ? &samples->out : &samples->on;

		w->ns[share->state] += share->ns;
		if (share->ns && k->is_there)
			tell_one(w, k, visits, share);
		else
			w->untold_ns += share->ns;
	}
	for (unsigned rest = 0; rest < WALL_RESTS; rest++) {
		w->ns[rest == WALL_REST_STARTING ? WALL_RUNNABLE : rest] += t->rest[rest];
		w->untold_ns += t->rest[rest];
		t->rest[rest] = t->rest_latency[rest] = 0;
	}
	/* The last sample on a CPU may get more. */
	if (l->spoken) {
		t->shares.at[0] = (struct wall_share){.time = t->shares.at[l->spoken - 1].time,
			.state = WALL_CPU};
		l->spoken = 1;
	}
	t->shares.n = l->spoken;
}

/* ---- threads ---- */

static void sample_fini(struct wallnow_thread *t)
{
	vec_fini(&t->on.chain);
	vec_fini(&t->out.chain);
}

/* A thread that has been on a CPU for long, without a sample, has ended: the record of that was lost. */
static void end_lost(struct wallnow *w)
{
	vec_each(l, &w->lives) {
		if (!l->is_alive || l->state != WALL_CPU || w->sweep.now - l->sure < LOST_NS)
			continue;
		l->is_alive = false;
		w->sweep.n_in[WALL_CPU]--;
		w->n_ended++;
	}
}

/* Forgets the threads that have ended. */
static void forget_ended(struct wallnow *w)
{
	struct wall *wall = &w->wall;
	size_t n = 0;

	if (w->n_ended < ENDED_LEAST || w->n_ended < wall->threads.n / 2)
		return;
	table_clear(&wall->by_tid);
	for (size_t i = 0; i < wall->threads.n; i++) {
		if (!w->lives.at[i].is_alive) {
			vec_fini(&wall->threads.at[i].shares);
			sample_fini(&w->samples.at[i]);
			continue;
		}
		table_add(&wall->by_tid, hash_u64(wall->threads.at[i].tid), (u32)n);
		wall->threads.at[n] = wall->threads.at[i];
		w->lives.at[n] = w->lives.at[i];
		w->samples.at[n++] = w->samples.at[i];
	}
	wall->threads.n = w->lives.n = w->samples.n = n;
	w->n_ended = 0;
}

static u32 thread_of(struct wallnow *w, u32 pid, u32 tid, enum wall_mark mark)
{
	u32 i = wall_find_thread(&w->wall, tid);

	/* The first marks that tell where a thread is: a wake-up is followed by one. */
	if (i == TABLE_NONE && (mark == WALL_ENDED || mark == WALL_WOKEN))
		return TABLE_NONE;
	if (i == TABLE_NONE) {
		i = wall_get_thread(&w->wall, pid, tid);
		vec_add(&w->lives, ((struct walllife){0}));
		vec_add(&w->samples, ((struct wallnow_thread){0}));
		w->sweep.lives = w->lives.at;
		w->n_ended++;
	}
	return i;
}

/* The state of a thread before the first mark that tells of it. */
static void begin(struct wallnow *w, u32 i, enum wall_mark mark)
{
	struct walllife *l = &w->lives.at[i];

	/* It may still come to a CPU after its end: see wallsweep.c. */
	if (l->is_alive || mark == WALL_ENDED || mark == WALL_WOKEN ||
		(l->is_gone && mark != WALL_BORN))
		return;
	l->is_gone = false;
	w->samples.at[i].on.is_there = w->samples.at[i].out.is_there = false;
	if (mark != WALL_BORN)
		wallsweep_begin(&w->sweep, i,
			mark == WALL_IN || mark == WALL_SEEN_WAITING ? WALL_BLOCKED : WALL_CPU);
}

/* Whether a sample of the thread's wait is wanted: the first one says where it waits. */
static bool wants_wait(const struct walllife *l)
{
	return l->is_alive && l->state != WALL_CPU && !l->out_time;
}

void wallnow_mark(struct wallnow *w, struct visit *v, u32 pid, u32 tid, enum wall_mark mark)
{
	struct wallnow_thread *samples;
	bool was_alive;
	u32 i;

	if (!tid || tid == UINT32_MAX)
		return;
	i = thread_of(w, pid, tid, mark);
	if (i == TABLE_NONE)
		return;
	if (v->time > w->sweep.now)
		wallsweep_advance(&w->sweep, v->time);
	was_alive = w->lives.at[i].is_alive;
	begin(w, i, mark);
	samples = &w->samples.at[i];
	if (mark == WALL_SAMPLED)
		keep(&samples->on, v, w->has_callers);
	if (mark == WALL_SAMPLED_OUT || (mark == WALL_SEEN_WAITING && wants_wait(&w->lives.at[i])))
		keep(&samples->out, v, w->has_callers);
	wallsweep_apply(&w->sweep, i, mark);
	tell_all(w, i, v->visits);
	w->lives.at[i].is_gone |= mark == WALL_ENDED;
	w->n_ended += was_alive - w->lives.at[i].is_alive;
}

/* ---- records ---- */

static void take_sample(struct wallnow *w, struct visit *v)
{
	const struct sample *s = v->sample;
	u32 tid;

	switch (v->event == v->taken_by ? w->marks.roles.at[v->event] : WALL_ROLE_NONE) {
	case WALL_ROLE_CPU:
		wallnow_mark(w, v, s->pid, s->tid, WALL_SAMPLED);
		return;
	case WALL_ROLE_OUT:
		/* Threads leave CPUs in the kernel: this one was seen to wait before there was a record of it. */
		wallnow_mark(w, v, s->pid, s->tid,
			v->mode == PERF_RECORD_MISC_USER ? WALL_SEEN_WAITING : WALL_SAMPLED_OUT);
		return;
	case WALL_ROLE_WAIT:
		wallnow_mark(w, v, s->pid, s->tid, WALL_SEEN_WAITING);
		return;
	case WALL_ROLE_WAKE:
		if (wallmarks_woken(&w->marks, v->event, s, &tid))
			wallnow_mark(w, v, 0, tid, WALL_WOKEN);
		return;
	}
}

void wallnow_take(struct wallnow *w, struct visit *v)
{
	struct sample who = {0};

	if (v->sample) {
		take_sample(w, v);
		return;
	}
	switch (v->rec->type) {
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		if (sample_decode_trailer(v->format, v->rec, &who))
			wallnow_mark(w, v, who.pid, who.tid, wallmarks_of_switch(v->rec));
		return;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		/* Without a time, it says what was there before: what those do is not known. */
		if (v->body && v->time)
			wallnow_mark(w, v, v->body->task.pid, v->body->task.tid,
				v->rec->type == PERF_RECORD_FORK ? WALL_BORN : WALL_ENDED);
		return;
	}
}

void wallnow_settle(struct wallnow *w, u64 time, struct visits *visits)
{
	if (time > w->sweep.now)
		wallsweep_advance(&w->sweep, time);
	for (u32 i = 0; i < w->wall.threads.n; i++) {
		wallsweep_tell(&w->sweep, i);
		tell_all(w, i, visits);
	}
	end_lost(w);
	forget_ended(w);
}

void wallnow_clear_sums(struct wallnow *w)
{
	memset(w->ns, 0, sizeof(w->ns));
	w->untold_ns = 0;
}

/* ---- beginning and end ---- */

static void note_roles(struct wallnow *w)
{
	vec_each(role, &w->marks.roles) {
		w->wall.has_outs |= *role == WALL_ROLE_OUT;
		w->wall.has_waits |= *role == WALL_ROLE_WAIT;
		w->wall.has_wakes |= *role == WALL_ROLE_WAKE;
	}
}

void wallnow_init(struct wallnow *w, const struct session *s, bool has_callers)
{
	memset(w, 0, sizeof(*w));
	wallmarks_learn(&w->marks, s);
	w->has_callers = has_callers;
	w->sweep.wall = &w->wall;
	note_roles(w);
}

void wallnow_forget(struct wallnow *w)
{
	wall_fini(&w->wall);
	vec_each(t, &w->samples)
		sample_fini(t);
	w->lives.n = w->samples.n = w->n_ended = 0;
	memset(w->sweep.n_in, 0, sizeof(w->sweep.n_in));
	note_roles(w);
}

void wallnow_fini(struct wallnow *w)
{
	wallnow_forget(w);
	vec_fini(&w->lives);
	vec_fini(&w->samples);
	wallmarks_fini(&w->marks);
}
