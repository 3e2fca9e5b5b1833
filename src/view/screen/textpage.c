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
	p->first = 0;
	str_cut(&p->text, 0);
	str_add(&p->text, text);
}

/*
 * How many bytes of the n at `text` stand on one line: as many words as there is room for, or as much of one word. *ret_next: where
 * the next line begins, behind the blanks.
 */
static size_t fold(const struct grid *g, size_t room, const char *text, size_t n, size_t *ret_next)
{
	struct glyph glyph;
	size_t at = 0, used = 0, word = 0;

	while (at < n) {
		const size_t length = glyph_next(text + at, n - at, g->is_ascii, &glyph);

		if (at && used + glyph.columns > room)
			break;
		if (text[at] == ' ' && at && text[at - 1] != ' ')
			word = at;
		at += length;
		used += glyph.columns;
	}
	if (at < n && text[at] != ' ' && word)
		at = word;
	*ret_next = at + strspn(text + at, " ");
	return at;
}

/* Under what the rest of a long line stands: its last column, if it has any, or its first word. */
static unsigned indent_of(const char *line, size_t n, size_t room)
{
	const size_t first = MIN(strspn(line, " "), n);
	size_t at = first;

	while (at + 1 < n && (line[at] != ' ' || line[at + 1] != ' '))
		at++;
	if (at + 1 < n)
		at += strspn(line + at, " ");
	return (unsigned)(at + 1 < n && at < room / 2 ? at : MIN(first + 2, room / 2));
}

/* Draws the lines of the page from p->first on, folded at the edge; returns how many the page has. No grid to draw on: only that. */
static size_t fold_lines(const struct textpage *p, const struct grid *size, struct grid *g)
{
	const struct grid_style plain = {0};
	const size_t room = size->columns > 2 ? size->columns - 2 : 1;
	size_t line = 0;

	for (const char *at = str_text(&p->text); *at; at += *at == '\n') {
		size_t n = strcspn(at, "\n"), next;
		unsigned indent = 0, under = indent_of(at, n, room);

		do {
			const size_t taken = fold(size, room - indent, at, n, &next);
			const size_t row = HEAD_LINES + line - p->first;

			if (g && line >= p->first && row + FOOT_LINES < g->rows)
				grid_put(g, (unsigned)row, 1 + indent, g->columns, at, taken,
					plain);
			next = MIN(next, n);
			at += next;
			n -= next;
			indent = under;
			line++;
		} while (n);
	}
	return line;
}

void textpage_move(struct textpage *p, long by)
{
	const size_t n = p->n_lines;

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
	const struct grid_style dim = {.attributes = GRID_DIM},
				reverse = {.attributes = GRID_REVERSE};
	struct str foot = {0};

	p->height = MAX(g->rows, HEAD_LINES + FOOT_LINES + 1u) - HEAD_LINES - FOOT_LINES;
	p->n_lines = fold_lines(p, g, NULL);
	textpage_move(p, 0);
	grid_blank(g, 0, 0, g->columns, reverse);
	grid_puts(g, 0, 1, p->title, reverse);
	fold_lines(p, g, g);
	if (p->n_lines > p->height)
		str_addf(&foot, "lines %zu to %zu of %zu   ", p->first + 1,
			MIN(p->first + p->height, p->n_lines), p->n_lines);
	str_add(&foot, "q: back");
	grid_puts(g, g->rows - 1, 0, str_text(&foot), dim);
	str_fini(&foot);
}

void textpage_fini(struct textpage *p)
{
	str_fini(&p->text);
}
