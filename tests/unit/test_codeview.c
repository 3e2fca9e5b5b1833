#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "event/abi.h"
#include "unit/elfmaker.h"
#include "unit/keyscripts.h"
#include "unit/said.h"
#include "unit/tree.h"
#include "view/screen/codeview.h"

/*
 * f: je to the ret; nop; call g; jmp back to the nop; ret. g: jmp h. h: ret. Nobody has sampled h.
 */
static const u8 text_bytes[] = {0x74, 0x08, 0x90, 0xe8, 0x08, 0x00, 0x00, 0x00, 0xeb, 0xf8, 0xc3,
	0x90, 0x90, 0x90, 0x90, 0x90, 0xeb, 0x06, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3};

struct scene {
	struct machine machine;
	struct dso_files files;
	struct resolver resolver;
	struct said said;
	struct profile profile;
	struct event_list events;
	struct annotation annotation;
	struct assembly_options how;
	struct annotate_options shown;
	struct codeview_source source;
	struct codeview view;
	struct grid grid;
};

static void make_program(const char *name_of_g)
{
	struct elfmaker m;

	elfmaker_init(&m, true, false, EM_X86_64);
	elfmaker_text(&m, 0x401000, 0x1000, text_bytes, sizeof(text_bytes));
	elfmaker_function(&m, "f", 0x401000, 11);
	elfmaker_function(&m, name_of_g, 0x401010, 2);
	elfmaker_function(&m, "h", 0x401018, 1);
	elfmaker_finish(&m);
	tree_file(test_dir(), "", "%s", "prog");
	test_write(test_path("prog"), m.file.at, m.file.n);
	elfmaker_fini(&m);
}

static void add_samples(struct scene *s, u32 event, u32 symbol, u64 offset, u64 n, u64 period)
{
	struct profile_frame frame = {.address = offset};
	const u32 at = profile_frame(&s->profile, &frame);
	struct profile_row row = {.event = event,
		.frame = at,
		.n_samples = n,
		.period = n * period};

	s->profile.frames.at[at].symbol = symbol;
	vec_add(&s->profile.rows, row);
}

/* Two events; f has 9 samples of the first and 5 of the second, g has 3. */
static void add_profile(struct scene *s, const struct dso *dso, const char *name_of_g)
{
	profile_init(&s->profile, 0);
	vec_add(&s->profile.events, ((struct profile_event){.name = "cycles:pp"}));
	vec_add(&s->profile.events, ((struct profile_event){.name = "faults"}));
	vec_add(&s->profile.dsos, ((struct profile_dso){dso->path, dso->name, DSO_FILE, dso->id}));
	vec_add(&s->profile.symbols,
		((struct profile_symbol){.start = 0x401000, .end = 0x40100b, .name = "f"}));
	vec_add(&s->profile.symbols,
		((struct profile_symbol){.start = 0x401010, .end = 0x401012, .name = name_of_g}));
	add_samples(s, 0, 1, 0x1002, 1, 10);
	add_samples(s, 0, 1, 0x1003, 5, 10);
	add_samples(s, 0, 1, 0x1008, 2, 10);
	/* Few, but long. */
	add_samples(s, 0, 1, 0x100a, 1, 30);
	add_samples(s, 1, 1, 0x1000, 5, 1);
	add_samples(s, 0, 2, 0x1010, 3, 10);
	annotation_init(&s->annotation, &s->profile);
}

static struct scene *scene_of(const char *name_of_g, unsigned columns, unsigned rows)
{
	struct scene *s = mem_zalloc(sizeof(*s));
	const struct event_attr exact = {.flags = 2ULL << ATTR_PRECISE_SHIFT};
	const struct dso *dso;

	make_program(name_of_g);
	machine_init(&s->machine);
	said_init(&s->said, LOG_DEBUG);
	setenv("HOME", test_path("home"), 1);
	dso = dso_get(&s->machine.dsos, "/prog", 5, 42, false);
	event_add(&s->events, &exact, "cycles:pp");
	event_add(&s->events, &exact, "faults");
	dso_files_init(&s->files, &s->machine,
		&(struct find_places){.symfs = test_dir(), .log = &s->said.log});
	resolver_init(&s->resolver, &s->files);
	resolver_load(&s->resolver, dso);
	add_profile(s, dso, name_of_g);
	s->how.places.symfs = "";
	s->shown.events = &s->events;
	s->source = (struct codeview_source){.title = "perf.data",
		.annotation = &s->annotation,
		.resolver = &s->resolver,
		.assembly = &s->how,
		.shown = &s->shown};
	codeview_init(&s->view, &s->source, &(struct codeview_place){.row = ASSEMBLY_NONE});
	if (s->view.assembly.disasm.engine == DISASM_RAW)
		SKIP("there is neither LLVM nor objdump");
	grid_resize(&s->grid, columns, rows);
	return s;
}

static struct scene *scene_new(unsigned columns, unsigned rows)
{
	return scene_of("g", columns, rows);
}

static void scene_free(struct scene *s)
{
	codeview_fini(&s->view);
	annotation_fini(&s->annotation);
	profile_fini(&s->profile);
	resolver_fini(&s->resolver);
	dso_files_fini(&s->files);
	event_list_fini(&s->events);
	machine_fini(&s->machine);
	said_fini(&s->said);
	grid_fini(&s->grid);
	mem_free(s);
}

static void press(struct scene *s, u32 key)
{
	codeview_take(&s->view, &(struct screen_event){.kind = EVENT_KEY, .key = key});
}

static const char *screen(struct scene *s)
{
	static struct str text;

	grid_clear(&s->grid);
	codeview_draw(&s->view, &s->grid);
	str_cut(&text, 0);
	grid_add_text(&s->grid, &text);
	return str_text(&text);
}

/* The line that the cursor is on: the only one that is drawn reversed, below the title. */
static const char *at_cursor(struct scene *s)
{
	static struct str text;

	screen(s);
	str_cut(&text, 0);
	for (unsigned row = 1; row < s->grid.rows; row++)
		if (grid_at(&s->grid, row, 1)->style.attributes & GRID_REVERSE)
			grid_add_row(&s->grid, row, &text);
	return str_text(&text);
}

/* Keys as letters, those that do nothing by themselves; others mean what they are. */
static u32 key_of(char letter)
{
	switch (letter) {
	case 'D':
		return KEY_DOWN;
	case 'U':
		return KEY_UP;
	case 'F':
		return KEY_TAB;
	case 'R':
		return KEY_RIGHT;
	case 'A':
		return KEY_HOME;
	case 'Z':
		return KEY_END;
	default:
		return (u8)letter;
	}
}

static void type(struct scene *s, const char *keys)
{
	for (; *keys; keys++) {
		press(s, key_of(*keys));
		screen(s);
	}
}

/* As if the instructions of f were of two lines, and the last one of an inlined function. */
static void give_lines(struct scene *s)
{
	struct assembly *a = &s->view.assembly;

	vec_add(&a->files, ((struct assembly_file){.name = "f.c", .path = "/f.c"}));
	vec_each(file, &a->files)
		file->source.state = SOURCE_MISSING;
	vec_add(&a->frames, ((struct assembly_frame){"f", 0, 7}));
	vec_add(&a->frames, ((struct assembly_frame){"f", 0, 8}));
	vec_add(&a->frames, ((struct assembly_frame){"leaf", 0, 3}));
	vec_add(&a->frames, ((struct assembly_frame){"f", 0, 9}));
	for (u32 i = 0; i < a->rows.n; i++) {
		a->rows.at[i].first_frame = i < 2 ? 0 : i + 1 < a->rows.n ? 1 : 2;
		a->rows.at[i].n_frames = i + 1 < a->rows.n ? 1 : 2;
	}
}

/* ---- a script for each key ---- */

#define CODE CODEVIEW_CODE
#define LIST CODEVIEW_LIST

/* The hottest instruction of f is the call. */
static const struct keyscript scripts[] = {
	{KEY_UP, CODE, "", "nop", NULL},
	{'k', CODE, "", "nop", NULL},
	{'k', LIST, "lD", "100.00%", NULL},
	{KEY_DOWN, CODE, "", "jmp", NULL},
	{'j', CODE, "", "jmp", NULL},
	{KEY_DOWN, LIST, "l", "g", NULL},
	{KEY_PAGE_UP, CODE, "", "je", NULL},
	{'B' - '@', CODE, "", "je", NULL},
	{KEY_PAGE_DOWN, CODE, "", "ret", NULL},
	{' ', CODE, "", "ret", NULL},
	{KEY_HOME, CODE, "", "je", NULL},
	{KEY_END, CODE, "", "ret", NULL},
	{KEY_RIGHT, CODE, "D", "0x", "jmp"},
	{KEY_LEFT, CODE, "DR", "jmp", NULL},
	{KEY_LEFT, CODE, "A\r", "je", "ret"},
	{'H', CODE, "A", "call", NULL},
	{KEY_TAB, CODE, "", "ret", NULL},
	{KEY_BACK_TAB, CODE, "FF", "ret", NULL},
	{KEY_ENTER, CODE, "A", "ret", NULL},
	{KEY_BACKSPACE, CODE, "A\r", "je", NULL},
	{'>', CODE, "", "*g  prog", "f  prog"},
	{'<', CODE, ">", "*f  prog", "g  prog"},
	{'l', CODE, "", "*Functions with samples", "call"},
	{KEY_ENTER, LIST, "lD", "*g  prog", "Functions"},
	{'s', CODE, "", "*f() f.c:7", NULL},
	{'o', CODE, "", "e8 08 00 00 00", NULL},
	{'a', CODE, "", "call", "401003:"},
	{'t', CODE, "", "*local hits", "local period"},
	{'v', CODE, "", "*1 of 2  samples", "local"},
	{'T', CODE, "", "*no debug information", NULL},
	{'i', CODE, "", "*Intel's syntax", NULL},
	{'/', CODE, "", "*\n/\n", "h: help"},
	{'n', CODE, "A/jmp\r", "jmp", NULL},
	{'N', CODE, "Z/nop\r", "nop", NULL},
	{'P', CODE, "", "*to 'pace.annotate.0'", NULL},
	{'h', CODE, "", "*go to the hottest instruction", "401003"},
	{'?', CODE, "", "*go to the hottest instruction", "401003"},
	{'q', LIST, "l", "call", NULL},
	{KEY_ESC, LIST, "l", "call", NULL},
	{KEY_ESC, CODE, "/nop\r", "nop", NULL},
	{'q', CODE, "", "call", NULL},
};

static void run(const struct keyscript *script)
{
	struct scene *s = scene_new(80, 24);
	if (script->key == 's')
		give_lines(s);
	screen(s);
	type(s, script->before);
	CHECK_EQ(s->view.mode, script->mode);
	press(s, script->key);
	keyscripts_judge(script, keyscripts_is_anywhere(script) ? screen(s) : at_cursor(s));
	CHECK_EQ(s->view.is_over, script->key == 'q' && script->mode == CODE);
	scene_free(s);
}

TEST(codeview_keys_each_do_what_their_script_says)
{
	CHECK_EQ(chdir(test_dir()), 0);
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		keyscripts_say(&scripts[i]);
		unlink("pace.annotate.0");
		run(&scripts[i]);
	}
}

TEST(codeview_keys_all_have_a_script_and_a_line_in_the_help_and_no_other_meaning)
{
	struct scene *s = scene_new(80, 24);

	press(s, 'h');
	keyscripts_check(&codeview_keys, scripts, ARRAY_SIZE(scripts),
		str_text(&s->view.page.text));
	scene_free(s);
}

/* ---- screens ---- */

TEST(codeview_shows_the_figures_of_each_event_and_the_jump_under_the_cursor)
{
	struct scene *s = scene_new(80, 8);

	CHECK_HAS(screen(s),
		" f  prog  perf.data                                        1 of 2  local period\n"
		" cycles:  faults   samples: 9 of cycles:pp, 5 of faults\n"
		"          100.00 \u2502 401000:   \u2193 je     0x40100a <f+0xa>\n"
		"    9.09         \u2502 401002:     nop\n"
		"   45.45         \u2502 401003:   \u2192 call");
	CHECK_HAS(screen(s),
		" <g>\n   18.18         \u2502 401008:   \u2191 jmp    0x401002 <f+0x2>\n"
		"   27.27         \u2502 40100a:   \u2190 ret");
	CHECK_HAS(screen(s), "\n3 of 5 lines   h: help  q: back  Enter: open g\n");
	type(s, "A");
	CHECK_HAS(screen(s), "401000: \u250c\u2500\u2500 je ");
	CHECK_HAS(screen(s), "401008: \u2502 \u2191 jmp ");
	CHECK_HAS(screen(s), "40100a: \u2514\u2500> ret");
	CHECK_HAS(screen(s), "Enter: go to 40100a");
	/* What jumps to the line under the cursor is drawn, too. */
	type(s, "D");
	CHECK_HAS(screen(s), "401002: \u250c\u2500> nop");
	CHECK_HAS(screen(s), "401003: \u2502 \u2192 call");
	CHECK_HAS(screen(s), "401008: \u2514\u2500\u2500 jmp ");
	s->grid.is_ascii = true;
	CHECK_HAS(screen(s), "| 401002: ,-> nop");
	CHECK_HAS(screen(s), "| 401008: '-- jmp ");
	CHECK_HAS(screen(s), "| 40100a:   < ret");
	scene_free(s);
}

TEST(codeview_has_the_figures_of_the_text)
{
	struct scene *s = scene_new(100, 30);
	struct out out = {.fd = -1};

	for (unsigned turn = 0; turn < 7; turn++) {
		str_cut(&out.text, 0);
		annotate_text(&out, &s->view.assembly, NULL, &s->view.shown);
		vec_each(row, &s->view.assembly.rows) {
			struct str address = {0};
			const char *ours, *theirs;
			double of_ours[2] = {0}, of_theirs[2];

			str_addf(&address, "%llx:", (unsigned long long)row->va);
			ours = strstr(screen(s), str_text(&address));
			theirs = strstr(str_text(&out.text), str_text(&address));
			CHECK(ours && theirs);
			while (ours[-1] != '\n')
				ours--;
			while (theirs[-1] != '\n')
				theirs--;
			CHECK_EQ(sscanf(theirs, "%lf %lf", &of_theirs[0], &of_theirs[1]), 2);
			for (unsigned e = 0; e < 2; e++) {
				const unsigned width =
					s->view.shown.figure == ANNOTATE_PERCENT ? 8 : 12;
				char figure[16] = "";

				memcpy(figure, ours + e * width, width);
				sscanf(figure, "%lf", &of_ours[e]);
				CHECK(of_ours[e] == of_theirs[e]);
			}
			str_fini(&address);
		}
		press(s, turn < 4 ? 't' : 'v');
	}
	str_fini(&out.text);
	scene_free(s);
}

TEST(codeview_walks_through_instructions_in_the_order_of_their_samples)
{
	struct scene *s = scene_new(80, 24);

	CHECK_HAS(at_cursor(s), "call");
	press(s, KEY_TAB);
	CHECK_HAS(at_cursor(s), "ret");
	press(s, KEY_TAB);
	CHECK_HAS(at_cursor(s), "jmp");
	CHECK_EQ(s->view.hottest, 2);
	press(s, KEY_TAB);
	CHECK_HAS(at_cursor(s), "nop");
	/* It has samples of the second event only. */
	press(s, KEY_TAB);
	CHECK_HAS(at_cursor(s), "je ");
	press(s, KEY_TAB);
	CHECK_HAS(at_cursor(s), "call");
	press(s, KEY_BACK_TAB);
	CHECK_HAS(at_cursor(s), "je ");
	/* By samples, the long one is no longer the second. */
	type(s, "tHF");
	CHECK_HAS(at_cursor(s), "jmp");
	scene_free(s);
}

TEST(codeview_follows_jumps_and_calls_and_goes_back_all_the_way)
{
	struct scene *s = scene_new(80, 24);

	type(s, "A\r");
	CHECK_HAS(at_cursor(s), "ret");
	press(s, KEY_ENTER);
	CHECK_HAS(screen(s), "this instruction goes nowhere else");
	type(s, "H\r");
	CHECK_HAS(screen(s), " g  prog");
	CHECK_HAS(screen(s), "2 of 2  local period");
	CHECK_HAS(at_cursor(s), "100.00");
	CHECK_HAS(at_cursor(s), "jmp    0x401018 <h>");
	/* Nobody has sampled h. */
	press(s, KEY_ENTER);
	CHECK_HAS(screen(s), " h  prog");
	CHECK_HAS(screen(s), "no samples\n");
	CHECK_HAS(at_cursor(s), "ret");
	press(s, KEY_TAB);
	CHECK_HAS(screen(s), "this function has no samples");
	press(s, '>');
	CHECK_HAS(screen(s), "this is the last function");
	press(s, KEY_LEFT);
	CHECK_HAS(screen(s), " g  prog");
	press(s, KEY_BACKSPACE);
	CHECK_HAS(screen(s), " f  prog");
	CHECK_HAS(at_cursor(s), "call");
	press(s, KEY_LEFT);
	CHECK_HAS(at_cursor(s), "je ");
	press(s, KEY_BACKSPACE);
	CHECK_HAS(screen(s), "there is nothing to go back to");
	CHECK(!s->view.is_over);
	press(s, KEY_LEFT);
	CHECK(s->view.is_over);
	scene_free(s);
}

TEST(codeview_shows_lines_of_source_and_inlined_functions_between_instructions)
{
	struct scene *s = scene_new(80, 24);

	give_lines(s);
	type(s, "s");
	CHECK_HAS(at_cursor(s), "call");
	CHECK_HAS(screen(s), "\u2502             f() f.c:7\n");
	CHECK_HAS(screen(s), "\u2502             f.c:8\n");
	CHECK_HAS(screen(s), "\u2502             leaf() f.c:3 < f() f.c:9\n");
	type(s, "A");
	CHECK_HAS(at_cursor(s), "no source: ");
	type(s, "/f() f.c:7\r");
	CHECK_HAS(at_cursor(s), "f.c:7");
	press(s, KEY_ENTER);
	CHECK_HAS(screen(s), "this line is no instruction");
	type(s, "Hs");
	CHECK_HAS(at_cursor(s), "call");
	check_lacks(screen(s), "f.c:8");
	scene_free(s);
}

TEST(codeview_searches_as_the_browser_does)
{
	struct scene *s = scene_new(80, 24);

	type(s, "A/jmp|call");
	CHECK_HAS(at_cursor(s), "call");
	CHECK_HAS(screen(s), "/jmp|call");
	press(s, KEY_ENTER);
	CHECK_HAS(screen(s), ", /jmp|call");
	type(s, "n");
	CHECK_HAS(at_cursor(s), "jmp");
	type(s, "n");
	CHECK_HAS(at_cursor(s), "call");
	type(s, "NN");
	CHECK_HAS(at_cursor(s), "call");
	/* Esc brings back what was searched for, and the cursor. */
	type(s, "/nop");
	CHECK_HAS(at_cursor(s), "nop");
	press(s, KEY_ESC);
	CHECK_HAS(at_cursor(s), "call");
	CHECK_HAS(screen(s), ", /jmp|call");
	type(s, "/nowhere\r");
	CHECK_HAS(screen(s), "no line is found");
	press(s, KEY_ESC);
	CHECK(!s->view.is_over);
	type(s, "n");
	CHECK_HAS(screen(s), "/ searches first");
	press(s, KEY_ESC);
	CHECK(s->view.is_over);
	scene_free(s);
}

TEST(codeview_writes_the_text_of_the_function_to_a_new_file)
{
	struct scene *s = scene_new(80, 24);
	struct out out = {.fd = -1};
	char text[4096] = "";
	int fd;

	CHECK_EQ(chdir(test_dir()), 0);
	test_write("pace.annotate.0", "mine", 4);
	press(s, 'P');
	CHECK_HAS(screen(s), "wrote 5 lines to 'pace.annotate.1'");
	fd = open("pace.annotate.1", O_RDONLY);
	CHECK(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	annotate_text(&out, &s->view.assembly, NULL, &s->shown);
	CHECK_STR(text, str_text(&out.text));
	str_fini(&out.text);
	scene_free(s);
}

TEST(codeview_changes_only_the_cells_of_a_hostile_name)
{
	struct scene *s = scene_of("e\033[2J\xe2\x80\xae\xe6\xbc\xa2", 80, 9);
	const char *shown = screen(s);

	CHECK_HAS(shown, "401003:   \u2192 call");
	CHECK_HAS(shown, " <e\\x1b[2J\\xe2\\x80\\xae\xe6\xbc\xa2>\n");
	CHECK_HAS(shown, "401008:   \u2191 jmp    0x401002 <f+0x2>\n");
	for (size_t i = 0; shown[i]; i++)
		CHECK((u8)shown[i] >= ' ' || shown[i] == '\n');
	type(s, "l");
	CHECK_HAS(screen(s), "e\\x1b[2J\\xe2\\x80\\xae\xe6\xbc\xa2\n");
	scene_free(s);
}

TEST(codeview_keeps_the_cursor_on_every_size)
{
	struct scene *s = scene_new(80, 24);

	give_lines(s);
	type(s, "sH");
	for (unsigned rows = 1; rows < 30; rows++)
		for (unsigned columns = 1; columns < 120; columns += 7) {
			grid_resize(&s->grid, columns, rows);
			CHECK(rows < 4 || columns < 10 || *at_cursor(s));
			type(s, rows % 2 ? "l" : "h");
			type(s, "q");
		}
	scene_free(s);
}

TEST(codeview_takes_the_mouse)
{
	struct scene *s = scene_new(80, 9);

	screen(s);
	codeview_take(&s->view, &(struct screen_event){.kind = EVENT_CLICK, .row = 2, .column = 5});
	CHECK_HAS(at_cursor(s), "je ");
	codeview_take(&s->view, &(struct screen_event){.kind = EVENT_CLICK, .row = 2, .column = 5});
	CHECK_HAS(at_cursor(s), "ret");
	codeview_take(&s->view, &(struct screen_event){.kind = EVENT_WHEEL_UP});
	CHECK_HAS(at_cursor(s), "nop");
	codeview_take(&s->view, &(struct screen_event){.kind = EVENT_WHEEL_DOWN});
	CHECK_HAS(at_cursor(s), "ret");
	codeview_take(&s->view, &(struct screen_event){.kind = EVENT_CLICK, .row = 4000000000u});
	codeview_take(&s->view, &(struct screen_event){.kind = EVENT_CLICK, .row = 0});
	codeview_take(&s->view, &(struct screen_event){.kind = EVENT_CLICK, .row = 8});
	CHECK_HAS(at_cursor(s), "ret");
	codeview_take(&s->view, &(struct screen_event){.kind = EVENT_END});
	CHECK(s->view.is_over);
	scene_free(s);
}
