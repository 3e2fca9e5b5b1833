#include "test.h"

#include "event/abi.h"
#include "machine/machine.h"
#include "profile/gather/blocks.h"
#include "unit/recording.h"

enum {
	FIELDS = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
		PERF_SAMPLE_BRANCH_STACK
};

struct branch {
	u64 from, to, flags;
};

#define CYCLES(n) ((u64)(n) << 4)

struct reading {
	struct recording recording;
	struct trace trace;
	struct blocks blocks;
};

static void reading_init(struct reading *r, u64 branch_type)
{
	const struct recording_who who = {42, 42, 1};

	memset(r, 0, sizeof(*r));
	recording_event(&r->recording, "cycles", FIELDS, 0, 0);
	r->recording.events.at[0].attr.branch_sample_type = branch_type;
	recording_comm(&r->recording, 0, who, "prog");
	recording_mmap(&r->recording, PERF_RECORD_MISC_USER, who, 0x400000, 0x10000, 0x1000,
		"/bin/prog");
}

/* Entries as the processor has them: the newest first. */
static void add_sample(struct reading *r, u32 cpu, const struct branch *entries, u64 n)
{
	struct sample sample = {.ip = 0x400000,
		.pid = 42,
		.tid = 42,
		.time = 10,
		.cpu = cpu,
		.branches = {.n = n, .entries = (const u8 *)entries}};

	recording_sample(&r->recording, 0, PERF_RECORD_MISC_USER, &sample);
}

static void reading_run(struct reading *r, const struct cpus *cpus)
{
	const struct trace_where where = {.cpus = cpus};
	const struct visitor blocks = blocks_visitor(&r->blocks), *visitors[] = {&blocks};
	struct pass_options pass = {.where = &where, .n_workers = 2};
	struct err err;

	recording_scan(&r->recording, &r->trace);
	if (pass_run(&r->trace, &pass, visitors, ARRAY_SIZE(visitors), &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
	blocks_sort(&r->blocks);
}

static void reading_fini(struct reading *r)
{
	blocks_fini(&r->blocks);
	trace_close(&r->trace);
}

TEST(blocks_are_runs_between_branches_with_their_cycles)
{
	/* In time: to 0x400100, on to 0x400120 in 7 cycles, to 0x400200, on to 0x400210 in 3. */
	const struct branch entries[] = {{0x400210, 0x400100, CYCLES(3)},
		{0x400120, 0x400200, CYCLES(7)}, {0x400050, 0x400100, CYCLES(99)}};
	const struct block *found;
	struct reading r;
	size_t n;

	reading_init(&r, PERF_SAMPLE_BRANCH_ANY);
	add_sample(&r, 0, entries, 3);
	add_sample(&r, 1, entries, 2);
	reading_run(&r, NULL);
	CHECK(blocks_are_there(&r.trace.session));
	CHECK_EQ(r.blocks.at.n, 2);
	/* Offsets in the file; how the oldest one began is not known. */
	CHECK_EQ(r.blocks.at.at[0].start, 0x1100);
	CHECK_EQ(r.blocks.at.at[0].end, 0x1120);
	CHECK_EQ(r.blocks.at.at[0].n_times, 1);
	CHECK_EQ(r.blocks.at.at[0].n_cycles, 7);
	CHECK_EQ(r.blocks.at.at[1].n_times, 2);
	CHECK_EQ(r.blocks.at.at[1].n_cycles, 6);
	found = blocks_between(&r.blocks, r.blocks.at.at[0].dso, 0x1101, 0x1300, &n);
	CHECK(n == 1 && found->start == 0x1200);
	CHECK(!blocks_between(&r.blocks, r.blocks.at.at[0].dso, 0x1000, 0x1100, &n) && !n);
	CHECK(!blocks_between(&r.blocks, 999, 0, UINT64_MAX, &n));
	/* The samples were counted once. */
	CHECK_EQ(r.trace.session.tally.n_samples, 2);
	reading_fini(&r);
}

TEST(blocks_leave_out_what_is_no_run)
{
	const struct branch entries[] = {{0x400300, 0x400100, 0}, /* cycles were not counted */
		{0x400120, 0x400200, CYCLES(7)}, {0x400050, 0x400400, CYCLES(9)}, /* backwards */
		{0x500010, 0x400010, CYCLES(5)}, {0x400050, 0x500000, CYCLES(9)}, /* no map */
		{0x400050, 0x300000, CYCLES(9)}};
	struct reading r;

	reading_init(&r, PERF_SAMPLE_BRANCH_ANY);
	add_sample(&r, 0, entries, ARRAY_SIZE(entries));
	reading_run(&r, NULL);
	CHECK_EQ(r.blocks.at.n, 1);
	CHECK_EQ(r.blocks.at.at[0].start, 0x1010);
	reading_fini(&r);
	/* Where only calls were recorded, jumps may lie between them. */
	reading_init(&r, PERF_SAMPLE_BRANCH_ANY_CALL);
	add_sample(&r, 0, entries, ARRAY_SIZE(entries));
	reading_run(&r, NULL);
	CHECK(!blocks_are_there(&r.trace.session));
	CHECK_EQ(r.blocks.at.n, 0);
	reading_fini(&r);
}

TEST(blocks_are_those_of_the_cpus_that_are_asked_for)
{
	const struct branch entries[] = {{0x400210, 0x400100, CYCLES(3)},
		{0x400120, 0x400200, CYCLES(7)}};
	struct cpus cpus = {0};
	struct reading r;
	struct err err;

	CHECK_EQ(cpus_parse(&cpus, "4-7", &err), 0);
	reading_init(&r, PERF_SAMPLE_BRANCH_ANY);
	add_sample(&r, 0, entries, 2);
	add_sample(&r, 7, entries, 2);
	add_sample(&r, 5, entries, 2);
	reading_run(&r, &cpus);
	CHECK_EQ(r.blocks.at.n, 1);
	CHECK_EQ(r.blocks.at.at[0].n_times, 2);
	reading_fini(&r);
	cpus_fini(&cpus);
}
