#include "test.h"

#include <math.h>

#include "base/str.h"
#include "profile/gather/wall.h"
#include "unit/recording.h"

/* "TID:MARK@TIME ...", in any order; marks: born, end, in, pre, left, woke, s (sampled), out, seen. */
static void add(struct wall *w, const char *text)
{
	static const char *const names[] = {[WALL_BORN] = "born",
		[WALL_ENDED] = "end",
		[WALL_IN] = "in",
		[WALL_PREEMPTED] = "pre",
		[WALL_LEFT] = "left",
		[WALL_WOKEN] = "woke",
		[WALL_SAMPLED] = "s",
		[WALL_SAMPLED_OUT] = "out",
		[WALL_SEEN_WAITING] = "seen"};
	unsigned tid, at;
	char name[8];
	int n;

	for (; sscanf(text, " %u:%7[a-z]@%u%n", &tid, name, &at, &n) == 3; text += n) {
		unsigned mark = 0;

		while (mark < ARRAY_SIZE(names) && strcmp(names[mark], name))
			mark++;
		CHECK(mark < ARRAY_SIZE(names));
		wall_add(w, 1, tid, at, (enum wall_mark)mark);
	}
	CHECK(!*text);
}

/*
 * "TID lived = cpu+runnable+blocked+unaccounted, latency cpu+runnable+blocked, rest ..., TIME:ns(STATE) of
 * each share", a line a thread.
 */
static void cut(const char *marks, const char *expected)
{
	struct wall w = {0};
	struct str text = {0};

	add(&w, marks);
	wall_cut(&w);
	vec_each(t, &w.threads) {
		str_addf(&text,
			"%u %llu=%llu+%llu+%llu+%llu latency %llu+%llu+%llu rest %llu+%llu+%llu;",
			t->tid, (unsigned long long)t->lived, (unsigned long long)t->ns[WALL_CPU],
			(unsigned long long)t->ns[WALL_RUNNABLE],
			(unsigned long long)t->ns[WALL_BLOCKED], (unsigned long long)t->unaccounted,
			(unsigned long long)t->latency[WALL_CPU],
			(unsigned long long)t->latency[WALL_RUNNABLE],
			(unsigned long long)t->latency[WALL_BLOCKED],
			(unsigned long long)t->rest[WALL_CPU],
			(unsigned long long)(t->rest[WALL_RUNNABLE] + t->rest[WALL_REST_STARTING]),
			(unsigned long long)t->rest[WALL_BLOCKED]);
		vec_each(s, &t->shares)
			str_addf(&text, " %llu%s:%llu%c", (unsigned long long)s->time,
				s->is_out ? "o" : "", (unsigned long long)s->ns, "crb"[s->state]);
		str_addc(&text, '\n');
	}
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
	wall_fini(&w);
}

TEST(wall_cuts_a_life_into_running_and_blocked)
{
	/* The sample at 15 speaks for what ran before it, and 18 for the absence. */
	cut("1:born@0 1:in@10 1:s@15 1:out@18 1:left@20 1:in@50 1:s@55 1:end@60",
		"1 50=20+0+30+0 latency 20+0+30 rest 0+0+0; 15:5c 18o:30b 55:15c\n");
}

TEST(wall_who_was_taken_off_waits_for_a_cpu)
{
	cut("1:in@10 1:s@15 1:out@20 1:pre@20 1:in@50 1:end@60",
		"1 50=20+30+0+0 latency 20+30+0 rest 0+0+0; 15:20c 20o:30r\n");
}

TEST(wall_who_is_woken_waits_for_a_cpu_from_then_on)
{
	cut("1:in@10 1:s@15 1:out@20 1:left@20 1:woke@45 1:in@50 1:end@60",
		"1 50=20+5+25+0 latency 20+5+25 rest 0+0+0; 15:20c 20o:5r 20o:25b\n");
}

TEST(wall_a_wake_up_of_who_runs_means_nothing)
{
	cut("1:in@10 1:s@15 1:woke@16 1:end@20",
		"1 10=10+0+0+0 latency 10+0+0 rest 0+0+0; 15:10c\n");
}

TEST(wall_a_new_thread_waits_for_its_first_cpu)
{
	cut("1:in@10 2:born@20 2:in@26 2:s@30 2:end@40 1:end@40",
		"1 30=30+0+0+0 latency 23+0+0 rest 30+0+0;\n"
		"2 20=14+6+0+0 latency 7+0+0 rest 0+6+0; 30:14c\n");
}

TEST(wall_the_wait_of_a_new_thread_is_told_apart)
{
	struct wall w = {0};

	add(&w, "1:in@10 2:born@20 2:in@26 2:s@30 2:left@40 2:woke@42 2:in@45 2:end@50 1:end@60");
	wall_cut(&w);
	CHECK_EQ(w.threads.at[1].rest[WALL_REST_STARTING], 6);
	CHECK_EQ(w.threads.at[1].rest[WALL_RUNNABLE], 0); /* 3, which the sample at 30 has */
	CHECK_EQ(w.threads.at[1].ns[WALL_RUNNABLE], 9);
	wall_fini(&w);
}

TEST(wall_begins_and_ends_in_the_middle_of_lives)
{
	/* 1 ran already, 2 was off, and neither comes to an end. */
	cut("1:s@10 2:in@20 1:out@20 1:left@20 2:s@40",
		"1 30=10+0+20+0 latency 10+0+0 rest 0+0+0; 10:10c 20o:20b\n"
		"2 30=20+0+10+0 latency 20+0+0 rest 0+0+10; 40:20c\n");
}

TEST(wall_a_lost_departure_is_unaccounted_from_the_last_sign_of_life_on)
{
	cut("1:in@10 1:s@30 1:in@90 1:s@95 1:end@100",
		"1 90=30+0+0+60 latency 90+0+0 rest 0+0+0; 30:20c 95:10c\n");
}

TEST(wall_a_lost_return_makes_the_whole_absence_unaccounted)
{
	cut("1:in@10 1:s@12 1:out@20 1:left@20 1:out@90 1:left@90 1:in@95 1:end@100",
		"1 90=15+0+5+70 latency 15+0+75 rest 0+0+0; 12:15c 90o:5b\n");
}

TEST(wall_an_absence_that_was_not_sampled_is_nobodys)
{
	cut("1:in@10 1:s@12 1:out@20 1:left@20 1:in@30 1:left@40 1:in@60 1:end@70",
		"1 60=30+0+30+0 latency 30+0+30 rest 0+0+20; 12:30c 20o:10b\n");
}

TEST(wall_without_samples_of_departures_the_last_one_before_has_them)
{
	cut("1:in@10 1:s@12 1:s@14 1:left@20 1:in@30 1:pre@40 1:in@60 1:end@70",
		"1 60=30+20+10+0 latency 30+20+10 rest 0+0+0; 12:2c 14:28c 14:10b 14:20r\n");
}

TEST(wall_a_wait_that_was_seen_speaks_for_those_before_it_that_were_not)
{
	/* The first one and the last are too short; who waits for a CPU was running before. */
	cut("1:in@10 1:s@12 1:left@20 1:in@23 1:left@30 1:seen@35 1:seen@39 1:in@40 1:pre@44 1:in@45 1:left@46 1:in@48 1:seen@49 1:end@50",
		"1 40=24+1+15+0 latency 24+1+15 rest 0+0+0; 12:24c 12:1r 35o:15b\n");
	/* Nothing was seen of 2. */
	cut("1:in@10 1:left@20 1:seen@25 1:in@30 1:end@30 2:in@10 2:s@12 2:left@20 2:in@30 2:end@30",
		"1 20=10+0+10+0 latency 5+0+10 rest 10+0+0; 25o:10b\n"
		"2 20=10+0+10+0 latency 5+0+0 rest 0+0+0; 12:10c 12:10b\n");
}

TEST(wall_who_never_ran_is_left_out)
{
	struct wall w = {0};

	add(&w, "1:born@0 2:born@0 3:born@0 1:s@10 1:s@20 2:end@15");
	wall_cut(&w);
	CHECK_EQ(w.threads.n, 1);
	CHECK_EQ(w.n_slept, 1); /* 3; of 2 it is known that it ended */
	CHECK_EQ(w.lived, 10);
	wall_fini(&w);
}

TEST(wall_idle_is_no_thread)
{
	cut("0:in@5 0:s@6 1:in@10 1:s@12 0:in@40", "1 2=2+0+0+0 latency 2+0+0 rest 0+0+0; 12:2c\n");
}

TEST(wall_what_a_thread_does_behind_its_end_is_not_its_life)
{
	/* With -a the kernel tells of it until it is gone for good. */
	cut("1:in@10 1:s@15 1:end@20 1:pre@22 1:in@25 1:s@27 4294967295:left@30 2:in@10 2:s@90",
		"1 10=10+0+0+0 latency 5+0+0 rest 0+0+0; 15:10c\n"
		"2 80=80+0+0+0 latency 75+0+0 rest 0+0+0; 90:80c\n");
}

TEST(wall_who_had_ended_before_does_not_run_to_the_end)
{
	/* Of 2 nobody says that it is there; 3 is as little known, but is switched. */
	cut("1:born@0 1:in@10 2:s@12 3:s@15 3:left@20 1:s@20 1:end@60",
		"1 50=50+0+0+0 latency 45+0+0 rest 0+0+0; 20:50c\n"
		"2 0=0+0+0+0 latency 0+0+0 rest 0+0+0;\n"
		"3 50=10+0+40+0 latency 5+0+0 rest 0+0+0; 15:10c 15:40b\n");
}

TEST(wall_a_number_that_comes_again_is_another_life)
{
	cut("1:in@10 1:s@15 1:end@20 1:born@50 1:in@55 1:end@60 2:in@10 2:end@60",
		"1 20=15+5+0+0 latency 8+0+0 rest 5+5+0; 15:10c\n"
		"2 50=50+0+0+0 latency 43+0+0 rest 50+0+0;\n");
}

TEST(wall_latency_of_those_who_run_together_is_shared)
{
	cut("1:in@0 2:in@100 1:s@100 2:s@200 1:s@200 2:out@200 2:left@200 1:left@300",
		"1 200=200+0+0+0 latency 150+0+0 rest 0+0+0; 100:0c 200:200c\n"
		"2 200=100+0+100+0 latency 50+0+0 rest 0+0+0; 200:100c 200o:100b\n");
}

TEST(wall_waiting_while_others_work_costs_no_latency_and_waiting_together_is_the_firsts_to_wake)
{
	/* 3 waits all the time; from 200 on all do, until 2 comes back. */
	cut("3:s@1 3:left@1 1:in@1 2:in@1 2:left@100 1:left@200 2:in@500 2:s@500 2:end@600 1:in@600 1:end@600 3:end@600",
		"3 599=0+0+599+0 latency 0+0+0 rest 0+0+0; 1:0c 1:599b\n"
		"1 599=199+0+400+0 latency 150+0+0 rest 199+0+400;\n"
		"2 599=199+0+400+0 latency 150+0+300 rest 0+0+400; 500:199c\n");
}

TEST(wall_waiting_for_a_cpu_that_others_have_is_latency)
{
	cut("1:in@10 1:pre@20 1:in@50 1:left@60 1:woke@80 1:in@90 1:end@100",
		"1 90=30+40+20+0 latency 30+40+20 rest 30+40+20;\n");
}

TEST(wall_ends_with_the_last_sign_of_life)
{
	/* 2 cannot have ended without a CPU: switches behind 30 are missing, as in a recording that was cut. */
	cut("1:in@10 2:in@10 1:left@20 2:left@30 2:end@90",
		"1 20=10+0+10+0 latency 5+0+0 rest 10+0+10;\n"
		"2 20=20+0+0+0 latency 15+0+0 rest 20+0+0;\n");
	cut("1:in@10 2:in@10 1:left@20 2:end@90",
		"1 80=10+0+70+0 latency 5+0+0 rest 10+0+70;\n"
		"2 80=80+0+0+0 latency 75+0+0 rest 80+0+0;\n");
}

TEST(wall_finds_what_a_sample_speaks_for)
{
	struct wall w = {0};
	const struct wall_share *s;
	size_t n;

	add(&w, "1:in@10 1:s@15 1:out@20 1:left@20 1:woke@45 1:in@50 1:s@55 1:end@60 2:in@10 2:end@60");
	wall_cut(&w);
	s = wall_find(&w, 1, 20, true, &n);
	CHECK_EQ(n, 2);
	CHECK_EQ(s[0].ns + s[1].ns, 30);
	wall_find(&w, 1, 20, false, &n);
	CHECK_EQ(n, 0);
	s = wall_find(&w, 1, 15, false, &n);
	CHECK_EQ(n, 1);
	CHECK_EQ(s->ns, 5);
	wall_find(&w, 2, 15, false, &n);
	CHECK_EQ(n, 0);
	wall_find(&w, 9, 15, false, &n);
	CHECK_EQ(n, 0);
	wall_fini(&w);
}

/* What must hold whatever was lost. */
static void check_sums(const struct wall *w, bool has_latency)
{
	u64 latency = 0;

	vec_each(t, &w->threads) {
		u64 told[WALL_STATES] = {0}, last = 0;

		vec_each(s, &t->shares) {
			told[s->state] += s->ns;
			CHECK(s->time >= last);
			last = s->time;
		}
		CHECK_EQ(t->ns[0] + t->ns[1] + t->ns[2] + t->unaccounted, t->lived);
		told[WALL_RUNNABLE] += t->rest[WALL_REST_STARTING];
		for (unsigned state = 0; state < WALL_STATES; state++) {
			CHECK_EQ(told[state] + t->rest[state], t->ns[state]);
			latency += t->latency[state];
		}
		CHECK(t->lived <= w->end - w->begin);
	}
	if (has_latency)
		CHECK(llabs((long long)(latency - (w->end - w->begin))) <=
			(long long)(4 * w->threads.n + 1));
	else
		CHECK(latency <= w->end - w->begin + 4 * w->threads.n);
}

TEST(wall_sums_hold_for_any_order_of_marks)
{
	u64 seed = 7;

	for (int round = 0; round < 300; round++) {
		struct wall w = {0};
		unsigned n = 1 + (unsigned)recording_below(&seed, 400);
		unsigned n_threads = 1 + (unsigned)recording_below(&seed, 6);

		for (unsigned i = 0; i < n; i++) {
			u32 tid = 1 + (u32)recording_below(&seed, n_threads);
			u64 time = 1 + recording_below(&seed, 1000);
			enum wall_mark mark = recording_below(&seed, WALL_SEEN_WAITING + 1);

			/* Departures are sampled, or waits are looked up. */
			if (mark == WALL_SAMPLED_OUT && round % 2)
				mark = WALL_SEEN_WAITING;
			wall_add(&w, 1, tid, time, mark);
		}
		wall_cut(&w);
		check_sums(&w, false);
		wall_fini(&w);
	}
}

/* Threads that go through their states as a kernel makes them. */
TEST(wall_latencies_sum_to_the_elapsed_time)
{
	u64 seed = 11;

	for (int round = 0; round < 100; round++) {
		struct wall w = {0};
		u64 time = 1;
		enum { THREADS = 5 };
		unsigned state[THREADS + 1] = {0};

		for (unsigned i = 0; i < 500; i++) {
			u32 tid = 1 + (u32)recording_below(&seed, THREADS);
			bool is_preempted = recording_below(&seed, 3) == 0;

			time += recording_below(&seed, 100);
			if (state[tid]) {
				wall_add(&w, 1, tid, time, WALL_IN);
			} else {
				wall_add(&w, 1, tid, time, WALL_SAMPLED_OUT);
				wall_add(&w, 1, tid, time + 1,
					is_preempted ? WALL_PREEMPTED : WALL_LEFT);
				time++;
			}
			state[tid] ^= 1;
		}
		wall_cut(&w);
		check_sums(&w, true);
		CHECK_EQ(w.unaccounted, 0);
		CHECK_EQ(w.n_contradictions, 0);
		wall_fini(&w);
	}
}
