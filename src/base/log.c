#include "base/log.h"

#include <pthread.h>

/* Files are looked for on all cores, and each tells what it found. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void log_say(struct log *log, enum log_level level, const char *fmt, ...)
{
	struct str text = {0};
	va_list ap;
	size_t before;

	if (!log || !log->write || level > log->level)
		return;
	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&lock);
	log->has_warned |= level == LOG_WARN;
	before = log->said.strings.n;
	intern_add(&log->said, str_text(&text), text.n);
	if (log->said.strings.n > before && log->is_held)
		vec_add(&log->held, ((struct log_held){level, log->said.strings.at[before]}));
	else if (log->said.strings.n > before)
		log->write(log->ctx, level, str_text(&text));
	pthread_mutex_unlock(&lock);
	str_fini(&text);
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
