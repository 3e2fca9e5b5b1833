#include "test.h"

#include <sys/utsname.h>

#include "event/abi.h"
#include "profile/code/assembly.h"
#include "profile/code/insnstat.h"
#include "unit/elfmaker.h"
#include "unit/jitmaker.h"
#include "unit/said.h"
#include "unit/tree.h"
#include "view/code/annotate.h"

/* f: je to the ret; nop; call g; ret. g: ret */
static const u8 text_bytes[] = {0x74, 0x06, 0x90, 0xe8, 0x08, 0x00, 0x00, 0x00, 0xc3, 0x90, 0x90,
	0x90, 0x90, 0x90, 0x90, 0x90, 0xc3};

/* A program with f at 0x401000 and g at 0x401010, and a profile of samples in it. */
struct assembling_test {
	struct machine machine;
	struct dso_files files;
	struct resolver resolver;
	struct said said;
	struct profile profile;
	struct event_list events;
	struct annotation annotation;
	const struct dso *dso;
};

static void make_program(const char *path)
{
	struct elfmaker m;

	elfmaker_init(&m, true, false, EM_X86_64);
	elfmaker_text(&m, 0x401000, 0x1000, text_bytes, sizeof(text_bytes));
	elfmaker_function(&m, "f", 0x401000, 9);
	elfmaker_function(&m, "g\x1b[31m", 0x401010, 1);
	elfmaker_finish(&m);
	tree_file(test_dir(), "", "%s", path);
	test_write(test_path(path), m.file.at, m.file.n);
	elfmaker_fini(&m);
}

static void test_init(struct assembling_test *t, bool has_program)
{
	struct event_attr exact = {.flags = 2ULL << ATTR_PRECISE_SHIFT};
	struct event_attr clock = {.type = PERF_TYPE_SOFTWARE};

	memset(t, 0, sizeof(*t));
	machine_init(&t->machine);
	said_init(&t->said, LOG_DEBUG);
	setenv("HOME", test_path("home"), 1);
	if (has_program)
		make_program("prog");
	t->dso = dso_get(&t->machine.dsos, "/prog", 5, 42, false);
	event_add(&t->events, &exact, "cycles:pp");
	event_add(&t->events, &clock, "cpu-clock");
	dso_files_init(&t->files, &t->machine,
		&(struct find_places){.symfs = test_dir(), .log = &t->said.log});
	resolver_init(&t->resolver, &t->files);
	profile_init(&t->profile, 0);
	vec_add(&t->profile.events, ((struct profile_event){.name = "cycles:pp"}));
	vec_add(&t->profile.events, ((struct profile_event){.name = "cpu-clock"}));
	vec_add(&t->profile.dsos,
		((struct profile_dso){t->dso->path, t->dso->name, DSO_FILE, t->dso->id}));
	resolver_load(&t->resolver, t->dso);
	/* Without a file f is known from somewhere else. */
	vec_add(&t->profile.symbols,
		((struct profile_symbol){.start = has_program ? 0x401000 : 0x1000,
			.end = has_program ? 0x401009 : 0x1009,
			.name = "f"}));
	vec_add(&t->profile.symbols,
		((struct profile_symbol){.start = 0x401010, .end = 0x401011, .name = "gg"}));
	vec_add(&t->profile.symbols, ((struct profile_symbol){.start = 1, .end = 1}));
}

/* n samples of `period` each in a symbol, at an offset of the file. */
static void add_samples(struct assembling_test *t, u32 event, u32 symbol, u64 offset, u64 n,
	u64 period)
{
	struct profile_frame frame = {.address = offset};
	u32 at = profile_frame(&t->profile, &frame);
	struct profile_row row = {.event = event,
		.frame = at,
		.n_samples = n,
		.period = n * period};

	t->profile.frames.at[at].symbol = symbol;
	vec_add(&t->profile.rows, row);
}

static void test_fini(struct assembling_test *t)
{
	annotation_fini(&t->annotation);
	profile_fini(&t->profile);
	resolver_fini(&t->resolver);
	dso_files_fini(&t->files);
	event_list_fini(&t->events);
	machine_fini(&t->machine);
	said_fini(&t->said);
}

static void count(struct assembling_test *t)
{
	annotation_init(&t->annotation, &t->profile);
}

TEST(annotation_sorts_functions_by_their_largest_share)
{
	struct assembling_test t;
	u32 found[4];
	bool is_whole;

	test_init(&t, true);
	add_samples(&t, 0, 1, 0x1000, 6, 10);
	add_samples(&t, 0, 2, 0x1010, 4, 10);
	add_samples(&t, 1, 2, 0x1010, 9, 1);
	add_samples(&t, 1, 3, 0x1, 1, 1);
	count(&t);
	CHECK_EQ(t.annotation.functions.n, 2);
	/* 90% of the second event are more than 60% of the first one. */
	CHECK_STR(annotation_symbol(&t.annotation, &t.annotation.functions.at[0])->name, "gg");
	CHECK_EQ(t.annotation.functions.at[0].share, 90);
	CHECK_EQ(t.annotation.totals[1].n_samples, 10);
	CHECK_EQ(t.annotation.nameless[1].n_samples, 1);
	CHECK_EQ(annotation_find(&t.annotation, "g", found, &is_whole), 1);
	CHECK(!is_whole && found[0] == 0);
	CHECK_EQ(annotation_find(&t.annotation, "f", found, &is_whole), 1);
	CHECK(is_whole && found[0] == 1);
	CHECK_EQ(annotation_find(&t.annotation, "h", found, &is_whole), 0);
	test_fini(&t);
}

static const struct assembly_options by_anybody = {.places.symfs = ""};

static void annotated(struct assembling_test *t, struct assembly *a,
	const struct assembly_options *options)
{
	count(t);
	assembly_init(a, &t->annotation, &t->annotation.functions.at[0], &t->resolver, options);
}

TEST(assembly_puts_samples_to_the_instructions_they_lie_in)
{
	struct assembling_test t;
	struct assembly a;

	test_init(&t, true);
	add_samples(&t, 0, 1, 0x1000, 1, 10);
	add_samples(&t, 0, 1, 0x1003, 2, 10);
	add_samples(&t, 0, 1, 0x1005, 3, 10); /* in the middle of the call */
	add_samples(&t, 1, 1, 0x1008, 4, 1);
	annotated(&t, &a, &by_anybody);
	if (a.disasm.engine == DISASM_RAW)
		SKIP("there is neither LLVM nor objdump");
	CHECK_EQ(a.rows.n, 4);
	CHECK_EQ(a.counts.at[a.rows.at[0].counts].n_samples, 1);
	CHECK_EQ(a.counts.at[a.rows.at[1].counts].n_samples, 0);
	CHECK_EQ(a.counts.at[a.rows.at[2].counts].n_samples, 5);
	CHECK_EQ(a.counts.at[a.rows.at[3].counts + 1].n_samples, 4);
	CHECK_EQ(a.outside[0].n_samples + a.outside[1].n_samples, 0);
	CHECK_EQ(a.rows.at[0].to, 3);
	CHECK_STR(a.rows.at[0].target, "f+0x8");
	/* As the symbol table has it; views make it safe. */
	CHECK_STR(a.rows.at[2].target, "g\x1b[31m");
	assembly_fini(&a);
	test_fini(&t);
}

TEST(assembly_without_code_has_the_sampled_addresses_and_the_reason)
{
	struct assembling_test t;
	struct assembly a;

	test_init(&t, false);
	add_samples(&t, 0, 1, 0x1003, 2, 10);
	add_samples(&t, 0, 1, 0x1000, 1, 10);
	annotated(&t, &a, &by_anybody);
	CHECK_EQ(a.rows.n, 2);
	CHECK_EQ(a.rows.at[0].va, 0x1000);
	CHECK_EQ(a.counts.at[a.rows.at[1].counts].n_samples, 2);
	CHECK_HAS(a.no_code.msg, "/prog");
	CHECK(!assembly_bytes(&a, 0));
	assembly_fini(&a);
	test_fini(&t);
}

TEST(text_of_a_function_is_safe_and_says_what_samples_mean)
{
	struct annotate_options o = {.figure = ANNOTATE_PERCENT, .has_bytes = true};
	struct out out = {.fd = -1};
	struct assembling_test t;
	struct assembly a;

	test_init(&t, true);
	add_samples(&t, 0, 1, 0x1002, 1, 10);
	add_samples(&t, 0, 1, 0x1003, 3, 10);
	annotated(&t, &a, &by_anybody);
	if (a.disasm.engine == DISASM_RAW)
		SKIP("there is neither LLVM nor objdump");
	o.events = &t.events;
	annotate_text(&out, &a, NULL, &o);
	CHECK_HAS(str_text(&out.text), "of prog for cycles:pp (4 samples, percent: local period)");
	CHECK_HAS(str_text(&out.text),
		"    0.00 :   401000:   ,-- 74 06           je     0x401008 <f+0x8>\n");
	CHECK_HAS(str_text(&out.text), "   75.00 :   401003:   |   e8 08 00 00 00 ");
	CHECK_HAS(str_text(&out.text), " <g\\x1b[31m>\n");
	CHECK(!strchr(str_text(&out.text), 0x1b));
	/* It is exact: nothing is to be said of it. */
	CHECK(!strstr(str_text(&out.text), "skid"));
	assembly_fini(&a);
	annotation_fini(&t.annotation);
	add_samples(&t, 1, 1, 0x1002, 1, 10);
	annotated(&t, &a, &by_anybody);
	str_clear(&out.text);
	annotate_text(&out, &a, NULL, &o);
	CHECK_HAS(str_text(&out.text), "cpu-clock is not a precise event (skid)");
	CHECK_HAS(str_text(&out.text), "   25.00  100.00 :   401002:");
	str_fini(&out.text);
	assembly_fini(&a);
	test_fini(&t);
}

TEST(a_constant_skid_is_said_to_mean_the_instruction_before)
{
	struct annotate_options o = {0};
	struct str text = {0};
	struct assembling_test t;
	struct assembly a;

	test_init(&t, true);
	add_samples(&t, 0, 1, 0x1002, 1, 10);
	annotated(&t, &a, &by_anybody);
	o.events = &t.events;
	attr_set_precise(&t.events.at[0].attr, 1);
	annotate_add_skid(&o, &a, "# ", &text);
	CHECK_STR(str_text(&text),
		"# cycles:pp has a constant skid of 1: the samples of a line were caused by the instruction before it\n");
	str_clear(&text);
	attr_set_precise(&t.events.at[0].attr, 3);
	annotate_add_skid(&o, &a, "# ", &text);
	CHECK_STR(str_text(&text), "");
	str_fini(&text);
	assembly_fini(&a);
	test_fini(&t);
}

static const struct insnstat_row *row_called(const struct insnstat *s, const char *name)
{
	vec_each(row, &s->rows)
		if (!strcmp(row->name, name))
			return row;
	return NULL;
}

TEST(instructions_are_counted_by_the_name_of_the_one_whose_access_counts)
{
	struct datatype_answer answers[4] = {{.outcome = DATATYPE_NO_ACCESS},
		{.outcome = DATATYPE_NO_ACCESS}, {.outcome = DATATYPE_STACK},
		{.outcome = DATATYPE_STACK}};
	struct datatype_answer befores[4] = {{.outcome = DATATYPE_NO_ACCESS},
		{.outcome = DATATYPE_NO_ACCESS}, {.outcome = DATATYPE_WAYS},
		{.outcome = DATATYPE_NO_ACCESS}};
	const struct rowtypes types = {answers, befores, {0}};
	const bool own[2] = {false, false}, before[2] = {true, true};
	struct insnstat s = {0};
	struct assembling_test t;
	struct assembly a;

	test_init(&t, true);
	add_samples(&t, 0, 1, 0x1002, 1, 10);
	add_samples(&t, 1, 1, 0x1002, 5, 10);
	add_samples(&t, 0, 1, 0x1003, 3, 10);
	annotated(&t, &a, &by_anybody);
	if (a.disasm.engine == DISASM_RAW)
		SKIP("there is neither LLVM nor objdump");
	befores[1].pc = a.rows.at[0].va;
	insnstat_add_nameless(&s, &t.annotation);
	insnstat_add(&s, &a, &types, own);
	insnstat_sort(&s);
	CHECK_EQ(s.rows.n, 2);
	CHECK_STR(s.rows.at[0].name, "nop");
	CHECK_EQ(s.rows.at[0].of[INSNSTAT_NONE].samples, 6);
	CHECK_EQ(s.rows.at[0].of[INSNSTAT_NONE].places, 1);
	CHECK_EQ(s.rows.at[1].of[INSNSTAT_GOOD].samples, 3);
	insnstat_fini(&s);
	s = (struct insnstat){0};
	insnstat_add(&s, &a, &types, before);
	CHECK_EQ(row_called(&s, "je")->of[INSNSTAT_NONE].samples, 6);
	CHECK_EQ(row_called(&s, "(not known)")->of[INSNSTAT_BAD].samples, 3);
	CHECK_EQ(s.all.of[INSNSTAT_GOOD].samples, 0);
	insnstat_fini(&s);
	/* Without types every access is unknown. */
	s = (struct insnstat){0};
	insnstat_add(&s, &a, &(struct rowtypes){0}, own);
	CHECK_EQ(row_called(&s, "nop")->of[INSNSTAT_BAD].samples, 6);
	insnstat_fini(&s);
	assembly_fini(&a);
	test_fini(&t);
}

TEST(branch_stacks_give_cycles_and_ipc_to_the_branch_that_ends_a_run)
{
	struct annotate_options o = {.figure = ANNOTATE_PERCENT};
	struct assembly_options options = by_anybody;
	struct blocks blocks = {0};
	struct out out = {.fd = -1};
	struct assembling_test t;
	struct assembly a;

	test_init(&t, true);
	add_samples(&t, 0, 1, 0x1002, 1, 10);
	/* nop, call, ret; one that begins inside of the call is none. */
	vec_add(&blocks.at, ((struct block){t.dso->id, 0x1002, 0x1008, 2, 6}));
	vec_add(&blocks.at, ((struct block){t.dso->id, 0x1004, 0x1008, 5, 50}));
	options.blocks = &blocks;
	annotated(&t, &a, &options);
	if (a.disasm.engine == DISASM_RAW)
		SKIP("there is neither LLVM nor objdump");
	CHECK_EQ(a.rows.at[3].n_runs, 2);
	CHECK_EQ(a.rows.at[3].n_run_instructions, 6);
	CHECK_EQ(a.rows.at[2].n_runs, 0);
	o.events = &t.events;
	annotate_text(&out, &a, NULL, &o);
	CHECK_HAS(str_text(&out.text), " ; 3.0 cycles, IPC 1.00 (2 runs)\n");
	str_fini(&out.text);
	blocks_fini(&blocks);
	assembly_fini(&a);
	test_fini(&t);
}

TEST(code_of_the_kernel_comes_out_of_a_vmlinux_wherever_it_lay)
{
	struct elfmaker m;
	struct machine machine;
	struct dso_files files;
	struct resolver resolver;
	struct said said;
	const struct dso *dso;
	struct code code;
	struct err err = {0};

	elfmaker_init(&m, true, false, EM_X86_64);
	elfmaker_text(&m, 0x81000000, 0x1000, text_bytes, sizeof(text_bytes));
	elfmaker_function(&m, "_text", 0x81000000, 9);
	elfmaker_function(&m, "schedule", 0x81000010, 1);
	elfmaker_finish(&m);
	test_write(test_path("vmlinux"), m.file.at, m.file.n);
	elfmaker_fini(&m);
	machine_init(&machine);
	said_init(&said, LOG_DEBUG);
	setenv("HOME", test_path("home"), 1);
	dso = dso_get(&machine.dsos, "[kernel.kallsyms]", 17, 0, true);
	machine.kernel_text = 0xa5000000;
	dso_files_init(&files, &machine, &(struct find_places){.symfs = "", .log = &said.log});
	resolver_init(&resolver, &files);
	resolver.vmlinux = test_path("vmlinux");
	resolver.kcore = test_path("kcore");
	resolver_load(&resolver, dso);
	CHECK_STR(resolver_find(&resolver, dso, 0xa5000010).name, "schedule");
	CHECK_EQ(code_find(&code, &resolver, dso, 0xa5000010, 0xa5000011, &err), 0);
	CHECK_EQ(code.at[0], 0xc3);
	CHECK_EQ(code.va, 0xa5000010);
	CHECK_STR(code_name(&code, &resolver, dso, 0xa5000003).name, "_text");
	code_fini(&code);
	CHECK_EQ(code_find(&code, &resolver, dso, 0xb5000010, 0xb5000011, &err), ERR_NOENT);
	CHECK_HAS(err.msg, "/proc/kcore");
	resolver_fini(&resolver);
	dso_files_fini(&files);
	machine_fini(&machine);
	said_fini(&said);
}

TEST(code_of_the_running_kernel_comes_out_of_kcore)
{
	struct elfmaker m;
	struct machine machine;
	struct dso_files files;
	struct resolver resolver;
	struct said said;
	const struct dso *dso;
	struct code code;
	struct err err = {0};
	char kallsyms[256], kcore[256];
	struct utsname uts;

	elfmaker_init(&m, true, false, EM_X86_64);
	elfmaker_text(&m, 0xffffffff81000000, 0x1000, text_bytes, sizeof(text_bytes));
	elfmaker_finish(&m);
	m.file.at[16] = ET_CORE;
	snprintf(kcore, sizeof(kcore), "%s", test_path("kcore"));
	test_write(kcore, m.file.at, m.file.n);
	elfmaker_fini(&m);
	tree_file(test_dir(),
		"ffffffff81000000 T _text\nffffffff81000000 T f\nffffffff81000010 T g\nffffffff81000020 T end\n",
		"kallsyms");
	snprintf(kallsyms, sizeof(kallsyms), "%s", test_path("kallsyms"));
	machine_init(&machine);
	said_init(&said, LOG_DEBUG);
	setenv("HOME", test_path("home"), 1);
	setenv("XDG_CACHE_HOME", test_path("cache"), 1);
	dso = dso_get(&machine.dsos, "[kernel.kallsyms]", 17, 0, true);
	/* It was recorded before the last boot. */
	machine.kernel_text = 0xffffffff91000000;
	dso_files_init(&files, &machine, &(struct find_places){.symfs = "", .log = &said.log});
	resolver_init(&resolver, &files);
	uname(&uts);
	resolver.recorded_release = uts.release;
	resolver.kallsyms = kallsyms;
	resolver.kcore = kcore;
	resolver_load(&resolver, dso);
	CHECK_EQ(code_find(&code, &resolver, dso, 0xffffffff91000000, 0xffffffff91000009, &err), 0);
	CHECK(!memcmp(code.at, text_bytes, 9));
	CHECK_EQ(code.va, 0xffffffff91000000);
	CHECK_STR(str_text(&code.origin), kcore);
	code_fini(&code);
	/* More than it has. */
	CHECK_EQ(code_find(&code, &resolver, dso, 0xffffffff91000010, 0xffffffff91000020, &err),
		ERR_NOENT);
	resolver_fini(&resolver);
	dso_files_fini(&files);
	machine_fini(&machine);
	said_fini(&said);
}

TEST(annotation_takes_the_lines_of_a_function_together_and_finds_who_holds_an_inlined_one)
{
	struct assembling_test t;

	test_init(&t, true);
	/* Of f's second line; and a function that is inlined into both f and gg. */
	vec_add(&t.profile.symbols,
		((struct profile_symbol){.start = 0x401000,
			.end = 0x401009,
			.name = "f",
			.function = 1}));
	vec_add(&t.profile.symbols, ((struct profile_symbol){.name = "leaf", .is_inlined = true}));
	vec_add(&t.profile.inlined, 5);
	add_samples(&t, 0, 1, 0x1000, 1, 10);
	add_samples(&t, 0, 4, 0x1003, 2, 10);
	add_samples(&t, 0, 2, 0x1010, 4, 10);
	count(&t);
	CHECK_EQ(t.annotation.functions.n, 2);
	CHECK_EQ(annotation_of_symbol(&t.annotation, 1), 1);
	CHECK_EQ(annotation_of_symbol(&t.annotation, 4), 1);
	CHECK_EQ(t.annotation.counts.at[t.annotation.functions.at[1].counts].n_samples, 3);
	CHECK_EQ(annotation_of_symbol(&t.annotation, 3), ANNOTATION_NONE);
	CHECK_EQ(annotation_of_symbol(&t.annotation, 5), ANNOTATION_NONE);
	CHECK_EQ(annotation_at(&t.annotation, 0, 0x401010), 0);
	CHECK_EQ(annotation_at(&t.annotation, 0, 0x401018), ANNOTATION_NONE);
	vec_each(frame, &t.profile.frames)
		frame->n_inlined = frame->symbol == 4 || frame->symbol == 2;
	CHECK_EQ(annotation_of_symbol(&t.annotation, 5), 0);
	test_fini(&t);
}
