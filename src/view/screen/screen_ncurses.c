/*
 * screen_ncurses.c - a screen whose terminal ncurses knows: how it comes and goes, its keys, its mouse. The picture is
 * repaint's, which needs a terminal that takes ECMA-48; TERMs of others are refused.
 *
 * Of ncurses only its input and the database of terminals are used: it never draws, and it changes no modes. So it is
 * loaded when it is needed, and machines without it lose nothing but the keys of unusual terminals.
 */
#include "view/screen/screen.h"

#ifdef PACE_HAS_NCURSES

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "view/screen/guard.h"

/* The names of keys are macros there. */
enum {
	OURS_UP = KEY_UP,
	OURS_DOWN = KEY_DOWN,
	OURS_LEFT = KEY_LEFT,
	OURS_RIGHT = KEY_RIGHT,
	OURS_HOME = KEY_HOME,
	OURS_END = KEY_END,
	OURS_ENTER = KEY_ENTER,
	OURS_BACKSPACE = KEY_BACKSPACE,
};

#define NCURSES_NOMACROS
#include <curses.h>

static const struct {
	int theirs;
	u32 ours;
} keys[] = {
	{KEY_UP, OURS_UP},
	{KEY_DOWN, OURS_DOWN},
	{KEY_LEFT, OURS_LEFT},
	{KEY_RIGHT, OURS_RIGHT},
	{KEY_HOME, OURS_HOME},
	{KEY_FIND, OURS_HOME},
	{KEY_END, OURS_END},
	{KEY_SELECT, OURS_END},
	{KEY_PPAGE, KEY_PAGE_UP},
	{KEY_NPAGE, KEY_PAGE_DOWN},
	{KEY_BTAB, KEY_BACK_TAB},
	{KEY_DC, KEY_DELETE},
	{KEY_ENTER, OURS_ENTER},
	{KEY_BACKSPACE, OURS_BACKSPACE},
};

/* ---- the library ---- */

static struct {
	void *handle;
	__typeof__(newterm) *newterm;
	__typeof__(delscreen) *delscreen;
	__typeof__(cbreak) *cbreak;
	__typeof__(noecho) *noecho;
	__typeof__(nonl) *nonl;
	__typeof__(newpad) *newpad;
	__typeof__(delwin) *delwin;
	__typeof__(keypad) *keypad;
	__typeof__(nodelay) *nodelay;
	__typeof__(wgetch) *wgetch;
	__typeof__(set_escdelay) *set_escdelay;
	__typeof__(mousemask) *mousemask;
	__typeof__(mouseinterval) *mouseinterval;
	__typeof__(getmouse) *getmouse;
	__typeof__(resizeterm) *resizeterm;
	char *(*tigetstr)(const char *name); /* its header has macros for common words */
} lib;

static const struct {
	const char *name;
	void *at;
} functions[] = {
	{"newterm", &lib.newterm},
	{"delscreen", &lib.delscreen},
	{"cbreak", &lib.cbreak},
	{"noecho", &lib.noecho},
	{"nonl", &lib.nonl},
	{"newpad", &lib.newpad},
	{"delwin", &lib.delwin},
	{"keypad", &lib.keypad},
	{"nodelay", &lib.nodelay},
	{"wgetch", &lib.wgetch},
	{"set_escdelay", &lib.set_escdelay},
	{"mousemask", &lib.mousemask},
	{"mouseinterval", &lib.mouseinterval},
	{"getmouse", &lib.getmouse},
	{"resizeterm", &lib.resizeterm},
	{"tigetstr", &lib.tigetstr},
};

static int load(struct err *err)
{
	if (lib.handle)
		return 0;
	lib.handle = dlopen("libncursesw.so.6", RTLD_NOW | RTLD_LOCAL);
	if (!lib.handle)
		return err_set(err, ERR_UNSUPPORTED, "ncurses cannot be used: %s", dlerror());
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		void *f = dlsym(lib.handle, functions[i].name);

		if (!f) {
			dlclose(lib.handle);
			lib.handle = NULL;
			return err_set(err, ERR_UNSUPPORTED,
				"ncurses cannot be used: it has no %s()", functions[i].name);
		}
		*(void **)functions[i].at = f;
	}
	return 0;
}

bool screen_has_ncurses(void)
{
	struct err ignored;

	return !load(&ignored);
}

/* ---- from the beginning to the end ---- */

struct ncurses {
	struct guard_in in;
	FILE *in_file, *out_file; /* of its own: it may set buffers */
	SCREEN *screen;
	WINDOW *pad; /* keys are read from it: a window would be drawn first */
	struct keyboard keyboard;
	unsigned columns, rows;
};

static const char *capability(const char *name)
{
	const char *text = lib.tigetstr(name);

	return text && text != (const char *)-1 ? text : "";
}

/* Padding, "$<5>", is for terminals that are slower than any today. */
static void add_capability(struct str *text, const char *name)
{
	for (const char *at = capability(name); *at; at++) {
		const char *end = at[0] == '$' && at[1] == '<' ? strchr(at, '>') : NULL;

		if (end)
			at = end;
		else
			str_addc(text, *at);
	}
}

/* As with screen_ansi: no cursor, no wrapping, clicks and the wheel, no reordering of text. */
static int enter(struct err *err)
{
	const bool has_sgr_mouse =
		strstr(capability("XM"), "1006") || !strcmp(capability("kmous"), "\033[<");
	struct str on = {0}, off = {0};
	int result;

	add_capability(&on, "smcup");
	add_capability(&on, "civis");
	add_capability(&on, "smkx");
	str_add(&on, "\033[?7l\033[?1000h");
	str_add(&on, has_sgr_mouse ? "\033[?1006h" : "");
	str_add(&on, "\033[8l");
	str_add(&off, "\033[0m\033[8h\033[?1006l\033[?1000l\033[?7h");
	add_capability(&off, "rmkx");
	add_capability(&off, "cnorm");
	add_capability(&off, "rmcup");
	result = guard_enter(str_text(&on), str_text(&off), err);
	str_fini(&on);
	str_fini(&off);
	return result;
}

static void unset(struct ncurses *n)
{
	if (n->pad)
		lib.delwin(n->pad);
	if (n->screen)
		lib.delscreen(n->screen);
	if (n->in_file)
		fclose(n->in_file);
	if (n->out_file)
		fclose(n->out_file);
	guard_close();
	guard_close_in(&n->in);
	mem_free(n);
}

static FILE *file_of(int fd, const char *mode)
{
	const int own = dup(fd);
	FILE *file = own < 0 ? NULL : fdopen(own, mode);

	if (!file && own >= 0)
		close(own);
	return file;
}

/* newterm() says nothing of why; its terminals must take ECMA-48. */
static int set_up(struct ncurses *n, struct err *err)
{
	const char *term = getenv("TERM");

	n->in_file = file_of(n->in.fd, "r");
	n->out_file = file_of(STDOUT_FILENO, "w");
	if (!n->in_file || !n->out_file)
		return err_sys(err, errno, "the terminal");
	n->screen = lib.newterm(NULL, n->out_file, n->in_file);
	if (!n->screen)
		return err_set(err, ERR_UNSUPPORTED,
			"ncurses knows no terminal '%s' (TERM), or cannot use it", term);
	if (strncmp(capability("cup"), "\033[", 2))
		return err_set(err, ERR_UNSUPPORTED,
			"terminals like '%s' (TERM) have other control sequences", term);
	lib.cbreak();
	lib.noecho();
	lib.nonl();
	lib.set_escdelay(KEYBOARD_ESC_MS);
	n->pad = lib.newpad(1, 1);
	if (!n->pad)
		return err_set(err, ERR_UNSUPPORTED, "ncurses cannot make a pad");
	lib.keypad(n->pad, TRUE);
	lib.nodelay(n->pad, TRUE);
	lib.mouseinterval(0);
	lib.mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	return enter(err);
}

static int ncurses_open(struct screen *s, struct err *err)
{
	struct ncurses *n = mem_zalloc(sizeof(*n));

	s->of = n;
	if (load(err) || guard_open_in(&n->in, err)) {
		mem_free(n);
		return err->code;
	}
	/* Its handlers of signals are not installed where others are. */
	if (guard_open(n->in.fd, err)) {
		guard_close_in(&n->in);
		mem_free(n);
		return err->code;
	}
	if (set_up(n, err)) {
		unset(n);
		return err->code;
	}
	return 0;
}

static void ncurses_close(struct screen *s)
{
	lib.mousemask(0, NULL);
	unset(s->of);
}

/* ---- input ---- */

/* It does not report clicks beyond the size that it knows. */
static void ncurses_size(struct screen *s, unsigned *ret_columns, unsigned *ret_rows)
{
	struct ncurses *n = s->of;

	screen_terminal_size(s, ret_columns, ret_rows);
	if (n->columns != *ret_columns || n->rows != *ret_rows)
		lib.resizeterm((int)*ret_rows, (int)*ret_columns);
	n->columns = *ret_columns;
	n->rows = *ret_rows;
}

static bool take_mouse(struct screen_event *ret)
{
	MEVENT e;

	if (lib.getmouse(&e) != OK || e.x < 0 || e.y < 0)
		return false;
	*ret = (struct screen_event){.column = (unsigned)e.x, .row = (unsigned)e.y};
	ret->kind = e.bstate & BUTTON1_PRESSED ? EVENT_CLICK
		: e.bstate & BUTTON4_PRESSED   ? EVENT_WHEEL_UP
		: e.bstate & BUTTON5_PRESSED   ? EVENT_WHEEL_DOWN
					       : EVENT_NONE;
	return ret->kind != EVENT_NONE;
}

/* A key that it knows; false: it means nothing here. */
static bool take_code(int code, struct screen_event *ret)
{
	if (code == KEY_MOUSE)
		return take_mouse(ret);
	if (code == KEY_RESIZE) {
		*ret = (struct screen_event){.kind = EVENT_RESIZE};
		return true;
	}
	*ret = (struct screen_event){.kind = EVENT_KEY, .key = KEY_OTHER};
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].theirs == code)
			ret->key = keys[i].ours;
	return true;
}

/* Takes what is there. Bytes that are no key of the terminal are characters, or sequences of another one. */
static bool take(struct ncurses *n, struct screen_event *ret)
{
	for (;;) {
		int code;

		if (keyboard_next(&n->keyboard, false, ret))
			return true;
		code = lib.wgetch(n->pad);
		if (code == ERR)
			return n->keyboard.n && keyboard_next(&n->keyboard, true, ret);
		if (code <= 0xff)
			n->keyboard.bytes[n->keyboard.n++] = (u8)code;
		else if (take_code(code, ret))
			return true;
	}
}

/* Whether what poll() reports is the end of the terminal rather than a key. */
static bool is_end(const struct pollfd *in)
{
	int left = 1;

	if (in->revents & (POLLHUP | POLLERR | POLLNVAL))
		return true;
	return in->revents && !ioctl(in->fd, FIONREAD, &left) && !left;
}

static void ncurses_read(struct screen *s, int wait_ms, struct screen_event *ret)
{
	struct ncurses *n = s->of;
	const u64 end = clock_in_ms(wait_ms);
	bool is_gone = false;

	*ret = (struct screen_event){0};
	for (;;) {
		struct pollfd fds[] = {{.fd = n->in.fd, .events = POLLIN},
			{.fd = guard_wakes(), .events = POLLIN}};

		ret->kind = (u8)guard_take_wakes();
		if (ret->kind || take(n, ret))
			return;
		if (is_gone)
			ret->kind = EVENT_END;
		else if (wait_ms >= 0 && !clock_left_ms(end))
			ret->kind = EVENT_TICK;
		if (ret->kind != EVENT_NONE)
			return;
		if (poll(fds, ARRAY_SIZE(fds), wait_ms >= 0 ? clock_left_ms(end) : -1) > 0)
			is_gone = is_end(&fds[0]);
	}
}

const struct screen_end screen_ncurses = {"ncurses", ncurses_open, ncurses_close, ncurses_size,
	ncurses_read, screen_terminal_write, screen_terminal_suspend};

#else

bool screen_has_ncurses(void)
{
	return false;
}

static int ncurses_open(struct screen *s, struct err *err)
{
	(void)s;
	return err_set(err, ERR_UNSUPPORTED,
		"this pace was built without ncurses (libncurses-dev)");
}

const struct screen_end screen_ncurses = {.name = "ncurses", .open = ncurses_open};

#endif
