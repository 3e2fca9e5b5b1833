/*
 * screen.h - a terminal that shows a grid: six functions, and what implements them.
 *
 * In       grids to show
 * Out      events: keys, the mouse, another size
 * Owns     the terminal's modes, from screen_open() to screen_close(), see guard.h
 * Errors   ERR_UNSUPPORTED: not a terminal, or one that cannot place the cursor; ERR_SYS
 * Threads  one; one screen at a time
 */
#ifndef PACE_VIEW_SCREEN_H
#define PACE_VIEW_SCREEN_H

#include "base/err.h"
#include "view/screen/keytable.h"
#include "view/screen/repaint.h"

struct screen {
	const struct screen_end *end;
	void *of; /* the implementation's */
	struct grid shown;
	enum repaint_colours colours;
	bool is_ascii;
	bool is_stale; /* what the terminal shows is not known */
	bool is_gone;  /* it can be neither read nor written any more */
	struct str text;
	VEC(struct screen_event) ahead; /* what screen_run() takes before it waits for more */
};

/* What is behind a screen: a row for each kind. */
struct screen_end {
	const char *name;
	int (*open)(struct screen *s, struct err *err);
	void (*close)(struct screen *s);
	void (*size)(struct screen *s, unsigned *ret_columns, unsigned *ret_rows);
	/* Waits for an event; EVENT_TICK after wait_ms, < 0: never. */
	void (*read)(struct screen *s, int wait_ms, struct screen_event *ret);
	/* False: the terminal is gone. */
	bool (*write)(struct screen *s, const char *text, size_t n);
	/* Gives the terminal back and stops the process; returns when it goes on. */
	void (*suspend)(struct screen *s);
};

extern const struct screen_end screen_ansi, screen_ncurses;

/* Whether screen_ncurses was built and its library is here. */
bool screen_has_ncurses(void);

/* What both have: of the terminal at stdout, and of guard.h. */
void screen_terminal_size(struct screen *s, unsigned *ret_columns, unsigned *ret_rows);
bool screen_terminal_write(struct screen *s, const char *text, size_t n);
void screen_terminal_suspend(struct screen *s);

/* What a screen shows for a while. Views run inside each other: where the inner one ends, the outer one goes on. */
struct screen_view {
	void *of;
	void (*draw)(void *of, struct grid *g);
	/* Takes an event; may run another view on the screen. */
	void (*take)(void *of, const struct screen_event *e);
	bool (*is_over)(const void *of);
	int wait_ms; /* it gets EVENT_TICK where nothing else comes for so long; 0: never */
};

/* Whether stdout is a terminal on which a screen can be drawn. */
bool screen_is_possible(void);

/*
 * Whether that is what to show where nothing asks for text: keys can be pressed, too, and the user has neither asked for a
 * pager nor set PACE_TUI=0.
 */
bool screen_is_default(void);
/* The same, wherever keys come from: stdin may be a recording. */
bool screen_is_welcome(void);

/*
 * `end` NULL: what PACE_SCREEN names ("ansi", "ncurses"), else ncurses where it is there and knows the terminal. ERR_INVAL:
 * PACE_SCREEN names none.
 */
int screen_open(struct screen *s, const struct screen_end *end, struct err *err);
void screen_close(struct screen *s);

/* Makes the grid as large as the terminal, and blank. */
void screen_fit(struct screen *s, struct grid *g);
bool screen_show(struct screen *s, const struct grid *g);
void screen_suspend(struct screen *s);
/* Keeps an event that came while nothing could take it, for the view that runs next. */
void screen_keep(struct screen *s, const struct screen_event *e);

/* The keys that mean the same in all views: no view gets them. */
extern const struct keytable screen_keys;

/* Shows a view until it is over, or the terminal is gone: take() gets EVENT_END then. */
void screen_run(struct screen *s, const struct screen_view *view);

#endif
