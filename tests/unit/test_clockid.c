#include "test.h"

#include <time.h>

#include "event/clockid.h"

TEST(clockid_parse_takes_names_short_names_and_numbers)
{
	static const struct {
		const char *text;
		s32 clock;
	} rows[] = {{"monotonic", CLOCK_MONOTONIC}, {"mono", CLOCK_MONOTONIC},
		{"1", CLOCK_MONOTONIC}, {"CLOCK_MONOTONIC", CLOCK_MONOTONIC},
		{"Monotonic_Raw", CLOCK_MONOTONIC_RAW}, {"raw", CLOCK_MONOTONIC_RAW},
		{"realtime", CLOCK_REALTIME}, {"0", CLOCK_REALTIME}, {"boot", CLOCK_BOOTTIME},
		{"tai", CLOCK_TAI}, {"11", CLOCK_TAI}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		s32 clock = -1;
		struct err err;

		CHECK_EQ(clockid_parse(rows[i].text, &clock, &err), 0);
		CHECK_EQ(clock, rows[i].clock);
	}
}

TEST(clockid_parse_refuses_clocks_that_events_have_not)
{
	static const char *const texts[] = {"", "foo", "5", "thread_cputime", "99", "01", "mono "};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		s32 clock = -1;
		struct err err;

		CHECK_EQ(clockid_parse(texts[i], &clock, &err), ERR_INVAL);
		CHECK_HAS(err.msg, "is not a clock for events; these are: monotonic, ");
		CHECK_EQ(clock, -1);
	}
}

TEST(clockid_name_knows_recorded_clocks)
{
	CHECK_STR(clockid_name(1), "monotonic");
	CHECK_STR(clockid_name(2), "process_cputime");
	CHECK_STR(clockid_name(11), "tai");
	CHECK(!clockid_name(8));
}
