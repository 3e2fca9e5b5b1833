#include "collect/run/schedule.h"

#include <string.h>

#include "base/num.h"

enum { MS = 1000000 }; /* ns */

static const u64 most_ms = UINT64_MAX / MS / 2;

static int bad_text(const char *text, struct err *err)
{
	return err_set(err, ERR_INVAL,
		"'%s': expected milliseconds, -1, or ascending ranges of milliseconds like 10-20,30-40",
		text);
}

static bool take_ms(const char **p, u64 *ret_ns)
{
	u64 ms;

	if (!num_scan(p, 10, &ms) || ms > most_ms)
		return false;
	*ret_ns = ms * MS;
	return true;
}

int schedule_parse(struct schedule *s, const char *text, struct err *err)
{
	struct schedule_span span = {.off_ns = UINT64_MAX};
	const char *p = text;
	u64 last = 0;

	memset(s, 0, sizeof(*s));
	if (!strcmp(text, "-1")) {
		s->is_late = true;
		return 0;
	}
	if (!take_ms(&p, &span.on_ns))
		return bad_text(text, err);
	if (!*p) {
		s->is_late = span.on_ns > 0;
		if (s->is_late)
			vec_add(&s->spans, span);
		return 0;
	}
	s->is_late = true;
	while (*p++ == '-' && take_ms(&p, &span.off_ns) && last <= span.on_ns &&
		span.on_ns < span.off_ns) {
		last = span.off_ns;
		vec_add(&s->spans, span);
		if (!*p)
			return 0;
		if (*p++ != ',' || !take_ms(&p, &span.on_ns))
			break;
	}
	schedule_fini(s);
	return bad_text(text, err);
}

void schedule_fini(struct schedule *s)
{
	vec_fini(&s->spans);
	memset(s, 0, sizeof(*s));
}

u64 schedule_next(const struct schedule *s)
{
	const struct schedule_span *span = &s->spans.at[s->n_done / 2];

	if (s->n_done / 2 >= s->spans.n)
		return UINT64_MAX;
	return s->n_done % 2 ? span->off_ns : span->on_ns;
}

bool schedule_step(struct schedule *s)
{
	return ++s->n_done % 2;
}

bool schedule_is_over(const struct schedule *s)
{
	return s->spans.n && s->n_done == 2 * s->spans.n;
}
