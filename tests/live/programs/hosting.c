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
static unsigned long n_samples, n_named;

/* Everything that fails says why, and of memory the errno too. */
static void say(const char *what, const struct pace_error *err)
{
	printf("%s: %s%s\n", what, err->message, err->system == ENOMEM ? " [ENOMEM]" : "");
	if (!err->code || !err->message[0])
		printf("NO REASON\n");
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
	for (int i = 1; i < argc; i++)
		read_recording(argv[i]);
	if (descriptors() != before)
		printf("%d descriptors are still open\n", descriptors() - before);
	printf("alive\n");
	return 0;
}
