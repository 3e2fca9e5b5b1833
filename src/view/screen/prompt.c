#include "view/screen/prompt.h"

#include "base/utf8.h"

enum { MOST_BYTES = 200 };

static void add(struct str *s, u32 key)
{
	const u8 bytes[] = {(u8)(0xf0 | key >> 18), (u8)(0x80 | (key >> 12 & 63)),
		(u8)(0x80 | (key >> 6 & 63)), (u8)(0x80 | (key & 63))};

	if (key < 0x80)
		str_addc(s, (char)key);
	else if (key < 0x800)
		str_addn(s, (const u8[]){(u8)(0xc0 | key >> 6), bytes[3]}, 2);
	else if (key < 0x10000)
		str_addn(s, (const u8[]){(u8)(0xe0 | key >> 12), bytes[2], bytes[3]}, 3);
	else
		str_addn(s, bytes, 4);
}

bool prompt_take(struct str *text, u32 key)
{
	if (key == KEY_BACKSPACE) {
		size_t n = text->n;

		while (n && ((u8)text->at[n - 1] & 0xc0) == 0x80)
			n--;
		str_cut(text, n ? n - 1 : 0);
	} else if (key == 'U' - '@') {
		str_cut(text, 0);
	} else if (key >= ' ' && key < KEY_UP && utf8_is_shown(key) && text->n < MOST_BYTES) {
		add(text, key);
	} else {
		return false;
	}
	return true;
}
