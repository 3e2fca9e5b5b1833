#include "profile/gather/wall.h"

#include <string.h>

#include "base/hash.h"
#include "base/search.h"
#include "profile/gather/wallsweep.h"

/* ---- marks ---- */

u32 wall_find_thread(const struct wall *w, u32 tid)
{
	struct table_probe probe = table_probe(&w->by_tid, hash_u64(tid));
	u32 i;

	while ((i = table_next(&w->by_tid, &probe)) != TABLE_NONE)
		if (w->threads.at[i].tid == tid)
			return i;
	return TABLE_NONE;
}

u32 wall_get_thread(struct wall *w, u32 pid, u32 tid)
{
	u32 i = wall_find_thread(w, tid);

	if (i != TABLE_NONE)
		return i;
	i = w->threads.n;
	table_add(&w->by_tid, hash_u64(tid), i);
	vec_add(&w->threads, ((struct wall_thread){.pid = pid, .tid = tid}));
	return i;
}

void wall_add(struct wall *w, u32 pid, u32 tid, u64 time, enum wall_mark mark)
{
	u32 i;

	/* tid 0 is the idle task; a thread that has just ended has the tid -1. */
	if (!tid || tid == UINT32_MAX)
		return;
	i = wall_get_thread(w, pid, tid);
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
static void find_bounds(const struct wallsweep *s)
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
static void begin_all(struct wallsweep *s)
{
	struct wall *w = s->wall;

	vec_each(mark, &w->marks) {
		u32 i = thread_of(mark);
		enum wall_mark kind = kind_of(mark);
		struct walllife *l = &s->lives[i];

		if (mark->key < w->begin)
			l->is_gone = kind == WALL_ENDED;
		if (mark->key < w->begin || l->is_known)
			continue;
		l->is_known = true;
		if (kind != WALL_BORN && !is_ghost(w, i))
			wallsweep_begin(s, i,
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
static void drop_sleepers(struct wall *w, const struct walllife *lives)
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
	struct wallsweep s = {.wall = w};

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
		wallsweep_advance(&s, mark->key);
		wallsweep_apply(&s, thread_of(mark), kind_of(mark));
	}
	wallsweep_advance(&s, w->end);
	for (u32 i = 0; i < w->threads.n; i++)
		wallsweep_end(&s, i);
	drop_sleepers(w, s.lives);
	sum_up(w);
	mem_free(s.lives);
	vec_fini(&w->marks);
}

/* ---- look-ups ---- */

const struct wall_share *wall_find(const struct wall *w, u32 tid, u64 time, bool is_out,
	size_t *ret_n)
{
	u32 i = wall_find_thread(w, tid);
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
