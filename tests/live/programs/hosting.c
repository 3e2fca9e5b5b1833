/*
 * hosting.c - a program that uses all of libpace, and goes on whatever fails.
 *
 * Arguments: recordings. Prints what was done and what failed, one line each; "alive" at its end.
 * Descriptors that are open then and were not at the beginning are printed too.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pace.h"

static struct pace_recording *reading;
static unsigned long n_samples, n_named, n_asked;

/* Everything that fails says why, and of memory the errno too. */
static void say(const char *what, const struct pace_error *err)
{
	printf("%s: %s%s\n", what, err->message, err->system == ENOMEM ? " [ENOMEM]" : "");
	if (!err->code || !err->message[0])
		printf("NO REASON\n");
}

/* All that can be asked of a sample that has a name. */
static void ask(const struct pace_sample *s)
{
	struct pace_error err = {0};
	struct pace_frame frames[16];
	struct pace_line lines[4];
	struct pace_place place;
	int n = pace_sample_callers(s, frames, 16, NULL, &err);

	if (n < 0) {
		say("callers", &err);
		return;
	}
	for (int i = 0; i < n && i < 16; i++) {
		if (pace_sample_place(s, &frames[i], &place, &err)) {
			say("place", &err);
			return;
		}
	}
	if (pace_sample_lines(s, NULL, lines, 4, &err) < 0)
		say("lines", &err);
	else
		n_asked++;
}

static int take_live(void *context, const struct pace_sample *s)
{
	unsigned long *n = context;

	/* One is as good as a hundred of the same. */
	if (!(*n)++)
		ask(s);
	return 0;
}

static int take_listed(void *context, const struct pace_listed *listed)
{
	*(unsigned long *)context += listed->opens;
	return 0;
}

static int take_sample(void *context, const struct pace_sample *s)
{
	struct pace_error err = {0};
	struct pace_place place;

	(void)context;
	n_samples++;
	if (!reading)
		return 0;
	if (pace_recording_place(reading, s, s->ip, &place, &err))
		say("place", &err);
	else
		n_named += place.function != NULL;
	return 0;
}

static int take_record(void *context, const struct pace_record *record)
{
	*(unsigned long *)context += record->size;
	return 0;
}

static void take_loss(void *context, const char *sentence)
{
	(void)context;
	printf("loss: %s\n", sentence);
}

static void read_recording(const char *path)
{
	unsigned long bytes = 0;
	struct pace_slots slots = {.context = &bytes,
		.sample = take_sample,
		.record = take_record,
		.loss = take_loss};
	struct pace_error err = {0};
	struct pace_recording *r = pace_recording_open(path, &err);

	if (!r) {
		say("recording", &err);
		return;
	}
	n_samples = n_named = 0;
	if (pace_recording_read(r, PACE_FILE_ORDER, &slots, &err) < 0)
		say("file order", &err);
	reading = r;
	if (pace_recording_read(r, PACE_TIME_ORDER, &slots, &err) < 0)
		say("time order", &err);
	reading = NULL;
	pace_recording_close(r);
	printf("%lu samples, %lu named\n", n_samples, n_named);
}

static void count(void)
{
	struct pace_error err = {0};
	struct pace_counter *c = pace_counter_open("page-faults:u", 0, -1, &err);
	struct pace_group *g;
	char attr[256];

	if (!c)
		say("counter", &err);
	pace_counter_close(c);
	g = pace_group_open("{page-faults,context-switches,task-clock}:u", 0, -1, NULL, &err);
	if (!g)
		say("group", &err);
	pace_group_close(g);
	if (pace_event_parse("task-clock:u", attr, sizeof(attr), &err))
		say("parse", &err);
	if (!pace_counter_open("no-such-event", 0, -1, &err))
		say("refused", &err);
}

static void sample(unsigned flags)
{
	struct pace_options options = {.period = 1, .sample = PERF_SAMPLE_IP, .flags = flags};
	struct pace_slots slots = {.sample = take_sample};
	struct pace_error err = {0};
	struct pace_counter *c = pace_counter_open_with("page-faults:u", 0, -1, &options, &err);
	struct pace_ring *ring = c ? pace_ring_open(c, 8, &err) : NULL;

	if (!ring)
		say("ring", &err);
	else if (pace_counter_enable(c, &err) || pace_ring_read(ring, &slots, &err) < 0)
		say("sampling", &err);
	pace_ring_close(ring);
	pace_counter_close(c);
}

static volatile char touched[1 << 16];

static void touch(void)
{
	for (size_t i = 0; i < sizeof(touched); i += 4096)
		touched[i]++;
}

static void name_live(void)
{
	struct pace_options options = {.period = 1,
		.sample = PERF_SAMPLE_IP,
		.flags = PACE_SIDE_BAND | PACE_CALLERS,
		.stack_bytes = 1024};
	unsigned long n = 0;
	struct pace_slots slots = {.context = &n, .sample = take_live};
	struct pace_error err = {0};
	struct pace_counter *c = pace_counter_open_with("page-faults:u", 0, -1, &options, &err);
	struct pace_ring *ring = c ? pace_ring_open(c, 16, &err) : NULL;

	if (!ring || pace_counter_enable(c, &err)) {
		say("named ring", &err);
	} else {
		touch();
		if (pace_counter_disable(c, &err) || pace_ring_read(ring, &slots, &err) < 0)
			say("named sampling", &err);
	}
	pace_ring_close(ring);
	pace_counter_close(c);
}

static void run_session(unsigned flags, uint64_t period)
{
	struct pace_options options = {.period = period, .flags = flags};
	unsigned long n = 0;
	struct pace_slots slots = {.context = &n, .sample = take_live};
	struct pace_error err = {0};
	struct pace_session *s = pace_session_open("page-faults:u,task-clock:u", 0, &options, &err);
	struct pace_value values[2];

	if (!s || pace_session_enable(s, &err)) {
		say("session", &err);
	} else {
		touch();
		if (pace_session_disable(s, &err) || pace_session_values(s, values, 2, &err) != 2 ||
			(period && pace_session_read(s, &slots, &err) < 0))
			say("session's end", &err);
	}
	pace_session_close(s);
}

static void list_events(void)
{
	struct pace_error err = {0};
	unsigned long n = 0;

	if (pace_events_list("sw", take_listed, &n, &err))
		say("list", &err);
}

static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 64; fd++)
		n += lseek(fd, 0, SEEK_CUR) >= 0 || errno != EBADF;
	return n;
}

int main(int argc, char **argv)
{
	int before;

	setvbuf(stdout, NULL, _IONBF, 0);
	before = descriptors();
	count();
	sample(0);
	sample(PACE_KEEP_LATEST);
	name_live();
	run_session(0, 0);
	run_session(0, 1000000);
	list_events();
	printf("%lu asked\n", n_asked);
	for (int i = 1; i < argc; i++)
		read_recording(argv[i]);
	if (descriptors() != before)
		printf("%d descriptors are still open\n", descriptors() - before);
	printf("alive\n");
	return 0;
}
