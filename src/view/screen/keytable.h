/*
 * keytable.h - what keys mean: each view has a table of them, in the order of its help.
 *
 * In       arrays of structs that begin with a keytable_row, and go on with what the key does
 * Out      the row of a key; lines of help
 * Owns     nothing
 */
#ifndef PACE_VIEW_KEYTABLE_H
#define PACE_VIEW_KEYTABLE_H

#include "base/str.h"
#include "view/screen/keyboard.h"

struct keytable_row {
	u32 key, other; /* enum key_code or a character; 0: no other */
	u8 modes;       /* bits of the view: in which it means this */
	const char *name, *what;
};

/* What the help says behind keys that have just these modes. */
struct keytable_mode {
	u8 modes; /* 0: the end */
	const char *where;
};

struct keytable {
	const void *rows;
	size_t n, size;                    /* of a row, in bytes */
	const struct keytable_mode *modes; /* NULL: there is nothing to say */
};

#define KEYTABLE(array) .rows = (array), .n = ARRAY_SIZE(array), .size = sizeof(*(array))

static inline const struct keytable_row *keytable_at(const struct keytable *t, size_t i)
{
	return (const void *)((const char *)t->rows + i * t->size);
}

/* The row of a key in these modes, as a struct of the array; NULL: it means nothing. */
const void *keytable_find(const struct keytable *t, u8 modes, u32 key);

/* Adds a line for each row. */
void keytable_add_help(const struct keytable *t, struct str *text);
/* Adds a line like theirs. */
void keytable_add_line(const char *name, const char *what, const char *where, struct str *text);

#endif
