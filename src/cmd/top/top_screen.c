#include "cmd/top/top_screen.h"

#include <stdlib.h>

#include "cmd/report/report_spot.h"
#include "cmd/top/top_plain.h"
#include "cmd/top/top_source.h"
#include "view/screen/browser.h"
#include "view/screen/guard.h"
#include "view/screen/place.h"
#include "view/screen/prompt.h"

enum { ROWS_MOST = 4000 }; /* those behind have a sample or two */

struct top_screen {
	struct top_source source;
	struct screen screen;
	bool is_open; /* the screen; under the lock of `source` */
	struct browser_source tables;
	struct top_shown now, next; /* next.setup NULL: there is none */
	struct top_table table;
	bool has_table, is_frozen;
	VEC(struct zoom) zooms; /* what is looked at more closely, in this order */
	struct part part;       /* the rows that they leave */
	bool is_part;
	struct str title, opening, notes;
	struct browser_page pages[1];
};

/* ---- tables ---- */

/* Zooms into what rows are not grouped by any more have no rows. */
static void drop_zooms(struct top_screen *t)
{
	size_t n = 0;

	vec_each(zoom, &t->zooms) {
		const enum profile_label label = zoom_label(zoom);

		if (label == LABEL_NONE || t->now.moment.profile.labels & LABEL_BIT(label))
			t->zooms.at[n++] = *zoom;
		else
			zoom_fini(zoom);
	}
	t->zooms.n = n;
}

/* What is shown of the present moment. */
static void make_part(struct top_screen *t)
{
	const struct moment *m = &t->now.moment;

	if (t->is_part)
		part_fini(&t->part);
	drop_zooms(t);
	t->is_part = t->zooms.n;
	if (t->is_part)
		zoom_part(&t->part, &m->profile, &m->calls,
			t->now.setup->options.filter.is_relative, t->zooms.at, t->zooms.n);
}

static const struct rowset *open_table(void *of, size_t table)
{
	struct top_screen *t = of;

	if (t->has_table)
		top_table_close(&t->table);
	t->has_table = true;
	if (t->next.setup) {
		if (t->is_part)
			part_fini(&t->part);
		t->is_part = false;
		if (t->now.setup)
			moment_fini(&t->now.moment);
		t->now = t->next;
		t->next.setup = NULL;
	}
	make_part(t);
	top_table_open(&t->table, &t->now.setup->rows,
		t->is_part ? &t->part.profile : &t->now.moment.profile,
		t->is_part ? &t->part.calls : &t->now.moment.calls, (u32)table,
		t->now.setup->options.n_rows ? t->now.setup->options.n_rows : ROWS_MOST);
	return &t->table.rows.rows;
}

static void set_title(struct top_screen *t, const struct top_shown *of)
{
	str_cut(&t->title, 0);
	for (size_t i = 0; i < t->zooms.n; i++) {
		str_add(&t->title, i ? " > " : "");
		zoom_add_text(&t->zooms.at[i], &t->title);
	}
	str_add(&t->title, t->zooms.n ? "; " : "");
	top_add_modes(&of->moment, &of->facts, &t->title);
	pthread_mutex_lock(&t->source.lock);
	str_addf(&t->title, "; %s", str_text(&t->source.head));
	pthread_mutex_unlock(&t->source.lock);
	t->tables.title = str_text(&t->title);
}

/* What was said while everything was opened is a page: the terminal is about to be another. */
static void note_opening(struct top_screen *t)
{
	vec_each(held, &t->source.log->held)
		if (held->level != LOG_DEBUG)
			str_addf(&t->opening, "%s\n", held->sentence);
}

/* So is what a fleet lacks. */
static void set_pages(struct top_screen *t)
{
	str_cut(&t->notes, 0);
	str_addn(&t->notes, str_text(&t->opening), t->opening.n);
	pthread_mutex_lock(&t->source.lock);
	str_addn(&t->notes, str_text(&t->source.lacks), t->source.lacks.n);
	pthread_mutex_unlock(&t->source.lock);
	t->pages[0] = (struct browser_page){BROWSER_KEY_LEDGER, "Notes", str_text(&t->notes)};
	t->tables.pages = t->pages;
	t->tables.n_pages = t->notes.n ? 1 : 0;
}

/* All events have a table, also those without samples so far. */
static void set_tables(struct top_screen *t)
{
	t->tables.n = MAX(top_rows_n_tables(&t->next.setup->rows, &t->next.moment), 1u);
	t->tables.drawing = &t->next.setup->rows.text.drawing;
	set_title(t, &t->next);
	set_pages(t);
}

static void tell_what_was_said(struct top_screen *t, struct browser *b)
{
	struct str said = {0};

	pthread_mutex_lock(&t->source.lock);
	str_add(&said, str_text(&t->source.said));
	str_cut(&t->source.said, 0);
	pthread_mutex_unlock(&t->source.lock);
	if (said.n)
		browser_say(b, str_text(&said));
	str_fini(&said);
}

static void look(void *of, struct browser *b)
{
	struct top_screen *t = of;
	struct place place;

	tell_what_was_said(t, b);
	if (t->is_frozen || !top_source_take(&t->source, &t->next))
		return;
	set_tables(t);
	place_keep(&place, b);
	place_bring_back(&place, b);
}

static void add_status(void *of, struct str *text)
{
	struct top_screen *t = of;
	struct feed_settings wished;

	pthread_mutex_lock(&t->source.lock);
	wished = t->source.wished;
	pthread_mutex_unlock(&t->source.lock);
	str_add(text, t->is_frozen ? "FROZEN  " : "");
	str_add(text, wished.is_paused ? "PAUSED  " : "");
	str_add(text, wished.is_zeroed ? "zeroed each time  " : "");
	str_add(text, wished.hides_kernel ? "no kernel  " : wished.hides_user ? "no user  " : "");
	top_add_rates(&t->now.facts, text);
}

static const struct browser_live live = {look, add_status};

/* ---- keys ---- */

/* Asks for a text in the last line. */
struct asking {
	struct browser *below;
	const char *question;
	struct str *text;
	bool is_over, is_taken;
};

static void draw_question(void *of, struct grid *g)
{
	static const struct grid_style plain, reverse = {.attributes = GRID_REVERSE};
	struct asking *a = of;
	unsigned end;

	browser_draw(a->below, g);
	grid_blank(g, g->rows - 1, 0, g->columns, plain);
	end = grid_puts(g, g->rows - 1, 0, a->question, plain);
	end = grid_puts(g, g->rows - 1, end, str_text(a->text), plain);
	grid_puts(g, g->rows - 1, end, " ", reverse);
}

static void take_answer(void *of, const struct screen_event *e)
{
	struct asking *a = of;

	if (e->kind != EVENT_KEY)
		return;
	a->is_taken = e->key == KEY_ENTER;
	a->is_over = a->is_taken || e->key == KEY_ESC;
	if (!a->is_over)
		prompt_take(a->text, e->key);
}

static bool is_answered(const void *of)
{
	return ((const struct asking *)of)->is_over;
}

static bool ask(struct browser *b, const char *question, struct str *text)
{
	struct asking a = {.below = b, .question = question, .text = text};

	screen_run(b->screen,
		&(struct screen_view){.of = &a,
			.draw = draw_question,
			.take = take_answer,
			.is_over = is_answered});
	return a.is_taken && text->n;
}

/* These are about the whole table: every line offers them. */
#define OFFER(name, text)                                                                    \
	static bool offer_##name(void *of, const struct browser_spot *at, struct str *title) \
	{                                                                                    \
		(void)of;                                                                    \
		(void)at;                                                                    \
		str_add(title, text);                                                        \
		return true;                                                                 \
	}

/* The same of what only this machine can do. */
#define OFFER_HERE(name, text, why)                                                          \
	static bool offer_##name(void *of, const struct browser_spot *at, struct str *title) \
	{                                                                                    \
		(void)at;                                                                    \
		str_add(title, is_of_fleet(of) ? why : text);                                \
		return !is_of_fleet(of);                                                     \
	}

static bool is_of_fleet(const struct top_screen *t)
{
	return t->now.setup->options.fleet;
}

OFFER(freeze, "Freeze the screen; measuring goes on")
OFFER(pause, "Pause measuring")
OFFER_HERE(zero, "Count anew each time, or let counts fade",
	"what a fleet sent is counted anew each time")
OFFER(kernel, "Leave out the kernel, or not")
OFFER(user, "Leave out user space, or not")
OFFER(delay, "Show it anew after so many seconds ...")
OFFER_HERE(event, "Measure another event ...", "which events there are is the hosts' choice")
OFFER(keys, "Group by other keys ...")
OFFER_HERE(wall, "Count time on and off CPUs, or samples", "hosts send samples")

static bool offer_forget(void *of, const struct browser_spot *at, struct str *title)
{
	(void)at;
	str_add(title, is_of_fleet(of) ? "Ask the store now" : "Forget what was counted so far");
	return true;
}

static void freeze(void *of, struct browser *b, const struct browser_spot *at)
{
	struct top_screen *t = of;

	(void)at;
	t->is_frozen = !t->is_frozen;
	browser_say(b,
		t->is_frozen ? "frozen: measuring goes on, F shows it again"
			     : "the screen follows again");
}

/* Changes a setting under the lock, and wakes the thread that measures. */
static void wish(struct top_screen *t, void (*set)(struct top_source *s))
{
	pthread_mutex_lock(&t->source.lock);
	set(&t->source);
	pthread_mutex_unlock(&t->source.lock);
	top_source_wake(&t->source);
}

static void set_pause(struct top_source *s)
{
	s->wished.is_paused = !s->wished.is_paused;
}

static void set_forget(struct top_source *s)
{
	s->forgets = true;
}

static void set_zero(struct top_source *s)
{
	s->wished.is_zeroed = !s->wished.is_zeroed;
}

static void set_kernel(struct top_source *s)
{
	s->wished.hides_kernel = !s->wished.hides_kernel;
	s->wished.hides_user = false;
}

static void set_user(struct top_source *s)
{
	s->wished.hides_user = !s->wished.hides_user;
	s->wished.hides_kernel = false;
}

#define WISH(name)                                                                          \
	static void wish_##name(void *of, struct browser *b, const struct browser_spot *at) \
	{                                                                                   \
		(void)b;                                                                    \
		(void)at;                                                                   \
		wish(of, set_##name);                                                       \
	}

WISH(pause)
WISH(forget)
WISH(zero)
WISH(kernel)
WISH(user)

static void ask_delay(void *of, struct browser *b, const struct browser_spot *at)
{
	struct top_screen *t = of;
	struct str text = {0};
	double seconds;
	char *end;

	(void)at;
	if (ask(b, "seconds between two refreshes: ", &text)) {
		seconds = strtod(str_text(&text), &end);
		if (*end || !(seconds >= TOP_DELAY_LEAST && seconds <= TOP_DELAY_MOST)) {
			browser_say(b, "not a number of seconds, like 0.5");
		} else {
			pthread_mutex_lock(&t->source.lock);
			t->source.wished.delay_s = seconds;
			pthread_mutex_unlock(&t->source.lock);
			top_source_wake(&t->source);
		}
	}
	str_fini(&text);
}

static void change(struct top_screen *t, struct browser *b, const struct top_change *c)
{
	struct err err;

	browser_say(b, top_source_change(&t->source, c, &err) ? err.msg : "begins anew");
}

static void turn_wall(void *of, struct browser *b, const struct browser_spot *at)
{
	(void)at;
	change(of, b, &(struct top_change){.turns_wall = true});
}

static void ask_event(void *of, struct browser *b, const struct browser_spot *at)
{
	struct str text = {0};

	(void)at;
	if (ask(b, "event: ", &text))
		change(of, b, &(struct top_change){.event = str_text(&text)});
	str_fini(&text);
}

static void ask_keys(void *of, struct browser *b, const struct browser_spot *at)
{
	struct str text = {0};

	(void)at;
	if (ask(b, "keys to group by, like comm,symbol: ", &text))
		change(of, b, &(struct top_change){.keys = str_text(&text)});
	str_fini(&text);
}

/* ---- what a line is about ---- */

static const struct hist *hist_of(const void *of)
{
	return &((const struct top_screen *)of)->table.hist;
}

static void pop(struct top_screen *t, struct browser *b)
{
	zoom_fini(&t->zooms.at[--t->zooms.n]);
	set_title(t, &t->now);
	browser_renew(b);
}

static void zoom_into(struct top_screen *t, struct browser *b, struct zoom zoom)
{
	vec_add(&t->zooms, zoom);
	set_title(t, &t->now);
	browser_renew(b);
	if (t->part.profile.rows.n)
		return;
	pop(t, b);
	browser_say(b, "no sample was taken in it, only in what it called");
}

static bool back(void *of, struct browser *b)
{
	struct top_screen *t = of;

	if (!t->zooms.n)
		return false;
	pop(t, b);
	return true;
}

static bool offer_dso(void *of, const struct browser_spot *at, struct str *title)
{
	return spot_offer_dso(hist_of(of), at, title);
}

static void zoom_dso(void *of, struct browser *b, const struct browser_spot *at)
{
	zoom_into(of, b, spot_dso(hist_of(of), at));
}

static bool offer_thread(void *of, const struct browser_spot *at, struct str *title)
{
	return spot_offer_thread(hist_of(of), at, title);
}

static void zoom_thread(void *of, struct browser *b, const struct browser_spot *at)
{
	struct zoom zoom;

	if (spot_thread(hist_of(of), at, &zoom))
		zoom_into(of, b, zoom);
}

static bool offer_code(void *of, const struct browser_spot *at, struct str *title)
{
	const struct top_screen *t = of;

	if (is_of_fleet(t)) {
		str_add(title, "the code is on the hosts: 'pace record' there, or 'pace annotate'");
		return false;
	}
	if (t->now.setup->options.record.records.has_wall) {
		str_add(title,
			"time on and off CPUs is of functions: W shows samples, which have code");
		return false;
	}
	if (!spot_has_function(hist_of(of), at, title))
		return false;
	str_addf(title, "Annotate %s", spot_function_of(hist_of(of), at)->name);
	return true;
}

static void show_code(void *of, struct browser *b, const struct browser_spot *at)
{
	struct top_screen *t = of;
	const u32 symbol = spot_symbol(hist_of(t), at);
	struct top_code *code;

	browser_wait(b, "reading ...");
	code = top_source_code(&t->source);
	browser_say(b, "");
	if (code)
		top_code_show(code, &t->now.setup->options, &t->now.moment.profile, symbol, b);
	else
		browser_say(b, "what was measured cannot be looked at any more");
	top_code_free(code);
}

/* clang-format off: a row a key */
static const struct browser_action actions[] = {
	{'a', "a", "show the code of the line's function, with its samples until now", offer_code,
		false, show_code},
	{'d', "d", "zoom into the line's file", offer_dso, false, zoom_dso},
	{'t', "t",
		"zoom into the row's thread, process or threads of this name, as rows are grouped",
		offer_thread, false, zoom_thread},
	{'F', "F", "freeze the screen, or let it follow again", offer_freeze, true, freeze},
	{'p', "p", "pause measuring, or go on", offer_pause, true, wish_pause},
	{'Z', "Z", "forget what was counted so far", offer_forget, true, wish_forget},
	{'z', "z", "count anew each time, or let counts fade", offer_zero, true, wish_zero},
	{'K', "K", "leave out samples in the kernel, or not", offer_kernel, true, wish_kernel},
	{'U', "U", "leave out samples in user space, or not", offer_user, true, wish_user},
	{'D', "D", "set the seconds between two refreshes", offer_delay, true, ask_delay},
	{'v', "v", "measure another event", offer_event, true, ask_event},
	{'s', "s", "group by other keys", offer_keys, true, ask_keys},
	{'W', "W", "count the time of threads, on CPUs and off them, or samples", offer_wall, true,
		turn_wall},
};
/* clang-format on */

/* ---- beginning and end ---- */

static void tell(void *ctx, bool is_end)
{
	struct top_screen *t = ctx;

	pthread_mutex_lock(&t->source.lock);
	if (t->is_open)
		guard_wake(is_end ? EVENT_END : EVENT_TICK);
	pthread_mutex_unlock(&t->source.lock);
}

/* Nobody may wake a screen that is closed. */
static void set_open(struct top_screen *t, bool is_open)
{
	pthread_mutex_lock(&t->source.lock);
	t->is_open = is_open;
	pthread_mutex_unlock(&t->source.lock);
}

static int browse(struct top_screen *t, struct err *err)
{
	if (screen_open(&t->screen, NULL, err))
		return err->code;
	set_open(t, true);
	browser_run(&t->tables, &t->screen);
	set_open(t, false);
	screen_close(&t->screen);
	return 0;
}

static int run(struct top_screen *t, const struct top_options *o, char **command, struct log *log,
	struct err *err)
{
	log_hold(log);
	if (top_source_open(&t->source, o, command, log, err))
		return err->code;
	t->source.tell = tell;
	t->source.ctx = t;
	note_opening(t);
	if (top_source_start(&t->source, err))
		return err->code;
	if (top_source_wait(&t->source) && top_source_take(&t->source, &t->next)) {
		t->tables.open = open_table;
		t->tables.of = t;
		t->tables.live = &live;
		t->tables.back = back;
		t->tables.actions = actions;
		t->tables.n_actions = ARRAY_SIZE(actions);
		set_tables(t);
		if (browse(t, err))
			return err->code;
	}
	return 0;
}

int top_screen(const struct top_options *o, char **command, struct log *log, struct err *err)
{
	struct top_screen t = {0};
	int result = run(&t, o, command, log, err);

	if (t.has_table)
		top_table_close(&t.table);
	if (t.is_part)
		part_fini(&t.part);
	vec_each(zoom, &t.zooms)
		zoom_fini(zoom);
	vec_fini(&t.zooms);
	top_source_close(&t.source);
	if (!result && t.source.failure.code) {
		*err = t.source.failure;
		result = err->code;
	}
	if (t.now.setup)
		moment_fini(&t.now.moment);
	if (t.next.setup)
		moment_fini(&t.next.moment);
	str_fini(&t.title);
	str_fini(&t.opening);
	str_fini(&t.notes);
	if (result)
		log_forget(log);
	else
		log_release(log);
	return result;
}
