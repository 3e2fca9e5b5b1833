/*
 * guard.h - the modes of the terminal while a screen is on it, and back to what they were, whatever happens.
 *
 * In       what the terminal must be told when a screen comes and when it goes
 * Out      a terminal in raw mode; a file that can be read when the screen must be looked at again: the size is another
 *          one, or the process went on
 * Owns     the terminal's modes and the signals, from guard_open() to guard_close(). The modes are also restored when the
 *          process ends by exit(), by a signal, or when it stops (SIGTSTP); they are set again when it goes on
 * Errors   ERR_SYS
 * Threads  one; one screen at a time
 */
#ifndef PACE_VIEW_GUARD_H
#define PACE_VIEW_GUARD_H

#include "base/err.h"
#include "view/screen/keyboard.h"

struct guard_in {
	int fd; /* keys come from stdin, or, if that is a recording, from the process' terminal */
	bool owns_fd;
};

int guard_open_in(struct guard_in *in, struct err *err);
void guard_close_in(struct guard_in *in);

/* Remembers the modes, and takes the signals: before anything else changes them. `in` is a terminal. */
int guard_open(int in, struct err *err);

/* Sets the modes. The texts are kept, also for signals; what is too long is an error. */
int guard_enter(const char *enter, const char *leave, struct err *err);
void guard_close(void);

/* Gives the terminal back and stops the process; returns when it goes on. */
void guard_suspend(void);

/* A file that can be read when events came from signals or other threads. */
int guard_wakes(void);
/* The most urgent of them: the end, then another size; EVENT_NONE: there are none. */
enum event_kind guard_take_wakes(void);
/* Any thread may call it. */
void guard_wake(enum event_kind kind);

#endif
