/*
 * editor.h - a source file in the user's editor, while the screen waits.
 *
 * In       a file and a line; VISUAL, else EDITOR, else vi
 * Out      the terminal belongs to the editor until it ends
 * Owns     nothing
 * Errors   ERR_SYS: it cannot be run; ERR_INVAL: it says that it failed
 */
#ifndef PACE_VIEW_EDITOR_H
#define PACE_VIEW_EDITOR_H

#include "base/err.h"
#include "view/screen/screen.h"

/* line 0: none. If the screen cannot come back, s->is_gone. */
int editor_run(struct screen *s, const char *path, u32 line, struct err *err);

#endif
