#include "cmd/top/top_source.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/live/feedfleet.h"
#include "cmd/top/top_plain.h"

enum { FIRST_NS = 750000000 };

static struct top_setup *newest(const struct top_source *s)
{
	return s->setups.at[s->setups.n - 1];
}

static void setup_free(struct top_setup *u)
{
	mem_free(u->text);
	mem_free(u);
}

/* ---- the thread that measures ---- */

static bool wants_code(struct top_source *s)
{
	bool wants;

	pthread_mutex_lock(&s->lock);
	wants = s->wants_code;
	pthread_mutex_unlock(&s->lock);
	return wants;
}

static void hand_over_code(struct top_source *s)
{
	struct top_code *code = top_code_new(&s->feed);

	pthread_mutex_lock(&s->lock);
	s->code = code;
	s->wants_code = false;
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static bool show(void *ctx, struct moment *shown, const struct feed_facts *facts)
{
	struct top_source *s = ctx;
	const struct top_setup *setup = s->measured;
	const u64 most = setup->options.n_refreshes;

	if (wants_code(s))
		hand_over_code(s);
	pthread_mutex_lock(&s->lock);
	if (s->next.setup)
		moment_fini(&s->next.moment);
	s->next = (struct top_shown){setup, *shown, *facts};
	str_cut(&s->head, 0);
	top_add_measured(&s->feed, &s->head);
	str_cut(&s->lacks, 0);
	if (s->feed.fleet)
		ledger_add_text(&s->feed.fleet->ledger, true, &s->lacks);
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->lock);
	s->tell(s->ctx, most && facts->nr >= most);
	return most && facts->nr >= most;
}

static bool steer(void *ctx)
{
	struct top_source *s = ctx;
	struct feed_settings wished;
	bool forgets, ends;

	pthread_mutex_lock(&s->lock);
	wished = s->wished;
	forgets = s->forgets;
	ends = s->ends || s->wanted;
	s->forgets = false;
	pthread_mutex_unlock(&s->lock);
	feed_pause(&s->feed, wished.is_paused);
	if (wished.hides_kernel != s->feed.settings.hides_kernel ||
		wished.hides_user != s->feed.settings.hides_user)
		forgets = true;
	s->feed.settings = wished;
	if (forgets)
		feed_forget(&s->feed);
	/* What counts anew each time is whole only right before it is shown. */
	if ((!wished.is_zeroed || wished.is_paused) && wants_code(s))
		hand_over_code(s);
	return ends;
}

static void say(void *ctx, const char *text)
{
	struct top_source *s = ctx;

	pthread_mutex_lock(&s->lock);
	str_cut(&s->said, 0);
	str_add(&s->said, text);
	pthread_mutex_unlock(&s->lock);
	s->tell(s->ctx, false);
}

static int open_feed(struct top_source *s, const struct top_setup *setup, struct err *err)
{
	memset(&s->feed, 0, sizeof(s->feed));
	s->measured = setup;
	s->feed.options = top_options_feed(&setup->options);
	s->feed.log = s->log;
	s->feed.command = s->command;
	s->feed.wake_fd = s->wake_fd;
	s->feed.show = show;
	s->feed.steer = steer;
	s->feed.say = say;
	s->feed.ctx = s;
	return feed_open(&s->feed,
		&(struct feed_needs){.labels = top_rows_labels(&setup->rows),
			.source = top_rows_source(&setup->rows),
			.fields = setup->rows.own.fields},
		err);
}

/* Opens what is wanted now; if that fails, what was open before. */
static int change(struct top_source *s, struct err *err)
{
	const struct top_setup *before = s->measured, *wanted;
	struct feed_settings settings;

	pthread_mutex_lock(&s->lock);
	wanted = s->wanted;
	s->wished.is_paused = false;
	settings = s->wished;
	s->wanted = NULL;
	pthread_mutex_unlock(&s->lock);
	feed_close(&s->feed);
	if (open_feed(s, wanted, err)) {
		say(s, err->msg);
		*err = (struct err){0};
		feed_close(&s->feed);
		if (open_feed(s, before, err))
			return err->code;
	}
	s->feed.settings = settings;
	return 0;
}

static bool wants_change(struct top_source *s)
{
	bool wants;

	pthread_mutex_lock(&s->lock);
	wants = s->wanted && !s->ends;
	pthread_mutex_unlock(&s->lock);
	return wants;
}

static void *measure(void *ctx)
{
	struct top_source *s = ctx;
	struct err err = {0};
	enum recorder_end end;

	do {
		end = feed_run(&s->feed, &err);
	} while (end == RECORDER_ENOUGH && wants_change(s) && !change(s, &err));
	pthread_mutex_lock(&s->lock);
	s->has_ended = true;
	s->signal = end == RECORDER_SIGNAL ? s->feed.recorder.stop.signal : 0;
	if (err.code)
		s->failure = err;
	str_cut(&s->said, 0);
	str_add(&s->said, err.code ? err.msg : "what was measured has ended: q quits");
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->lock);
	s->tell(s->ctx, end == RECORDER_SIGNAL);
	return NULL;
}

/* ---- the other one ---- */

int top_source_open(struct top_source *s, const struct top_options *o, char **command,
	struct log *log, struct err *err)
{
	struct top_setup *setup = mem_zalloc(sizeof(*setup));

	*s = (struct top_source){.log = log, .command = command, .wake_fd = -1};
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	setup->options = *o;
	setup->options.is_screen = true;
	vec_add(&s->setups, setup);
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake_fd < 0)
		return err_sys(err, errno, "creating an event descriptor");
	if (top_rows_choose(&setup->rows, &setup->options, err) || open_feed(s, setup, err))
		return err->code;
	s->wished = s->feed.settings;
	return 0;
}

/* Signals of the terminal are for the thread that has the screen. */
int top_source_start(struct top_source *s, struct err *err)
{
	sigset_t set, before;
	int failed;

	/* The first screen need not be about a whole interval. */
	s->feed.due_ns = MIN(s->feed.due_ns, clock_now_ns() + FIRST_NS);
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
	sigaddset(&set, SIGWINCH);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	failed = pthread_create(&s->thread, NULL, measure, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	s->is_running = !failed;
	return failed ? err_sys(err, failed, "starting a thread") : 0;
}

bool top_source_wait(struct top_source *s)
{
	bool has_one;

	pthread_mutex_lock(&s->lock);
	while (!s->next.setup && !s->has_ended)
		pthread_cond_wait(&s->changed, &s->lock);
	has_one = s->next.setup;
	pthread_mutex_unlock(&s->lock);
	return has_one;
}

bool top_source_take(struct top_source *s, struct top_shown *ret)
{
	bool has_one;

	pthread_mutex_lock(&s->lock);
	has_one = s->next.setup;
	if (has_one)
		*ret = s->next;
	s->next.setup = NULL;
	pthread_mutex_unlock(&s->lock);
	return has_one;
}

struct top_code *top_source_code(struct top_source *s)
{
	struct top_code *code;
	bool can_be_made;

	pthread_mutex_lock(&s->lock);
	s->wants_code = !s->has_ended;
	pthread_mutex_unlock(&s->lock);
	top_source_wake(s);
	pthread_mutex_lock(&s->lock);
	while (s->wants_code && !s->has_ended)
		pthread_cond_wait(&s->changed, &s->lock);
	code = s->code;
	s->code = NULL;
	s->wants_code = false;
	can_be_made = s->has_ended && !s->failure.code;
	pthread_mutex_unlock(&s->lock);
	/* The thread leaves the feed alone after its end. */
	return !code && can_be_made ? top_code_new(&s->feed) : code;
}

void top_source_wake(struct top_source *s)
{
	const u64 one = 1;

	(void)!write(s->wake_fd, &one, sizeof(one));
}

static void apply(const struct top_change *c, struct top_setup *setup)
{
	struct top_options *o = &setup->options;
	struct err ignored;

	if (c->turns_wall)
		o->record.records.has_wall = !o->record.records.has_wall;
	if (c->keys) {
		setup->text = mem_strdup(c->keys);
		o->sort = setup->text;
		o->fields = NULL;
	}
	if (c->event) {
		setup->text = mem_strdup(c->event);
		/* The words before stay those of the set-up before. */
		memset(&o->record.events.words, 0, sizeof(o->record.events.words));
		event_words_event(o, setup->text, &ignored);
	}
}

int top_source_change(struct top_source *s, const struct top_change *c, struct err *err)
{
	struct top_setup *setup;

	if (s->command)
		return err_set(err, ERR_INVAL,
			"the command would have to be started again: 'pace top' has -e, -s and --wall");
	setup = mem_zalloc(sizeof(*setup));
	setup->options = newest(s)->options;
	apply(c, setup);
	if (top_rows_choose(&setup->rows, &setup->options, err) ||
		top_options_check(&setup->options, false, err)) {
		setup_free(setup);
		return err->code;
	}
	pthread_mutex_lock(&s->lock);
	vec_add(&s->setups, setup);
	s->wanted = setup;
	pthread_mutex_unlock(&s->lock);
	top_source_wake(s);
	return 0;
}

void top_source_close(struct top_source *s)
{
	if (s->is_running) {
		pthread_mutex_lock(&s->lock);
		s->ends = true;
		pthread_mutex_unlock(&s->lock);
		top_source_wake(s);
		pthread_join(s->thread, NULL);
	}
	top_code_free(s->code);
	feed_close(&s->feed);
	if (s->next.setup)
		moment_fini(&s->next.moment);
	/* The words of the first set-up are the caller's; later ones have their own, or those of the one before. */
	for (size_t i = s->setups.n; i-- > 1;)
		if (s->setups.at[i]->options.record.events.words.at !=
			s->setups.at[i - 1]->options.record.events.words.at)
			event_words_fini(&s->setups.at[i]->options.record.events);
	vec_each(setup, &s->setups)
		setup_free(*setup);
	vec_fini(&s->setups);
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	str_fini(&s->said);
	str_fini(&s->head);
	str_fini(&s->lacks);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
}
