/*
 * browser.h - tables with trees below their rows, to walk through with keys.
 *
 * In       tables of cells, opened one at a time; pages of text; keys and clicks
 * Out      a grid; a file with the rows, if a key asks for it
 * Owns     the table that is open, until browser_fini()
 * Errors   those of the screen; messages about files are on the screen
 */
#ifndef PACE_VIEW_BROWSER_H
#define PACE_VIEW_BROWSER_H

#include "view/screen/lineup.h"
#include "view/screen/screen.h"
#include "view/text/celltext.h"

/* A text that a key shows. */
struct browser_page {
	u32 key; /* BROWSER_KEY_LEDGER or BROWSER_KEY_HEADER */
	const char *title, *text;
};

enum { BROWSER_KEY_LEDGER = 'l', BROWSER_KEY_HEADER = 'i' };

struct browser_source {
	const char *title;
	size_t n; /* tables, at least one */
	/* Opens a table, and closes the one before. */
	const struct rowset *(*open)(void *of, size_t table);
	void *of;
	const struct drawing_options *drawing;
	const struct browser_page *pages;
	size_t n_pages;
};

enum browser_mode { BROWSER_ROWS = 1, BROWSER_PAGE = 2, BROWSER_MENU = 4, BROWSER_SEARCH = 8 };

struct browser {
	const struct browser_source *source;
	struct screen *screen; /* for other views that keys open; NULL: in tests of single keys */
	size_t table;
	const struct rowset *rows;
	struct lineup lineup;
	struct celltext *layouts;
	size_t *widths;         /* of columns, as far as rows were drawn */
	size_t heat;            /* the column that bars are of; n_shown: none */
	size_t line, first;     /* the cursor, and the first line that is drawn */
	unsigned height, shift; /* lines that are drawn; columns of long texts that are not */
	u8 mode;                /* enum browser_mode */
	bool is_over, wants_stop, is_stale; /* is_stale: the screen must be drawn whole */
	struct str search, kept, message;   /* what is typed; what was searched for before */
	bool filters;
	const char *page_title;
	struct str page;
	size_t page_first;
	size_t choice; /* in the menu: a column, or n_shown */
};

/* A row of the table of keys. */
struct browser_key {
	u32 key, other; /* enum key_code or a character; 0: no other */
	u8 modes;       /* in which it means this */
	const char *name;
	const char *what;
	void (*act)(struct browser *b);
};

extern const struct browser_key browser_keys[];
extern const size_t n_browser_keys;

void browser_init(struct browser *b, const struct browser_source *source);
void browser_fini(struct browser *b);

void browser_take(struct browser *b, const struct screen_event *e);
void browser_draw(struct browser *b, struct grid *g);

/* Adds a line as it is on the screen, but whole. */
void browser_add_line(struct browser *b, size_t line, struct str *text);
/* Adds the table of keys as text. */
void browser_add_help(struct str *text);

/* Until a key ends it. */
void browser_run(const struct browser_source *source, struct screen *s);

#endif
