#include "view/screen/textpage.h"

#include <string.h>

enum { HEAD_LINES = 2, FOOT_LINES = 1 };

size_t textpage_moved(size_t at, long by, size_t n)
{
	if (by < 0)
		return at > (size_t)-by ? at - (size_t)-by : 0;
	return n ? MIN(at + (size_t)by, n - 1) : 0;
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

void textpage_draw(struct textpage *p, struct grid *g)
{
	const struct grid_style plain = {0}, reverse = {.attributes = GRID_REVERSE};
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
}

void textpage_fini(struct textpage *p)
{
	str_fini(&p->text);
}
