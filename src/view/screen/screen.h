/*
 * screen.h - a terminal that shows a grid: six functions, and what implements them.
 *
 * In       grids to show
 * Out      events: keys, the mouse, another size
 * Owns     the terminal's modes, from screen_open() to screen_close(). They are also restored when the process ends by
 *          exit(), by a signal, or when it stops (SIGTSTP); they are set again when it goes on
 * Errors   ERR_UNSUPPORTED: not a terminal, or one that cannot place the cursor; ERR_SYS
 * Threads  one; one screen at a time
 */
#ifndef PACE_VIEW_SCREEN_H
#define PACE_VIEW_SCREEN_H

#include "base/err.h"
#include "view/screen/keyboard.h"
#include "view/screen/repaint.h"

struct screen {
	const struct screen_end *end;
	void *of; /* the implementation's */
	struct grid shown;
	enum repaint_colours colours;
	bool is_ascii;
	bool is_stale; /* what the terminal shows is not known */
	struct str text;
};

/* What is behind a screen: a row for each kind. */
struct screen_end {
	const char *name;
	int (*open)(struct screen *s, struct err *err);
	void (*close)(struct screen *s);
	void (*size)(struct screen *s, unsigned *ret_columns, unsigned *ret_rows);
	/* Waits for an event. */
	void (*read)(struct screen *s, struct screen_event *ret);
	/* False: the terminal is gone. */
	bool (*write)(struct screen *s, const char *text, size_t n);
	/* Gives the terminal back and stops the process; returns when it goes on. */
	void (*suspend)(struct screen *s);
};

extern const struct screen_end screen_ansi;

/* Whether stdout is a terminal on which a screen can be drawn. */
bool screen_is_possible(void);

int screen_open(struct screen *s, const struct screen_end *end, struct err *err);
void screen_close(struct screen *s);

/* Makes the grid as large as the terminal, and blank. */
void screen_fit(struct screen *s, struct grid *g);
bool screen_show(struct screen *s, const struct grid *g);
void screen_read(struct screen *s, struct screen_event *ret);
void screen_suspend(struct screen *s);

#endif
