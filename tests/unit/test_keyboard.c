#include "test.h"

#include "base/str.h"
#include "view/screen/keyboard.h"

/* What the bytes mean, as words; "..." if more bytes must come. */
static const char *events(const char *bytes, size_t n, bool is_late)
{
	static struct str text;
	struct keyboard k = {0};
	struct screen_event e;

	str_cut(&text, 0);
	memcpy(k.bytes, bytes, n);
	k.n = n;
	while (keyboard_next(&k, is_late, &e)) {
		if (e.kind == EVENT_KEY && e.key < 0x110000)
			str_addf(&text, "%02x ", e.key);
		else if (e.kind == EVENT_KEY)
			str_addf(&text, "key%u ", e.key - KEY_UP);
		else
			str_addf(&text, "mouse%d@%u,%u ", e.kind, e.column, e.row);
	}
	str_add(&text, k.n ? "..." : "");
	return str_text(&text);
}

#define EVENTS(bytes, is_late) events(bytes, sizeof(bytes) - 1, is_late)
#define KEY(key)               ((key)-KEY_UP)

TEST(keyboard_reads_the_sequences_of_all_terminals)
{
	char expected[64];
	static const struct {
		const char *bytes;
		u32 key;
	} keys[] = {{"\033[A", KEY_UP}, {"\033OA", KEY_UP}, {"\033[B", KEY_DOWN},
		{"\033[C", KEY_RIGHT}, {"\033[D", KEY_LEFT}, {"\033[H", KEY_HOME},
		{"\033[1~", KEY_HOME}, {"\033[7~", KEY_HOME}, {"\033OH", KEY_HOME},
		{"\033[F", KEY_END}, {"\033[4~", KEY_END}, {"\033[8~", KEY_END},
		{"\033[5~", KEY_PAGE_UP}, {"\033[6~", KEY_PAGE_DOWN}, {"\033[Z", KEY_BACK_TAB},
		{"\033[3~", KEY_DELETE}, {"\033[1;5A", KEY_UP}, {"\033[15~", KEY_OTHER},
		{"\033[99999999999~", KEY_OTHER}};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		snprintf(expected, sizeof(expected), "key%u ", KEY(keys[i].key));
		CHECK_STR(events(keys[i].bytes, strlen(keys[i].bytes), false), expected);
	}
	CHECK_STR(EVENTS("aE\n\r\t\b\x7f\xc3\xa9", false), "61 45 0d 0d 09 7f 7f e9 ");
}

TEST(keyboard_waits_for_the_rest_of_a_sequence_and_takes_a_lone_esc_after_a_pause)
{
	CHECK_STR(EVENTS("\033", false), "...");
	CHECK_STR(EVENTS("\033", true), "1b ");
	CHECK_STR(EVENTS("\033[", false), "...");
	CHECK_STR(EVENTS("\033[1;", false), "...");
	CHECK_STR(EVENTS("\033[<0;1", false), "...");
	CHECK_STR(EVENTS("\033O", false), "...");
	CHECK_STR(EVENTS("\xe6\xbc", false), "...");
	CHECK_STR(EVENTS("\xe6\xbc", true), "key10 ");
	CHECK_STR(EVENTS("\033q", false), "1b 71 ");
	CHECK_STR(EVENTS("\033\033[A", false), "1b key0 ");
}

TEST(keyboard_reads_the_mouse)
{
	char expected[64];

	snprintf(expected, sizeof(expected), "mouse%d@9,4 mouse%d@0,0 mouse%d@1,1 ", EVENT_CLICK,
		EVENT_WHEEL_UP, EVENT_WHEEL_DOWN);
	CHECK_STR(EVENTS("\033[<0;10;5M\033[<0;10;5m\033[<64;1;1M\033[<65;2;2M", false), expected);
	/* Movements, other buttons, and numbers that are none. */
	CHECK_STR(EVENTS("\033[<35;1;1M\033[<2;1;1M\033[<M", false) + strlen("mouse2@0,0 "), "");
}

TEST(keyboard_survives_all_bytes)
{
	unsigned state = 1;

	for (int round = 0; round < 20000; round++) {
		char bytes[KEYBOARD_SIZE];
		const size_t n = round % KEYBOARD_SIZE + 1;

		for (size_t i = 0; i < n; i++) {
			state = state * 1103515245 + 12345;
			bytes[i] = "\033[<;059O~MmAZ\xe6\xbc\xff q"[state >> 16 & 15];
		}
		events(bytes, n, false);
		CHECK_STR(events(bytes, n, true) + strlen(events(bytes, n, true)), "");
	}
}
