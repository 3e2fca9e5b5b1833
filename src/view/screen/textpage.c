#include "view/screen/textpage.h"

#include <string.h>

#include "view/screen/screen.h"

enum { HEAD_LINES = 2, FOOT_LINES = 1 };

size_t textpage_moved(size_t at, long by, size_t n)
{
	if (by < 0)
		return at > (size_t)-by ? at - (size_t)-by : 0;
	return n ? MIN(at + (size_t)by, n - 1) : 0;
}

void textpage_shift(unsigned *shift, bool is_right)
{
	enum { SHIFT = 8, SHIFT_MOST = 4096 };

	if (is_right)
		*shift = MIN(*shift + SHIFT, (unsigned)SHIFT_MOST);
	else
		*shift = *shift > SHIFT ? *shift - SHIFT : 0;
}

size_t textpage_shifted(const struct grid *g, unsigned columns, const char *text, size_t n)
{
	struct glyph glyph;
	size_t at = 0, passed = 0;

	while (at < n && passed < columns) {
		at += glyph_next(text + at, n - at, g->is_ascii, &glyph);
		passed += glyph.columns;
	}
	return at;
}

void textpage_show(struct textpage *p, const char *title, const char *text)
{
	p->is_open = true;
	p->title = title;
	p->first = p->shift = 0;
	str_cut(&p->text, 0);
	str_add(&p->text, text);
}

static size_t n_lines(const struct textpage *p)
{
	size_t n = 0;

	for (const char *at = str_text(&p->text); *at; at++)
		n += *at == '\n';
	return n;
}

void textpage_move(struct textpage *p, long by)
{
	const size_t n = n_lines(p);

	p->first = textpage_moved(p->first, by, n > p->height ? n - p->height + 1 : 1);
}

/* ---- keys ---- */

static void up(struct textpage *p)
{
	textpage_move(p, -1);
}

static void down(struct textpage *p)
{
	textpage_move(p, 1);
}

static void page_up(struct textpage *p)
{
	textpage_move(p, -(long)MAX(p->height, 1u));
}

static void page_down(struct textpage *p)
{
	textpage_move(p, (long)MAX(p->height, 1u));
}

static void to_start(struct textpage *p)
{
	textpage_move(p, -TEXTPAGE_FAR);
}

static void to_end(struct textpage *p)
{
	textpage_move(p, TEXTPAGE_FAR);
}

static void left(struct textpage *p)
{
	textpage_shift(&p->shift, false);
}

static void right(struct textpage *p)
{
	textpage_shift(&p->shift, true);
}

static void leave(struct textpage *p)
{
	p->is_open = false;
}

struct textpage_key {
	struct keytable_row row;
	void (*act)(struct textpage *p);
};

/* clang-format off: a row a key */
static const struct textpage_key keys[] = {
	{{KEY_UP, 'k', 1, "Up, k", "go up a line"}, up},
	{{KEY_DOWN, 'j', 1, "Down, j", "go down a line"}, down},
	{{KEY_PAGE_UP, 'B' - '@', 1, "PgUp, Ctrl-B", "go up a screen"}, page_up},
	{{KEY_PAGE_DOWN, ' ', 1, "PgDn, Space", "go down a screen"}, page_down},
	{{KEY_HOME, '<', 1, "Home, <", "go to the first line"}, to_start},
	{{KEY_END, '>', 1, "End, >", "go to the last line"}, to_end},
	{{KEY_LEFT, 0, 1, "Left", "show the beginning of long lines again"}, left},
	{{KEY_RIGHT, 0, 1, "Right", "show the end of long lines"}, right},
	{{'q', KEY_ESC, 1, "q, Esc", "go back"}, leave},
};
/* clang-format on */
const struct keytable textpage_keys = {KEYTABLE(keys)};

bool textpage_take(struct textpage *p, const struct screen_event *e)
{
	enum { WHEEL = 3 };
	const struct textpage_key *k =
		keytable_find(&textpage_keys, 1, e->kind == EVENT_KEY ? e->key : 0);

	if (!p->is_open || e->kind == EVENT_RESIZE || e->kind == EVENT_TICK || e->kind == EVENT_END)
		return false;
	if (k)
		k->act(p);
	else if (e->kind == EVENT_WHEEL_UP || e->kind == EVENT_WHEEL_DOWN)
		textpage_move(p, e->kind == EVENT_WHEEL_UP ? -WHEEL : WHEEL);
	return true;
}

void textpage_show_help(struct textpage *p, const struct keytable *of, const char *text)
{
	struct str help = {0};

	keytable_add_help(of, &help);
	str_add(&help, text ? text : "");
	keytable_add_help(&screen_keys, &help);
	textpage_show(p, "Keys", str_text(&help));
	str_fini(&help);
}

/* ---- drawing ---- */

void textpage_draw(struct textpage *p, struct grid *g)
{
	const struct grid_style plain = {0}, dim = {.attributes = GRID_DIM},
				reverse = {.attributes = GRID_REVERSE};
	const char *at = str_text(&p->text);
	size_t line = 0;

	p->height = MAX(g->rows, HEAD_LINES + FOOT_LINES + 1u) - HEAD_LINES - FOOT_LINES;
	grid_blank(g, 0, 0, g->columns, reverse);
	grid_puts(g, 0, 1, p->title, reverse);
	for (unsigned row = HEAD_LINES; *at && row + FOOT_LINES < g->rows; line++) {
		const size_t n = strcspn(at, "\n");

		if (line >= p->first) {
			const size_t from = textpage_shifted(g, p->shift, at, n);

			grid_put(g, row++, 1, g->columns, at + from, n - from, plain);
		}
		at += n + (at[n] != '\0');
	}
	grid_puts(g, g->rows - 1, 0, "q: back", dim);
}

void textpage_fini(struct textpage *p)
{
	str_fini(&p->text);
}
