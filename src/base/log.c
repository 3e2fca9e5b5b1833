#include "base/log.h"

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
	before = log->said.strings.n;
	intern_add(&log->said, str_text(&text), text.n);
	if (log->said.strings.n > before)
		log->write(log->ctx, level, str_text(&text));
	str_fini(&text);
}

void log_fini(struct log *log)
{
	intern_fini(&log->said);
}
