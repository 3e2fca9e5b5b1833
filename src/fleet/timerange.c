#include "fleet/timerange.h"

#include <string.h>
#include <time.h>

#include "base/num.h"

#define NS 1000000000ULL

enum { DAY_S = 86400, YEAR_MOST = 2200 };

/* A time as it was written. */
struct written {
	bool is_open; /* nothing was written */
	bool has_day, has_clock;
	bool is_offset; /* of so many seconds, from now or from the beginning */
	s64 offset_s;
	struct tm tm; /* the day, the clock, or both */
	s64 length_s; /* that it stands for where it stands alone */
};

static const char usage[] =
	"write times like 14:30..14:35, '2026-11-24 14:30..+5m', -1h.., yesterday, or 'yesterday 14:30..14:35'";

static int wrong(const char *text, const char *reason, struct err *err)
{
	return err_set(err, ERR_INVAL, "'%.80s': %s; %s", text, reason, usage);
}

static bool scan_number(const char **at, u64 most, int *ret)
{
	u64 v;

	if (**at < '0' || **at > '9' || !num_scan(at, 10, &v) || v > most)
		return false;
	*ret = (int)v;
	return true;
}

/* 14:30 or 14:30:05 */
static bool scan_clock(const char **at, struct written *w)
{
	const char *p = *at;
	int hour, minute, second = 0;

	if (!scan_number(&p, 23, &hour) || *p++ != ':' || !scan_number(&p, 59, &minute))
		return false;
	w->length_s = 60;
	if (*p == ':') {
		p++;
		w->length_s = 1;
		if (!scan_number(&p, 59, &second))
			return false;
	}
	w->tm.tm_hour = hour;
	w->tm.tm_min = minute;
	w->tm.tm_sec = second;
	w->has_clock = true;
	*at = p;
	return true;
}

static bool scan_date(const char **at, struct written *w)
{
	const char *p = *at;
	int year, month, day;

	if (!scan_number(&p, YEAR_MOST, &year) || year < 1970 || *p++ != '-' ||
		!scan_number(&p, 12, &month) || !month || *p++ != '-' ||
		!scan_number(&p, 31, &day) || !day)
		return false;
	w->tm.tm_year = year - 1900;
	w->tm.tm_mon = month - 1;
	w->tm.tm_mday = day;
	w->has_day = true;
	*at = p;
	return true;
}

static bool skip_word(const char **at, const char *word)
{
	const size_t n = strlen(word);

	if (strncmp(*at, word, n))
		return false;
	*at += n;
	return true;
}

static void set_day(struct written *w, u64 now_ns, int days)
{
	const time_t now = (time_t)(now_ns / NS);
	struct tm tm;

	localtime_r(&now, &tm);
	w->tm.tm_year = tm.tm_year;
	w->tm.tm_mon = tm.tm_mon;
	w->tm.tm_mday = tm.tm_mday + days;
	w->has_day = true;
}

/* 90s, 5m, 1h30m, 2d */
static bool scan_span(const char **at, s64 *ret_s)
{
	static const struct {
		char letter;
		s64 seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', DAY_S}, {'w', 7 * DAY_S}};
	s64 sum = 0;

	do {
		const size_t none = ARRAY_SIZE(units);
		size_t unit = 0;
		int n;

		if (!scan_number(at, 1000000, &n))
			return false;
		while (unit < none && units[unit].letter != **at)
			unit++;
		if (unit == none)
			return false;
		++*at;
		sum += n * units[unit].seconds;
	} while (**at >= '0' && **at <= '9');
	*ret_s = sum;
	return true;
}

static bool scan_time(const char **at, u64 now_ns, struct written *w)
{
	if (**at == '-' || **at == '+') {
		const bool is_back = *(*at)++ == '-';

		w->is_offset = true;
		if (!scan_span(at, &w->offset_s))
			return false;
		if (is_back)
			w->offset_s = -w->offset_s;
		return true;
	}
	if (skip_word(at, "now")) {
		w->is_offset = true;
		return true;
	}
	if (skip_word(at, "today"))
		set_day(w, now_ns, 0);
	else if (skip_word(at, "yesterday"))
		set_day(w, now_ns, -1);
	else
		(void)scan_date(at, w);
	if (!w->has_day)
		return scan_clock(at, w);
	w->length_s = DAY_S;
	if (**at == 'T')
		return ++*at, scan_clock(at, w);
	while (**at == ' ')
		++*at;
	return **at < '0' || **at > '9' || scan_clock(at, w);
}

/* False: there is no such day. */
static bool to_seconds(const struct written *w, s64 *ret)
{
	struct tm tm = w->tm;
	time_t t;

	tm.tm_isdst = -1;
	t = mktime(&tm);
	/* Days before the first are those of the month before. */
	if (t < 0 || (w->tm.tm_mday > 0 && w->tm.tm_mday <= 31 && tm.tm_mday != w->tm.tm_mday))
		return false;
	*ret = t;
	return true;
}

static const char not_begun[] = "that is still to come";

/* When it begins, in seconds; NULL, or why that cannot be. */
static const char *begin_of(const struct written *from, u64 now_ns, s64 *ret)
{
	const s64 now = (s64)(now_ns / NS);

	if (from->is_open) {
		*ret = 0;
		return NULL;
	}
	if (from->is_offset) {
		if (from->offset_s > 0 || now + from->offset_s < 0)
			return "it begins with a time back from now, as -1h";
		*ret = now + from->offset_s;
		return NULL;
	}
	if (!to_seconds(from, ret))
		return "there is no such day";
	return *ret > now ? not_begun : NULL;
}

/* Likewise its end: a clock without a day is of the day on which it begins, or of the next. */
static const char *end_of(const struct written *to, const struct written *from, s64 begin,
	u64 now_ns, s64 *ret)
{
	struct written day = *to;

	if (to->is_open) {
		*ret = (s64)(now_ns / NS) + (now_ns % NS > 0);
		return NULL;
	}
	if (to->is_offset) {
		*ret = to->offset_s > 0 ? begin + to->offset_s : (s64)(now_ns / NS) + to->offset_s;
		return to->offset_s > 0 && from->is_open ? "+ needs a time in front of .." : NULL;
	}
	if (!to->has_day) {
		set_day(&day, from->is_open ? now_ns : (u64)begin * NS, 0);
		if (!to_seconds(&day, ret))
			return "there is no such day";
		if (*ret > begin || from->is_open)
			return NULL;
		/* Over midnight. */
		day.tm.tm_mday++;
		return !to_seconds(&day, ret) || *ret > (s64)(now_ns / NS)
			? "it ends before it begins"
			: NULL;
	}
	if (!to_seconds(&day, ret))
		return "there is no such day";
	/* All of the last day. */
	if (!to->has_clock) {
		day.tm.tm_mday++;
		return to_seconds(&day, ret) ? NULL : "there is no such day";
	}
	return NULL;
}

int timerange_parse(const char *text, u64 now_ns, struct timerange *ret, struct err *err)
{
	struct written from = {0}, to = {0};
	s64 begin, end;
	const char *at = text, *reason;
	bool is_range;

	while (*at == ' ')
		at++;
	from.is_open = !strncmp(at, "..", 2);
	if (!from.is_open && !scan_time(&at, now_ns, &from))
		return wrong(text, "that is no time", err);
	is_range = skip_word(&at, "..");
	to.is_open = !*at;
	if (is_range && !to.is_open && !scan_time(&at, now_ns, &to))
		return wrong(text, "what follows .. is no time", err);
	if (*at)
		return wrong(text, "something is behind the time", err);
	/* A clock alone is today's. */
	if (!from.is_open && !from.is_offset && !from.has_day)
		set_day(&from, now_ns, 0);
	reason = begin_of(&from, now_ns, &begin);
	if (reason == not_begun && !from.is_offset && from.has_clock)
		reason = "that is still to come today: write 'yesterday' in front of the time";
	if (!reason && !is_range && from.is_offset)
		reason = "one time is no range";
	if (!reason && !is_range) {
		end = begin + from.length_s;
		if (from.length_s == DAY_S) {
			from.tm.tm_mday++;
			reason = to_seconds(&from, &end) ? NULL : "there is no such day";
		}
	} else if (!reason) {
		reason = end_of(&to, &from, begin, now_ns, &end);
	}
	if (!reason && end <= begin)
		reason = "it ends before it begins";
	if (reason)
		return wrong(text, reason, err);
	*ret = (struct timerange){(u64)begin * NS, (u64)end * NS};
	return 0;
}

static void add(u64 ns, const char *format, struct str *text)
{
	const time_t seconds = (time_t)(ns / NS);
	char part[64];
	struct tm tm;

	localtime_r(&seconds, &tm);
	if (strftime(part, sizeof(part), format, &tm))
		str_add(text, part);
}

void timerange_add_time(u64 ns, struct str *text)
{
	add(ns, "%Y-%m-%d %H:%M:%S", text);
}

void timerange_add_text(const struct timerange *t, struct str *text)
{
	const bool has_seconds = t->from_ns / NS % 60 || t->to_ns / NS % 60;
	const char *clock = has_seconds ? "%H:%M:%S" : "%H:%M";
	const char *full = has_seconds ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d %H:%M";
	struct str first = {0}, last = {0};

	if (t->from_ns)
		add(t->from_ns, "%Y-%m-%d", &first);
	add(t->to_ns, "%Y-%m-%d", &last);
	if (t->from_ns)
		add(t->from_ns, full, text);
	str_add(text, "..");
	add(t->to_ns, strcmp(str_text(&first), str_text(&last)) ? full : clock, text);
	str_fini(&first);
	str_fini(&last);
}
