#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "view/screen/guard.h"
#include "view/screen/screen.h"

/*
 * The alternate screen, no cursor, no wrapping behind the last column, clicks and the wheel as SGR sequences, and no
 * reordering of text by the terminal (BDSM: explicit).
 */
#define ENTER "\033[?1049h\033[?25l\033[?7l\033[?1000h\033[?1006h\033[8l"
#define LEAVE "\033[0m\033[8h\033[?1006l\033[?1000l\033[?7h\033[?25h\033[?1049l"

struct ansi {
	struct guard_in in;
	struct keyboard keyboard;
};

static void ansi_close(struct screen *s)
{
	struct ansi *a = s->of;

	guard_close();
	guard_close_in(&a->in);
	mem_free(a);
}

static int ansi_open(struct screen *s, struct err *err)
{
	struct ansi *a = mem_zalloc(sizeof(*a));

	err->code = 0;
	s->of = a;
	if (guard_open_in(&a->in, err)) {
		mem_free(a);
		return err->code;
	}
	if (guard_open(a->in.fd, err)) {
		guard_close_in(&a->in);
		mem_free(a);
		return err->code;
	}
	if (guard_enter(ENTER, LEAVE, err))
		ansi_close(s);
	return err->code;
}

static void ansi_read(struct screen *s, int wait_ms, struct screen_event *ret)
{
	struct ansi *a = s->of;
	const u64 end = clock_in_ms(wait_ms);

	*ret = (struct screen_event){0};
	while (!keyboard_next(&a->keyboard, false, ret)) {
		struct pollfd fds[] = {{.fd = a->in.fd, .events = POLLIN},
			{.fd = guard_wakes(), .events = POLLIN}};
		const int n = poll(fds, ARRAY_SIZE(fds),
			a->keyboard.n          ? KEYBOARD_ESC_MS
				: wait_ms >= 0 ? clock_left_ms(end)
					       : -1);

		ret->kind = (u8)guard_take_wakes();
		if (ret->kind)
			return;
		if (!n && keyboard_next(&a->keyboard, true, ret))
			return;
		if (wait_ms >= 0 && !clock_left_ms(end)) {
			ret->kind = EVENT_TICK;
			return;
		}
		if (n <= 0)
			continue;
		/* No more than a key: what was typed ahead of the end is for who reads the terminal next, as the shell. */
		const ssize_t got = read(a->in.fd, a->keyboard.bytes + a->keyboard.n, 1);

		if (got > 0) {
			a->keyboard.n += (size_t)got;
		} else if (!got || errno != EINTR) {
			ret->kind = EVENT_END;
			return;
		}
	}
}

const struct screen_end screen_ansi = {"ansi", ansi_open, ansi_close, screen_terminal_size,
	ansi_read, screen_terminal_write, screen_terminal_suspend};
