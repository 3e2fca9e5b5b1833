#include "test.h"

#include "base/sysfile.h"
#include "collect/open/branches.h"
#include "collect/open/sampling.h"
#include "event/abi.h"
#include "record/regs.h"
#include "unit/said.h"

/* The kinds of events that are sampled differently. */
enum kind { CLOCK, CYCLES, TRACEPOINT, UNCORE, FAULTS };

static struct event *add(struct event_list *events, enum kind kind)
{
	static const struct event_attr attrs[] = {
		[CLOCK] = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK},
		[CYCLES] = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES},
		[TRACEPOINT] = {.type = PERF_TYPE_TRACEPOINT, .config = 300},
		[UNCORE] = {.type = 20, .config = 1},
		[FAULTS] = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS},
	};
	struct event *e = event_add(events, &attrs[kind], "event");

	if (kind == UNCORE)
		vec_add(&e->cpus, (u32)0);
	return e;
}

static void apply(struct sampling s, struct event_list *events, struct target target)
{
	struct err err;

	if (sampling_apply(&s, events, &target, NULL, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
}

/* The attr as -vv prints it. */
static const char *text_of(const struct event_attr *a)
{
	static struct str text;

	str_clear(&text);
	attr_add_text(a, "=", &text);
	return text.at;
}

#define TYPE   "sample_type=IP|TID|TIME"
#define FORMAT "read_format=ID|LOST"
#define SIDE   "mmap=1, comm=1, "
#define SIDE_2 ", mmap2=1, comm_exec=1, ksymbol=1, bpf_event=1"

TEST(sampling_turns_options_and_target_into_attr_bits)
{
	static const struct {
		enum kind kind;
		struct sampling options;
		struct target target;
		const char *text;
	} rows[] = {
		{CLOCK, {.frequency = 99}, {0},
			"type=1, size=128, { sample_period, sample_freq }=99, " TYPE
			"|PERIOD, " FORMAT ", disabled=1, inherit=1, " SIDE
			"freq=1, task=1, sample_id_all=1, exclude_guest=1" SIDE_2},
		/* A fixed period is the same for all samples: no PERIOD in each. */
		{CLOCK, {.period = 1000}, {0},
			"type=1, size=128, { sample_period, sample_freq }=1000, " TYPE ", " FORMAT
			", disabled=1, inherit=1, " SIDE
			"task=1, sample_id_all=1, exclude_guest=1" SIDE_2},
		{CYCLES, {.frequency = 99, .is_command = true}, {0},
			"size=128, { sample_period, sample_freq }=99, " TYPE "|PERIOD, " FORMAT
			", disabled=1, inherit=1, " SIDE "freq=1, enable_on_exec=1, task=1, "
			"sample_id_all=1, exclude_guest=1" SIDE_2},
		{CYCLES, {.frequency = 99, .has_chains = true}, {.is_system_wide = true},
			"size=128, { sample_period, sample_freq }=99, " TYPE
			"|CALLCHAIN|CPU|PERIOD, " FORMAT ", disabled=1, inherit=1, " SIDE
			"freq=1, task=1, sample_id_all=1, exclude_guest=1" SIDE_2},
		{CLOCK, {.period = 7}, {.has_cpu_list = true},
			"type=1, size=128, { sample_period, sample_freq }=7, " TYPE "|CPU, " FORMAT
			", disabled=1, inherit=1, " SIDE
			"task=1, sample_id_all=1, exclude_guest=1" SIDE_2},
		{CLOCK, {.period = 7, .sample_type = PERF_SAMPLE_ADDR, .has_data_maps = true}, {0},
			"type=1, size=128, { sample_period, sample_freq }=7, " TYPE "|ADDR, " FORMAT
			", disabled=1, inherit=1, " SIDE
			"task=1, mmap_data=1, sample_id_all=1, exclude_guest=1" SIDE_2},
		/* Tracepoints: each one, with its contents, whatever the frequency. */
		{TRACEPOINT, {.frequency = 99}, {0},
			"type=2, size=128, config=0x12c, { sample_period, sample_freq }=1, " TYPE
			"|CPU|PERIOD|RAW, " FORMAT ", disabled=1, inherit=1, " SIDE
			"task=1, sample_id_all=1, exclude_guest=1" SIDE_2},
		{TRACEPOINT, {.period = 10}, {0},
			"type=2, size=128, config=0x12c, { sample_period, sample_freq }=10, " TYPE
			"|CPU|PERIOD|RAW, " FORMAT ", disabled=1, inherit=1, " SIDE
			"task=1, sample_id_all=1, exclude_guest=1" SIDE_2},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_list events = {0};

		add(&events, rows[i].kind);
		apply(rows[i].options, &events, rows[i].target);
		CHECK_STR(text_of(&events.at[0].attr), rows[i].text);
		event_list_fini(&events);
	}
}

/* perf finds callers by the maps of data; who finds them meanwhile would write these for nothing. */
TEST(sampling_asks_for_maps_of_data_where_stacks_go_into_the_file)
{
	for (int keeps_stacks = 0; keeps_stacks < 2; keeps_stacks++) {
		struct sampling s = {.period = 7,
			.has_chains = true,
			.stack_bytes = 8192,
			.keeps_stacks = keeps_stacks};
		struct event_list events = {0};

		if (!regs_for_callers(arch_of_host()))
			SKIP("no callers are found in copies of the stack on this machine");
		add(&events, CLOCK);
		apply(s, &events, (struct target){0});
		CHECK(events.at[0].attr.sample_type & PERF_SAMPLE_STACK_USER);
		CHECK_EQ(!!(events.at[0].attr.flags & ATTR_MMAP_DATA), keeps_stacks);
		event_list_fini(&events);
	}
}

TEST(sampling_lets_one_event_carry_the_side_band_records)
{
	struct event_list events = {0};

	add(&events, UNCORE);
	add(&events, CLOCK);
	add(&events, CYCLES);
	apply((struct sampling){.period = 5,
		      .sample_type = PERF_SAMPLE_ADDR,
		      .has_data_maps = true},
		&events, (struct target){0});
	/* One that is opened on some CPUs only would miss the others' records. */
	for (size_t i = 0; i < 3; i++) {
		u64 flags = events.at[i].attr.flags;

		CHECK_EQ(!!(flags & ATTR_MMAP2), i == 1);
		CHECK_EQ(!!(flags & ATTR_TASK), i == 1);
		CHECK_EQ(!!(flags & ATTR_COMM), i == 1);
		CHECK_EQ(!!(flags & ATTR_MMAP_DATA), i == 1);
		CHECK(flags & ATTR_SAMPLE_ID_ALL);
		/* Who is it? With several events each record must say. */
		CHECK_EQ(events.at[i].attr.sample_type,
			PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ADDR);
	}
	event_list_fini(&events);
}

TEST(sampling_lets_the_first_event_carry_them_when_none_is_everywhere)
{
	struct event_list events = {0};

	add(&events, UNCORE);
	add(&events, UNCORE);
	apply((struct sampling){.period = 5}, &events, (struct target){0});
	CHECK(events.at[0].attr.flags & ATTR_MMAP2);
	CHECK(!(events.at[1].attr.flags & ATTR_MMAP2));
	event_list_fini(&events);
}

TEST(sampling_switches_group_members_by_their_leader)
{
	struct event_list events = {0};

	add(&events, CYCLES)->n_members = 2;
	add(&events, CLOCK);
	events.at[1].leader = 0;
	events.at[1].n_members = 0;
	apply((struct sampling){.period = 5, .is_command = true}, &events, (struct target){0});
	CHECK_EQ(events.at[0].attr.flags & (ATTR_DISABLED | ATTR_ENABLE_ON_EXEC),
		ATTR_DISABLED | ATTR_ENABLE_ON_EXEC);
	CHECK_EQ(events.at[1].attr.flags & (ATTR_DISABLED | ATTR_ENABLE_ON_EXEC), 0);
	event_list_fini(&events);
}

/* A group of raw events with these configs, named by them, that is read by one of its members. */
static void add_read_group(struct event_list *events, const u64 *configs)
{
	for (; *configs; configs++) {
		const struct event_attr attr = {.type = PERF_TYPE_RAW, .config = *configs};
		struct str name = {0};
		struct event *e;

		str_addf(&name, "r%llx", (unsigned long long)*configs);
		e = event_add(events, &attr, str_text(&name));
		str_fini(&name);
		e->pmu = "cpu";
		e->leader = 0;
		e->n_members = 0;
	}
	events->at[0].n_members = (u32)events->n;
	events->at[0].wishes |= EVENT_SAMPLE_READ;
}

enum {
	SLOTS = 0x400,
	RETIRING = 0x8000,
	BAD_SPEC = 0x8100,
	RAW_CYCLES = 0x3c,
	LOADS_AUX = 0x8203,
	LOADS = 0x1cd
};

/* Without such a PMU here: the attrs that would be opened, as perf -vv prints them on Sapphire Rapids. */
TEST(sampling_lets_the_next_member_sample_where_slots_lead_on_attrs_only)
{
	static const struct {
		u64 configs[5];
		u32 sampler;
	} rows[] = {
		{{SLOTS, RAW_CYCLES, RETIRING}, 1},
		{{SLOTS, RETIRING, BAD_SPEC, RAW_CYCLES}, 3},
		/* Slots without their metrics are an event like others. */
		{{SLOTS, RAW_CYCLES}, 0},
		{{RAW_CYCLES, LOADS}, 0},
		{{LOADS_AUX, LOADS}, 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_list events = {0};

		add_read_group(&events, rows[i].configs);
		apply((struct sampling){.period = 100003}, &events, (struct target){0});
		vec_each(e, &events) {
			bool is_sampler = e == &events.at[rows[i].sampler];

			CHECK_EQ(e->attr.sample_period, is_sampler ? 100003 : 0);
			CHECK(e->attr.sample_type & PERF_SAMPLE_READ);
			CHECK(e->attr.read_format & PERF_FORMAT_GROUP);
			/* They run when the leader does, whoever samples. */
			CHECK_EQ(!(e->attr.flags & ATTR_DISABLED), e != events.at);
		}
		event_list_fini(&events);
	}
}

TEST(sampling_refuses_a_group_of_slots_and_metrics_in_which_nobody_can_sample)
{
	static const u64 configs[] = {SLOTS, RETIRING, BAD_SPEC, 0};
	struct event_list events = {0};
	struct sampling s = {.period = 5};
	struct target target = {0};
	struct err err = {0};

	add_read_group(&events, configs);
	CHECK_EQ(sampling_apply(&s, &events, &target, NULL, &err), ERR_UNSUPPORTED);
	CHECK_STR(err.msg,
		"event 'r400' cannot sample beside the TopDown metrics of its group, and neither can they: add an event that can, as in '{slots,cycles,topdown-retiring}:S'");
	event_list_fini(&events);
}

TEST(sampling_reads_groups_of_children_too_unless_whole_cpus_are_measured_or_an_older_perf_reads)
{
	static const u64 configs[] = {RAW_CYCLES, LOADS, 0};
	static const struct compat old = {.attr_size = 128};

	for (int i = 0; i < 3; i++) {
		struct event_list events = {0};

		struct sampling s = {.period = 5, .compat = i == 2 ? &old : NULL};
		const struct target target = {.is_system_wide = i == 1};
		struct said said;
		struct err err;

		said_init(&said, LOG_NOTE);
		add_read_group(&events, configs);
		CHECK_EQ(sampling_apply(&s, &events, &target, &said.log, &err), 0);
		vec_each(e, &events)
			CHECK_EQ(!(e->attr.flags & ATTR_INHERIT), i > 0);
		CHECK_EQ(said_count(&said,
				 "an older perf cannot tell the counters of children apart"),
			i == 2);
		said_fini(&said);
		event_list_fini(&events);
	}
}

TEST(sampling_keeps_what_was_said_for_one_event)
{
	struct event_list events = {0};
	struct event *e = add(&events, CYCLES);

	e->attr.sample_period = 12345;
	e->wishes = EVENT_OWN_PERIOD | EVENT_GUEST_SAID | EVENT_MAX_PRECISE;
	apply((struct sampling){.frequency = 99}, &events, (struct target){0});
	CHECK_EQ(events.at[0].attr.sample_period, 12345);
	CHECK(!(events.at[0].attr.flags & (ATTR_FREQ | ATTR_EXCLUDE_GUEST)));
	CHECK_EQ(attr_precise(&events.at[0].attr), 3);
	CHECK(!(events.at[0].attr.sample_type & PERF_SAMPLE_PERIOD));
	event_list_fini(&events);
}

/* Cores of two kinds: between them they see every CPU's records, each CPU's once. */
TEST(sampling_lets_one_event_of_each_kind_of_core_carry_them)
{
	static const u32 first_cpus[] = {0, 4, 0, 4};
	struct event_list events = {0};

	for (size_t i = 0; i < 4; i++) {
		struct event *e = add(&events, CYCLES);

		for (u32 cpu = 0; cpu < 4; cpu++)
			vec_add(&e->cpus, first_cpus[i] + cpu);
	}
	apply((struct sampling){.period = 5}, &events, (struct target){0});
	for (size_t i = 0; i < 4; i++)
		CHECK_EQ(!!(events.at[i].attr.flags & ATTR_MMAP2), i < 2);
	event_list_fini(&events);
}

TEST(sampling_does_what_the_terms_of_an_event_say)
{
	static const struct {
		struct event_own own;
		unsigned wishes;
		struct sampling options;
		u64 sample_type;
		u64 max_stack, inherit;
	} rows[] = {
#define BASE (PERF_SAMPLE_IP | PERF_SAMPLE_TID)
		{{.chain = EVENT_CHAIN_FP}, 0, {.period = 5},
			BASE | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN, 0, ATTR_INHERIT},
		{{.chain = EVENT_CHAIN_NONE}, 0, {.period = 5, .has_chains = true},
			BASE | PERF_SAMPLE_TIME, 0, ATTR_INHERIT},
		{{.max_stack = 32}, 0, {.period = 5},
			BASE | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN, 32, ATTR_INHERIT},
		{{.has_no_time = true}, 0, {.period = 5}, BASE, 0, ATTR_INHERIT},
		{{0}, EVENT_NO_INHERIT, {.period = 5}, BASE | PERF_SAMPLE_TIME, 0, 0},
#undef BASE
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_list events = {0};
		struct event *e = add(&events, CLOCK);

		e->own = rows[i].own;
		e->wishes = rows[i].wishes;
		apply(rows[i].options, &events, (struct target){0});
		CHECK_EQ(events.at[0].attr.sample_type, rows[i].sample_type);
		CHECK_EQ(events.at[0].attr.sample_max_stack, rows[i].max_stack);
		CHECK_EQ(events.at[0].attr.flags & ATTR_INHERIT, rows[i].inherit);
		event_list_fini(&events);
	}
}

TEST(sampling_takes_a_tables_period_unless_somebody_says_otherwise)
{
	static const struct {
		struct sampling options;
		u64 period, freq;
	} rows[] = {
		{{0}, 2000003, 0},
		{{.period = 5}, 5, 0},
		{{.frequency = 99}, 99, ATTR_FREQ},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_list events = {0};
		struct event *e = add(&events, CYCLES);

		e->attr.sample_period = 2000003;
		e->wishes = EVENT_WEAK_PERIOD;
		apply(rows[i].options, &events, (struct target){0});
		CHECK_EQ(events.at[0].attr.sample_period, rows[i].period);
		CHECK_EQ(events.at[0].attr.flags & ATTR_FREQ, rows[i].freq);
		event_list_fini(&events);
	}
}

TEST(sampling_takes_every_hit_of_breakpoints_and_probes)
{
	static const char *const pmus[] = {NULL, "kprobe", "uprobe"};
	struct event_list events = {0};

	for (size_t i = 0; i < ARRAY_SIZE(pmus); i++) {
		struct event *e = add(&events, CLOCK);

		e->attr.type = pmus[i] ? 7 : PERF_TYPE_BREAKPOINT;
		e->pmu = pmus[i];
	}
	apply((struct sampling){.frequency = 99}, &events, (struct target){0});
	vec_each(e, &events) {
		CHECK_EQ(e->attr.sample_period, 1);
		CHECK(!(e->attr.flags & ATTR_FREQ));
	}
	event_list_fini(&events);
}

static void check_refused(const struct event *like, const char *message)
{
	struct sampling s = {.period = 5};
	struct event_list events = {0};
	struct event *e = add(&events, CLOCK);
	struct err err = {0};

	e->attr = like->attr;
	e->own = like->own;
	CHECK_EQ(sampling_apply(&s, &events, &(struct target){0}, NULL, &err), ERR_UNSUPPORTED);
	CHECK_STR(err.msg, message);
	event_list_fini(&events);
}

TEST(sampling_of_stacks_asks_for_registers_and_a_copy)
{
	static const struct {
		u32 session;
		struct event_own own;
		u32 bytes;
	} rows[] = {
		{8192, {0}, 8192},
		{1001, {0}, 1008},
		{65528, {0}, 65528},
		{0, {.chain = EVENT_CHAIN_DWARF}, SAMPLING_DEFAULT_STACK},
		{4096, {.chain = EVENT_CHAIN_DWARF}, 4096},
		{4096, {.chain = EVENT_CHAIN_DWARF, .stack_bytes = 16000}, 16000},
		{4096, {.chain = EVENT_CHAIN_FP}, 0},
		{4096, {.chain = EVENT_CHAIN_NONE}, 0},
	};
	const u64 fields = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	if (!regs_for_callers(arch_of_host()))
		SKIP("nobody finds callers in copies of stacks on this machine");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_list events = {0};
		struct event *e = add(&events, CLOCK);

		e->own = rows[i].own;
		apply((struct sampling){.period = 5,
			      .has_chains = rows[i].session > 0,
			      .stack_bytes = rows[i].session},
			&events, (struct target){0});
		CHECK_EQ(e->attr.sample_stack_user, rows[i].bytes);
		CHECK_EQ(e->attr.sample_type & fields, rows[i].bytes ? fields : 0);
		CHECK_EQ(e->attr.sample_regs_user,
			rows[i].bytes ? regs_for_callers(arch_of_host()) : 0);
		CHECK_EQ(!!(e->attr.flags & ATTR_EXCLUDE_CALLCHAIN_USER), rows[i].bytes > 0);
		CHECK_EQ(!!(e->attr.sample_type & PERF_SAMPLE_CALLCHAIN),
			rows[i].own.chain != EVENT_CHAIN_NONE);
		event_list_fini(&events);
	}
}

/* The attr that perf 6.1 asks for, by its -vv. */
TEST(sampling_of_branch_stacks_asks_for_calls_of_user_code)
{
	static const struct {
		bool session;
		enum event_chain own;
		u64 flags;
		bool has_branches;
	} rows[] = {
		{true, EVENT_CHAIN_AS_ALL, 0, true},
		{false, EVENT_CHAIN_LBR, 0, true},
		{true, EVENT_CHAIN_FP, 0, false},
		{true, EVENT_CHAIN_AS_ALL, ATTR_EXCLUDE_USER, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_list events = {0};
		struct event *e = add(&events, CLOCK);

		e->own.chain = rows[i].own;
		e->attr.flags |= rows[i].flags;
		apply((struct sampling){.period = 5,
			      .has_chains = rows[i].session,
			      .has_lbr = rows[i].session},
			&events, (struct target){0});
		CHECK(e->attr.sample_type & PERF_SAMPLE_CALLCHAIN);
		CHECK_EQ(!!(e->attr.sample_type & PERF_SAMPLE_BRANCH_STACK), rows[i].has_branches);
		CHECK_EQ(e->attr.branch_sample_type,
			rows[i].has_branches
				? PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES |
					PERF_SAMPLE_BRANCH_HW_INDEX
				: 0);
		CHECK(!(e->attr.flags & ATTR_EXCLUDE_CALLCHAIN_USER));
		event_list_fini(&events);
	}
}

TEST(sampling_limits_chains_as_an_event_says_and_else_as_all)
{
	static const struct {
		u16 own;
		enum event_chain chain;
		u16 limit, in_kernel;
	} rows[] = {
		{0, EVENT_CHAIN_AS_ALL, 40, 40},
		{9, EVENT_CHAIN_AS_ALL, 9, 9},
		{0, EVENT_CHAIN_NONE, 0, 0},
		/* The kernel makes its own part of it only, and refuses to be asked for more. */
		{60000, EVENT_CHAIN_DWARF, 60000, 127},
	};
	s64 limit;

	if (!sysfile_s64("/proc/sys/kernel/perf_event_max_stack", &limit) || limit != 127)
		SKIP("kernel.perf_event_max_stack is not 127");
	if (!regs_for_callers(arch_of_host()))
		SKIP("nobody finds callers in copies of stacks on this machine");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_list events = {0};
		struct event *e = add(&events, CLOCK);

		e->own.max_stack = rows[i].own;
		e->own.chain = rows[i].chain;
		apply((struct sampling){.period = 5, .has_chains = true, .max_stack = 40}, &events,
			(struct target){0});
		CHECK_EQ(e->own.max_stack, rows[i].limit);
		CHECK_EQ(e->attr.sample_max_stack, rows[i].in_kernel);
		event_list_fini(&events);
	}
}

TEST(sampling_of_stacks_has_a_limit)
{
	struct sampling s = {.period = 5, .has_chains = true, .stack_bytes = 65529};
	struct event_list events = {0};
	struct err err = {0};

	add(&events, CLOCK);
	CHECK_EQ(sampling_apply(&s, &events, &(struct target){0}, NULL, &err), ERR_INVAL);
	CHECK_STR(err.msg,
		"event 'event': 65529 bytes of stack are more than a sample can hold (65528)");
	event_list_fini(&events);
}

TEST(sampling_refuses_what_nobody_reads)
{
#define REFUSED(term)                                                                            \
	"event 'event': the term '" term "' puts samples into an AUX area (Intel PT), which is " \
	"not recorded"
	check_refused(&(struct event){.own.is_aux_output = true}, REFUSED("aux-output"));
	check_refused(&(struct event){.own.aux_bytes = 64, .own.has_aux_size = true},
		REFUSED("aux-sample-size"));
#undef REFUSED
	check_refused(&(struct event){.attr.type = EVENT_TYPE_TOOL, .attr.config = 1},
		"event 'event' is a clock of 'pace stat', which counts it: it cannot be sampled");
}

TEST(sampling_says_under_v_which_terms_mean_nothing_here)
{
	static const struct {
		struct event_own own;
		const char *text;
	} rows[] = {
		{{.stack_bytes = 8192, .chain = EVENT_CHAIN_FP},
			"debug: event 'event': 'stack-size' has an effect only with call-graph=dwarf\n"},
		{{.max_samples = 1},
			"debug: event 'event': 'nr' limits what 'perf trace' prints and has no effect here\n"},
		/* Nothing but the size that is the default. */
		{{.has_aux_size = true}, ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_list events = {0};
		struct sampling s = {.period = 5};
		struct said said;
		struct err err;

		said_init(&said, LOG_DEBUG);
		add(&events, CLOCK)->own = rows[i].own;
		CHECK_EQ(sampling_apply(&s, &events, &(struct target){0}, &said.log, &err), 0);
		CHECK_STR(str_text(&said.text), rows[i].text);
		said_fini(&said);
		event_list_fini(&events);
	}
}

/* What perf 6.1 asks for: tests/oracle/test_record_options.py compares all of them with it. */
TEST(sampling_adds_what_the_options_ask_for)
{
	static const struct {
		struct sampling options;
		u64 sample_type, read_format, flags; /* besides those without options */
	} rows[] = {
		{{.has_time = SAMPLING_YES}, 0, 0, 0},
		{{.has_time = SAMPLING_NO}, PERF_SAMPLE_TIME, 0, 0},
		{{.has_period = SAMPLING_YES}, PERF_SAMPLE_PERIOD, 0, 0},
		{{.sample_type = PERF_SAMPLE_PHYS_ADDR}, PERF_SAMPLE_PHYS_ADDR, 0, 0},
		{{.flags = ATTR_INHERIT_STAT, .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED}, 0,
			PERF_FORMAT_TOTAL_TIME_ENABLED, ATTR_INHERIT_STAT},
		{{.intr_regs = 3}, PERF_SAMPLE_REGS_INTR, 0, 0},
		{{.user_regs = 3}, PERF_SAMPLE_REGS_USER, 0, 0},
		{{.branches = PERF_SAMPLE_BRANCH_ANY}, PERF_SAMPLE_BRANCH_STACK, 0, 0},
		{{.side_flags = ATTR_NAMESPACES}, 0, 0, ATTR_NAMESPACES},
		{{.no_side_flags = ATTR_BPF_EVENT}, 0, 0, ATTR_BPF_EVENT},
		{{.has_no_inherit = true}, 0, 0, ATTR_INHERIT},
	};
	struct event_list plain = {0};

	add(&plain, CLOCK);
	apply((struct sampling){.period = 5}, &plain, (struct target){0});
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sampling s = rows[i].options;
		const struct event_attr *was = &plain.at[0].attr, *is;
		struct event_list events = {0};

		s.period = 5;
		add(&events, CLOCK);
		apply(s, &events, (struct target){0});
		is = &events.at[0].attr;
		CHECK_EQ(is->sample_type ^ was->sample_type, rows[i].sample_type);
		CHECK_EQ(is->read_format ^ was->read_format, rows[i].read_format);
		CHECK_EQ(is->flags ^ was->flags, rows[i].flags);
		CHECK_EQ(is->sample_regs_intr, rows[i].options.intr_regs);
		CHECK_EQ(is->sample_regs_user, rows[i].options.user_regs);
		CHECK_EQ(is->branch_sample_type, rows[i].options.branches);
		event_list_fini(&events);
	}
	event_list_fini(&plain);
}

TEST(sampling_whose_periods_change_has_them_in_samples_where_the_kernel_tells_them)
{
	static const struct {
		enum kind kind;
		u64 period;
		bool can_change;
	} rows[] = {
		{CLOCK, 5, true},
		{CLOCK, 0, true},
		{CYCLES, 5, true},
		{CYCLES, 0, true},
		{UNCORE, 5, true},
		/* These would be sampled one by one. */
		{FAULTS, 5, false},
		{FAULTS, 0, true},
		{TRACEPOINT, 5, false},
	};
	const u64 told = PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sampling s = {.period = rows[i].period, .changes_periods = true};
		struct event_list events = {0};
		const struct event *e = add(&events, rows[i].kind);

		if (!rows[i].period)
			s.frequency = 100;
		apply(s, &events, (struct target){0});
		e = &events.at[0];
		CHECK_EQ(sampling_can_change(e), rows[i].can_change);
		CHECK_EQ((e->attr.sample_type & told) == told, rows[i].can_change);
		event_list_fini(&events);
	}
}

TEST(sampling_has_an_event_that_tells_of_tasks_while_others_are_off)
{
	static const struct sampling rows[] = {
		{.period = 5, .is_late = true, .is_command = true},
		{.period = 5, .is_overwritten = true, .is_command = true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_list events = {0};
		u64 flags;

		add(&events, CLOCK);
		apply(rows[i], &events, (struct target){0});
		CHECK_EQ(events.n, 2);
		flags = events.at[0].attr.flags;
		CHECK_EQ(flags & (ATTR_MMAP | ATTR_TASK | ATTR_COMM), 0);
		CHECK_EQ(!!(flags & ATTR_ENABLE_ON_EXEC), !rows[i].is_late);
		CHECK_EQ(!!(flags & ATTR_WRITE_BACKWARD), rows[i].is_overwritten);
		CHECK_STR(events.at[1].name, SAMPLING_TRACKER);
		CHECK_EQ(events.at[1].wishes, EVENT_TRACKER);
		CHECK_STR(text_of(&events.at[1].attr),
			"type=1, size=128, config=0x9, { sample_period, sample_freq }=1, " TYPE
			"|IDENTIFIER, " FORMAT ", disabled=1, inherit=1, " SIDE
			"enable_on_exec=1, task=1, sample_id_all=1" SIDE_2);
		event_list_fini(&events);
	}
}

TEST(sampling_refuses_a_frequency_above_the_limit_if_it_must_be_that_one)
{
	struct sampling s = {.frequency = 1000000000, .is_strict = true};
	struct event_list events = {0};
	struct err err = {0};
	s64 max;

	if (!sysfile_s64("/proc/sys/kernel/perf_event_max_sample_rate", &max))
		SKIP("this kernel has no limit of sample rates");
	add(&events, CLOCK);
	CHECK_EQ(sampling_apply(&s, &events, &(struct target){0}, NULL, &err), ERR_LIMIT);
	CHECK(strstr(err.msg, "--strict-freq"));
	event_list_fini(&events);
}

TEST(sampling_makes_room_for_fields_of_newer_kernels)
{
	struct event_list events = {0};

	add(&events, CLOCK)->attr.config3 = 1;
	apply((struct sampling){.period = 1}, &events, (struct target){0});
	CHECK_EQ(events.at[0].attr.size, ATTR_SIZE_VER8);
	event_list_fini(&events);
}

/* ---- frequency ---- */

static s64 kernel_limit(void)
{
	s64 max;

	if (!sysfile_s64("/proc/sys/kernel/perf_event_max_sample_rate", &max) || max < 2)
		SKIP("this kernel has no limit of sample rates");
	return max;
}

static u64 frequency_after(struct sampling s, struct log *log)
{
	struct event_list events = {0};
	struct target target = {0};
	struct err err;
	u64 frequency;

	add(&events, CLOCK);
	CHECK_EQ(sampling_apply(&s, &events, &target, log, &err), 0);
	frequency = events.at[0].attr.sample_period;
	CHECK_EQ(frequency, s.frequency);
	event_list_fini(&events);
	return frequency;
}

TEST(sampling_takes_4000_samples_a_second_unless_told_otherwise)
{
	if (kernel_limit() < 4000)
		SKIP("the kernel allows less at the moment");
	CHECK_EQ(frequency_after((struct sampling){0}, NULL), 4000);
}

TEST(sampling_lowers_a_frequency_to_the_kernels_limit_and_says_so)
{
	s64 max = kernel_limit();
	char expected[512];
	struct said said;

	said_init(&said, LOG_NOTE);
	CHECK_EQ(frequency_after((struct sampling){.frequency = max + 1}, &said.log), max);
	snprintf(expected, sizeof(expected),
		"warn: -F %lld is lowered to %lld, the limit of this kernel at the moment: 'sudo "
		"sysctl "
		"kernel.perf_event_max_sample_rate=%lld' raises it\n",
		(long long)max + 1, (long long)max, (long long)max + 1);
	CHECK_STR(str_text(&said.text), expected);
	said_fini(&said);
}

TEST(sampling_takes_the_limit_itself_without_a_word)
{
	s64 max = kernel_limit();
	struct said said;

	said_init(&said, LOG_DEBUG);
	CHECK_EQ(frequency_after((struct sampling){.frequency = max}, &said.log), max);
	CHECK_EQ(frequency_after((struct sampling){.is_max = true}, &said.log), max);
	CHECK_STR(str_text(&said.text), "");
	said_fini(&said);
}

TEST(sampling_with_a_period_does_not_look_at_frequencies)
{
	struct event_list events = {0};
	struct sampling s = {.period = 50};
	struct target target = {0};
	struct err err;

	add(&events, CLOCK);
	CHECK_EQ(sampling_apply(&s, &events, &target, NULL, &err), 0);
	CHECK_EQ(events.at[0].attr.sample_period, 50);
	CHECK(!(events.at[0].attr.flags & ATTR_FREQ));
	event_list_fini(&events);
}

/* ---- for older perfs ---- */

TEST(compat_knows_what_each_perf_can_read)
{
	static const struct {
		const char *version;
		u32 attr_size;
		bool has_ksymbol, has_cgroup;
	} cases[] = {{"4.2", 112, false, false}, {"4.19.118", 112, false, false},
		{"5.0", 112, false, false}, {"5.1", 112, true, false}, {"5.4", 112, true, false},
		{"5.5", 120, true, false}, {"5.10.218", 120, true, true}, {"5.13", 128, true, true},
		{"6.1", 128, true, true}, {"6.5", 136, true, true}, {"7.0", 144, true, true},
		{"7.2.13", 144, true, true}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct compat c;
		struct err err;

		CHECK_EQ(compat_find(cases[i].version, &c, &err), 0);
		CHECK_EQ(c.attr_size, cases[i].attr_size);
		CHECK_EQ(!(c.unknown_flags & ATTR_KSYMBOL), cases[i].has_ksymbol);
		CHECK_EQ(!(c.unknown_flags & ATTR_CGROUP), cases[i].has_cgroup);
	}
}

TEST(compat_refuses_what_is_no_version_or_too_old)
{
	static const char *const none[] = {"", "5", "5.", "5.x", "5.10.", "5.10-rc1", "x"};
	struct compat c;
	struct err err;

	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		CHECK_EQ(compat_find(none[i], &c, &err), ERR_INVAL);
	CHECK_EQ(compat_find("4.1", &c, &err), ERR_UNSUPPORTED);
	CHECK_EQ(compat_find("2.6.32", &c, &err), ERR_UNSUPPORTED);
}

TEST(sampling_times_all_events_by_the_clock_that_was_asked_for)
{
	struct event_list events = {0};

	add(&events, CLOCK);
	add(&events, TRACEPOINT);
	apply((struct sampling){.has_clock = true, .clock = 7}, &events, (struct target){0});
	vec_each(e, &events) {
		CHECK(e->attr.flags & ATTR_USE_CLOCKID);
		CHECK_EQ(e->attr.clockid, 7);
	}
	event_list_fini(&events);
}

/* ---- branches ---- */

TEST(branches_are_those_that_the_words_name)
{
	static const struct {
		const char *text;
		u64 bits;
	} rows[] = {
		{"any", PERF_SAMPLE_BRANCH_ANY},
		{"any_call,u", PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_USER},
		{"u,k",
			PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL |
				PERF_SAMPLE_BRANCH_ANY},
		{"priv", PERF_SAMPLE_BRANCH_PRIV_SAVE | PERF_SAMPLE_BRANCH_ANY},
		{"stack", PERF_SAMPLE_BRANCH_CALL_STACK},
		{"cond,save_type", PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_TYPE_SAVE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 bits = 0;
		struct err err;

		CHECK_EQ(branches_parse(rows[i].text, &bits, &err), 0);
		CHECK_EQ(bits, rows[i].bits);
	}
}

TEST(branches_that_are_no_words_are_refused_with_the_nearest)
{
	struct err err = {0};
	u64 bits = 0;

	CHECK_EQ(branches_parse("any_cal", &bits, &err), ERR_INVAL);
	CHECK(strstr(err.msg, "did you mean 'any_call'?"));
	CHECK_EQ(branches_parse("", &bits, &err), ERR_INVAL);
	CHECK_EQ(branches_parse("any,,u", &bits, &err), ERR_INVAL);
	CHECK_EQ(bits, 0);
}

/* What is sampled is not what happens without sampling. */
TEST(sampling_says_that_it_aborts_transactions)
{
	static const struct event_attr attrs[] = {
		{.type = PERF_TYPE_RAW, .config = 1ULL << 32 | 0x3c}, /* cycles-t */
		{.type = PERF_TYPE_RAW, .config = 0x4c9},             /* tx-abort */
		{.type = PERF_TYPE_HARDWARE, .config = 1ULL << 32}, /* of the first kind of core */
	};

	if (!arch_of_host() || !arch_of_host()->is_x86)
		SKIP("only Intel's processors have these events");
	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		struct event_list events = {0};
		struct sampling s = {.period = 1000};
		struct said said;
		struct err err;

		said_init(&said, LOG_NOTE);
		event_add(&events, &attrs[i], "cycles-t");
		CHECK_EQ(sampling_apply(&s, &events, &(struct target){0}, &said.log, &err), 0);
		CHECK_STR(str_text(&said.text),
			i ? ""
			  : "note: event 'cycles-t': the interrupt that takes a sample aborts the transaction it falls into; 'pace stat' counts without that\n");
		said_fini(&said);
		event_list_fini(&events);
	}
}

/* Where programs run transactions, any sample may abort one: said once, and how to do better. */
TEST(sampling_says_that_any_event_may_abort_transactions)
{
	static const struct {
		struct event_attr attr;
		const char *name, *end; /* of the note; NULL: none */
	} cases[] = {
		{{.type = PERF_TYPE_HARDWARE}, "cycles",
			"; with ':pp' samples are at least where the transaction was, and not where its abort leads to\n"},
		{{.type = PERF_TYPE_HARDWARE, .flags = 2ULL << 15}, "cycles:pp",
			" counts without that\n"},
		{{.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK}, "cpu-clock",
			" counts without that\n"},
		{{.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS}, "faults", NULL},
		{{.type = PERF_TYPE_TRACEPOINT, .config = 314}, "sched:sched_switch", NULL},
		{{.type = PERF_TYPE_RAW, .config = 0x4c9}, "tx-abort", NULL},
		{{.type = PERF_TYPE_RAW, .config = 0x4c8}, "el-abort", NULL},
	};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		struct event_list events = {0};
		struct sampling s = {.period = 1000, .runs_transactions = i % 2};
		struct said said;
		struct err err;
		char start[128];

		said_init(&said, LOG_NOTE);
		event_add(&events, &cases[i / 2].attr, cases[i / 2].name);
		event_add(&events, &cases[i / 2].attr, cases[i / 2].name);
		CHECK_EQ(sampling_apply(&s, &events, &(struct target){0}, &said.log, &err), 0);
		snprintf(start, sizeof(start), "note: event '%s': a sample aborts the transaction",
			cases[i / 2].name);
		if (s.runs_transactions && cases[i / 2].end) {
			CHECK_EQ(strncmp(str_text(&said.text), start, strlen(start)), 0);
			CHECK(said.text.n > strlen(cases[i / 2].end));
			CHECK_STR(said.text.at + said.text.n - strlen(cases[i / 2].end),
				cases[i / 2].end);
			CHECK(strchr(said.text.at, '\n') == said.text.at + said.text.n - 1);
		} else {
			CHECK_STR(str_text(&said.text), "");
		}
		said_fini(&said);
		event_list_fini(&events);
	}
}
