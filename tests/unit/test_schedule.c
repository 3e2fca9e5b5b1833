#include "test.h"

#include "collect/run/schedule.h"

TEST(schedule_of_one_number_is_a_delay)
{
	struct schedule s;
	struct err err;

	CHECK_EQ(schedule_parse(&s, "500", &err), 0);
	CHECK(s.is_late);
	CHECK_EQ(schedule_next(&s), 500000000);
	CHECK(schedule_step(&s));
	/* It stays on. */
	CHECK_EQ(schedule_next(&s), UINT64_MAX);
	CHECK(!schedule_is_over(&s));
	schedule_fini(&s);
}

TEST(schedule_of_ranges_goes_on_and_off_and_is_over)
{
	struct schedule s;
	struct err err;

	CHECK_EQ(schedule_parse(&s, "10-20,30-40", &err), 0);
	CHECK(s.is_late);
	for (u64 ms = 10; ms <= 40; ms += 10) {
		CHECK(!schedule_is_over(&s));
		CHECK_EQ(schedule_next(&s), ms * 1000000);
		CHECK_EQ(schedule_step(&s), ms / 10 % 2);
	}
	CHECK(schedule_is_over(&s));
	CHECK_EQ(schedule_next(&s), UINT64_MAX);
	schedule_fini(&s);
}

TEST(schedule_of_minus_one_waits_for_somebody_to_say_so)
{
	struct schedule s;
	struct err err;

	CHECK_EQ(schedule_parse(&s, "-1", &err), 0);
	CHECK(s.is_late);
	CHECK_EQ(schedule_next(&s), UINT64_MAX);
	CHECK(!schedule_is_over(&s));
	/* And none at all begins with the target. */
	CHECK_EQ(schedule_parse(&s, "0", &err), 0);
	CHECK(!s.is_late);
	CHECK_EQ(schedule_next(&s), UINT64_MAX);
	schedule_fini(&s);
}

TEST(schedule_refuses_what_makes_no_sense)
{
	static const char *const texts[] = {"", "-2", "x", "10-", "-10", "20-10", "10-10", "10-20,",
		"10-20,15-30", "10-20,30", "10-20 30-40", "10-20,,30-40", "99999999999999999999",
		"1-99999999999999999999"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct schedule s;
		struct err err = {0};

		if (schedule_parse(&s, texts[i], &err) != ERR_INVAL)
			test_failed(__FILE__, __LINE__, "'%s' is taken", texts[i]);
		CHECK(strstr(err.msg, "10-20,30-40"));
	}
}
