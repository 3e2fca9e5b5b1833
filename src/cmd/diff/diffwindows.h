/*
 * diffwindows.h - diff of windows of a store: with each other, or one with the same time of other days.
 *
 * In       --at, --usual, -i
 * Out      recordings to compare, the baseline's first
 * Owns     nothing: windows are the comparison's
 * Errors   ERR_INVAL: the words; ERR_NOENT: the store has nothing of a window, or no other day
 */
#ifndef PACE_CMD_DIFFWINDOWS_H
#define PACE_CMD_DIFFWINDOWS_H

#include "cmd/diff/comparing.h"

int diffwindows_choose(struct comparing *c, struct err *err);

#endif
