/* keyscripts.h - scripts for the keys of a view: what is pressed, and what the screen shows then. */
#ifndef PACE_TESTS_KEYSCRIPTS_H
#define PACE_TESTS_KEYSCRIPTS_H

#include "view/screen/keytable.h"

struct keyscript {
	u32 key;
	u8 mode;            /* in which it is pressed */
	const char *before; /* keys pressed first, as the view's test writes them */
	/* Stands in the line of the cursor afterwards, or, with '*' in front, anywhere on the screen; `lacks` does not. */
	const char *shows, *lacks;
};

/*
 * Each key of the table has a script in each table row that it is in, stands in the help, and means one thing in a mode; each
 * script presses a key of the table.
 */
void keyscripts_check(const struct keytable *keys, const struct keyscript *scripts, size_t n,
	const char *help);

/* Says which one is run. */
void keyscripts_say(const struct keyscript *script);

/* Whether `shows` is about the whole screen. */
static inline bool keyscripts_is_anywhere(const struct keyscript *script)
{
	return *script->shows == '*';
}

void keyscripts_judge(const struct keyscript *script, const char *shown);

void check_lacks(const char *text, const char *part);

#endif
