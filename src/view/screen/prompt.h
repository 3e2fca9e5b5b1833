/*
 * prompt.h - a text that is being typed, key after key.
 *
 * In       keys: characters are added, Backspace takes the last one, Ctrl-U all
 * Out      UTF-8
 * Owns     nothing
 */
#ifndef PACE_VIEW_PROMPT_H
#define PACE_VIEW_PROMPT_H

#include "base/str.h"
#include "view/screen/keyboard.h"

/* False: the key has no meaning here. */
bool prompt_take(struct str *text, u32 key);

#endif
