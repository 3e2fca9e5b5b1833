#include "event/clockid.h"

#include <string.h>
#include <strings.h>
#include <time.h>

static const struct {
	s32 clock;
	const char *name, *brief;
	bool is_for_events;
} clocks[] = {
	{CLOCK_REALTIME, "realtime", "real", true},
	{CLOCK_MONOTONIC, "monotonic", "mono", true},
	{CLOCK_PROCESS_CPUTIME_ID, "process_cputime", NULL, false},
	{CLOCK_THREAD_CPUTIME_ID, "thread_cputime", NULL, false},
	{CLOCK_MONOTONIC_RAW, "monotonic_raw", "raw", true},
	{CLOCK_REALTIME_COARSE, "realtime_coarse", NULL, false},
	{CLOCK_MONOTONIC_COARSE, "monotonic_coarse", NULL, false},
	{CLOCK_BOOTTIME, "boottime", "boot", true},
	{CLOCK_TAI, "tai", "tai", true},
};

const char *clockid_name(u32 clock)
{
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++)
		if ((u32)clocks[i].clock == clock)
			return clocks[i].name;
	return NULL;
}

int clockid_parse(const char *text, s32 *ret_clock, struct err *err)
{
	static const char prefix[] = "CLOCK_";
	const char *name = strncasecmp(text, prefix, strlen(prefix)) ? text : text + strlen(prefix);

	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		char number[3] = {0};

		if (!clocks[i].is_for_events)
			continue;
		if (clocks[i].clock >= 10)
			number[0] = (char)('0' + clocks[i].clock / 10);
		number[strlen(number)] = (char)('0' + clocks[i].clock % 10);
		if (!strcasecmp(name, clocks[i].name) || !strcasecmp(name, clocks[i].brief) ||
			!strcmp(text, number)) {
			*ret_clock = clocks[i].clock;
			return 0;
		}
	}
	return err_set(err, ERR_INVAL,
		"'%s' is not a clock for events; these are: monotonic, monotonic_raw, realtime, boottime, tai",
		text);
}
