#include "test.h"

#include <stdlib.h>
#include <time.h>

#include "fleet/timerange.h"

#define NS 1000000000ULL

/* Tuesday, 2026-11-24 15:00:00 in Berlin, an hour east of Greenwich. */
static const u64 now_ns = 1795528800ULL * NS;

static void set_zone(void)
{
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
}

static const char *as_text(const char *words)
{
	static char buf[1100];
	struct timerange t;
	struct err err = {0};
	struct str text = {0};

	set_zone();
	if (timerange_parse(words, now_ns, &t, &err)) {
		snprintf(buf, sizeof(buf), "! %s", err.msg);
		return buf;
	}
	timerange_add_text(&t, &text);
	snprintf(buf, sizeof(buf), "%s", str_text(&text));
	str_fini(&text);
	return buf;
}

TEST(timerange_reads_what_people_write)
{
	const char *const rows[][2] = {
		{"14:30..14:35", "2026-11-24 14:30..14:35"},
		{"14:30..+5m", "2026-11-24 14:30..14:35"},
		{"14:30", "2026-11-24 14:30..14:31"},
		{"14:30:05", "2026-11-24 14:30:05..14:30:06"},
		{"2026-11-23 14:30..14:35", "2026-11-23 14:30..14:35"},
		{"2026-11-23T14:30..14:35", "2026-11-23 14:30..14:35"},
		{"2026-11-23 14:30..+1h30m", "2026-11-23 14:30..16:00"},
		{"2026-11-23 23:30..00:15", "2026-11-23 23:30..2026-11-24 00:15"},
		{"2026-11-20..2026-11-21", "2026-11-20 00:00..2026-11-22 00:00"},
		{"2026-11-20", "2026-11-20 00:00..2026-11-21 00:00"},
		{"-1h..", "2026-11-24 14:00..15:00"},
		{"-1h..-30m", "2026-11-24 14:00..14:30"},
		{"-2h..+15m", "2026-11-24 13:00..13:15"},
		{"-1h..now", "2026-11-24 14:00..15:00"},
		{"yesterday", "2026-11-23 00:00..2026-11-24 00:00"},
		{"today", "2026-11-24 00:00..2026-11-25 00:00"},
		{"yesterday 09:00..10:00", "2026-11-23 09:00..10:00"},
		{"yesterday 09:00..today 09:00", "2026-11-23 09:00..2026-11-24 09:00"},
		{"..14:30", "..2026-11-24 14:30"},
		{"..", "..2026-11-24 15:00"},
		/* The night in which clocks went back has 25 hours. */
		{"2026-10-25", "2026-10-25 00:00..2026-10-26 00:00"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(as_text(rows[i][0]), rows[i][1]);
}

TEST(timerange_says_what_is_wrong)
{
	const char *const rows[][2] = {
		{"", "that is no time"},
		{"half past two", "that is no time"},
		{"14:60..15:00", "that is no time"},
		{"24:00..25:00", "that is no time"},
		{"14:30..soon", "what follows .. is no time"},
		{"14:30-14:35", "something is behind the time"},
		{"14:30..14:35 UTC", "something is behind the time"},
		{"14:35..14:30", "it ends before it begins"},
		{"2026-02-30", "there is no such day"},
		{"2026-13-01", "that is no time"},
		{"23:30..23:40", "still to come today"},
		{"2027-01-01", "that is still to come"},
		{"-1h", "one time is no range"},
		{"+1h..", "it begins with a time back from now"},
		{"-1h..-2h", "it ends before it begins"},
		{"..+1h", "+ needs a time in front of .."},
		{"-99999999999999999999h..", "that is no time"},
		{"-1x..", "that is no time"},
		{"2026-11-23 14:30..2026-11-22 14:30", "it ends before it begins"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *text = as_text(rows[i][0]);

		CHECK_HAS(text, "! ");
		CHECK_HAS(text, rows[i][1]);
	}
}
