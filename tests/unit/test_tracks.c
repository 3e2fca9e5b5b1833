#include "test.h"

#include "unit/profilemaker.h"
#include "view/forms/stackpath.h"
#include "view/forms/tracks.h"
#include "view/rows/stackrows.h"

struct made {
	struct profilemaker maker;
	struct calls calls;
	struct stackrows stacks;
	struct tracks tracks;
};

static void made_begin(struct made *m)
{
	memset(m, 0, sizeof(*m));
	profilemaker_init(&m->maker, LABEL_BIT(LABEL_COMM));
	profilemaker_event(&m->maker, "cycles");
	profilemaker_event(&m->maker, "faults");
}

static void add(struct made *m, u32 event, const char *comm, const char *stack, u64 period)
{
	profilemaker_add(&m->maker,
		&(struct profilemaker_sample){.event = event,
			.comm = comm,
			.stack = stack,
			.period = period});
}

static void made_finish(struct made *m)
{
	calls_init(&m->calls, &m->maker.profile);
	m->stacks.detail = STACKROWS_FUNCTIONS;
	m->stacks.is_one_recording = true;
	m->stacks.n_parts = 2;
	m->stacks.timeline = m->maker.profile.timeline;
	for (u32 part = 0; part < 2; part++) {
		stackrows_add_part(&m->stacks, part ? "faults" : "cycles", false);
		stackrows_add(&m->stacks, &m->maker.profile, &m->calls, part, part);
	}
	stackrows_finish(&m->stacks);
	tracks_init(&m->tracks, &m->stacks.rows);
}

static void made_fini(struct made *m)
{
	tracks_fini(&m->tracks);
	stackrows_fini(&m->stacks);
	calls_fini(&m->calls);
	profilemaker_fini(&m->maker);
}

/* "thread tid part: time value function, ..." for each track, a line each. */
static struct str text_of(const struct made *m)
{
	struct str text = {0};

	vec_each(track, &m->tracks.at) {
		str_addf(&text, "%s %u %u:", track->name, track->tid, track->part);
		for (size_t i = 0; i < track->n; i++) {
			const struct track_item *item = &m->tracks.items[track->first + i];

			str_addf(&text, " %llu %llu %s", (unsigned long long)item->time,
				(unsigned long long)item->value,
				stackpath_place(&m->stacks.rows, item->node)->name);
		}
		str_addc(&text, '\n');
	}
	return text;
}

static void note(struct made *m, u64 time, u32 tid, const char *comm, u32 row, u64 period)
{
	timeline_add(m->maker.profile.timeline, &(struct timeline_thread){tid, tid, comm},
		&(struct timeline_sample){.time = time, .period = period, .row = row});
}

TEST(tracks_are_of_a_thread_and_an_event_in_the_order_of_time)
{
	struct made m;
	struct str text;

	made_begin(&m);
	m.maker.profile.timeline = timeline_new(1);
	add(&m, 0, "sh", "main;a", 5);
	add(&m, 0, "sh", "main;b", 2);
	add(&m, 1, "sh", "main", 1);
	note(&m, 100, 7, "sh", 0, 3);
	note(&m, 110, 8, "sh", 0, 2);
	note(&m, 115, 7, "sh", 2, 1);
	note(&m, 120, 7, "ls\x1b", 1, 2);
	made_finish(&m);
	text = text_of(&m);
	/* A thread that changes its name stays one track, with its last name. */
	CHECK_STR(str_text(&text),
		"ls\\x1b 7 0: 100 3 a 120 2 b\nsh 8 0: 110 2 a\nsh 7 1: 115 1 main\n");
	CHECK(m.tracks.has_times);
	CHECK_EQ(m.tracks.first_time, 100);
	CHECK_EQ(m.tracks.last_time, 120);
	CHECK_EQ(m.tracks.n_items, 4);
	str_fini(&text);
	made_fini(&m);
}

TEST(tracks_without_times_have_one_stack_after_the_other)
{
	struct made m;
	struct str text;

	made_begin(&m);
	add(&m, 0, "sh", "main;a", 5);
	add(&m, 0, "sh", "main", 4);
	add(&m, 1, "sh", "main;a", 1);
	add(&m, 0, "ls", "main", 2);
	made_finish(&m);
	text = text_of(&m);
	CHECK_STR(str_text(&text), "sh 0 0: 0 4 main 4 5 a\nls 0 0: 0 2 main\nsh 0 1: 0 1 a\n");
	CHECK(!m.tracks.has_times);
	CHECK_EQ(m.tracks.first_time, 0);
	CHECK_EQ(m.tracks.last_time, 9);
	str_fini(&text);
	made_fini(&m);
}

/* A sample without a time would be missing in the sums: then times are not used at all. */
TEST(tracks_use_times_only_if_all_samples_have_some)
{
	struct made m;
	struct str text;

	made_begin(&m);
	m.maker.profile.timeline = timeline_new(1);
	m.maker.profile.timeline->n_timeless = 1;
	add(&m, 0, "sh", "main;a", 5);
	note(&m, 100, 7, "sh", 0, 4);
	made_finish(&m);
	text = text_of(&m);
	CHECK_STR(str_text(&text), "sh 0 0: 0 5 a\n");
	str_fini(&text);
	made_fini(&m);
}
