#include "event/event.h"

#include "test.h"

TEST(event_add_copies_the_attr_and_the_name)
{
	struct event_attr attr = {.type = 1, .config = 9, .config4 = 7};
	struct event_list events = {0};
	char name[] = "dummy:u";
	struct event *e = event_add(&events, &attr, name);

	attr.config = 0;
	name[0] = 'x';
	CHECK_EQ(events.n, 1);
	CHECK(e == &events.at[0]);
	CHECK_EQ(e->attr.type, 1);
	CHECK_EQ(e->attr.config, 9);
	CHECK_EQ(e->attr.config4, 7);
	CHECK_STR(e->name, "dummy:u");
	event_list_fini(&events);
	CHECK(!events.at);
	CHECK_EQ(events.n, 0);
}

TEST(event_that_is_new_leads_itself)
{
	struct event_list events = {0};
	struct event_attr attr = {0};

	for (u32 i = 0; i < 100; i++) {
		struct event *e = event_add(&events, &attr, "");

		CHECK_EQ(e->leader, i);
		CHECK_EQ(e->n_members, 1);
		CHECK_EQ(e->wishes, 0);
		CHECK(!e->ids && !e->n_ids && !e->cpus.n);
		CHECK(!event_is_group_member(&events, i));
	}
	events.at[5].leader = 4;
	CHECK(event_is_group_member(&events, 5));
	CHECK(!event_is_group_member(&events, 4));
	event_list_fini(&events);
}

TEST(event_list_frees_the_cpus_of_its_events)
{
	struct event_list events = {0};
	struct event_attr attr = {0};
	struct err err;

	for (int i = 0; i < 20; i++)
		CHECK_EQ(cpus_parse(&event_add(&events, &attr, "x")->cpus, "0-99", &err), 0);
	event_list_fini(&events); /* the leak checker has the last word */
}
