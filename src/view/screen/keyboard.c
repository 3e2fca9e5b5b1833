#include "view/screen/keyboard.h"

#include <string.h>

#include "base/utf8.h"

enum { PARAMETERS = 4 };

struct sequence {
	unsigned parameters[PARAMETERS];
	bool is_mouse; /* it began with '<' */
	u8 last;       /* the byte that says what it is */
};

static u32 key_of_letter(u8 letter)
{
	switch (letter) {
	case 'A':
		return KEY_UP;
	case 'B':
		return KEY_DOWN;
	case 'C':
		return KEY_RIGHT;
	case 'D':
		return KEY_LEFT;
	case 'H':
		return KEY_HOME;
	case 'F':
		return KEY_END;
	case 'M':
		return KEY_ENTER; /* of the number block */
	case 'Z':
		return KEY_BACK_TAB;
	default:
		return KEY_OTHER;
	}
}

/* The keys of "CSI number ~". */
static u32 key_of_number(unsigned n)
{
	static const u32 keys[] = {[1] = KEY_HOME,
		[3] = KEY_DELETE,
		[4] = KEY_END,
		[5] = KEY_PAGE_UP,
		[6] = KEY_PAGE_DOWN,
		[7] = KEY_HOME,
		[8] = KEY_END};

	return n < ARRAY_SIZE(keys) && keys[n] ? keys[n] : (u32)KEY_OTHER;
}

/* Reads what follows "ESC [": returns its length, 0 if it is not whole. */
static size_t read_sequence(const u8 *p, size_t n, struct sequence *ret)
{
	size_t at = 0, parameter = 0;

	*ret = (struct sequence){0};
	if (at < n && p[at] == '<') {
		ret->is_mouse = true;
		at++;
	}
	for (; at < n && p[at] < 0x40; at++) {
		if (p[at] == ';')
			parameter++;
		else if (p[at] >= '0' && p[at] <= '9' && parameter < PARAMETERS)
			ret->parameters[parameter] =
				MIN(ret->parameters[parameter] * 10 + (p[at] - '0'), 99999u);
	}
	if (at == n)
		return 0;
	ret->last = p[at];
	return at + 1;
}

/* Buttons are let go with a small m; other buttons than the first, and movements, mean nothing. */
static void set_mouse(const struct sequence *s, struct screen_event *ret)
{
	enum { MOVES = 32, WHEEL = 64, MODIFIERS = 4 | 8 | 16 };
	const unsigned button = s->parameters[0] & ~(unsigned)MODIFIERS;

	*ret = (struct screen_event){.kind = EVENT_NONE,
		.column = s->parameters[1] ? s->parameters[1] - 1 : 0,
		.row = s->parameters[2] ? s->parameters[2] - 1 : 0};
	if (s->last != 'M')
		return;
	if (button == 0)
		ret->kind = EVENT_CLICK;
	else if (button == WHEEL || button == WHEEL + 1)
		ret->kind = button == WHEEL ? EVENT_WHEEL_UP : EVENT_WHEEL_DOWN;
}

static void set_key(u32 key, struct screen_event *ret)
{
	*ret = (struct screen_event){.kind = EVENT_KEY, .key = key};
}

/* Reads from the ESC on: returns how many bytes that is, 0 if it is not whole. */
static size_t read_escape(const u8 *p, size_t n, struct screen_event *ret)
{
	struct sequence s;
	size_t length;

	if (n < 2)
		return 0;
	if (p[1] == 'O') {
		if (n < 3)
			return 0;
		set_key(key_of_letter(p[2]), ret);
		return 3;
	}
	if (p[1] != '[') {
		set_key(KEY_ESC, ret);
		return 1;
	}
	length = read_sequence(p + 2, n - 2, &s);
	if (!length)
		return 0;
	if (s.is_mouse)
		set_mouse(&s, ret);
	else
		set_key(s.last == '~' ? key_of_number(s.parameters[0]) : key_of_letter(s.last),
			ret);
	return length + 2;
}

/* Whether more bytes may make a character of these. */
static bool is_beginning(const u8 *p, size_t n)
{
	const size_t wanted = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc2 ? 2 : 1;

	return n < wanted;
}

static size_t read_character(const u8 *p, size_t n, struct screen_event *ret)
{
	u32 cp;
	const size_t length = utf8_length(p, n, &cp);

	if (!length && is_beginning(p, n))
		return 0;
	if (!length) {
		set_key(KEY_OTHER, ret);
		return 1;
	}
	set_key(cp == '\n' ? (u32)KEY_ENTER : cp == '\b' ? (u32)KEY_BACKSPACE : cp, ret);
	return length;
}

bool keyboard_next(struct keyboard *k, bool is_late, struct screen_event *ret)
{
	size_t taken;

	do {
		if (!k->n)
			return false;
		ret->kind = EVENT_NONE;
		taken = k->bytes[0] == KEY_ESC ? read_escape(k->bytes, k->n, ret)
					       : read_character(k->bytes, k->n, ret);
		if (!taken && !is_late && k->n < KEYBOARD_SIZE)
			return false;
		if (!taken) {
			set_key(k->bytes[0] == KEY_ESC ? (u32)KEY_ESC : (u32)KEY_OTHER, ret);
			taken = k->bytes[0] == KEY_ESC && k->n == 1 ? 1 : k->n;
		}
		k->n -= taken;
		memmove(k->bytes, k->bytes + taken, k->n);
	} while (ret->kind == EVENT_NONE);
	return true;
}
