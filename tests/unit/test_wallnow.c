#include "test.h"

#include "base/str.h"
#include "profile/gather/wallnow.h"

/* Pieces, added up: by thread, sample and state. */
enum { THREADS = 5, TIMES = 4000 };

struct sums {
	u64 ns[THREADS][TIMES][2][WALL_STATES], latency[THREADS];
	u64 ns_of[WALL_STATES];
};

static void tell(void *ctx, struct visit *v, const struct wall_share *piece)
{
	struct sums *s = ctx;
	const u32 tid = v->sample->tid;

	CHECK(v->sample->time < TIMES && tid < THREADS);
	/* The sample says itself which one it is. */
	CHECK_EQ(v->sample->time, piece->time);
	CHECK_EQ(v->sample->ip, piece->time + (piece->is_out ? 1u << 20 : 0));
	s->ns[tid][piece->time][piece->is_out][piece->state] += piece->ns;
	s->ns_of[piece->state] += piece->ns;
	s->latency[tid] += piece->latency;
}

static void begin(struct wallnow *w, struct sums *sums)
{
	static const struct session none;

	wallnow_init(w, &none, false);
	w->tell = tell;
	w->ctx = sums;
	w->wall.has_outs = true;
}

static void mark(struct wallnow *w, u32 tid, enum wall_mark kind, u64 time)
{
	const bool is_out = kind == WALL_SAMPLED_OUT || kind == WALL_SEEN_WAITING;
	const struct sample sample = {.pid = 1,
		.tid = tid,
		.time = time,
		.ip = time + (is_out ? 1u << 20 : 0)};
	struct visit v = {.sample = &sample, .time = time};

	wallnow_mark(w, &v, 1, tid, kind);
}

struct act {
	u32 tid;
	u64 time;
	enum wall_mark kind;
};

/* Lives of threads that are born, come to CPUs, are sampled there, and leave them in all ways. */
static size_t make_up(struct act *acts, size_t most, unsigned seed)
{
	enum wall_mark last[THREADS];
	size_t n = 0;
	u64 time = 1;

	srand(seed);
	for (u32 tid = 1; tid < THREADS; tid++) {
		acts[n++] = (struct act){tid, time, WALL_BORN};
		acts[n++] = (struct act){tid, time, WALL_IN};
		acts[n++] = (struct act){tid, time, WALL_SAMPLED};
		last[tid] = WALL_IN;
	}
	while (n + 2 * THREADS < most && time + 20 < TIMES) {
		const u32 tid = 1 + (u32)rand() % (THREADS - 1);

		time += 1 + (u64)rand() % 9;
		if (last[tid] == WALL_IN && rand() % 3) {
			acts[n++] = (struct act){tid, time, WALL_SAMPLED};
		} else if (last[tid] == WALL_IN) {
			acts[n++] = (struct act){tid, time, WALL_SAMPLED_OUT};
			last[tid] = rand() % 2 ? WALL_LEFT : WALL_PREEMPTED;
			acts[n++] = (struct act){tid, time, last[tid]};
		} else if (last[tid] == WALL_LEFT && rand() % 2) {
			last[tid] = WALL_WOKEN;
			acts[n++] = (struct act){tid, time, last[tid]};
		} else {
			last[tid] = WALL_IN;
			acts[n++] = (struct act){tid, time, last[tid]};
		}
	}
	/* Threads end on CPUs. */
	for (u32 tid = 1; tid < THREADS; tid++)
		if (last[tid] != WALL_IN)
			acts[n++] = (struct act){tid, time + 1, WALL_IN};
	for (u32 tid = 1; tid < THREADS; tid++)
		acts[n++] = (struct act){tid, time + 2, WALL_ENDED};
	return n;
}

TEST(wallnow_tells_as_it_passes_what_wall_tells_in_the_end)
{
	static struct sums now, later;
	static struct act acts[2000];

	for (unsigned seed = 0; seed < 50; seed++) {
		const size_t n = make_up(acts, ARRAY_SIZE(acts), seed);
		struct wallnow w;
		struct wall wall = {0};

		memset(&now, 0, sizeof(now));
		memset(&later, 0, sizeof(later));
		begin(&w, &now);
		for (size_t i = 0; i < n; i++) {
			mark(&w, acts[i].tid, acts[i].kind, acts[i].time);
			wall_add(&wall, 1, acts[i].tid, acts[i].time, acts[i].kind);
			/* Wherever it is looked at. */
			if (i % 7 == seed % 7)
				wallnow_settle(&w, acts[i].time, NULL);
		}
		CHECK_EQ(wallnow_n_threads(&w), 0);
		wall_cut(&wall);
		vec_each(t, &wall.threads) {
			vec_each(s, &t->shares) {
				later.ns[t->tid][s->time][s->is_out][s->state] += s->ns;
				later.ns_of[s->state] += s->ns;
				later.latency[t->tid] += s->latency;
			}
		}
		CHECK(later.ns_of[WALL_BLOCKED] && later.ns_of[WALL_RUNNABLE] &&
			later.ns_of[WALL_CPU]);
		CHECK(!memcmp(now.ns, later.ns, sizeof(now.ns)));
		for (unsigned state = 0; state < WALL_STATES; state++)
			CHECK_EQ(w.ns[state], wall.ns[state]);
		for (u32 tid = 1; tid < THREADS; tid++)
			CHECK(now.latency[tid] + 2 >= later.latency[tid] &&
				now.latency[tid] <= later.latency[tid] + 2);
		wall_fini(&wall);
		wallnow_fini(&w);
	}
}

TEST(wallnow_a_wait_that_lasts_is_told_each_time)
{
	static struct sums s;
	struct wallnow w;

	begin(&w, &s);
	mark(&w, 1, WALL_SEEN_WAITING, 100);
	mark(&w, 1, WALL_SEEN_WAITING, 150);
	CHECK_EQ(s.ns_of[WALL_BLOCKED], 0);
	for (u64 time = 200; time <= 1000; time += 200) {
		wallnow_settle(&w, time, NULL);
		CHECK_EQ(s.ns_of[WALL_BLOCKED], time - 100);
		CHECK_EQ(w.ns[WALL_BLOCKED], time - 100);
	}
	/* All of it is the first sample's. */
	CHECK_EQ(s.ns[1][100][1][WALL_BLOCKED], 900);
	wallnow_clear_sums(&w);
	mark(&w, 1, WALL_IN, 1100);
	CHECK_EQ(s.ns[1][100][1][WALL_BLOCKED], 1000);
	CHECK_EQ(w.ns[WALL_BLOCKED], 100);
	wallnow_fini(&w);
}

TEST(wallnow_what_was_forgotten_begins_anew)
{
	static struct sums s;
	struct wallnow w;

	begin(&w, &s);
	mark(&w, 1, WALL_IN, 10);
	mark(&w, 1, WALL_SAMPLED_OUT, 20);
	mark(&w, 1, WALL_LEFT, 20);
	wallnow_forget(&w);
	CHECK_EQ(wallnow_n_threads(&w), 0);
	mark(&w, 1, WALL_WOKEN, 900);
	CHECK_EQ(wallnow_n_threads(&w), 0);
	mark(&w, 1, WALL_IN, 1000);
	CHECK_EQ(wallnow_n_threads(&w), 1);
	wallnow_settle(&w, 1100, NULL);
	CHECK_EQ(s.ns_of[WALL_BLOCKED] + s.ns_of[WALL_RUNNABLE], 0);
	wallnow_fini(&w);
}

TEST(wallnow_threads_that_have_ended_take_no_memory)
{
	static struct sums s;
	struct wallnow w;

	begin(&w, &s);
	for (u64 i = 0; i < 3000; i++) {
		const u32 tid = 2 + (u32)i % 2;

		mark(&w, tid, WALL_BORN, i + 1);
		mark(&w, tid, WALL_IN, i + 1);
		mark(&w, tid, WALL_SAMPLED, i + 1);
		mark(&w, tid, WALL_ENDED, i + 1);
		/* The switch to the next one does not bring it back. */
		mark(&w, tid, WALL_PREEMPTED, i + 1);
		CHECK_EQ(wallnow_n_threads(&w), 0);
	}
	for (u32 tid = 100; tid < 100000; tid++) {
		mark(&w, tid, WALL_BORN, 3000);
		mark(&w, tid, WALL_ENDED, 3000);
		if (tid % 1000 == 0)
			wallnow_settle(&w, 3000, NULL);
	}
	wallnow_settle(&w, 3001, NULL);
	CHECK(w.wall.threads.n < 2000);
	wallnow_fini(&w);
}
