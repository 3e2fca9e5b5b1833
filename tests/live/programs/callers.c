/*
 * callers.c - the samples of a recording with their callers, as a program outside of the tree sees them: a line
 * each, "time thread ip:function+offset ip:function+offset ... ending".
 */
#include <stdio.h>
#include <string.h>

#include <pace.h>

static int print(void *context, const struct pace_sample *sample)
{
	struct pace_frame frames[256];
	struct pace_place place = {0};
	struct pace_error err;
	const char *ending;
	int n = pace_sample_callers(sample, frames, 256, &ending, &err);

	(void)context;
	if (n < 0 || pace_sample_place(sample, NULL, &place, &err)) {
		fprintf(stderr, "callers: %s\n", err.message);
		return 1;
	}
	printf("%llu %s", (unsigned long long)sample->time, place.thread);
	for (int i = 0; i < n && i < 256; i++) {
		if (pace_sample_place(sample, &frames[i], &place, &err))
			return 1;
		printf(" 0x%llx:%s+%llu", (unsigned long long)frames[i].ip,
			place.function ? place.function : "?",
			place.function ? (unsigned long long)place.offset : 0);
	}
	printf(" %s\n", ending ? ending : "-");
	return 0;
}

int main(int argc, char **argv)
{
	struct pace_slots slots = {.sample = print};
	struct pace_error err;
	struct pace_recording *r = pace_recording_open(argc > 1 ? argv[1] : "perf.data", &err);
	int result = r ? pace_recording_read(r, PACE_TIME_ORDER, &slots, &err) : -1;

	if (result < 0)
		fprintf(stderr, "callers: %s\n", err.message);
	pace_recording_close(r);
	return result != 0;
}
