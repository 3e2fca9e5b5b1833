#include "event/pfm.h"

#include "event/abi.h"

#include "test.h"

TEST(pfm_names_become_attrs)
{
	struct event_attr attr = {.type = 77};
	struct err err = {0};

	if (!pfm_is_built_in()) {
		CHECK_EQ(pfm_encode("PERF_COUNT_SW_PAGE_FAULTS", &attr, &err), ERR_UNSUPPORTED);
		CHECK_HAS(err.msg, "built without libpfm4");
		SKIP("built without libpfm4");
	}
	CHECK_EQ(pfm_encode("perf::PERF_COUNT_SW_PAGE_FAULTS", &attr, &err), 0);
	CHECK_EQ(attr.type, PERF_TYPE_SOFTWARE);
	CHECK_EQ(attr.config, PERF_COUNT_SW_PAGE_FAULTS);
	CHECK(!(attr.flags & (ATTR_EXCLUDE_USER | ATTR_EXCLUDE_KERNEL)));
	CHECK_EQ(pfm_encode("perf::PERF_COUNT_SW_CPU_CLOCK:u", &attr, &err), 0);
	CHECK_EQ(attr.config, PERF_COUNT_SW_CPU_CLOCK);
	CHECK(attr.flags & ATTR_EXCLUDE_KERNEL);
	CHECK(!(attr.flags & ATTR_EXCLUDE_USER));
	CHECK_EQ(attr.sample_period, 0);
}

TEST(pfm_refuses_what_it_does_not_know)
{
	struct event_attr attr = {.type = 77};
	struct err err = {0};

	if (!pfm_is_built_in())
		SKIP("built without libpfm4");
	CHECK_EQ(pfm_encode("no_such_event", &attr, &err), ERR_NOENT);
	CHECK_STR(err.msg, "libpfm knows no event 'no_such_event' of this machine's PMUs");
	CHECK_EQ(pfm_encode("perf::PERF_COUNT_SW_CPU_CLOCK:zz", &attr, &err), ERR_INVAL);
	CHECK_HAS(err.msg, "libpfm does not accept 'perf::PERF_COUNT_SW_CPU_CLOCK:zz': ");
	CHECK_EQ(attr.type, 77);
}
