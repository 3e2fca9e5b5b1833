#include <signal.h>

#include "test.h"

#include "event/abi.h"
#include "profile/check/ledger.h"
#include "profile/gather/naming.h"
#include "unit/elfmaker.h"
#include "unit/outside.h"
#include "unit/said.h"
#include "unit/tree.h"

/*
 * Functions at offset 0x1000 + n * 0x20, address 0x401000 + n * 0x20: one, _Z3twoi, nothing, three.
 * And a stub.
 */
static void make_file(const char *path)
{
	u8 plt[16] = {0xff, 0x25, 0xfa, 0x0f, 0, 0};
	struct elfmaker m;

	elfmaker_init(&m, true, false, EM_X86_64);
	elfmaker_section(&m,
		&(struct elfmaker_section){.name = ".text",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_EXECINSTR,
			.addr = 0x401000,
			.offset = 0x1000,
			.size = 0x100});
	elfmaker_section(&m,
		&(struct elfmaker_section){.name = ".plt",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_EXECINSTR,
			.addr = 0x402000,
			.offset = 0x2000,
			.size = 16,
			.data = plt,
			.entry_size = 16});
	elfmaker_segment(&m, PT_LOAD, PF_R | PF_X, 0x1000, 0x401000, 0x1010);
	elfmaker_function(&m, "one", 0x401000, 0x20);
	elfmaker_function(&m, "_Z3twoi", 0x401020, 0x20);
	elfmaker_function(&m, "three", 0x401060, 0x20);
	elfmaker_symbol(&m, SHT_DYNSYM, "_Znwm", STB_GLOBAL, STT_FUNC, SHN_UNDEF, 0, 0);
	elfmaker_relocation(&m, 0x403000, 1, R_X86_64_JUMP_SLOT, 0);
	elfmaker_finish(&m);
	test_write(path, m.file.at, m.file.n);
	elfmaker_fini(&m);
}

/* A profile whose frames lie in DSOs of a machine. */
struct naming_case {
	struct machine machine;
	struct dso_files files;
	struct resolver resolver;
	struct profile profile;
};

static void case_init(struct naming_case *c)
{
	memset(c, 0, sizeof(*c));
	machine_init(&c->machine);
	profile_init(&c->profile, 0);
	setenv("HOME", "/nonexistent", 1);
}

static void case_fini(struct naming_case *c)
{
	profile_fini(&c->profile);
	resolver_fini(&c->resolver);
	dso_files_fini(&c->files);
	machine_fini(&c->machine);
}

static u32 add_dso(struct naming_case *c, const char *path)
{
	const struct dso *dso = dso_get(&c->machine.dsos, path, strlen(path), 0, false);

	vec_add(&c->profile.dsos, ((struct profile_dso){dso->path, dso->name, dso->kind, dso->id}));
	return c->profile.dsos.n - 1;
}

static u32 add_frame(struct naming_case *c, u32 dso, u64 address, bool is_return)
{
	return profile_frame(&c->profile,
		&(struct profile_frame){.dso = dso,
			.address = address,
			.mode = PERF_RECORD_MISC_USER,
			.is_return = is_return});
}

static void resolve(struct naming_case *c, unsigned n_workers, unsigned style)
{
	dso_files_init(&c->files, &c->machine, &(struct find_places){.symfs = ""});
	resolver_init(&c->resolver, &c->files);
	naming_resolve(&c->profile, &c->resolver,
		&(struct naming_options){.n_workers = n_workers, .style = style});
}

static const struct profile_symbol *symbol_of(const struct naming_case *c, u32 frame)
{
	u32 symbol = c->profile.frames.at[frame].symbol;

	CHECK(symbol > 0 && symbol < c->profile.symbols.n);
	return &c->profile.symbols.at[symbol];
}

static void check_named(const struct naming_case *c, u32 frame, const char *name, u64 start,
	u64 end)
{
	const struct profile_symbol *s = symbol_of(c, frame);

	CHECK(s->name);
	CHECK_STR(s->name, name);
	CHECK_EQ(s->start, start);
	CHECK_EQ(s->end, end);
	CHECK_EQ(s->outcome, RESOLVER_FOUND);
	CHECK_EQ(s->dso, c->profile.frames.at[frame].dso);
	CHECK_EQ(s->mode, PERF_RECORD_MISC_USER);
}

static void check_nameless(const struct naming_case *c, u32 frame, u64 address,
	enum resolver_outcome outcome)
{
	const struct profile_symbol *s = symbol_of(c, frame);

	CHECK(!s->name);
	CHECK_EQ(s->start, address);
	CHECK_EQ(s->end, address);
	CHECK_EQ(s->outcome, outcome);
}

TEST(naming_gives_frames_their_functions)
{
	u32 dso, first, last, again, cpp, stub;
	struct naming_case c;

	make_file(test_path("prog"));
	case_init(&c);
	dso = add_dso(&c, test_path("prog"));
	stub = add_frame(&c, dso, 0x2003, false);
	last = add_frame(&c, dso, 0x101f, false);
	cpp = add_frame(&c, dso, 0x1020, false);
	first = add_frame(&c, dso, 0x1000, false);
	again = add_frame(&c, dso, 0x1010, false);
	resolve(&c, 1, true);
	check_named(&c, first, "one", 0x401000, 0x401020);
	check_named(&c, last, "one", 0x401000, 0x401020);
	check_named(&c, cpp, "two(int)", 0x401020, 0x401040);
	check_named(&c, stub, "operator new(unsigned long)@plt", 0x402000, 0x402010);
	/* All addresses of a function share its symbol. */
	CHECK_EQ(c.profile.frames.at[first].symbol, c.profile.frames.at[last].symbol);
	CHECK_EQ(c.profile.frames.at[first].symbol, c.profile.frames.at[again].symbol);
	CHECK_EQ(c.profile.symbols.n, 1 + 3);
	case_fini(&c);
}

TEST(naming_leaves_parameters_out_unless_they_are_wanted)
{
	struct naming_case c;
	u32 dso, cpp, stub;

	make_file(test_path("prog"));
	case_init(&c);
	dso = add_dso(&c, test_path("prog"));
	cpp = add_frame(&c, dso, 0x1020, false);
	stub = add_frame(&c, dso, 0x2000, false);
	resolve(&c, 1, false);
	check_named(&c, cpp, "two", 0x401020, 0x401040);
	check_named(&c, stub, "operator new@plt", 0x402000, 0x402010);
	case_fini(&c);
}

TEST(naming_looks_for_the_call_before_a_return_address)
{
	u32 dso, behind_end, at_start, leaf;
	struct naming_case c;

	make_file(test_path("prog"));
	case_init(&c);
	dso = add_dso(&c, test_path("prog"));
	/* A call at the very end of one() returns to where two() begins. */
	behind_end = add_frame(&c, dso, 0x1020, true);
	leaf = add_frame(&c, dso, 0x1020, false);
	at_start = add_frame(&c, dso, 0x1060, true);
	resolve(&c, 1, true);
	check_named(&c, behind_end, "one", 0x401000, 0x401020);
	check_named(&c, leaf, "two(int)", 0x401020, 0x401040);
	/* Before three() there is nothing; the address is printed as it is. */
	check_nameless(&c, at_start, 0x401060, RESOLVER_NO_SYMBOL);
	case_fini(&c);
}

TEST(naming_keeps_addresses_without_a_name_apart)
{
	u32 dso, other, unknown, a, b, c_frame, d;
	struct naming_case c;

	make_file(test_path("prog"));
	case_init(&c);
	unknown = add_dso(&c, "[unknown]");
	c.profile.dsos.at[unknown].source = 0;
	dso = add_dso(&c, test_path("prog"));
	other = add_dso(&c, "/no/such/file");
	a = add_frame(&c, dso, 0x1040, false);
	b = add_frame(&c, dso, 0x1041, false);
	c_frame = add_frame(&c, other, 0x1040, false);
	d = add_frame(&c, unknown, 0x1040, true);
	resolve(&c, 1, true);
	check_nameless(&c, a, 0x401040, RESOLVER_NO_SYMBOL);
	check_nameless(&c, b, 0x401041, RESOLVER_NO_SYMBOL);
	check_nameless(&c, c_frame, 0x1040, RESOLVER_NO_FILE);
	check_nameless(&c, d, 0x1040, RESOLVER_NO_MAP);
	CHECK_EQ(c.profile.symbols.n, 1 + 4);
	case_fini(&c);
}

TEST(naming_that_was_stopped_opens_no_more_files)
{
	struct progress line = {.what = "names", .hears_always = true};
	struct naming_case c;
	u32 frame, dso;

	make_file(test_path("prog"));
	case_init(&c);
	dso = add_dso(&c, test_path("prog"));
	frame = add_frame(&c, dso, 0x1000, false);
	dso_files_init(&c.files, &c.machine, &(struct find_places){.symfs = ""});
	resolver_init(&c.resolver, &c.files);
	progress_begin(&line);
	raise(SIGINT);
	naming_resolve(&c.profile, &c.resolver,
		&(struct naming_options){.n_workers = 1,
			.has_inlined = true,
			.progress = &line,
			.may_stop = true});
	progress_end(&line);
	check_nameless(&c, frame, 0x1000, RESOLVER_NO_FILE);
	CHECK_HAS(resolver_reason(&c.resolver, c.machine.dsos.at.at[c.profile.dsos.at[dso].source]),
		"the look-up of names was stopped");
	case_fini(&c);
}

TEST(naming_opens_only_files_that_have_frames)
{
	struct naming_case c;
	struct said said;

	case_init(&c);
	said_init(&said, LOG_DEBUG);
	add_dso(&c, "/no/such/first");
	add_frame(&c, add_dso(&c, "/no/such/second"), 0x1000, false);
	add_dso(&c, "/no/such/third");
	dso_files_init(&c.files, &c.machine, &(struct find_places){.symfs = "", .log = &said.log});
	resolver_init(&c.resolver, &c.files);
	naming_resolve(&c.profile, &c.resolver, &(struct naming_options){.n_workers = 1});
	CHECK_STR(str_text(&said.text),
		"debug: /no/such/second: opening '/no/such/second': No such file or directory\n");
	said_fini(&said);
	case_fini(&c);
}

TEST(naming_does_not_wrap_below_address_0)
{
	struct naming_case c;
	u32 frame;

	case_init(&c);
	frame = add_frame(&c, add_dso(&c, "/no/such/file"), 0, true);
	resolve(&c, 1, true);
	check_nameless(&c, frame, 0, RESOLVER_NO_FILE);
	case_fini(&c);
}

TEST(naming_is_the_same_on_any_number_of_cores)
{
	for (unsigned n_workers = 1; n_workers <= 4; n_workers++) {
		struct naming_case c;
		char path[300];
		u32 n = 0;

		case_init(&c);
		for (u32 i = 0; i < 20; i++) {
			u32 dso;

			snprintf(path, sizeof(path), "%s/prog%u", test_dir(), i);
			make_file(path);
			dso = add_dso(&c, path);
			for (u64 address = 0x1000; address < 0x1080; address += 4)
				add_frame(&c, dso, address, address & 4);
		}
		resolve(&c, n_workers, true);
		vec_each(f, &c.profile.frames) {
			u64 at = f->address - f->is_return;

			n += c.profile.symbols.at[f->symbol].name != NULL;
			CHECK_EQ(c.profile.symbols.at[f->symbol].name != NULL,
				at >= 0x1000 && (at < 0x1040 || at >= 0x1060));
		}
		CHECK_EQ(n, 20 * 24);
		case_fini(&c);
	}
}

TEST(naming_of_an_empty_profile_is_quick)
{
	struct naming_case c;

	case_init(&c);
	resolve(&c, 4, true);
	CHECK_EQ(c.profile.symbols.n, 1);
	case_fini(&c);
}

/* ---- sources ---- */

/* Line 2 is in leaf(), which line 6 calls, in outer(). */
static const char inlining[] =
	"static inline __attribute__((always_inline)) int leaf(volatile int *x) {\n"
	"	return *x * 1000003;\n"
	"}\n"
	"int outer(volatile int *x) {\n"
	"	*x = 1;\n"
	"	return 5 + leaf(x);\n"
	"}\n";

/* Frames at all bytes of outer(). */
static void add_outer(struct naming_case *c, const char *flags)
{
	struct str text = {0};
	unsigned long long start, size;
	u32 dso;

	outside_need("nm");
	test_write(test_path("inlining.c"), inlining, sizeof(inlining) - 1);
	CHECK_EQ(outside_run(&text,
			 "cd '%s' && cc %s -O1 -shared -fPIC -o x.so inlining.c && "
			 "nm -S x.so | grep ' T outer$'",
			 test_dir(), flags),
		0);
	CHECK_EQ(sscanf(str_text(&text), "%llx %llx", &start, &size), 2);
	str_fini(&text);
	case_init(c);
	dso = add_dso(c, test_path("x.so"));
	/* Linkers give code of this size the same offset and address. */
	for (u64 at = start; at < start + size; at++)
		add_frame(c, dso, at, false);
}

static void resolve_with(struct naming_case *c, const struct naming_options *options)
{
	dso_files_init(&c->files, &c->machine, &(struct find_places){.symfs = ""});
	resolver_init(&c->resolver, &c->files);
	naming_resolve(&c->profile, &c->resolver, options);
}

/* How many frames have that line; all are of outer(). */
static size_t count_lines(const struct naming_case *c, const char *line)
{
	size_t n = 0;

	vec_each(f, &c->profile.frames) {
		const struct profile_symbol *s = &c->profile.symbols.at[f->symbol];

		CHECK_STR(s->name, "outer");
		CHECK(s->has_line);
		CHECK_STR(s->file, "inlining.c");
		CHECK(!s->is_inlined && !f->n_inlined);
		n += !strcmp(s->line, line);
	}
	return n;
}

TEST(naming_by_lines_makes_a_symbol_of_each_line)
{
	struct naming_case c;
	u32 first = 0;

	outside_need("cc");
	add_outer(&c, "-g");
	resolve_with(&c, &(struct naming_options){.n_workers = 1, .source = NAMING_LINES});
	CHECK(count_lines(&c, "inlining.c:2") > 0);
	CHECK(count_lines(&c, "inlining.c:5") > 0);
	/* They know that they are one function. */
	for (u32 i = 1; i < c.profile.symbols.n; i++) {
		if (!c.profile.symbols.at[i].function) {
			CHECK_EQ(first, 0);
			first = i;
		}
	}
	for (u32 i = 1; i < c.profile.symbols.n; i++)
		CHECK(i == first || c.profile.symbols.at[i].function == first);
	case_fini(&c);
}

TEST(naming_by_files_leaves_functions_of_one_file_whole)
{
	struct naming_case c;

	outside_need("cc");
	add_outer(&c, "-g");
	resolve_with(&c, &(struct naming_options){.n_workers = 1, .source = NAMING_FILES});
	CHECK_EQ(c.profile.symbols.n, 2);
	CHECK_STR(c.profile.symbols.at[1].file, "inlining.c");
	case_fini(&c);
}

TEST(naming_knows_the_whole_path_of_the_file_a_function_begins_in)
{
	struct str path = {0};
	struct naming_case c;

	outside_need("cc");
	add_outer(&c, "-g");
	resolve_with(&c,
		&(struct naming_options){.n_workers = 1,
			.source = NAMING_FUNCTION_FILES,
			.has_full_paths = true});
	str_addf(&path, "%s/inlining.c", test_dir());
	CHECK_EQ(c.profile.symbols.n, 2);
	CHECK_STR(c.profile.symbols.at[1].file, str_text(&path));
	str_fini(&path);
	case_fini(&c);
}

TEST(naming_gives_frames_what_was_inlined_into_their_function)
{
	struct naming_case c;
	size_t n = 0;

	outside_need("cc");
	add_outer(&c, "-g");
	resolve_with(&c, &(struct naming_options){.n_workers = 1, .has_inlined = true});
	vec_each(f, &c.profile.frames) {
		const struct profile_symbol *s;

		CHECK_STR(c.profile.symbols.at[f->symbol].name, "outer");
		CHECK(!c.profile.symbols.at[f->symbol].is_inlined);
		if (!f->n_inlined)
			continue;
		CHECK_EQ(f->n_inlined, 1);
		s = &c.profile.symbols.at[c.profile.inlined.at[f->first_inlined]];
		CHECK_STR(s->name, "leaf");
		CHECK(s->is_inlined);
		n++;
	}
	CHECK(n > 0 && n < c.profile.frames.n);
	CHECK_EQ(c.profile.symbols.n, 3);
	case_fini(&c);
}

TEST(naming_says_the_place_in_the_function_where_no_line_is_known)
{
	struct ledger ledger = {0};
	struct str text = {0};
	struct naming_case c;
	const struct dso *dso;

	outside_need("cc");
	add_outer(&c, "-g0");
	resolve_with(&c, &(struct naming_options){.n_workers = 1, .source = NAMING_LINES});
	for (u32 i = 0; i < c.profile.frames.n; i++) {
		const struct profile_symbol *s = symbol_of(&c, i);
		char expected[32];

		snprintf(expected, sizeof(expected), "outer+%u", i);
		CHECK_STR(s->line, expected);
		CHECK(!s->has_line);
	}
	dso = c.machine.dsos.at.at[c.profile.dsos.at[0].source];
	CHECK_HAS(resolver_lines_reason(&c.resolver, dso, LINE_GAP_FILE), "compile it with -g");
	/* And the ledger says how much that is. */
	vec_add(&c.profile.events, ((struct profile_event){.name = "cycles", .n_samples = 7}));
	vec_add(&c.profile.rows, ((struct profile_row){.frame = 0, .n_samples = 7}));
	ledger_add_lineless(&ledger, &c.profile, &c.resolver);
	ledger_add_text(&ledger, false, &text);
	CHECK_HAS(str_text(&text), "# 7 samples (100.00%) in x.so have no known source line: '");
	CHECK_HAS(str_text(&text), "has no debug information: compile it with -g, install");
	str_fini(&text);
	ledger_fini(&ledger);
	case_fini(&c);
}
