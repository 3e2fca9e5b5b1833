#include "base/log.h"

#include <pthread.h>

#include "base/mem.h"

/* Threads look for files on all cores, and each of them logs what it found. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct saying {
	struct log *log;
	enum log_level level;
	const struct str *text;
};

static void take(void *saying)
{
	struct saying *s = saying;
	struct log *log = s->log;
	size_t before = log->said.strings.n;

	log->has_warned |= s->level == LOG_WARN;
	intern_add(&log->said, str_text(s->text), s->text->n);
	if (log->said.strings.n > before && log->is_held)
		vec_add(&log->held, ((struct log_held){s->level, log->said.strings.at[before]}));
	else if (log->said.strings.n > before)
		log->write(log->ctx, s->level, str_text(s->text));
}

void log_say(struct log *log, enum log_level level, const char *fmt, ...)
{
	struct str text = {0};
	struct saying saying = {log, level, &text};
	bool is_done = true;
	size_t size = 0;
	va_list ap;

	if (!log || !log->write || level > log->level)
		return;
	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&lock);
	/* Running out of memory must not leave the lock taken. */
	if (mem_is_trying())
		is_done = mem_try(take, &saying, &size);
	else
		take(&saying);
	pthread_mutex_unlock(&lock);
	str_fini(&text);
	if (!is_done)
		mem_exhausted(size);
}

void log_untried(struct log *log, const char *whose, const struct err *err)
{
	if (err->code == ERR_SYS)
		log_warn(log, "%s", err->msg);
	else
		log_debug(log, "%s: %s", whose, err->msg);
}

void log_hold(struct log *log)
{
	log->is_held = true;
}

void log_release(struct log *log)
{
	log->is_held = false;
	vec_each(held, &log->held)
		log->write(log->ctx, held->level, held->sentence);
	log->held.n = 0;
}

void log_forget(struct log *log)
{
	log->is_held = false;
	log->held.n = 0;
}

void log_fini(struct log *log)
{
	intern_fini(&log->said);
	vec_fini(&log->held);
}
