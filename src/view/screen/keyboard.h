/*
 * keyboard.h - what a terminal sends, as events: keys, the mouse.
 *
 * In       bytes as they arrive; whether a pause followed them, which tells the key Esc from the first byte of a sequence
 * Out      one event after the other
 * Owns     nothing
 * Source   ECMA-48; xterm's control sequences (function keys, SGR mouse mode 1006)
 */
#ifndef PACE_VIEW_KEYBOARD_H
#define PACE_VIEW_KEYBOARD_H

#include "base/types.h"

/* Keys that are no characters, behind all code points. */
enum key_code {
	KEY_TAB = '\t',
	KEY_ENTER = '\r',
	KEY_ESC = 0x1b,
	KEY_BACKSPACE = 0x7f,
	KEY_UP = 0x110000,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_BACK_TAB,
	KEY_DELETE,
	KEY_OTHER, /* one that has no name here */
};

enum event_kind {
	EVENT_NONE,
	EVENT_KEY,
	EVENT_CLICK,
	EVENT_WHEEL_UP,
	EVENT_WHEEL_DOWN,
	EVENT_RESIZE, /* the size is another one, or the screen must be drawn anew */
	EVENT_TICK,   /* nothing came for as long as the view waits */
	EVENT_END,    /* the terminal is gone */
};

struct screen_event {
	u8 kind;              /* enum event_kind */
	u32 key;              /* a code point or an enum key_code */
	unsigned column, row; /* of the mouse */
};

enum {
	KEYBOARD_SIZE = 64,
	KEYBOARD_ESC_MS = 50, /* an ESC that nothing follows for so long is the key */
};

struct keyboard {
	u8 bytes[KEYBOARD_SIZE]; /* after keyboard_next() has returned false there is room for one more */
	size_t n;
};

/*
 * Takes the next event out; false: there is none, or only the beginning of one. is_late: nothing followed for a while,
 * so that what is there is whole.
 */
bool keyboard_next(struct keyboard *k, bool is_late, struct screen_event *ret);

#endif
