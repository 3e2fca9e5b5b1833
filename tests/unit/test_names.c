#include "event/abi.h"
#include "event/event.h"
#include "event/names.h"

#include "test.h"

static bool find(const char *text, u32 *ret_type, u64 *ret_config)
{
	return names_find(text, strlen(text), ret_type, ret_config);
}

static void check_name(const char *text, u32 type, u64 config)
{
	u32 found_type = 99;
	u64 found_config = 99;

	if (!find(text, &found_type, &found_config))
		test_failed(__FILE__, __LINE__, "'%s' is not found", text);
	if (found_type != type || found_config != config)
		test_failed(__FILE__, __LINE__, "'%s' is %u/0x%llx, not %u/0x%llx", text,
			found_type, (unsigned long long)found_config, type,
			(unsigned long long)config);
}

static void check_no_name(const char *text)
{
	u32 type = 99;
	u64 config = 99;

	if (find(text, &type, &config))
		test_failed(__FILE__, __LINE__, "'%s' is %u/0x%llx", text, type,
			(unsigned long long)config);
	CHECK_EQ(type, 99);
}

TEST(names_of_hardware_and_software_events_are_perfs)
{
	static const struct {
		const char *name;
		u32 type;
		u64 config;
	} cases[] = {
		{"cycles", 0, 0},
		{"cpu-cycles", 0, 0},
		{"instructions", 0, 1},
		{"cache-references", 0, 2},
		{"cache-misses", 0, 3},
		{"branches", 0, 4},
		{"branch-instructions", 0, 4},
		{"branch-misses", 0, 5},
		{"bus-cycles", 0, 6},
		{"stalled-cycles-frontend", 0, 7},
		{"idle-cycles-frontend", 0, 7},
		{"stalled-cycles-backend", 0, 8},
		{"idle-cycles-backend", 0, 8},
		{"ref-cycles", 0, 9},
		{"cpu-clock", 1, 0},
		{"task-clock", 1, 1},
		{"page-faults", 1, 2},
		{"faults", 1, 2},
		{"context-switches", 1, 3},
		{"cs", 1, 3},
		{"cpu-migrations", 1, 4},
		{"migrations", 1, 4},
		{"minor-faults", 1, 5},
		{"major-faults", 1, 6},
		{"alignment-faults", 1, 7},
		{"emulation-faults", 1, 8},
		{"dummy", 1, 9},
		{"bpf-output", 1, 10},
		{"cgroup-switches", 1, 11},
		{"duration_time", EVENT_TYPE_TOOL, EVENT_TOOL_DURATION},
		{"user_time", EVENT_TYPE_TOOL, EVENT_TOOL_USER},
		{"system_time", EVENT_TYPE_TOOL, EVENT_TOOL_SYSTEM},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_name(cases[i].name, cases[i].type, cases[i].config);
}

TEST(names_round_trip_from_the_table)
{
	size_t n = 0;

	for (const struct event_name *row; (row = names_at(n)) != NULL; n++) {
		char buf[64];

		check_name(row->name, row->type, row->config);
		if (row->alias)
			check_name(row->alias, row->type, row->config);
		CHECK(names_of(row->type, row->config, buf, sizeof(buf)));
		CHECK_STR(buf, row->name);
		CHECK(row->help[0] && row->help[strlen(row->help) - 1] != '.');
	}
	CHECK_EQ(n, 35);
	CHECK(!names_at(n + 1));
}

TEST(names_must_match_whole)
{
	static const char *const texts[] = {"", "c", "cycle", "cyclesx", "cycles ", " cycles",
		"CYCLES", "Cycles", "cycles-", "-", "instruction", "cpu_clock", "no-such-event",
		"r1a8"};
	u32 type;
	u64 config;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		check_no_name(texts[i]);
	/* Only the first n bytes count. */
	CHECK(names_find("cycles:u", 6, &type, &config));
	CHECK(!names_find("cycles:u", 5, &type, &config));
	CHECK(!names_find("cycles:u", 7, &type, &config));
	CHECK(names_find("cs,x", 2, &type, &config));
	CHECK_EQ(config, PERF_COUNT_SW_CONTEXT_SWITCHES);
}

/* perf-list(1)'s spellings, written down again: the table under test is not asked. */
static const char *const caches[7][6] = {
	{"L1-dcache", "l1-d", "l1d", "L1-data"},
	{"L1-icache", "l1-i", "l1i", "L1-instruction"},
	{"LLC", "L2"},
	{"dTLB", "d-tlb", "Data-TLB"},
	{"iTLB", "i-tlb", "Instruction-TLB"},
	{"branch", "branches", "bpu", "btb", "bpc"},
	{"node"},
};
static const char *const ops[3][5] = {
	{"load", "loads", "read"},
	{"store", "stores", "write"},
	{"prefetch", "prefetches", "speculative-read", "speculative-load"},
};
static const char *const results[2][5] = {
	{"refs", "Reference", "ops", "access"},
	{"misses", "miss"},
};
/* Which operations each cache has: bit 0 load, 1 store, 2 prefetch. */
static const unsigned does[7] = {7, 5, 7, 7, 1, 1, 7};

/* "branch-misses" is the hardware event, under whatever rule the cache has. */
static bool is_hardware_event(const char *text)
{
	return !strcmp(text, "branches") || !strcmp(text, "branch-misses");
}

static void check_cache(const char *text, unsigned cache, unsigned op, unsigned result)
{
	if (is_hardware_event(text))
		return;
	if (does[cache] >> op & 1)
		check_name(text, PERF_TYPE_HW_CACHE, cache | op << 8 | result << 16);
	else
		check_no_name(text);
}

TEST(names_of_cache_events_take_every_spelling)
{
	char text[128];
	size_t n = 0;

	for (unsigned c = 0; c < 7; c++)
		for (unsigned cs = 0; cs < 6 && caches[c][cs]; cs++)
			for (unsigned o = 0; o < 3; o++)
				for (unsigned os = 0; os < 5 && ops[o][os]; os++) {
					snprintf(text, sizeof(text), "%s-%s", caches[c][cs],
						ops[o][os]);
					check_cache(text, c, o, 0);
					for (unsigned r = 0; r < 2; r++)
						for (unsigned rs = 0; rs < 5 && results[r][rs];
							rs++) {
							snprintf(text, sizeof(text), "%s-%s-%s",
								caches[c][cs], ops[o][os],
								results[r][rs]);
							check_cache(text, c, o, r);
							snprintf(text, sizeof(text), "%s-%s-%s",
								caches[c][cs], results[r][rs],
								ops[o][os]);
							check_cache(text, c, o, r);
							n++;
						}
				}
	CHECK_EQ(n, 22 * 10 * 6);
}

TEST(names_of_cache_events_without_operation_mean_loads)
{
	char text[128];

	for (unsigned c = 0; c < 7; c++)
		for (unsigned cs = 0; cs < 6 && caches[c][cs]; cs++) {
			/* "branch" is too short to be meant so, "branches" is another event. */
			if (c != PERF_COUNT_HW_CACHE_BPU)
				check_cache(caches[c][cs], c, 0, 0);
			for (unsigned r = 0; r < 2; r++)
				for (unsigned rs = 0; rs < 5 && results[r][rs]; rs++) {
					snprintf(text, sizeof(text), "%s-%s", caches[c][cs],
						results[r][rs]);
					check_cache(text, c, 0, r);
				}
		}
	check_no_name("branch");
	check_no_name("bpu");
}

TEST(names_of_cache_events_are_free_in_letter_case)
{
	static const char *const texts[] = {"l1-dcache-load-misses", "L1-DCACHE-LOAD-MISSES",
		"L1-dCaChE-Load-Misses"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		check_name(texts[i], PERF_TYPE_HW_CACHE, 0x10000);
	check_name("llc-STORES", PERF_TYPE_HW_CACHE, 0x102);
}

TEST(names_of_cache_events_that_make_no_sense_are_refused)
{
	static const char *const texts[] = {"L1-dcache-", "L1-dcache--loads", "-L1-dcache",
		"L1-dcache-loads-", "L1-dcache-loads-loads", "L1-dcache-load-store",
		"L1-dcache-misses-miss", "L1-dcache-load-misses-x", "L1-dcachex", "L1-dcacheloads",
		"L1-dcache-load-missesx", "L1-dcache loads", "loads", "load-misses", "misses",
		"LLC-frobs", "L1", "L3", "L1-dcache-icache",
		/* operations that a cache does not have */
		"L1-icache-stores", "L1-icache-store-misses", "iTLB-stores", "iTLB-prefetches",
		"branch-stores", "bpu-write-miss", "btb-prefetch"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		check_no_name(texts[i]);
}

TEST(names_of_all_cache_events_round_trip)
{
	char name[64], again[64];
	size_t n = 0;

	for (; names_cache_at(n, name, sizeof(name)); n++) {
		u32 type;
		u64 config;

		CHECK(find(name, &type, &config));
		CHECK(names_of(type, config, again, sizeof(again)));
		/* Only "branch-load-misses" has a shorter name for something else. */
		CHECK_STR(again, name);
		CHECK_EQ(type, PERF_TYPE_HW_CACHE);
	}
	/* 3 + 2 + 3 + 3 + 1 + 1 + 3 operations, as accesses and as misses */
	CHECK_EQ(n, 32);
	CHECK(!names_cache_at(n + 1, name, sizeof(name)));
	CHECK(!names_cache_at(~(size_t)0, name, sizeof(name)));
}

TEST(names_of_cache_events_are_written_as_perf_does)
{
	static const struct {
		u64 config;
		const char *name;
	} cases[] = {
		{0x00000, "L1-dcache-loads"},
		{0x10000, "L1-dcache-load-misses"},
		{0x00100, "L1-dcache-stores"},
		{0x10100, "L1-dcache-store-misses"},
		{0x00200, "L1-dcache-prefetches"},
		{0x10200, "L1-dcache-prefetch-misses"},
		{0x10001, "L1-icache-load-misses"},
		{0x00002, "LLC-loads"},
		{0x10003, "dTLB-load-misses"},
		{0x00004, "iTLB-loads"},
		{0x00005, "branch-loads"},
		{0x10005, "branch-load-misses"},
		{0x10106, "node-store-misses"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char buf[64];

		CHECK(names_of(PERF_TYPE_HW_CACHE, cases[i].config, buf, sizeof(buf)));
		CHECK_STR(buf, cases[i].name);
	}
}

TEST(names_of_numbers_without_a_name_are_none)
{
	static const struct {
		u32 type;
		u64 config;
	} cases[] = {
		{PERF_TYPE_HARDWARE, 10},
		{PERF_TYPE_HARDWARE, 1ULL << 32}, /* of one kind of core */
		{PERF_TYPE_SOFTWARE, 12},
		{PERF_TYPE_TRACEPOINT, 0},
		{PERF_TYPE_RAW, 0},
		{PERF_TYPE_BREAKPOINT, 0},
		{99, 0},
		{PERF_TYPE_HW_CACHE, 0x7}, /* cache */
		{PERF_TYPE_HW_CACHE, 0xff},
		{PERF_TYPE_HW_CACHE, 0x300},   /* operation */
		{PERF_TYPE_HW_CACHE, 0x20000}, /* result */
		{PERF_TYPE_HW_CACHE, 0x101},   /* stores to the instruction cache */
		{PERF_TYPE_HW_CACHE, 0x1000000},
		{PERF_TYPE_HW_CACHE, 1ULL << 32},
		{PERF_TYPE_HW_CACHE, ~0ULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char buf[64] = "untouched";

		CHECK(!names_of(cases[i].type, cases[i].config, buf, sizeof(buf)));
		CHECK_STR(buf, "untouched");
	}
}

TEST(names_are_cut_to_the_buffer)
{
	char buf[5];

	CHECK(names_of(PERF_TYPE_HARDWARE, 0, buf, sizeof(buf)));
	CHECK_STR(buf, "cycl");
	CHECK(names_of(PERF_TYPE_HW_CACHE, 0, buf, sizeof(buf)));
	CHECK_STR(buf, "L1-d");
}

TEST(names_offer_rows_and_aliases_to_the_speller)
{
	struct nearest near = {.typed = "instrutcions"}, alias = {.typed = "migratoins"};

	names_offer_all(&near);
	CHECK(near.best);
	CHECK_STR(near.best, "instructions");
	names_offer_all(&alias);
	CHECK(alias.best);
	CHECK_STR(alias.best, "migrations");
}

/* The text goes on behind the n bytes that count: what stands there must not matter. */
TEST(names_do_not_look_behind_their_end)
{
	static const char *const texts[] = {"cycles", "cpu-cycles", "L1-dcache-load-misses",
		"LLC-speculative-read-access", "branches-loads-refs", "dTLB-store-misses",
		"l1d-loads", "node-prefetches"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		for (size_t n = 0; n <= strlen(texts[i]); n++) {
			char *copy = strndup(texts[i], n);
			u32 type = 99, alone_type = 99;
			u64 config = 99, alone_config = 99;

			CHECK_EQ(names_find(texts[i], n, &type, &config),
				find(copy, &alone_type, &alone_config));
			CHECK_EQ(type, alone_type);
			CHECK_EQ(config, alone_config);
			free(copy);
		}
	}
}

TEST(names_know_their_other_spelling)
{
	CHECK_STR(names_other("cycles"), "cpu-cycles");
	CHECK_STR(names_other("cpu-cycles"), "cycles");
	CHECK_STR(names_other("branch-instructions"), "branches");
	CHECK(!names_other("instructions"));
	CHECK(!names_other("nothing"));
}
