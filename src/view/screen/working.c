#include "view/screen/working.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/progress.h"
#include "view/screen/guard.h"

enum { EACH_MS = 100, REST_US = 5000 };

struct working {
	void (*work)(void *of);
	void *of;
	atomic_bool is_done;
};

static void *work(void *ctx)
{
	struct working *w = ctx;

	w->work(w->of);
	atomic_store(&w->is_done, true);
	guard_wake(EVENT_TICK);
	return NULL;
}

/* Signals are for the thread that has the screen. */
static bool start(struct working *w, pthread_t *ret)
{
	sigset_t all, before;
	bool has_thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	has_thread = !pthread_create(ret, NULL, work, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return has_thread;
}

static void show(struct browser *b, const char *what, bool is_given_up)
{
	struct str text = {0};

	/* The key stands first: a long name of a file leaves no room behind it. */
	str_add(&text, is_given_up ? "" : "Esc: give it up   ");
	const size_t start = text.n;

	if (is_given_up)
		str_addf(&text, "%s: ending it ...", what);
	else
		progress_tell(&text);
	if (text.n == start)
		str_addf(&text, "%s ...", what);
	browser_wait(b, str_text(&text));
	str_fini(&text);
}

/* False: it was given up. What is typed behind a q may be for the shell, and stays with the terminal. */
static bool wait_for(struct working *w, struct browser *b, const char *what)
{
	struct screen *s = b->screen;
	bool is_given_up = false, has_quit = false;
	struct screen_event e;

	while (!atomic_load(&w->is_done)) {
		show(b, what, is_given_up);
		if (has_quit) {
			usleep(REST_US);
			continue;
		}
		s->end->read(s, EACH_MS, &e);
		has_quit = e.kind == EVENT_KEY && e.key == 'q';
		s->is_stale |= e.kind == EVENT_RESIZE;
		s->is_gone |= e.kind == EVENT_END;
		if (s->is_gone || (e.kind == EVENT_KEY && e.key == KEY_ESC)) {
			is_given_up = true;
			progress_give_up(true);
		} else if (e.kind != EVENT_TICK && e.kind != EVENT_RESIZE) {
			screen_keep(s, &e);
		}
		if (s->is_gone)
			break;
	}
	return !is_given_up;
}

bool working_run(struct browser *b, const char *what, void (*function)(void *of), void *of)
{
	struct working w = {.work = function, .of = of};
	pthread_t thread;
	bool is_whole;

	if (!b->screen || !start(&w, &thread)) {
		function(of);
		return true;
	}
	is_whole = wait_for(&w, b, what);
	pthread_join(thread, NULL);
	progress_give_up(false);
	browser_say(b, is_whole ? "" : "given up");
	return is_whole;
}
