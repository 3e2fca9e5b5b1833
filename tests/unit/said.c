#include "unit/said.h"

static void keep(void *ctx, enum log_level level, const char *sentence)
{
	static const char *const names[] = {"warn", "note", "debug"};
	struct said *s = ctx;

	str_addf(&s->text, "%s: %s\n", names[level], sentence);
}

void said_init(struct said *s, enum log_level level)
{
	memset(s, 0, sizeof(*s));
	s->log = (struct log){.level = level, .write = keep, .ctx = s};
}

void said_fini(struct said *s)
{
	log_fini(&s->log);
	str_fini(&s->text);
}

size_t said_count(const struct said *s, const char *part)
{
	size_t n = 0;

	for (const char *at = str_text(&s->text); (at = strstr(at, part)) != NULL;
		at += strlen(part))
		n++;
	return n;
}
