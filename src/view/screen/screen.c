#include "view/screen/screen.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/pager.h"
#include "base/progress.h"
#include "base/term.h"
#include "view/screen/guard.h"

bool screen_is_possible(void)
{
	const char *term = getenv("TERM");

	return term_is_terminal(STDOUT_FILENO) && term && *term && strcmp(term, "dumb");
}

/* Whether PACE_TUI says that text is the default. */
static bool is_switched_off(void)
{
	static const char *const words[] = {"0", "no", "off", "false"};
	const char *value = getenv("PACE_TUI");

	for (size_t i = 0; value && i < ARRAY_SIZE(words); i++)
		if (!strcasecmp(value, words[i]))
			return true;
	return false;
}

bool screen_is_welcome(void)
{
	return screen_is_possible() && !is_switched_off() && !pager_is_asked_for();
}

bool screen_is_default(void)
{
	return screen_is_welcome() && term_is_terminal(STDIN_FILENO);
}

/* The first of the variables that is set says which characters there are. */
static bool is_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

/* ---- what both ends have ---- */

void screen_terminal_size(struct screen *s, unsigned *ret_columns, unsigned *ret_rows)
{
	struct winsize size;
	const bool is_known =
		!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col && size.ws_row;

	(void)s;
	/* A terminal of more cells than this is a mistake. */
	*ret_columns = is_known ? MIN(size.ws_col, 2000u) : 80;
	*ret_rows = is_known ? MIN(size.ws_row, 1000u) : 24;
}

bool screen_terminal_write(struct screen *s, const char *text, size_t n)
{
	(void)s;
	while (n) {
		const ssize_t done = write(STDOUT_FILENO, text, n);

		if (done < 0 && errno == EAGAIN)
			poll(&(struct pollfd){.fd = STDOUT_FILENO, .events = POLLOUT}, 1, -1);
		else if (done < 0 && errno != EINTR)
			return false;
		text += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return true;
}

void screen_terminal_suspend(struct screen *s)
{
	(void)s;
	guard_suspend();
}

/* ---- screens ---- */

static int open_end(struct screen *s, const struct screen_end *end, struct err *err)
{
	*s = (struct screen){.end = end,
		.colours = repaint_colours(getenv("COLORTERM"), getenv("TERM"), getenv("NO_COLOR")),
		.is_ascii = !is_utf8(),
		.is_stale = true};
	progress_hide(true);
	if (!end->open(s, err))
		return 0;
	progress_hide(false);
	return err->code;
}

/* The last one works with most terminals without knowing them. */
static const struct screen_end *const ends[] = {&screen_ncurses, &screen_ansi};

int screen_open(struct screen *s, const struct screen_end *end, struct err *err)
{
	const char *name = getenv("PACE_SCREEN");

	if (end)
		return open_end(s, end, err);
	for (size_t i = 0; name && *name && i < ARRAY_SIZE(ends); i++)
		if (!strcmp(ends[i]->name, name))
			return open_end(s, ends[i], err);
	if (name && *name)
		return err_set(err, ERR_INVAL, "PACE_SCREEN '%s' is neither ncurses nor ansi",
			name);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (!open_end(s, ends[i], err))
			return 0;
		else if (err->code != ERR_UNSUPPORTED)
			break;
	return err->code;
}

void screen_close(struct screen *s)
{
	s->end->close(s);
	progress_hide(false);
	grid_fini(&s->shown);
	str_fini(&s->text);
	vec_fini(&s->ahead);
}

void screen_fit(struct screen *s, struct grid *g)
{
	unsigned columns, rows;

	s->end->size(s, &columns, &rows);
	if (g->columns != columns || g->rows != rows)
		grid_resize(g, columns, rows);
	else
		grid_clear(g);
	g->is_ascii = s->is_ascii;
}

bool screen_show(struct screen *s, const struct grid *g)
{
	const bool is_whole =
		s->is_stale || s->shown.columns != g->columns || s->shown.rows != g->rows;
	bool is_there;

	str_clear(&s->text);
	repaint(is_whole ? NULL : &s->shown, g, s->colours, &s->text);
	is_there = !s->text.n || s->end->write(s, str_text(&s->text), s->text.n);
	if (is_whole)
		grid_resize(&s->shown, g->columns, g->rows);
	memcpy(s->shown.cells, g->cells, (size_t)g->columns * g->rows * sizeof(*g->cells));
	s->is_stale = false;
	return is_there;
}

void screen_suspend(struct screen *s)
{
	s->end->suspend(s);
	s->is_stale = true;
}

/* ---- keys of all views ---- */

static void redraw(struct screen *s)
{
	s->is_stale = true;
}

struct screen_key {
	struct keytable_row row;
	void (*act)(struct screen *s);
};

static const struct screen_key keys[] = {
	{{'L' - '@', 0, 1, "Ctrl-L", "draw the screen again"}, redraw},
	{{'Z' - '@', 0, 1, "Ctrl-Z", "stop, until the shell's fg"}, screen_suspend},
};
const struct keytable screen_keys = {KEYTABLE(keys)};

void screen_keep(struct screen *s, const struct screen_event *e)
{
	vec_add(&s->ahead, *e);
}

static void read_event(struct screen *s, int wait_ms, struct screen_event *ret)
{
	if (!s->ahead.n) {
		s->end->read(s, wait_ms, ret);
		return;
	}
	*ret = s->ahead.at[0];
	s->ahead.n--;
	memmove(s->ahead.at, s->ahead.at + 1, s->ahead.n * sizeof(*s->ahead.at));
}

void screen_run(struct screen *s, const struct screen_view *view)
{
	const struct screen_key *key;
	struct grid g = {0};
	struct screen_event e;

	while (!view->is_over(view->of) && !s->is_gone) {
		screen_fit(s, &g);
		view->draw(view->of, &g);
		s->is_gone = !screen_show(s, &g);
		if (s->is_gone)
			e = (struct screen_event){.kind = EVENT_END};
		else
			read_event(s, view->wait_ms ? view->wait_ms : -1, &e);
		s->is_stale |= e.kind == EVENT_RESIZE;
		s->is_gone |= e.kind == EVENT_END;
		key = keytable_find(&screen_keys, 1, e.kind == EVENT_KEY ? e.key : 0);
		if (key)
			key->act(s);
		else
			view->take(view->of, &e);
	}
	grid_fini(&g);
}
