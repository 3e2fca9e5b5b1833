#include "test.h"

#include "view/screen/grid.h"
#include "view/screen/repaint.h"

static const struct grid_style plain;

/* The grid as text. */
static const char *shown(const struct grid *g)
{
	static struct str text;

	str_cut(&text, 0);
	grid_add_text(g, &text);
	return str_text(&text);
}

/* What one row shows after a text was put between walls; the text must not touch them. */
static const char *between_walls(const char *name, bool is_ascii)
{
	static struct str text;
	struct grid g = {.is_ascii = is_ascii};

	grid_resize(&g, 20, 1);
	grid_puts(&g, 0, 0, "[", plain);
	grid_puts(&g, 0, 13, "]next", plain);
	CHECK(grid_put(&g, 0, 1, 13, name, strlen(name), plain) <= 13);
	str_cut(&text, 0);
	grid_add_row(&g, 0, &text);
	grid_fini(&g);
	return str_text(&text);
}

TEST(grid_cuts_text_at_the_end_of_its_place)
{
	struct grid g = {0};

	grid_resize(&g, 8, 2);
	CHECK_EQ(grid_puts(&g, 0, 5, "abcdef", plain), 8);
	CHECK_EQ(grid_put(&g, 1, 0, 3, "xyz!", 4, plain), 3);
	CHECK_EQ(grid_puts(&g, 2, 0, "below the grid", plain), 0);
	CHECK_STR(shown(&g), "     abc\nxyz\n");
	grid_blank(&g, 0, 6, 99, plain);
	CHECK_STR(shown(&g), "     a\nxyz\n");
	grid_fini(&g);
}

TEST(grid_draws_foreign_text_in_its_own_cells_only)
{
	CHECK_STR(between_walls("plain", false), "[plain       ]next");
	CHECK_STR(between_walls("a\033[2Jb", false), "[a\\x1b[2Jb   ]next");
	CHECK_STR(between_walls("\r\n\b", false), "[\\x0d\\x0a\\x08]next");
	CHECK_STR(between_walls("\xe2\x80\xae"
				"abc",
			  false),
		"[\\u202eabc   ]next");
	CHECK_STR(between_walls("\xff\xc3", false), "[\\xff\\xc3    ]next");
	CHECK_STR(between_walls("\xe6\xbc\xa2\xe5\xad\x97", false),
		"[\xe6\xbc\xa2\xe5\xad\x97        ]next");
	/* Joiners and variation selectors would make one glyph of two, or another width. */
	CHECK_STR(between_walls("a\xe2\x80\x8d"
				"b",
			  false),
		"[a\\u200db    ]next");
	CHECK_STR(between_walls("\xf3\xa0\x81\x81", false), "[\\U0e0041    ]next");
	CHECK_STR(between_walls("\xe6\xbc\xa2", true), "[\\u6f22      ]next");
}

TEST(grid_keeps_marks_on_their_character_and_gives_one_alone_a_blank)
{
	struct str many = {0};
	struct grid g = {0};

	CHECK_STR(between_walls("e\xcc\x81x", false), "[e\xcc\x81x          ]next");
	CHECK_STR(between_walls("\xcc\x81x", false), "[ \xcc\x81x          ]next");
	CHECK_STR(between_walls("e\xcc\x81", true), "[e\\u0301     ]next");
	str_add(&many, "z");
	for (int i = 0; i < 500; i++)
		str_add(&many, "\xcc\x81");
	str_add(&many, "!");
	grid_resize(&g, 4, 1);
	CHECK_EQ(grid_puts(&g, 0, 0, str_text(&many), plain), 2);
	CHECK(strlen(grid_at(&g, 0, 0)->glyph) < GLYPH_SIZE);
	CHECK_STR(grid_at(&g, 0, 1)->glyph, "!");
	CHECK_EQ(grid_width(&g, str_text(&many), many.n), 2);
	str_fini(&many);
	grid_fini(&g);
}

TEST(grid_never_draws_half_a_wide_glyph)
{
	struct grid g = {0};

	grid_resize(&g, 6, 1);
	CHECK_EQ(grid_put(&g, 0, 0, 3, "\xe6\xbc\xa2\xe5\xad\x97", 6, plain), 2);
	grid_puts(&g, 0, 2, "\xe5\xad\x97", plain);
	CHECK_STR(shown(&g), "\xe6\xbc\xa2\xe5\xad\x97\n");
	grid_puts(&g, 0, 1, "x", plain);
	CHECK_STR(shown(&g), " x\xe5\xad\x97\n");
	grid_puts(&g, 0, 2, "y", plain);
	CHECK_STR(shown(&g), " xy\n");
	grid_puts(&g, 0, 1, "\xe6\xbc\xa2", plain);
	grid_puts(&g, 0, 0, "\xe5\xad\x97", plain);
	CHECK_STR(shown(&g), "\xe5\xad\x97\n");
	grid_puts(&g, 0, 1, "\xe6\xbc\xa2", plain);
	CHECK_STR(shown(&g), " \xe6\xbc\xa2\n");
	for (unsigned i = 0; i < 6; i++)
		CHECK_EQ(grid_at(&g, 0, i)->columns, (i == 1 ? 2 : i == 2 ? 0 : 1));
	grid_fini(&g);
}

/* What a terminal is told. */
static const char *painted(const struct grid *from, const struct grid *to,
	enum repaint_colours colours)
{
	static struct str text;

	str_cut(&text, 0);
	repaint(from, to, colours, &text);
	return str_text(&text);
}

TEST(repaint_writes_only_cells_that_differ)
{
	struct grid a = {0}, b = {0};

	grid_resize(&a, 10, 2);
	grid_resize(&b, 10, 2);
	grid_puts(&a, 0, 0, "abcdef", plain);
	grid_puts(&b, 0, 0, "abXYef", plain);
	grid_puts(&b, 1, 8, "z", plain);
	CHECK_STR(painted(&a, &b, REPAINT_RGB), "\033[1;3HXY\033[2;9Hz");
	CHECK_STR(painted(&b, &b, REPAINT_RGB), "");
	CHECK_HAS(painted(NULL, &b, REPAINT_RGB), "\033[0m\033[2J\033[1;1HabXYef    \033[2;1H");
	grid_fini(&a);
	grid_fini(&b);
}

TEST(repaint_says_the_place_again_after_a_glyph_that_terminals_measure_differently)
{
	struct grid a = {0}, b = {0};

	grid_resize(&a, 10, 1);
	grid_resize(&b, 10, 1);
	grid_puts(&b, 0, 0, "\xe6\xbc\xa2x", plain);
	CHECK_HAS(painted(&a, &b, REPAINT_NONE), "\033[1;1H\xe6\xbc\xa2\033[1;3Hx ");
	/* Taken away, the whole row is drawn: the terminal may have used more cells. */
	CHECK_STR(painted(&b, &a, REPAINT_NONE), "\033[1;1H          ");
	grid_fini(&a);
	grid_fini(&b);
}

TEST(repaint_has_the_colours_that_the_terminal_has)
{
	const struct grid_style style = {.fg = GRID_RGB(0xff0000),
		.bg = GRID_RGB(0x808080),
		.attributes = GRID_BOLD};
	struct grid a = {0}, b = {0};

	grid_resize(&a, 2, 1);
	grid_resize(&b, 2, 1);
	grid_puts(&b, 0, 0, "x", style);
	CHECK_STR(painted(&a, &b, REPAINT_RGB),
		"\033[1;1H\033[0;1;38;2;255;0;0;48;2;128;128;128mx\033[0m");
	CHECK_STR(painted(&a, &b, REPAINT_256), "\033[1;1H\033[0;1;38;5;196;48;5;244mx\033[0m");
	CHECK_STR(painted(&a, &b, REPAINT_16), "\033[1;1H\033[0;1;31;47mx\033[0m");
	CHECK_STR(painted(&a, &b, REPAINT_NONE), "\033[1;1H\033[0;1mx\033[0m");
	CHECK_EQ(repaint_colours("truecolor", "xterm", NULL), REPAINT_RGB);
	CHECK_EQ(repaint_colours("truecolor", "xterm", "1"), REPAINT_NONE);
	CHECK_EQ(repaint_colours(NULL, "tmux-256color", ""), REPAINT_256);
	CHECK_EQ(repaint_colours("", "xterm", NULL), REPAINT_16);
	CHECK_EQ(repaint_colours(NULL, "vt100", NULL), REPAINT_NONE);
	CHECK_EQ(repaint_colours(NULL, NULL, NULL), REPAINT_NONE);
	grid_fini(&a);
	grid_fini(&b);
}
