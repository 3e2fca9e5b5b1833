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
#include "view/screen/textpage.h"
#include "view/text/celltext.h"

/* A text that a key shows. */
struct browser_page {
	u32 key; /* BROWSER_KEY_LEDGER or BROWSER_KEY_HEADER */
	const char *title, *text;
};

enum { BROWSER_KEY_LEDGER = 'l', BROWSER_KEY_HEADER = 'i' };

struct browser;

/* What the cursor is on. */
struct browser_spot {
	const struct rowset *rows;
	u32 row;
	const struct rowset
		*tree; /* what is below the row; NULL: the cursor is on the row itself */
	u32 node;      /* of the tree */
};

/* What can be done with a line: a row of the menu, and a key. */
struct browser_action {
	u32 key;          /* 0: it is only in the menu */
	const char *name; /* of the key, and what it does: for the help */
	const char *what;
	/* Adds what it would do with this line, for the menu. False: nothing, and the text may say why. */
	bool (*offer)(void *of, const struct browser_spot *at, struct str *title);
	/* It is about the whole table: offer() and act() get no spot if there are no lines. */
	bool is_general;
	/* May run other views on b->screen. If it changes the tables, it calls browser_renew(). */
	void (*act)(void *of, struct browser *b, const struct browser_spot *at);
};

/* For tables that change while they are shown: see view/screen/place.h. */
struct browser_live {
	/* Called before each event is taken, and when another thread wakes the screen. */
	void (*look)(void *of, struct browser *b);
	/* Adds to the last line, in front of what keys do. */
	void (*add_status)(void *of, struct str *text);
};

/* What rows can be sorted by besides the columns that are shown: more lines of that menu. */
struct browser_orders {
	/* Adds them by browser_menu_add_order(). */
	void (*add)(void *of, struct browser *b);
	/* Takes one. It changes the tables, and calls browser_renew(). */
	void (*take)(void *of, struct browser *b, size_t order);
};

struct browser_source {
	const char *title;
	size_t n; /* tables, at least one */
	/* Opens a table, and closes the one before. */
	const struct rowset *(*open)(void *of, size_t table);
	void *of;
	const struct drawing_options *drawing;
	const struct browser_page *pages;
	size_t n_pages;
	const struct browser_action *actions; /* their keys are none of browser_keys */
	size_t n_actions;
	const struct browser_orders *orders; /* NULL: there are only the columns */
	const struct browser_live *live;     /* NULL: nothing changes */
	/* Takes back what the last action changed, and calls browser_renew(); false: there is nothing to take back. NULL: likewise. */
	bool (*back)(void *of, struct browser *b);
	bool is_inner; /* it runs inside of another view: q goes back there */
};

enum browser_mode { BROWSER_ROWS = 1, BROWSER_MENU = 2, BROWSER_SEARCH = 4 };

/* A row of a menu. */
struct browser_item {
	struct str title;
	size_t what;    /* for the one who made the menu */
	struct str why; /* why it cannot be taken; empty: it can */
};

struct browser {
	const struct browser_source *source;
	struct screen *screen; /* for other views that keys open; NULL: in tests of single keys */
	size_t table;
	const struct rowset *rows;
	struct lineup lineup;
	struct celltext *layouts;
	size_t *widths; /* of columns, as far as rows were drawn */
	size_t heat;    /* the column that bars are of; n_shown: none */
	size_t order;   /* the column that rows are sorted by; n_shown: as they come */
	u32 part;       /* of several events in a table: the one that bars and that order are of */
	size_t line, first;     /* the cursor, and the first line that is drawn */
	unsigned height, shift; /* lines that are drawn; columns of long texts that are not */
	u8 mode;                /* enum browser_mode */
	bool is_over;
	struct str search, kept, message; /* what is typed; what was searched for before */
	bool filters;
	struct textpage page;
	const char *menu_title;
	VEC(struct browser_item) menu;
	size_t choice; /* in the menu */
	void (*choose)(struct browser *b, size_t what);
	struct screen_view view; /* what runs on the screen */
};

extern const struct keytable browser_keys;

void browser_init(struct browser *b, const struct browser_source *source);
void browser_fini(struct browser *b);

void browser_take(struct browser *b, const struct screen_event *e);
void browser_draw(struct browser *b, struct grid *g);

/* Adds the name of one of the events that the table is of. */
void browser_add_part(const struct browser *b, u32 part, struct str *text);
static inline u32 browser_n_parts(const struct browser *b)
{
	return MAX(b->rows->n_parts, 1u);
}

/* Adds a line as it is on the screen, but whole. */
void browser_add_line(struct browser *b, size_t line, struct str *text);

/* ---- for actions ---- */

/* What stands in the last line until the next key. */
void browser_say(struct browser *b, const char *text);
/* A text, until a key goes back to the rows. */
void browser_show_page(struct browser *b, const char *title, const char *text);
/* Shows this text at once: something that takes long begins. */
void browser_wait(struct browser *b, const char *text);
/* A menu: first cleared, then each line added, then shown. choose() gets the `what` of the line that was taken. */
void browser_menu_clear(struct browser *b);
void browser_menu_add(struct browser *b, const char *title, size_t what);
void browser_menu_show(struct browser *b, const char *title,
	void (*choose)(struct browser *b, size_t what));
/* Says of the line that was added last why it cannot be taken. */
void browser_menu_refuse(struct browser *b, const char *why);
/* For browser_orders: adds one to the menu of what rows are sorted by. */
void browser_menu_add_order(struct browser *b, const char *title, size_t order);
/* Shows another of the source's tables. */
void browser_show_table(struct browser *b, size_t table);
/* Sorts by the column of this name; false: there is none. */
bool browser_sort(struct browser *b, const char *column);
/* Shows only rows that match, as if it had been typed behind '/'. */
void browser_search(struct browser *b, const char *pattern);
/* Opens the tables again: they are others now. The cursor goes to the first line, and what is searched for stays. */
void browser_renew(struct browser *b);

/* Until a key ends it. */
void browser_run(const struct browser_source *source, struct screen *s);

#endif
