#include "test.h"

#include "arch/arch.h"
#include "event/abi.h"
#include "machine/machine.h"
#include "profile/gather/gather.h"
#include "profile/gather/hits.h"
#include "unit/recording.h"
#include "unwind/ending.h"

#define ALL_LABELS (LABEL_BIT(LABEL_COUNT) - 2)

enum {
	FIELDS = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,

	USER = PERF_RECORD_MISC_USER,
	KERNEL = PERF_RECORD_MISC_KERNEL,
};

/* ---- a recording, read ---- */

struct reading {
	struct recording recording;
	struct trace trace;
	struct profile profile;
};

/* Two events, so that samples say which one they belong to. */
static void reading_init(struct reading *r, u64 fields)
{
	memset(r, 0, sizeof(*r));
	recording_event(&r->recording, "cycles", fields, 100, 2);
	recording_event(&r->recording, "faults", fields, 200, 1);
}

static struct recording_who who(u32 pid, u32 tid, u64 time)
{
	return (struct recording_who){pid, tid, time};
}

struct at { /* of a sample */
	u32 event;
	u32 pid, tid;
	u64 time;
	u32 cpu;
	u16 mode;
	u64 ip, period;
};

static void add_sample(struct reading *r, struct at at, const u64 *chain, u64 n)
{
	const struct sample sample = {.id = at.event ? 200 : 101,
		.ip = at.ip,
		.pid = at.pid,
		.tid = at.tid,
		.time = at.time,
		.cpu = at.cpu,
		.period = at.period,
		.chain = {(const u8 *)chain, n}};

	recording_sample(&r->recording, at.event, at.mode, &sample);
}

static void reading_gather(struct reading *r, struct gather_options options)
{
	struct err err;

	if (gather(&r->trace, &options, &r->profile, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
}

static void reading_fini(struct reading *r)
{
	profile_fini(&r->profile);
	trace_close(&r->trace);
}

/* ---- a profile as text that does not depend on who counted what ---- */

static void add_frame(const struct profile *p, u32 frame, struct str *text)
{
	static const char modes[] = "?ku34567";
	const struct profile_frame *f = &p->frames.at[frame];

	str_addf(text, "%s+0x%llx%c%s", p->dsos.at[f->dso].name, (unsigned long long)f->address,
		modes[f->mode & 7], f->is_return ? "r" : "");
}

static void add_row(const struct profile *p, const struct profile_row *row, struct str *text)
{
	u32 path[64], n = 0;

	str_addf(text, "%s", p->events.at[row->event].name);
	if (p->labels & LABEL_BIT(LABEL_COMM))
		str_addf(text, " %s", profile_text(profile_label(p, row - p->rows.at, LABEL_COMM)));
	if (p->labels & LABEL_BIT(LABEL_PID))
		str_addf(text, " %u/%u cpu%d", (u32)profile_label(p, row - p->rows.at, LABEL_PID),
			(u32)profile_label(p, row - p->rows.at, LABEL_TID),
			(s32)profile_label(p, row - p->rows.at, LABEL_CPU));
	str_addc(text, ' ');
	for (u32 s = row->callers; s; s = p->stacks.at[s].parent)
		path[n++] = p->stacks.at[s].frame;
	while (n) {
		add_frame(p, path[--n], text);
		str_addc(text, ';');
	}
	add_frame(p, row->frame, text);
}

struct line {
	char *text;
	u64 n_samples, period;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

/* One line for each different row, with its sums; sorted. */
static void add_profile(const struct profile *p, struct str *text)
{
	VEC(struct line) lines = {0};

	vec_each(row, &p->rows) {
		struct str one = {0};

		add_row(p, row, &one);
		vec_add(&lines, ((struct line){one.at, row->n_samples, row->period}));
	}
	if (lines.n)
		qsort(lines.at, lines.n, sizeof(*lines.at), by_text);
	for (size_t i = 0, j; i < lines.n; i = j) {
		u64 n_samples = 0, period = 0;

		for (j = i; j < lines.n && !strcmp(lines.at[i].text, lines.at[j].text); j++) {
			n_samples += lines.at[j].n_samples;
			period += lines.at[j].period;
		}
		str_addf(text, "%s %llu %llu\n", lines.at[i].text, (unsigned long long)n_samples,
			(unsigned long long)period);
	}
	vec_each(line, &lines)
		mem_free(line->text);
	vec_fini(&lines);
}

static void check(struct reading *r, const char *expected)
{
	struct str text = {0};

	add_profile(&r->profile, &text);
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

/* The rows of each event sum to what the profile says of it. */
static void check_sums(const struct profile *p)
{
	for (u32 event = 0; event < p->events.n; event++) {
		u64 n_samples = 0, period = 0;

		vec_each(row, &p->rows) {
			n_samples += row->event == event ? row->n_samples : 0;
			period += row->event == event ? row->period : 0;
		}
		CHECK_EQ(p->events.at[event].n_samples, n_samples);
		CHECK_EQ(p->events.at[event].period, period);
	}
}

/* ---- addresses ---- */

TEST(gather_resolves_one_address_in_two_processes_to_two_files)
{
	struct reading r;

	reading_init(&r, FIELDS);
	recording_comm(&r.recording, 0, who(10, 10, 0), "ten");
	recording_comm(&r.recording, 0, who(20, 20, 0), "twenty");
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x1000, 0x1000, 0x5000, "/bin/a");
	recording_mmap(&r.recording, USER, who(20, 20, 0), 0x1000, 0x1000, 0, "/lib/b.so");
	add_sample(&r, (struct at){0, 10, 10, 5, 0, USER, 0x1100, 7}, NULL, 0);
	add_sample(&r, (struct at){0, 20, 20, 6, 1, USER, 0x1100, 8}, NULL, 0);
	add_sample(&r, (struct at){1, 20, 20, 7, 1, USER, 0x1100, 1}, NULL, 0);
	add_sample(&r, (struct at){0, 10, 10, 8, 0, USER, 0x1100, 9}, NULL, 0);
	/* No map covers these. */
	add_sample(&r, (struct at){0, 10, 10, 9, 0, USER, 0x2000, 1}, NULL, 0);
	add_sample(&r, (struct at){0, 30, 31, 9, 0, USER, 0x1100, 1}, NULL, 0);
	recording_scan(&r.recording, &r.trace);
	reading_gather(&r, (struct gather_options){.count.labels = ALL_LABELS, .n_workers = 1});
	check(&r,
		"cycles :31 30/31 cpu0 [unknown]+0x1100u 1 1\n"
		"cycles ten 10/10 cpu0 [unknown]+0x2000u 1 1\n"
		"cycles ten 10/10 cpu0 a+0x5100u 2 16\n"
		"cycles twenty 20/20 cpu1 b.so+0x100u 1 8\n"
		"faults twenty 20/20 cpu1 b.so+0x100u 1 1\n");
	check_sums(&r.profile);
	CHECK(!r.profile.has_stacks);
	reading_fini(&r);
}

TEST(gather_resolves_samples_before_and_behind_an_exec_to_two_files)
{
	struct reading r;

	reading_init(&r, FIELDS);
	recording_comm(&r.recording, 0, who(10, 10, 100), "sh");
	recording_mmap(&r.recording, USER, who(10, 10, 100), 0x1000, 0x1000, 0, "/bin/sh");
	/* Samples stand in the file in no order. */
	add_sample(&r, (struct at){0, 10, 10, 300, 0, USER, 0x1010, 1}, NULL, 0);
	add_sample(&r, (struct at){0, 10, 10, 150, 0, USER, 0x1010, 1}, NULL, 0);
	recording_comm(&r.recording, PERF_RECORD_MISC_COMM_EXEC, who(10, 10, 200), "ls");
	recording_mmap(&r.recording, USER, who(10, 10, 210), 0x1000, 0x1000, 0, "/bin/ls");
	add_sample(&r, (struct at){0, 10, 10, 199, 0, USER, 0x1010, 1}, NULL, 0);
	add_sample(&r, (struct at){0, 10, 10, 200, 0, USER, 0x1010, 1}, NULL, 0);
	recording_scan(&r.recording, &r.trace);
	reading_gather(&r,
		(struct gather_options){.count.labels = LABEL_BIT(LABEL_COMM), .n_workers = 1});
	check(&r,
		"cycles ls ls+0x10u 2 2\n"
		"cycles sh sh+0x10u 2 2\n");
	reading_fini(&r);
}

TEST(gather_takes_the_place_in_the_file_where_there_are_no_times)
{
	enum { NO_TIMES = FIELDS & ~PERF_SAMPLE_TIME };
	struct reading r;

	reading_init(&r, NO_TIMES);
	recording_comm(&r.recording, 0, who(10, 10, 0), "sh");
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x1000, 0x1000, 0, "/bin/sh");
	add_sample(&r, (struct at){0, 10, 10, 0, 0, USER, 0x1010, 1}, NULL, 0);
	recording_comm(&r.recording, PERF_RECORD_MISC_COMM_EXEC, who(10, 10, 0), "ls");
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x1000, 0x1000, 0, "/bin/ls");
	add_sample(&r, (struct at){0, 10, 10, 0, 0, USER, 0x1010, 1}, NULL, 0);
	recording_scan(&r.recording, &r.trace);
	reading_gather(&r,
		(struct gather_options){.count.labels = LABEL_BIT(LABEL_COMM), .n_workers = 1});
	check(&r,
		"cycles ls ls+0x10u 1 1\n"
		"cycles sh sh+0x10u 1 1\n");
	reading_fini(&r);
}

static void add_kernel(struct reading *r)
{
	recording_mmap(&r->recording, KERNEL, who(-1, 0, 0), 0xffffffff81000000, 0x1000000,
		0xffffffff81000000, "[kernel.kallsyms]_text");
	recording_mmap(&r->recording, KERNEL, who(-1, 0, 0), 0xffffffffc0000000, 0x1000, 0,
		"[nf_tables]");
}

TEST(gather_looks_up_guests_in_their_own_kernels)
{
	enum { GUEST = PERF_RECORD_MISC_GUEST_KERNEL };
	const u64 text = 0xffffffff81000000;
	struct reading r;

	reading_init(&r, FIELDS);
	add_kernel(&r);
	recording_mmap(&r.recording, GUEST, who(0, 0, 0), text, 0x1000000, text,
		"[guest.kernel.kallsyms]_text");
	recording_mmap(&r.recording, GUEST, who(11, 11, 0), text, 0x1000000, text,
		"[guest.kernel.kallsyms.11]_text");
	add_sample(&r, (struct at){0, 10, 10, 1, 0, KERNEL, text + 16, 1}, NULL, 0);
	add_sample(&r, (struct at){0, 10, 10, 1, 0, GUEST, text + 16, 1}, NULL, 0);
	add_sample(&r, (struct at){0, 11, 11, 1, 0, GUEST, text + 16, 1}, NULL, 0);
	recording_scan(&r.recording, &r.trace);
	reading_gather(&r, (struct gather_options){.n_workers = 1});
	check(&r,
		"cycles [guest.kernel.kallsyms.11]+0xffffffff810000104 1 1\n"
		"cycles [guest.kernel.kallsyms]+0xffffffff810000104 1 1\n"
		"cycles [kernel.kallsyms]+0xffffffff81000010k 1 1\n");
	reading_fini(&r);
}

TEST(gather_looks_up_each_mode_in_its_own_space)
{
	struct reading r;

	reading_init(&r, FIELDS);
	add_kernel(&r);
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x1000, 0x1000, 0, "/bin/a");
	add_sample(&r, (struct at){0, 10, 10, 1, 0, KERNEL, 0xffffffff81000010, 1}, NULL, 0);
	add_sample(&r, (struct at){0, 10, 10, 1, 0, KERNEL, 0xffffffffc0000020, 1}, NULL, 0);
	add_sample(&r, (struct at){0, 10, 10, 1, 0, KERNEL, 0x1010, 1}, NULL, 0);
	add_sample(&r, (struct at){0, 10, 10, 1, 0, USER, 0xffffffff81000010, 1}, NULL, 0);
	/* A guest's addresses are nobody's here. */
	add_sample(&r,
		(struct at){0, 10, 10, 1, 0, PERF_RECORD_MISC_GUEST_KERNEL, 0xffffffff81000010, 1},
		NULL, 0);
	add_sample(&r, (struct at){0, 10, 10, 1, 0, PERF_RECORD_MISC_GUEST_USER, 0x1010, 1}, NULL,
		0);
	add_sample(&r, (struct at){0, 10, 10, 1, 0, PERF_RECORD_MISC_HYPERVISOR, 0x1010, 1}, NULL,
		0);
	recording_scan(&r.recording, &r.trace);
	reading_gather(&r, (struct gather_options){.n_workers = 1});
	check(&r,
		"cycles [kernel.kallsyms]+0xffffffff81000010k 1 1\n"
		"cycles [nf_tables]+0x20k 1 1\n"
		"cycles [unknown]+0x10103 1 1\n"
		"cycles [unknown]+0x10105 1 1\n"
		"cycles [unknown]+0x1010k 1 1\n"
		"cycles [unknown]+0xffffffff810000104 1 1\n"
		"cycles [unknown]+0xffffffff81000010u 1 1\n");
	reading_fini(&r);
}

/* ---- chains ---- */

static void add_chain(struct reading *r, u16 mode, u64 ip, const u64 *chain, u64 n)
{
	add_sample(r, (struct at){0, 10, 10, 1, 0, mode, ip, 1}, chain, n);
}

TEST(gather_reads_chains_with_their_markers)
{
	const u64 across[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020,
		PERF_CONTEXT_USER, 0x1010, 0x1020};
	const u64 user[] = {PERF_CONTEXT_USER, 0x1010, 0x1020, 0x2030};
	const u64 only_user[] = {PERF_CONTEXT_USER, 0x1010, 0x1020};
	const u64 bare[] = {0x1010, 0x1020};
	const u64 unknown[] = {PERF_CONTEXT_USER, 0x1010, 0x1020, (u64)-4000, 0x1030};
	const u64 just_marker[] = {PERF_CONTEXT_USER};
	struct reading r;

	reading_init(&r, FIELDS);
	add_kernel(&r);
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x1000, 0x1000, 0, "/bin/a");
	add_chain(&r, KERNEL, 0xffffffff81000010, across, 6);
	add_chain(&r, USER, 0x1010, user, 4);
	/* A kernel sample whose chain has no kernel part: what follows the marker is no return
	 * address. */
	add_chain(&r, KERNEL, 0xffffffff81000030, only_user, 3);
	add_chain(&r, USER, 0x1010, bare, 2);
	add_chain(&r, USER, 0x1011, unknown, 5);
	add_chain(&r, USER, 0x1012, just_marker, 1);
	add_chain(&r, USER, 0x1013, NULL, 0);
	recording_scan(&r.recording, &r.trace);
	reading_gather(&r, (struct gather_options){.count.has_stacks = true, .n_workers = 1});
	CHECK(r.profile.has_stacks);
	check(&r,
		"cycles [unknown]+0xfffffffffffffff9u;a+0x20ur;a+0x10u 1 1\n"
		"cycles a+0x12u 1 1\n"
		"cycles a+0x13u 1 1\n"
		"cycles a+0x20ur;a+0x10u 1 1\n"
		"cycles "
		"a+0x20ur;a+0x10u;[kernel.kallsyms]+0xffffffff81000020kr;[kernel.kallsyms]+"
		"0xffffffff81000010k 1 1\n"
		"cycles a+0x20ur;a+0x10u;[kernel.kallsyms]+0xffffffff81000030k 1 1\n"
		"cycles a+0x20ur;a+0x11u 1 1\n");
	check_sums(&r.profile);
	reading_fini(&r);
}

TEST(gather_cuts_chains_of_frame_pointers_where_they_lead_to_no_code)
{
	/* What lies behind it was found by following nothing. */
	const u64 at_once[] = {PERF_CONTEXT_USER, 0x1010, 0, 0x1020};
	const u64 later[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000010, PERF_CONTEXT_USER, 0x1010,
		0x3020, 0x7fff0000, 0x1030};
	const u64 whole[] = {PERF_CONTEXT_USER, 0x1010, 0x1020};
	struct reading r;

	reading_init(&r, FIELDS);
	add_kernel(&r);
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x1000, 0x1000, 0, "/bin/a");
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x3000, 0x1000, 0, "/bin/b");
	add_chain(&r, USER, 0x1010, at_once, 4);
	add_chain(&r, KERNEL, 0xffffffff81000010, later, 7);
	add_chain(&r, KERNEL, 0xffffffff81000010, later, 7);
	add_chain(&r, USER, 0x1010, whole, 3);
	add_chain(&r, USER, 0x1010, NULL, 0);
	recording_scan(&r.recording, &r.trace);
	reading_gather(&r, (struct gather_options){.count.has_stacks = true, .n_workers = 1});
	check(&r,
		"cycles [unknown]+0xfffffffffffffff9u;a+0x10u 1 1\n"
		"cycles [unknown]+0xfffffffffffffff9u;b+0x20ur;a+0x10u;"
		"[kernel.kallsyms]+0xffffffff81000010k 2 2\n"
		"cycles a+0x10u 1 1\n"
		"cycles a+0x20ur;a+0x10u 1 1\n");
	CHECK_EQ(r.profile.endings.n, 3);
	vec_each(e, &r.profile.endings) {
		const char *dso = r.profile.dsos.at[e->dso].name;

		if (e->ending == STACK_COMPLETE)
			CHECK_EQ(e->n_samples, 1);
		else
			/* Without a caller it is the sample's own file that is suspected. */
			CHECK_EQ(e->n_samples, !strcmp(dso, "a") ? 1 : !strcmp(dso, "b") ? 2 : 0);
	}
	check_sums(&r.profile);
	reading_fini(&r);
}

TEST(gather_puts_chains_that_are_longer_than_asked_for_under_their_reason)
{
	const u64 chain[] = {PERF_CONTEXT_USER, 0x1010, 0x1020, 0x1030};
	struct reading r;

	reading_init(&r, FIELDS);
	add_kernel(&r);
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x1000, 0x1000, 0, "/bin/a");
	add_chain(&r, USER, 0x1010, chain, 4);
	add_chain(&r, USER, 0x1010, chain, 3);
	recording_scan(&r.recording, &r.trace);
	reading_gather(&r,
		(struct gather_options){.count = {.has_stacks = true, .max_stack = 2},
			.n_workers = 1});
	/* A root is where a program starts, and this is none. */
	check(&r,
		"cycles [unknown]+0xfffffffffffffff8u;a+0x20ur;a+0x10u 1 1\n"
		"cycles a+0x20ur;a+0x10u 1 1\n");
	CHECK_EQ(r.profile.n_cut, 1);
	check_sums(&r.profile);
	reading_fini(&r);
}

/* ---- stack dumps ---- */

/* A sample with BP, SP and IP of x86-64 and the words above SP. */
static void add_dump(struct reading *r, u16 mode, u64 ip, const u64 *chain, u64 n_chain,
	const u64 regs[3], const u64 *dump, u32 n_dump)
{
	const struct sample sample = {.id = 101,
		.ip = ip,
		.pid = 10,
		.tid = 10,
		.time = 1,
		.period = 1,
		.chain = {(const u8 *)chain, n_chain},
		.user_regs = {regs ? PERF_SAMPLE_REGS_ABI_64 : 0, {(const u8 *)regs, regs ? 3 : 0}},
		.user_stack = {{(const u8 *)dump, n_dump * 8}, n_dump * 8}};

	recording_sample(&r->recording, 0, mode, &sample);
}

TEST(gather_takes_callers_out_of_stack_dumps_and_says_how_they_end)
{
	/* Two frames by their pointers, then none: the file that could tell on is not here. */
	const u64 regs[] = {0x7010, 0x7000, 0x1010}, at_kernel[] = {0x7010, 0x7000, 0x1018};
	const u64 dump[] = {0, 0, 0x7020, 0x1020, 0, 0x1030, 0, 0};
	const u64 kernel[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020};
	struct reading r;

	reading_init(&r, FIELDS | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	r.recording.events.at[0].attr.sample_regs_user = 7 << 6;
	r.recording.events.at[0].attr.sample_stack_user = sizeof(dump);
	add_kernel(&r);
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x1000, 0x1000, 0, "/nonexistent/a");
	add_dump(&r, USER, 0x1010, NULL, 0, regs, dump, 8);
	add_dump(&r, USER, 0x1010, NULL, 0, regs, dump, 8);
	add_dump(&r, KERNEL, 0xffffffff81000010, kernel, 3, at_kernel, dump, 8);
	/* A thread of the kernel has neither registers nor a stack. */
	add_dump(&r, KERNEL, 0xffffffff81000010, kernel, 3, NULL, NULL, 0);
	recording_scan(&r.recording, &r.trace);
	r.trace.callers.arch = &arch_x86_64;
	reading_gather(&r, (struct gather_options){.count.has_stacks = true, .n_workers = 1});
	check(&r,
		"cycles "
		"[kernel.kallsyms]+0xffffffff81000020kr;[kernel.kallsyms]+0xffffffff81000010k 1 1\n"
		"cycles a+0xfffffffffffffffcu;a+0x30ur;a+0x20ur;a+0x10u 2 2\n"
		"cycles a+0xfffffffffffffffcu;a+0x30ur;a+0x20ur;a+0x18u;"
		"[kernel.kallsyms]+0xffffffff81000020kr;[kernel.kallsyms]+0xffffffff81000010k 1 1\n");
	/* The other one is that of the kernel's thread, which its own chain tells whole. */
	CHECK_EQ(r.profile.endings.n, 2);
	CHECK_EQ(r.profile.endings.at[0].ending, STACK_NO_FILE);
	CHECK_EQ(r.profile.endings.at[0].n_samples, 3);
	CHECK_STR(r.profile.dsos.at[r.profile.endings.at[0].dso].name, "a");
	check_sums(&r.profile);
	reading_fini(&r);
}

/* A sample of thread 10 whose stack was walked while it was recorded. */
static void add_walked(struct reading *r, u16 mode, const u64 *addresses, u64 n,
	enum stack_ending ending)
{
	u64 chain[16];

	memcpy(chain, addresses, n * 8);
	add_chain(r, mode, addresses[1], chain, n + ending_words(ending, chain + n));
}

TEST(gather_finds_how_stacks_ended_that_were_walked_while_recording)
{
	const u64 user[] = {PERF_CONTEXT_USER, 0x1010, 0x1020, 0x1030},
		  kernel[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020,
			  PERF_CONTEXT_USER, 0x1018, 0x1020, 0x1030};
	u64 n_by_ending[STACK_ENDINGS] = {0};
	struct reading r;

	reading_init(&r, FIELDS);
	r.recording.events.at[0].attr.sample_stack_user = 8192;
	add_kernel(&r);
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x1000, 0x1000, 0, "/nonexistent/a");
	add_walked(&r, USER, user, 4, STACK_NO_FILE);
	add_walked(&r, USER, user, 4, STACK_NO_FILE);
	add_walked(&r, USER, user, 4, STACK_COMPLETE);
	/* of this ending no file is to blame */
	add_walked(&r, USER, user, 4, STACK_DUMP_TOO_SMALL);
	add_walked(&r, KERNEL, kernel, 7, STACK_NO_FILE);
	/* one of the kernel's own: nothing is known of its end */
	add_chain(&r, USER, 0x1010, user, 4);
	recording_scan(&r.recording, &r.trace);
	reading_gather(&r, (struct gather_options){.count.has_stacks = true, .n_workers = 1});
	check(&r,
		"cycles [unknown]+0xfffffffffffffffeu;a+0x30ur;a+0x20ur;a+0x10u 1 1\n"
		"cycles a+0x30ur;a+0x20ur;a+0x10u 2 2\n"
		"cycles a+0xfffffffffffffffcu;a+0x30ur;a+0x20ur;a+0x10u 2 2\n"
		"cycles a+0xfffffffffffffffcu;a+0x30ur;a+0x20ur;a+0x18u;"
		"[kernel.kallsyms]+0xffffffff81000020kr;[kernel.kallsyms]+0xffffffff81000010k 1 1\n");
	CHECK_EQ(r.profile.endings.n, 3);
	vec_each(e, &r.profile.endings) {
		n_by_ending[e->ending] += e->n_samples;
		CHECK_STR(r.profile.dsos.at[e->dso].name,
			e->ending == STACK_NO_FILE ? "a" : "[unknown]");
	}
	CHECK_EQ(n_by_ending[STACK_NO_FILE], 3);
	CHECK_EQ(n_by_ending[STACK_COMPLETE], 2);
	CHECK_EQ(n_by_ending[STACK_DUMP_TOO_SMALL], 1);
	check_sums(&r.profile);
	reading_fini(&r);
}

TEST(gather_counts_equal_samples_in_one_row)
{
	const u64 chain[] = {PERF_CONTEXT_USER, 0x1010, 0x1020, 0x1030},
		  other[] = {PERF_CONTEXT_USER, 0x1010, 0x1020};
	struct reading r;

	reading_init(&r, FIELDS);
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x1000, 0x1000, 0, "/bin/a");
	for (int i = 0; i < 5; i++) {
		add_chain(&r, USER, 0x1010, chain, 4);
		add_chain(&r, USER, 0x1010, other, 3);
		/* Elsewhere in the same callers. */
		add_chain(&r, USER, 0x1018, chain, 4);
	}
	recording_scan(&r.recording, &r.trace);
	reading_gather(&r, (struct gather_options){.count.has_stacks = true, .n_workers = 1});
	CHECK_EQ(r.profile.rows.n, 3);
	CHECK_EQ(r.profile.rows.at[0].n_samples, 5);
	CHECK_EQ(r.profile.rows.at[0].period, 5);
	CHECK_EQ(r.profile.rows.at[0].callers, r.profile.rows.at[2].callers);
	CHECK_EQ(r.profile.frames.n, 4);
	/* The empty one; 30, 30;20; and 20. */
	CHECK_EQ(r.profile.stacks.n, 4);
	reading_fini(&r);
}

TEST(gather_without_stacks_takes_the_innermost_frame_only)
{
	const u64 chain[] = {PERF_CONTEXT_USER, 0x1010, 0x1020};
	struct reading r;

	reading_init(&r, FIELDS);
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x1000, 0x1000, 0, "/bin/a");
	add_chain(&r, USER, 0x1010, chain, 3);
	recording_scan(&r.recording, &r.trace);
	reading_gather(&r, (struct gather_options){.n_workers = 1});
	check(&r, "cycles a+0x10u 1 1\n");
	CHECK(!r.profile.has_stacks);
	CHECK_EQ(r.profile.stacks.n, 1);
	reading_fini(&r);
}

/* ---- labels, tasks ---- */

TEST(gather_merges_what_nobody_wants_told_apart)
{
	struct reading r;

	reading_init(&r, FIELDS);
	recording_comm(&r.recording, 0, who(10, 10, 0), "a");
	recording_comm(&r.recording, 0, who(10, 11, 0), "b");
	add_sample(&r, (struct at){0, 10, 10, 1, 0, USER, 0x10, 1}, NULL, 0);
	add_sample(&r, (struct at){0, 10, 11, 1, 1, USER, 0x10, 1}, NULL, 0);
	recording_scan(&r.recording, &r.trace);
	reading_gather(&r, (struct gather_options){.n_workers = 1});
	CHECK_EQ(r.profile.rows.n, 1);
	check(&r, "cycles [unknown]+0x10u 2 2\n");
	CHECK_EQ(r.profile.tasks.n, 0);
	profile_fini(&r.profile);
	reading_gather(&r,
		(struct gather_options){.count.labels = LABEL_BIT(LABEL_COMM), .n_workers = 1});
	check(&r, "cycles a [unknown]+0x10u 1 1\ncycles b [unknown]+0x10u 1 1\n");
	CHECK_EQ(profile_label(&r.profile, 0, LABEL_TID), 0);
	reading_fini(&r);
}

TEST(gather_names_each_task_by_its_last_name)
{
	struct reading r;

	reading_init(&r, FIELDS);
	recording_comm(&r.recording, 0, who(10, 10, 1), "sh");
	recording_comm(&r.recording, PERF_RECORD_MISC_COMM_EXEC, who(10, 10, 5), "ls");
	recording_comm(&r.recording, 0, who(10, 12, 2), "worker");
	add_sample(&r, (struct at){0, 10, 10, 2, 0, USER, 0x10, 1}, NULL, 0);
	recording_scan(&r.recording, &r.trace);
	reading_gather(&r,
		(struct gather_options){.count.labels = LABEL_BIT(LABEL_TID), .n_workers = 1});
	CHECK_EQ(r.profile.tasks.n, 2);
	CHECK_EQ(r.profile.tasks.at[0].tid, 10);
	CHECK_STR(r.profile.tasks.at[0].comm, "ls");
	CHECK_EQ(r.profile.tasks.at[1].tid, 12);
	CHECK_STR(r.profile.tasks.at[1].comm, "worker");
	reading_fini(&r);
}

TEST(gather_owns_all_its_strings)
{
	struct reading r;

	reading_init(&r, FIELDS);
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x1000, 0x1000, 0, "/bin/a");
	add_sample(&r, (struct at){0, 10, 10, 1, 0, USER, 0x1010, 1}, NULL, 0);
	recording_scan(&r.recording, &r.trace);
	reading_gather(&r,
		(struct gather_options){.count.labels = LABEL_BIT(LABEL_COMM), .n_workers = 1});
	trace_close(&r.trace);
	check(&r, "cycles :10 a+0x10u 1 1\n");
	profile_fini(&r.profile);
}

TEST(gather_of_a_recording_without_samples_is_empty)
{
	struct reading r;

	reading_init(&r, FIELDS);
	recording_comm(&r.recording, 0, who(10, 10, 0), "sh");
	recording_scan(&r.recording, &r.trace);
	reading_gather(&r,
		(struct gather_options){.count = {.labels = ALL_LABELS, .has_stacks = true}});
	CHECK_EQ(r.profile.rows.n, 0);
	CHECK_EQ(r.profile.events.n, 2);
	CHECK_STR(r.profile.events.at[1].name, "faults");
	reading_fini(&r);
}

/* ---- many samples, many cores ---- */

enum { PROCESSES = 12, SAMPLES = 80000 };

/* Processes that fork, exec and map; samples all over them, several pieces of a file full. */
static void add_many(struct reading *r)
{
	u64 random = 7;

	add_kernel(r);
	for (u32 i = 0; i < PROCESSES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "/bin/p%u", i);
		recording_comm(&r->recording, 0, who(10 + i, 10 + i, 0), name + 5);
		recording_mmap(&r->recording, USER, who(10 + i, 10 + i, 0), 0x1000, 0x4000, 0,
			name);
		recording_mmap(&r->recording, USER, who(10 + i, 10 + i, 0), 0x10000, 0x4000, 0,
			"/lib/libc.so.6");
	}
	for (u32 i = 0; i < SAMPLES; i++) {
		u64 time = 1000 + i, chain[16], n = 0, depth = recording_below(&random, 8);
		u32 pid = 10 + recording_below(&random, PROCESSES),
		    tid = pid + 100 * recording_below(&random, 3);
		bool is_kernel = recording_below(&random, 4) == 0;
		u64 ip = (is_kernel ? 0xffffffff81000000 : 0x1000) +
			16 * recording_below(&random, 4);

		if (i % 5000 == 2500)
			recording_mmap(&r->recording, USER, who(pid, pid, time), 0x1000, 0x1000, 0,
				"/lib/plugin.so");
		if (i % 7000 == 6999)
			recording_comm(&r->recording, PERF_RECORD_MISC_COMM_EXEC,
				who(pid, pid, time), "again");
		if (is_kernel) {
			chain[n++] = PERF_CONTEXT_KERNEL;
			chain[n++] = ip;
			chain[n++] = 0xffffffff81000800;
			chain[n++] = PERF_CONTEXT_USER;
		} else {
			chain[n++] = PERF_CONTEXT_USER;
			chain[n++] = ip;
		}
		while (depth--)
			chain[n++] = (depth & 1 ? 0x1800 : 0x10000) + 64 * depth;
		add_sample(r,
			(struct at){recording_below(&random, 2), pid, tid, time, tid % 4,
				is_kernel ? KERNEL : USER, ip, 1 + recording_below(&random, 9)},
			chain, n);
	}
}

TEST(gather_gives_the_same_profile_on_any_number_of_cores)
{
	static const struct gather_options wishes[] = {{.count = {ALL_LABELS, true, 0}},
		{.count = {LABEL_BIT(LABEL_COMM), false, 0}}, {.count = {0, true, 0}}};
	struct reading r;

	reading_init(&r, FIELDS);
	add_many(&r);
	recording_scan(&r.recording, &r.trace);
	CHECK(r.trace.session.pieces.n >= 8);
	for (size_t i = 0; i < ARRAY_SIZE(wishes); i++) {
		struct str first = {0};

		for (unsigned n = 1; n <= 8; n++) {
			struct gather_options options = wishes[i];
			struct str text = {0};

			if (i > 0 && n > 1 && n < 8)
				continue;
			options.n_workers = n;
			reading_gather(&r, options);
			add_profile(&r.profile, n == 1 ? &first : &text);
			check_sums(&r.profile);
			CHECK_EQ(r.profile.events.at[0].n_samples +
					r.profile.events.at[1].n_samples,
				SAMPLES);
			if (n > 1)
				CHECK(!strcmp(str_text(&first), str_text(&text)));
			str_fini(&text);
			profile_fini(&r.profile);
		}
		str_fini(&first);
	}
	trace_close(&r.trace);
}

TEST(gather_counts_samples_it_cannot_read)
{
	struct reading r;
	u64 body[4] = {101};

	reading_init(&r, FIELDS);
	add_sample(&r, (struct at){0, 10, 10, 1, 0, USER, 0x10, 5}, NULL, 0);
	/* Cut off behind its id; and of an event that nobody knows. */
	recording_raw(&r.recording, PERF_RECORD_SAMPLE, USER, body, 8);
	body[0] = 999;
	recording_raw(&r.recording, PERF_RECORD_SAMPLE, USER, body, sizeof(body));
	recording_scan(&r.recording, &r.trace);
	reading_gather(&r, (struct gather_options){.n_workers = 1});
	check(&r, "cycles [unknown]+0x10u 1 5\n");
	CHECK_EQ(r.trace.session.tally.n_samples, 3);
	CHECK_EQ(r.trace.session.tally.n_undecoded, 1);
	CHECK_EQ(r.trace.session.tally.n_foreign_id, 1);
	reading_fini(&r);
}

/* ---- hits ---- */

/* The names of what is hit, in the machine's order. */
static void check_hits(struct reading *r, unsigned n_workers, const char *expected)
{
	struct str text = {0};
	struct err err;
	struct hits hits;

	CHECK_EQ(hits_find(&r->trace, &(struct hits_options){.n_workers = n_workers}, &hits, &err),
		0);
	vec_each(dso, &r->trace.machine.dsos.at)
		if (hits.dsos[(*dso)->id])
			str_addf(&text, "%s ", (*dso)->name);
	CHECK_STR(str_text(&text), expected);
	hits_fini(&hits);
	str_fini(&text);
}

TEST(hits_are_all_files_that_a_stack_dump_points_into)
{
	const u64 regs[] = {0, 0x7000, 0x1010}, dump[] = {1, 0x3020, UINT64_MAX, 0x2010};
	struct reading r;

	reading_init(&r, FIELDS | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	r.recording.events.at[0].attr.sample_regs_user = 7 << 6;
	r.recording.events.at[0].attr.sample_stack_user = sizeof(dump);
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x1000, 0x1000, 0, "/bin/a");
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x2000, 0x1000, 0, "/lib/deep.so");
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x3000, 0x1000, 0, "/lib/called.so");
	add_dump(&r, USER, 0x9000, NULL, 0, regs, dump, 4);
	recording_scan(&r.recording, &r.trace);
	check_hits(&r, 1, "a deep.so called.so ");
	reading_fini(&r);
}

TEST(hits_are_the_files_that_samples_and_their_callers_are_in)
{
	const u64 chain[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000010, PERF_CONTEXT_USER, 0x1010,
		0x3020};
	struct reading r;

	reading_init(&r, FIELDS);
	add_kernel(&r);
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x1000, 0x1000, 0, "/bin/a");
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x2000, 0x1000, 0, "/lib/missed.so");
	recording_mmap(&r.recording, USER, who(10, 10, 0), 0x3000, 0x1000, 0, "/lib/called.so");
	recording_mmap(&r.recording, USER, who(20, 20, 0), 0x3000, 0x1000, 0, "/lib/others.so");
	add_sample(&r, (struct at){0, 10, 10, 1, 0, KERNEL, 0xffffffff81000010, 1}, chain, 5);
	add_sample(&r, (struct at){0, 10, 10, 1, 0, USER, 0x9000, 1}, NULL, 0);
	recording_scan(&r.recording, &r.trace);
	check_hits(&r, 1, "[kernel.kallsyms] a called.so ");
	check_hits(&r, 8, "[kernel.kallsyms] a called.so ");
	trace_close(&r.trace);
}

TEST(hits_follow_a_process_through_exec)
{
	struct reading r;

	reading_init(&r, FIELDS);
	recording_comm(&r.recording, 0, who(10, 10, 100), "sh");
	recording_mmap(&r.recording, USER, who(10, 10, 100), 0x1000, 0x1000, 0, "/bin/sh");
	recording_comm(&r.recording, PERF_RECORD_MISC_COMM_EXEC, who(10, 10, 200), "ls");
	recording_mmap(&r.recording, USER, who(10, 10, 200), 0x1000, 0x1000, 0, "/bin/ls");
	recording_comm(&r.recording, PERF_RECORD_MISC_COMM_EXEC, who(10, 10, 300), "cp");
	recording_mmap(&r.recording, USER, who(10, 10, 300), 0x1000, 0x1000, 0, "/bin/cp");
	add_sample(&r, (struct at){0, 10, 10, 150, 0, USER, 0x1010, 1}, NULL, 0);
	add_sample(&r, (struct at){0, 10, 10, 350, 0, USER, 0x1010, 1}, NULL, 0);
	recording_scan(&r.recording, &r.trace);
	check_hits(&r, 1, "sh cp ");
	trace_close(&r.trace);
}

TEST(hits_of_many_samples_are_the_same_on_any_number_of_cores)
{
	struct reading r;

	reading_init(&r, FIELDS);
	add_many(&r);
	recording_scan(&r.recording, &r.trace);
	for (unsigned n = 1; n <= 8; n++)
		check_hits(&r, n,
			"[kernel.kallsyms] p0 libc.so.6 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 "
			"plugin.so ");
	trace_close(&r.trace);
}
