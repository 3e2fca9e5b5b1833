#include <math.h>

#include "base/num.h"
#include "collect/counter/topdown.h"
#include "event/abi.h"
#include "test.h"

/* ---- shares ---- */

static double share(const struct topdown_shares *s, enum topdown_share which)
{
	return round(s->share[which] * 1e6) / 1e6;
}

TEST(topdown_shares_are_differences_of_scaled_fractions)
{
	/* 0x33 of 0xff is a fifth, 0x66 two fifths: 200 of 1000 slots, then 1200 of 3000. */
	static const struct topdown_point first = {1000, 0x66006633};
	static const struct topdown_point second = {3000, 0x33330066};
	struct topdown_shares s;

	CHECK(topdown_between(&first, &second, 1, &s));
	CHECK_EQ(s.slots, 2000);
	CHECK(share(&s, TOPDOWN_RETIRING) == 0.5); /* 1200 - 200 */
	CHECK(share(&s, TOPDOWN_BAD_SPECULATION) ==
		0); /* 0 - 400: rounding would not explain it, but there is no less than nothing */
	CHECK(share(&s, TOPDOWN_FRONTEND) == 0.3); /* 600 - 0 */
	CHECK(share(&s, TOPDOWN_BACKEND) == 0.1);  /* 600 - 400 */
	for (int i = TOPDOWN_LEVEL1; i < TOPDOWN_COUNT; i++)
		CHECK(isnan(s.share[i]));
	CHECK(fabs(s.error - 4000.0 / 255 / 2000) < 1e-9);
}

TEST(topdown_shares_of_level_two_are_a_part_and_what_it_leaves)
{
	static const struct topdown_point first = {0, 0};
	/* Of 255: 102 (51 heavy), 51 (0), 51 (51), 51 (17). */
	static const struct topdown_point second = {1ULL << 40, 0x1133003333333366ULL};
	static const double expected[TOPDOWN_COUNT] = {0.4, 0.2, 0.2, 0.2, 0.2, 0.2, 0, 0.2, 0.2, 0,
		1.0 / 15, 2.0 / 15};
	struct topdown_shares s;

	CHECK(topdown_between(&first, &second, 2, &s));
	for (int i = 0; i < TOPDOWN_COUNT; i++)
		CHECK(fabs(s.share[i] - expected[i]) < 1e-9);
}

TEST(topdown_has_no_shares_where_no_slot_passed)
{
	static const struct topdown_point p = {1000, 0xff}, before = {999, 0xff};
	struct topdown_shares s = {.slots = 7};

	CHECK(!topdown_between(&p, &p, 2, &s));
	CHECK(!topdown_between(&p, &before, 2, &s));
	CHECK_EQ(s.slots, 7);
}

/* ---- registers ---- */

enum { CAPABLE = 1 << 1 | 1 << 2 };

static struct ring_page slots, metric;
static unsigned n_reads, n_disturbed;

static u64 registers(u32 number)
{
	n_reads++;
	if (n_disturbed) {
		n_disturbed--;
		slots.lock += 2;
	}
	return number == (1U << 30 | 3) ? 0xffff000000001234 : number == 1U << 29 ? 0xabcd : 0;
}

static u64 no_clock(void)
{
	return 0;
}

static bool look(struct topdown_point *ret)
{
	static const struct userread_registers machine = {registers, no_clock};

	return topdown_read_pages(&slots, &metric, &machine, ret);
}

static void set_up(void)
{
	slots = (struct ring_page){.capabilities = CAPABLE,
		.index = (1U << 30 | 3) + 1,
		.pmc_width = 48};
	metric = (struct ring_page){.capabilities = CAPABLE,
		.index = (1U << 29) + 1,
		.pmc_width = 48};
	n_reads = n_disturbed = 0;
}

TEST(topdown_reads_both_registers_at_one_moment)
{
	struct topdown_point p;

	set_up();
	CHECK(look(&p));
	CHECK_EQ(p.slots, 0x1234);
	CHECK_EQ(p.metrics, 0xabcd);
	CHECK_EQ(n_reads, 2);
	/* The kernel came in between, twice. */
	set_up();
	n_disturbed = 2;
	CHECK(look(&p));
	CHECK(n_reads > 2);
}

TEST(topdown_reads_nothing_that_is_not_slots_and_metrics_on_the_pmu)
{
	struct topdown_point p = {7, 7};

	for (int i = 0; i < 6; i++) {
		set_up();
		switch (i) {
		case 0:
			slots.index = 0; /* others have the PMU */
			break;
		case 1:
			metric.index = 0;
			break;
		case 2:
			slots.index = 1; /* another counter */
			break;
		case 3:
			metric.capabilities = 1 << 1; /* programs may not */
			break;
		case 4:
			slots.pmc_width = 0;
			break;
		case 5:
			slots.lock = 1; /* somebody who never finishes writing is not the kernel */
			break;
		}
		CHECK(!look(&p));
		CHECK_EQ(n_reads, 0);
		CHECK_EQ(p.slots, 7);
	}
}
