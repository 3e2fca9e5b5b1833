#include "view/screen/codeview.h"

#include <string.h>

#include "view/screen/prompt.h"
#include "view/screen/printout.h"

static void say(struct codeview *v, const char *text)
{
	str_cut(&v->message, 0);
	str_add(&v->message, text);
}

/* ---- moving ---- */

static void move(struct codeview *v, long by)
{
	if (v->mode == CODEVIEW_LIST)
		v->choice = textpage_moved(v->choice, by, v->source->annotation->functions.n);
	else
		v->line = textpage_moved(v->line, by, v->lines.n);
}

static void up(struct codeview *v)
{
	move(v, -1);
}

static void down(struct codeview *v)
{
	move(v, 1);
}

/* The lines move along, so that the cursor stays where it is on the screen. */
static void turn(struct codeview *v, long by)
{
	if (v->mode == CODEVIEW_CODE)
		v->first = textpage_moved(v->first, by, v->lines.n);
	move(v, by);
}

static void page_up(struct codeview *v)
{
	turn(v, -(long)MAX(v->height, 1u));
}

static void page_down(struct codeview *v)
{
	turn(v, (long)MAX(v->height, 1u));
}

static void to_start(struct codeview *v)
{
	move(v, -TEXTPAGE_FAR);
}

static void to_end(struct codeview *v)
{
	move(v, TEXTPAGE_FAR);
}

static void right(struct codeview *v)
{
	textpage_shift(&v->shift, true);
}

/* ---- the hottest instructions ---- */

/* From an instruction with samples it goes to the next one; from elsewhere to where it was. */
static void to_hot(struct codeview *v, bool is_back)
{
	const u32 row = codeview_row(v);
	size_t at = v->hottest;

	if (!v->hot.n) {
		say(v, "this function has no samples");
		return;
	}
	for (size_t i = 0; i < v->hot.n; i++)
		if (v->hot.at[i] == row)
			at = (is_back ? i + v->hot.n - 1 : i + 1) % v->hot.n;
	v->hottest = at;
	codeview_to_row(v, v->hot.at[at]);
	str_cut(&v->message, 0);
	str_addf(&v->message, "%zu of %zu instructions with samples", at + 1, v->hot.n);
}

static void next_hot(struct codeview *v)
{
	to_hot(v, false);
}

static void hot_before(struct codeview *v)
{
	to_hot(v, true);
}

static void to_hottest(struct codeview *v)
{
	v->hottest = 0;
	if (v->hot.n)
		codeview_to_row(v, v->hot.at[0]);
	else
		say(v, "this function has no samples");
}

/* ---- other functions, and back ---- */

static struct codeview_place here(const struct codeview *v)
{
	struct codeview_place place = v->at;

	place.row = codeview_row(v);
	return place;
}

static void reopen(struct codeview *v, struct codeview_place place)
{
	codeview_close(v);
	codeview_open(v, &place);
}

static void open_function(struct codeview *v, u32 function)
{
	vec_add(&v->before, here(v));
	reopen(v, (struct codeview_place){.function = function, .row = ASSEMBLY_NONE});
}

/* The sampled function that a stub like malloc@plt stands for. */
static u32 behind_stub(const struct codeview *v, const char *name)
{
	const struct annotation *a = v->source->annotation;
	const char *end = strstr(name, "@plt");

	for (u32 i = 0; end && i < a->functions.n; i++) {
		const char *theirs = annotation_symbol(a, &a->functions.at[i])->name;

		if (strlen(theirs) == (size_t)(end - name) &&
			!strncmp(theirs, name, (size_t)(end - name)))
			return i;
	}
	return ANNOTATION_NONE;
}

/* A function without samples can be opened, too, if its code is found. */
static void open_called(struct codeview *v, u32 row)
{
	const struct annotation *a = v->source->annotation;
	struct codeview_place place = {.row = ASSEMBLY_NONE};

	if (!assembly_leads_to(&v->assembly, row, v->source->resolver, v->how.style, &v->names,
		    &place.symbol)) {
		say(v,
			v->assembly.rows.at[row].target
				? "where this goes has no name"
				: "this instruction goes nowhere else, or where a register says");
		return;
	}
	place.function = annotation_at(a, place.symbol.dso, place.symbol.start);
	if (place.function == ANNOTATION_NONE)
		place.function = behind_stub(v, place.symbol.name);
	vec_add(&v->before, here(v));
	reopen(v, place);
	if (v->assembly.no_code.code) {
		const struct err why = v->assembly.no_code;

		if (place.function != ANNOTATION_NONE)
			return;
		place = v->before.at[--v->before.n];
		reopen(v, place);
		say(v, why.msg);
	}
}

static void follow(struct codeview *v)
{
	const struct codeview_line *line = v->line < v->lines.n ? &v->lines.at[v->line] : NULL;
	const struct assembly_row *row =
		line && line->kind == CODEVIEW_INSTRUCTION ? &v->assembly.rows.at[line->row] : NULL;

	if (!row) {
		say(v, "Enter follows jumps and calls: this line is no instruction");
	} else if (row->to != ASSEMBLY_NONE) {
		vec_add(&v->before, here(v));
		codeview_to_row(v, row->to);
	} else {
		open_called(v, line->row);
	}
}

static bool is_open(const struct codeview *v, const struct codeview_place *place)
{
	return v->at.function == place->function &&
		(place->function != ANNOTATION_NONE ||
			(v->at.symbol.dso == place->symbol.dso &&
				v->at.symbol.start == place->symbol.start));
}

static bool go_back(struct codeview *v)
{
	struct codeview_place place;

	if (!v->before.n)
		return false;
	place = v->before.at[--v->before.n];
	if (is_open(v, &place))
		codeview_to_row(v, place.row);
	else
		reopen(v, place);
	return true;
}

static void back(struct codeview *v)
{
	if (!go_back(v))
		say(v, "there is nothing to go back to: q leaves the code");
}

/* Long lines first, then where the cursor was, then the view that opened this one. */
static void left(struct codeview *v)
{
	if (v->shift)
		textpage_shift(&v->shift, false);
	else if (!go_back(v))
		v->is_over = true;
}

static void neighbour(struct codeview *v, bool is_back)
{
	const size_t n = v->source->annotation->functions.n;
	u32 at = v->at.function;

	/* A function that was called has no place among them: the one that it was called from has. */
	for (size_t i = v->before.n; i-- > 0 && at == ANNOTATION_NONE;)
		at = v->before.at[i].function;
	if (at == ANNOTATION_NONE || (is_back ? at == 0 : at + 1 >= n))
		say(v, is_back ? "this is the first function" : "this is the last function");
	else
		open_function(v, is_back ? at - 1 : at + 1);
}

static void next_function(struct codeview *v)
{
	neighbour(v, false);
}

static void function_before(struct codeview *v)
{
	neighbour(v, true);
}

static void show_list(struct codeview *v)
{
	v->mode = CODEVIEW_LIST;
	v->choice = v->at.function != ANNOTATION_NONE ? v->at.function : 0;
}

static void choose(struct codeview *v)
{
	v->mode = CODEVIEW_CODE;
	if (v->choice != v->at.function && v->choice < v->source->annotation->functions.n)
		open_function(v, (u32)v->choice);
}

/* ---- what is shown ---- */

static void toggle_source(struct codeview *v)
{
	v->shown.has_source = !v->shown.has_source;
	codeview_set_lines(v);
	if (v->shown.has_source && v->assembly.no_lines.n)
		say(v, str_text(&v->assembly.no_lines));
}

static void toggle_bytes(struct codeview *v)
{
	v->shown.has_bytes = !v->shown.has_bytes;
}

static void toggle_addresses(struct codeview *v)
{
	v->hides_addresses = !v->hides_addresses;
}

/* What percentages are of. */
static void turn_percent(struct codeview *v)
{
	const unsigned next =
		((v->shown.is_global ? 2u : 0) + (v->shown.is_by_hits ? 1u : 0) + 1) % 4;

	v->shown.figure = ANNOTATE_PERCENT;
	v->shown.is_global = next & 2;
	v->shown.is_by_hits = next & 1;
	codeview_sort(v);
	str_cut(&v->message, 0);
	str_addf(&v->message, "percent: %s", annotate_share_name(&v->shown));
}

static void turn_figure(struct codeview *v)
{
	v->shown.figure = (v->shown.figure + 1) % (ANNOTATE_PERIOD + 1);
	codeview_sort(v);
}

static void toggle_types(struct codeview *v)
{
	v->shown.has_types = !v->shown.has_types;
	codeview_load_types(v);
	if (v->shown.has_types && !v->types.answers)
		say(v, v->types.why.msg);
	else
		say(v,
			v->shown.has_types
				? "data types stand behind instructions, where they are known"
				: "no data types");
}

static void turn_syntax(struct codeview *v)
{
	const struct assembly *a = &v->assembly;

	if (a->no_code.code || !a->code.isa || !a->code.isa->has_syntaxes ||
		a->disasm.engine == DISASM_RAW) {
		say(v, "this code has one syntax only");
		return;
	}
	v->how.disasm.is_intel = !v->how.disasm.is_intel;
	reopen(v, here(v));
	say(v, v->how.disasm.is_intel ? "Intel's syntax" : "AT&T's syntax");
}

/* ---- search ---- */

/* The first found line from `line` on, in a circle; v->lines.n: none. */
static size_t found_from(const struct codeview *v, size_t line, bool is_back)
{
	const size_t n = v->lines.n;

	for (size_t i = 0; i < n; i++) {
		const size_t at = (line + (is_back ? n - i : i)) % n;

		if (codeview_is_found(v, at))
			return at;
	}
	return n;
}

static void search(struct codeview *v)
{
	size_t at;

	namesearch_set(&v->pattern, str_text(&v->search));
	at = v->pattern.words.n ? found_from(v, v->search_from, false) : v->lines.n;
	v->line = at < v->lines.n ? at : v->search_from;
}

static void begin_search(struct codeview *v)
{
	v->mode = CODEVIEW_SEARCH;
	v->search_from = v->line;
	str_cut(&v->kept, 0);
	str_add(&v->kept, str_text(&v->search));
	str_cut(&v->search, 0);
	search(v);
}

static void find(struct codeview *v, bool is_back)
{
	const size_t n = v->lines.n;
	size_t at;

	if (!v->pattern.words.n) {
		say(v, "/ searches first");
		return;
	}
	at = n ? found_from(v, (v->line + (is_back ? n - 1 : 1)) % n, is_back) : n;
	if (at < n)
		v->line = at;
	else
		say(v, "no line is found");
}

static void find_next(struct codeview *v)
{
	find(v, false);
}

static void find_before(struct codeview *v)
{
	find(v, true);
}

/* Keys while something is typed: Enter keeps it, Esc brings back what was searched for before. */
static void type(struct codeview *v, u32 key)
{
	if (key == KEY_ENTER) {
		v->mode = CODEVIEW_CODE;
		if (v->pattern.words.n && !codeview_is_found(v, v->line))
			say(v, "no line is found");
	} else if (key == KEY_ESC) {
		v->mode = CODEVIEW_CODE;
		str_cut(&v->search, 0);
		str_add(&v->search, str_text(&v->kept));
		namesearch_set(&v->pattern, str_text(&v->search));
		v->line = v->search_from;
	} else if (prompt_take(&v->search, key)) {
		search(v);
	}
}

/* ---- pages and files ---- */

static void show_help(struct codeview *v)
{
	struct str text = {0};

	keytable_add_line("mouse", "click: go to a line, again: follow it; wheel: up and down", "",
		&text);
	textpage_show_help(&v->page, &codeview_keys, str_text(&text));
	str_fini(&text);
}

static void to_code(struct codeview *v)
{
	v->mode = CODEVIEW_CODE;
}

/* The text of the function, as `pace annotate` prints it. */
static void snapshot(struct codeview *v)
{
	struct annotate_options o = v->shown;
	struct printout s;

	if (!printout_open(&s, "pace.annotate", &v->message))
		return;
	o.is_excerpt = o.has_colour = false;
	annotate_text(&s.out, &v->assembly, o.has_types ? &v->types : NULL, &o);
	printout_close(&s, v->lines.n, &v->message);
}

/* ---- keys ---- */

static void quit(struct codeview *v)
{
	v->is_over = true;
}

/* Esc takes back the search first. */
static void escape(struct codeview *v)
{
	if (!v->search.n) {
		v->is_over = true;
		return;
	}
	str_cut(&v->search, 0);
	namesearch_set(&v->pattern, "");
}

#define CODE   CODEVIEW_CODE
#define LIST   CODEVIEW_LIST
#define MOVING (CODE | LIST)

struct codeview_key {
	struct keytable_row row;
	void (*act)(struct codeview *v);
};

/* clang-format off: a row a key */
static const struct codeview_key keys[] = {
	{{KEY_UP, 'k', MOVING, "Up, k", "go up a line"}, up},
	{{KEY_DOWN, 'j', MOVING, "Down, j", "go down a line"}, down},
	{{KEY_PAGE_UP, 'B' - '@', MOVING, "PgUp, Ctrl-B", "go up a screen"}, page_up},
	{{KEY_PAGE_DOWN, ' ', MOVING, "PgDn, Space", "go down a screen"}, page_down},
	{{KEY_HOME, 0, MOVING, "Home", "go to the first line"}, to_start},
	{{KEY_END, 0, MOVING, "End", "go to the last line"}, to_end},
	{{KEY_RIGHT, 0, CODE, "Right", "show the end of long lines"}, right},
	{{KEY_LEFT, 0, CODE, "Left",
		 "show the beginning of long lines again; else go back, as Backspace does; else leave"},
		left},
	{{'H', 0, CODE, "H", "go to the hottest instruction"}, to_hottest},
	{{KEY_TAB, 0, CODE, "Tab", "go to the instruction with the next fewer samples"}, next_hot},
	{{KEY_BACK_TAB, 0, CODE, "Shift-Tab", "go to the instruction with the next more samples"},
		hot_before},
	{{KEY_ENTER, 0, CODE, "Enter", "follow the jump, or open the function that is called"},
		follow},
	{{KEY_BACKSPACE, 0, CODE, "Backspace",
		 "go back to where the cursor was before it followed"},
		back},
	{{'>', 0, CODE, ">", "show the function with the next fewer samples"}, next_function},
	{{'<', 0, CODE, "<", "show the function with the next more samples"}, function_before},
	{{'l', 0, CODE, "l", "show the list of functions"}, show_list},
	{{KEY_ENTER, 0, LIST, "Enter", "show the code of this function"}, choose},
	{{'s', 0, CODE, "s", "show lines of source, or not"}, toggle_source},
	{{'o', 0, CODE, "o", "show the bytes of instructions, or not"}, toggle_bytes},
	{{'a', 0, CODE, "a", "show addresses, or not"}, toggle_addresses},
	{{'t', 0, CODE, "t",
		 "percentages of the function or of everything, of periods or of samples"},
		turn_percent},
	{{'v', 0, CODE, "v", "show percentages, samples or periods"}, turn_figure},
	{{'T', 0, CODE, "T", "show the types of the data that instructions access, or not"},
		toggle_types},
	{{'i', 0, CODE, "i", "Intel's syntax or AT&T's"}, turn_syntax},
	{{'/', 0, CODE, "/", "search in all lines: words, choices with |"}, begin_search},
	{{'n', 0, CODE, "n", "go to the next line that is found"}, find_next},
	{{'N', 0, CODE, "N", "go to the line before that is found"}, find_before},
	{{'P', 0, CODE, "P", "write the function as text to a new file pace.annotate.N"}, snapshot},
	{{'h', '?', CODE, "h, ?", "show these keys"}, show_help},
	{{'q', KEY_ESC, LIST, "q, Esc", "go back to the code"}, to_code},
	{{KEY_ESC, 0, CODE, "Esc", "take the search back, else leave the code"}, escape},
	{{'q', 0, CODE, "q", "leave the code"}, quit},
};
/* clang-format on */
static const struct keytable_mode modes[] = {{LIST, " (in the list)"}, {0}};
const struct keytable codeview_keys = {KEYTABLE(keys), modes};

static void press(struct codeview *v, u32 key)
{
	const struct codeview_key *k = keytable_find(&codeview_keys, v->mode, key);

	if (k)
		k->act(v);
	else
		say(v, "this key means nothing: h shows those that do");
}

/* The lines begin in the third line of the screen. */
static void click(struct codeview *v, unsigned row)
{
	enum { HEAD_LINES = 2 };
	const size_t line = v->first + row - HEAD_LINES;

	if (v->mode & ~(CODE | CODEVIEW_SEARCH) || row < HEAD_LINES ||
		row >= HEAD_LINES + v->height || line >= v->lines.n)
		return;
	if (line == v->line && v->mode == CODE)
		follow(v);
	else
		v->line = line;
}

void codeview_take(struct codeview *v, const struct screen_event *e)
{
	enum { WHEEL = 3 };

	if (e->kind != EVENT_RESIZE && e->kind != EVENT_TICK)
		str_cut(&v->message, 0);
	if (textpage_take(&v->page, e))
		return;
	if (e->kind == EVENT_KEY && v->mode == CODEVIEW_SEARCH)
		type(v, e->key);
	else if (e->kind == EVENT_KEY)
		press(v, e->key);
	else if (e->kind == EVENT_CLICK)
		click(v, e->row);
	else if (e->kind == EVENT_WHEEL_UP || e->kind == EVENT_WHEEL_DOWN)
		turn(v, e->kind == EVENT_WHEEL_UP ? -WHEEL : WHEEL);
	else if (e->kind == EVENT_END)
		v->is_over = true;
}

void codeview_init(struct codeview *v, const struct codeview_source *source,
	const struct codeview_place *place)
{
	*v = (struct codeview){.source = source,
		.how = *source->assembly,
		.shown = *source->shown,
		.mode = CODE};
	/* Lines can be switched on later. */
	v->how.has_source = v->how.has_code = true;
	codeview_open(v, place);
}

void codeview_fini(struct codeview *v)
{
	codeview_close(v);
	vec_fini(&v->lines);
	vec_fini(&v->hot);
	vec_fini(&v->before);
	intern_fini(&v->names);
	namesearch_fini(&v->pattern);
	textpage_fini(&v->page);
	str_fini(&v->notes);
	str_fini(&v->search);
	str_fini(&v->kept);
	str_fini(&v->message);
}

static void draw(void *of, struct grid *g)
{
	codeview_draw(of, g);
}

static void take(void *of, const struct screen_event *e)
{
	codeview_take(of, e);
}

static bool is_over(const void *of)
{
	const struct codeview *v = of;

	return v->is_over;
}

void codeview_run(const struct codeview_source *source, const struct codeview_place *place,
	struct screen *s)
{
	struct codeview v;

	codeview_init(&v, source, place);
	v.screen = s;
	screen_run(s,
		&(struct screen_view){.of = &v, .draw = draw, .take = take, .is_over = is_over});
	codeview_fini(&v);
}
