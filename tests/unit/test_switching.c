#include "session/switching.h"

#include "test.h"

enum { ON = 1, OFF = 2 }; /* as switching.c has them */

/* Without a recording: its marks are put in as the observer would. */
static void cut(struct switching *w, bool shows)
{
	static const struct switching_mark marks[] = {{50, 5, OFF}, {10, 1, OFF}, {20, 2, ON},
		{30, 3, ON}, {40, 4, OFF}, {60, 6, ON}};
	static struct session session = {.has_times = true};
	static struct event events[] = {{.name = "begin"}, {.name = "end"}};
	static struct switching_options options = {.on = "begin", .off = "end"};
	struct err err;

	session.reader.events.at = events;
	session.reader.events.n = ARRAY_SIZE(events);
	options.shows_switches = shows;
	memset(w, 0, sizeof(*w));
	w->session = &session;
	w->options = &options;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		vec_add(&w->marks, marks[i]);
	CHECK_EQ(switching_cut(w, &err), 0);
}

TEST(switching_is_on_between_the_samples_that_switch)
{
	struct switching w;

	cut(&w, false);
	CHECK(!switching_has(&w, 0));
	CHECK(!switching_has(&w, 20));
	CHECK(switching_has(&w, 21));
	/* switches nothing */
	CHECK(switching_has(&w, 30));
	CHECK(switching_has(&w, 39));
	CHECK(!switching_has(&w, 40));
	CHECK(!switching_has(&w, 55));
	CHECK(!switching_has(&w, 60));
	CHECK(switching_has(&w, UINT64_MAX));
	switching_fini(&w);
}

TEST(switching_shows_those_samples_if_asked)
{
	struct switching w;

	cut(&w, true);
	CHECK(!switching_has(&w, 10));
	CHECK(switching_has(&w, 20));
	CHECK(switching_has(&w, 40));
	CHECK(!switching_has(&w, 41));
	CHECK(!switching_has(&w, 50));
	CHECK(switching_has(&w, 60));
	switching_fini(&w);
}

TEST(switching_by_an_event_that_is_not_there_says_which_are)
{
	struct event events[] = {{.name = "begin"}, {.name = "end"}};
	struct session session = {.has_times = true};
	struct switching_options options = {.on = "bagin"};
	struct switching w = {.session = &session, .options = &options};
	struct err err;

	session.reader.events.at = events;
	session.reader.events.n = ARRAY_SIZE(events);
	CHECK_EQ(switching_cut(&w, &err), ERR_INVAL);
	CHECK_STR(err.msg, "--switch-on: the recording has no event 'bagin'; it has begin, end");
	switching_fini(&w);
}
