#include "session/spans.h"

#include <string.h>

#include "base/num.h"

static int no_span(const char *text, struct err *err)
{
	return err_set(err, ERR_INVAL,
		"--time '%s': expected START,STOP in seconds, or parts like 10%%-20%% or 10%%/2",
		text);
}

/* "12", "12.5", "0.000001": seconds, as ns. */
static bool scan_seconds(const char **p, u64 *ret_ns)
{
	u64 seconds, digit = 100000000;

	if (!num_scan(p, 10, &seconds) || seconds > UINT64_MAX / 2000000000)
		return false;
	*ret_ns = seconds * 1000000000;
	if (**p != '.')
		return true;
	for ((*p)++; **p >= '0' && **p <= '9'; (*p)++, digit /= 10)
		*ret_ns += (u64)(**p - '0') * digit;
	return true;
}

/* "12.5%": a share, in millionths. */
static bool scan_share(const char **p, u64 *ret_share)
{
	u64 ns;

	if (!scan_seconds(p, &ns) || **p != '%')
		return false;
	(*p)++;
	*ret_share = ns / 100000;
	return *ret_share <= 1000000;
}

static u64 at_share(u64 first, u64 last, u64 share)
{
	return first + (u64)((unsigned __int128)(last - first) * share / 1000000);
}

static bool scan_part(const char **p, u64 first, u64 last, struct span *ret)
{
	u64 a, b;

	if (!scan_share(p, &a))
		return false;
	if (**p == '/') {
		(*p)++;
		if (!num_scan(p, 10, &b) || !b || b > 1000000 || a * (b - 1) >= 1000000)
			return false;
		*ret = (struct span){at_share(first, last, a * (b - 1)),
			at_share(first, last, MIN(a * b, (u64)1000000))};
		return true;
	}
	if (**p != '-') {
		/* "10%" alone is the first such part. */
		*ret = (struct span){first, at_share(first, last, a)};
		return true;
	}
	(*p)++;
	if (!scan_share(p, &b) || b < a)
		return false;
	*ret = (struct span){at_share(first, last, a), at_share(first, last, b)};
	return true;
}

static int parse_parts(struct spans *s, const char *text, u64 first, u64 last, struct err *err)
{
	const char *p = text;

	if (!last)
		return err_set(err, ERR_UNSUPPORTED,
			"--time '%s': the recording does not say when it began and ended: give seconds",
			text);
	for (;;) {
		struct span span;

		if (!scan_part(&p, first, last, &span) || (*p && *p != ','))
			return no_span(text, err);
		vec_add(s, span);
		if (!*p)
			return 0;
		p++;
	}
}

int spans_parse(struct spans *s, const char *text, u64 first, u64 last, struct err *err)
{
	struct span span = {0, UINT64_MAX};
	const char *p = text;

	if (strchr(text, '%'))
		return parse_parts(s, text, first, last, err);
	if (*p != ',' && !scan_seconds(&p, &span.from))
		return no_span(text, err);
	if (*p == ',' && *++p && !scan_seconds(&p, &span.to))
		return no_span(text, err);
	if (*p || span.to < span.from || !*text)
		return no_span(text, err);
	vec_add(s, span);
	return 0;
}

void spans_fini(struct spans *s)
{
	vec_fini(s);
}

bool spans_have(const struct spans *s, u64 time)
{
	if (!s->n)
		return true;
	vec_each(span, s)
		if (time >= span->from && time <= span->to)
			return true;
	return false;
}
