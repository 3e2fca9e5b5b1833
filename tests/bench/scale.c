/*
 * scale.c - makes recordings of any size, for dev/bench.
 *
 *     scale FILE PROGRAM TEXT-START TEXT-SIZE SAMPLES DEPTH
 *
 * The samples are of a few threads that run PROGRAM, somewhere in its text (offsets in the file), with some
 * places hot and most cold. Call chains have up to DEPTH callers, from a fixed set of stacks; 0: no call
 * chains. The same arguments give the same samples.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "event/abi.h"
#include "file/feature.h"
#include "file/writer.h"
#include "record/sample.h"

enum { THREADS = 16, STACKS = 3000, DEPTH_MAX = 64, BATCH = 4 << 20, PID = 4242, ROUND = 20000 };

#define BASE 0x400000ull
#define PAGE 0x1000ull

static u64 state = 88172645463325252ULL;

static u64 chance(u64 below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % below;
}

/* Few are met often: half of all in the first eighth, and so on within that. */
static u64 skewed(u64 below)
{
	while (below > 8 && chance(2))
		below /= 8;
	return chance(below);
}

struct scale {
	struct event_list events;
	struct sample_format format;
	struct writer writer;
	struct str batch;
	u64 text_start, text_size, n_samples, time;
	u32 depth;
	u64 stacks[STACKS][DEPTH_MAX + 1]; /* the chain, with its marker */
	u16 depths[STACKS];
	struct err err;
};

static void check(struct scale *s, int r)
{
	if (!r)
		return;
	fprintf(stderr, "scale: %s\n", s->err.msg);
	exit(1);
}

static void put(struct scale *s, u32 type, u16 misc, const struct str *body)
{
	struct record_header header = {type, misc, (u16)(sizeof(header) + body->n)};

	str_addn(&s->batch, &header, sizeof(header));
	str_addn(&s->batch, body->at, body->n);
	if (s->batch.n > BATCH) {
		check(s,
			writer_append(&s->writer, &(struct iovec){s->batch.at, s->batch.n}, 1,
				&s->err));
		str_clear(&s->batch);
	}
}

static void put_state(struct scale *s, u32 type, u16 misc, const union record_body *body, u32 tid)
{
	struct sample who = {.pid = PID, .tid = tid, .time = s->time};
	struct str out = {0}, rest = {0};

	record_encode(type, misc, body, 0, &out);
	str_addn(&rest, out.at + sizeof(struct record_header),
		out.n - sizeof(struct record_header));
	sample_encode_trailer(&s->format, &who, &rest);
	put(s, type, misc, &rest);
	str_fini(&rest);
	str_fini(&out);
}

static void put_beginning(struct scale *s, const char *program)
{
	/* The pages of the text: a map of more could not be one of the program. */
	const u64 first = s->text_start & ~(PAGE - 1),
		  end = (s->text_start + s->text_size + PAGE - 1) & ~(PAGE - 1);
	static const char *const names[] = {"scale", "worker", "reader", "writer"};

	for (u32 i = 0; i < THREADS; i++) {
		const char *name = names[i % ARRAY_SIZE(names)];
		union record_body body = {
			.comm = {PID, PID + i, {(const u8 *)name, (u32)strlen(name)}, {0}}};

		if (i)
			put_state(s, PERF_RECORD_FORK, 0,
				&(union record_body){.task = {.pid = PID,
							     .ppid = PID,
							     .tid = PID + i,
							     .ptid = PID,
							     .time = s->time}},
				PID);
		put_state(s, PERF_RECORD_COMM, 0, &body, PID + i);
		if (!i)
			put_state(s, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER,
				&(union record_body){.mmap = {.pid = PID,
							     .tid = PID,
							     .addr = first,
							     .len = end - first,
							     .pgoff = first - BASE,
							     .prot = 5,
							     .flags = 2,
							     .path = {(const u8 *)program,
								     (u32)strlen(program)}}},
				PID);
	}
}

static void make_stacks(struct scale *s)
{
	for (u32 i = 0; i < STACKS; i++) {
		u32 from = i ? (u32)chance(i) : 0, most = (u32)chance(s->depth) + 1,
		    n = i ? MIN(s->depths[from], most) : 0;

		/* Another one's callers, and a few calls more. */
		s->stacks[i][0] = PERF_CONTEXT_USER;
		memcpy(s->stacks[i] + 1, s->stacks[from] + 1 + (s->depths[from] - n), n * 8);
		for (u32 more = 1 + (u32)chance(4); more && n < s->depth; more--, n++) {
			memmove(s->stacks[i] + 2, s->stacks[i] + 1, n * 8);
			/* A function calls from a few places. */
			s->stacks[i][1] =
				s->text_start + chance(s->text_size / 64) * 64 + chance(2) * 16;
		}
		s->depths[i] = (u16)n;
	}
}

static void put_sample(struct scale *s)
{
	struct str body = {0};
	struct sample sample = {.pid = PID,
		.tid = PID + (u32)skewed(THREADS),
		.time = s->time += 20000 + chance(40000),
		.period = 1000000 + chance(1000)};
	u32 stack = (u32)skewed(STACKS);

	sample.ip = s->text_start + skewed(s->text_size / 64) * 64 + chance(16) * 4;
	if (s->depth) {
		/* What is at the end of a chain is one function, wherever in it. */
		sample.ip = (s->stacks[stack][1] & ~63ULL) + chance(16) * 4;
		s->stacks[stack][1] = sample.ip;
		sample.chain =
			(struct sample_words){(const u8 *)s->stacks[stack], s->depths[stack] + 1};
	}
	sample_encode(&s->format, &sample, &body);
	put(s, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &body);
	str_fini(&body);
}

int main(int argc, char **argv)
{
	static struct scale s;
	struct event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = ATTR_SIZE_VER7,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.sample_type =
			PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
		.flags = ATTR_SAMPLE_ID_ALL | ATTR_MMAP | ATTR_MMAP2 | ATTR_COMM | ATTR_TASK};
	struct file_info info;
	u64 n;

	if (argc != 7) {
		fprintf(stderr, "scale FILE PROGRAM TEXT-START TEXT-SIZE SAMPLES DEPTH\n");
		return 2;
	}
	s.text_start = BASE + strtoull(argv[3], NULL, 0);
	s.text_size = strtoull(argv[4], NULL, 0);
	n = strtoull(argv[5], NULL, 10);
	s.depth = (u32)MIN(strtoull(argv[6], NULL, 10), (unsigned long long)DEPTH_MAX);
	s.time = 1000000000;
	attr.sample_type |= s.depth ? PERF_SAMPLE_CALLCHAIN : 0;
	event_add(&s.events, &attr, "cpu-clock");
	sample_format_init(&s.format, &s.events.at[0].attr);
	check(&s, writer_open(&s.writer, argv[1], &s.events, &s.err));
	put_beginning(&s, argv[2]);
	if (s.depth)
		make_stacks(&s);
	for (u64 i = 0; i < n; i++) {
		put_sample(&s);
		if (i % ROUND == ROUND - 1)
			put(&s, PERF_RECORD_FINISHED_ROUND, 0, &(struct str){0});
	}
	check(&s, writer_append(&s.writer, &(struct iovec){s.batch.at, s.batch.n}, 1, &s.err));
	file_info_init(&info);
	check(&s, writer_finish(&s.writer, &info, &s.err));
	writer_close(&s.writer, true);
	return 0;
}
