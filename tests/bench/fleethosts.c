/*
 * fleethosts - makes up what the hosts of a fleet measure: files of batches, the same for the same numbers.
 *
 *     fleethosts FOLDER FIRST N START MINUTES SAMPLES [hostile]
 *
 * Writes FOLDER/webI.batches for N hosts from FIRST on: a batch a minute from START (seconds since 1970) on, of about SAMPLES
 * samples each. A host runs one of ten services and "system"; a service has 2,000 call stacks, some of which take most of the
 * time. Prints for each host its name, its samples and their value. `hostile`: names that no table likes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "profile/batch/batchbytes.h"

enum {
	SERVICES = 10,
	STACKS = 2000,    /* of a service */
	FUNCTIONS = 3000, /* of a service */
	DEEPEST = 40,
	HZ = 19,
};

static const char *const hostile[] = {"'); DROP TABLE pace_samples; --",
	"\"},{\"service\":\"x\"}\n", "\\\\'\\\"\\n\\t\\0", "caf\xc3\xa9 \xf0\x9f\x90\x8e",
	"\xff\xfe\x80 not UTF-8", "\x1b]0;title\x07\x1b[2J", "tab\tnewline\nreturn\r",
	"{host:String}", "%s%n%00",
	"\xe2\x80\xae"
	"desrever"};

struct fleet {
	u64 start_s;
	u32 minutes, samples;
	bool is_hostile;
};

/* Frame `depth` of a stack of a service: stacks share their outer frames. */
static u32 frame_of(struct batch *b, u32 service, u32 stack, u32 depth, const struct fleet *f)
{
	const u32 kinds = 1 + stack / (1u << (depth < 11 ? 11 - depth : 0));
	struct random r = {((u64)service << 40) ^ ((u64)depth << 20) ^ (kinds % STACKS)};
	const u32 function = random_below(&r, FUNCTIONS);
	struct batch_frame frame = {.mode = 2, .is_named = function % 50 != 0};
	char text[160], file[32];

	snprintf(file, sizeof(file), "libservice%u-%u.so", service, function % 7);
	if (f->is_hostile && function % 3 == 0)
		snprintf(text, sizeof(text), "%s", hostile[function / 3 % ARRAY_SIZE(hostile)]);
	else if (frame.is_named)
		snprintf(text, sizeof(text),
			"service%u::module%u::Handler%u::process(request const&)", service,
			function % 37, function);
	else
		snprintf(text, sizeof(text), "[%s+0x%x]", file, function * 64);
	frame.name = batch_add_string(b, text);
	frame.file = batch_add_string(b, file);
	if (!frame.is_named)
		frame.build = batch_add_string(b, "00112233445566778899aabbccddeeff00112233");
	return batch_frame(b, &frame);
}

static u32 stack_of(struct batch *b, u32 service, u32 number, const struct fleet *f)
{
	const u32 n = 8 + number * 7 % (DEEPEST - 8);
	u32 stack = 0;

	for (u32 i = 0; i < n; i++)
		stack = batch_stack(b, stack, frame_of(b, service, number, i, f));
	return stack;
}

static void fill(struct batch *b, u32 host, u32 minute, const struct fleet *f)
{
	struct random r = {((u64)host << 32) + minute * 7919 + f->start_s};
	const u32 event = batch_event(b, "cpu-clock"),
		  n = f->samples - f->samples / 10 + random_below(&r, f->samples / 5 + 1);
	const u32 service_column = batch_column(b, "service"), comm = batch_column(b, "comm");
	u32 cells[BATCH_COLUMNS] = {0},
	    *stacks = calloc(SERVICES * STACKS + STACKS, sizeof(*stacks));
	char text[64];

	for (u32 i = 0; i < n; i++) {
		const bool is_system = random_below(&r, 10) == 0;
		const u32 service = is_system ? SERVICES : host % SERVICES;
		/* A few stacks have most of the samples. */
		const u32 a = random_below(&r, STACKS), c = random_below(&r, STACKS),
			  number = (u32)((u64)a * c % STACKS * a / STACKS);
		u32 *stack = &stacks[service * STACKS + number];

		if (!*stack)
			*stack = stack_of(b, service, number, f);
		snprintf(text, sizeof(text), is_system ? "system" : "service%u", service);
		cells[service_column] = batch_add_string(b,
			f->is_hostile ? hostile[service % ARRAY_SIZE(hostile)] : text);
		snprintf(text, sizeof(text), "worker%u", number % 4);
		cells[comm] = batch_add_string(b, text);
		batch_count(b,
			&(struct batch_row){event, *stack,
				batch_add_string(b, "5545a6c7162d325fbe5ffabcbfe4e5521b66ce70"), 1,
				1000000000 / HZ},
			cells);
	}
	free(stacks);
}

static void write_host(const char *folder, u32 host, const struct fleet *f)
{
	struct batch_writer writer = {0};
	u64 samples = 0, value = 0;
	struct str bytes = {0};
	struct err err = {0};
	char path[4096], name[64];
	FILE *file;

	snprintf(name, sizeof(name), f->is_hostile ? "web%u'\"\\\n" : "web%u", host);
	for (u32 minute = 0; minute < f->minutes; minute++) {
		struct batch b;

		batch_init(&b);
		b.start_ns = (f->start_s + minute * 60) * 1000000000;
		b.end_ns = b.start_ns + 60000000000;
		batch_say(&b, "host", name);
		batch_say(&b, "label.region", host % 3 ? "eu" : "us");
		fill(&b, host, minute, f);
		samples += b.events.at[0].n_samples;
		value += b.events.at[0].period;
		if (batch_write(&writer, &b, &bytes, &err)) {
			fprintf(stderr, "fleethosts: %s\n", err.msg);
			exit(1);
		}
		batch_fini(&b);
	}
	snprintf(path, sizeof(path), "%s/web%u.batches", folder, host);
	file = fopen(path, "w");
	if (!file || fwrite(bytes.at, 1, bytes.n, file) != bytes.n || fclose(file)) {
		perror(path);
		exit(1);
	}
	printf("web%u %llu %llu\n", host, (unsigned long long)samples, (unsigned long long)value);
	batch_writer_fini(&writer);
	str_fini(&bytes);
}

int main(int argc, char **argv)
{
	struct fleet f = {0};
	u32 first, n;

	if (argc < 7) {
		fprintf(stderr,
			"usage: fleethosts FOLDER FIRST N START MINUTES SAMPLES [hostile]\n");
		return 2;
	}
	first = (u32)strtoul(argv[2], NULL, 10);
	n = (u32)strtoul(argv[3], NULL, 10);
	f.start_s = strtoull(argv[4], NULL, 10);
	f.minutes = (u32)strtoul(argv[5], NULL, 10);
	f.samples = (u32)strtoul(argv[6], NULL, 10);
	f.is_hostile = argc > 7 && !strcmp(argv[7], "hostile");
	for (u32 i = 0; i < n; i++)
		write_host(argv[1], first + i, &f);
	return 0;
}
