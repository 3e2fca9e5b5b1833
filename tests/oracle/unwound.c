/*
 * unwound.c - a recording with stack dumps, as it were if its stacks had been walked while recording.
 *
 *     unwound FILE OUT
 *
 * Gives the records of FILE to the filter that 'record' uses, round by round, and writes what comes
 * out, for the comparison with what is found in FILE later.
 */
#include <stdio.h>
#include <stdlib.h>

#include "file/reader.h"
#include "file/writer.h"
#include "trace/liveunwind.h"
#include "unwind/ending.h"

struct copied {
	struct liveunwind unwind;
	struct reader_cursor seen, taken; /* the one is a round ahead of the other */
	struct writer writer;
	struct str out;
	bool is_at_end;
};

static void fail(const struct err *err)
{
	fprintf(stderr, "unwound: %s\n", err->msg);
	exit(1);
}

/* To the end of a round: what is in another ring may be in the next one. */
static void see_round(struct copied *c)
{
	const struct recorder_filter *f = &c->unwind.filter;
	struct record rec;
	struct err err;
	int r;

	while ((r = reader_next(&c->seen, &rec, &err)) > 0 &&
		rec.type != PERF_RECORD_FINISHED_ROUND)
		if (rec.type < PERF_RECORD_USER_TYPE_START)
			f->see(f->ctx, &rec, true);
	if (r < 0)
		fail(&err);
	c->is_at_end = !r;
}

static void take_round(struct copied *c)
{
	const struct recorder_filter *f = &c->unwind.filter;
	struct record rec = {0};
	struct iovec run;
	struct err err;
	int r = 0;

	str_clear(&c->out);
	while (rec.type != PERF_RECORD_FINISHED_ROUND &&
		(r = reader_next(&c->taken, &rec, &err)) > 0)
		f->take(f->ctx, &rec, &c->out);
	run = (struct iovec){c->out.at, c->out.n};
	if (r < 0 || (run.iov_len && writer_append(&c->writer, &run, 1, &err)))
		fail(&err);
}

int main(int argc, char **argv)
{
	struct find_places places = {.symfs = ""};
	struct event_list written = {0};
	struct copied c = {0};
	struct reader reader;
	struct err err;

	if (argc != 3) {
		fprintf(stderr, "usage: unwound FILE OUT\n");
		return 2;
	}
	if (reader_open(&reader, argv[1], NULL, &err))
		fail(&err);
	liveunwind_describe(&reader.events, &written);
	if (writer_open(&c.writer, argv[2], &written, &err))
		fail(&err);
	liveunwind_init(&c.unwind, &reader.events, &places);
	reader_cursor_init(&c.seen, &reader, reader.data_start, reader.data_end);
	reader_cursor_init(&c.taken, &reader, reader.data_start, reader.data_end);
	see_round(&c);
	while (!c.is_at_end) {
		see_round(&c);
		c.unwind.filter.settle(c.unwind.filter.ctx);
		take_round(&c);
	}
	take_round(&c);
	if (writer_finish(&c.writer, &reader.info, &err))
		fail(&err);
	writer_close(&c.writer, true);
	for (unsigned i = 0; i < STACK_ENDINGS; i++)
		printf("%llu %s\n", (unsigned long long)c.unwind.n_ended[i], ending_text(i));
	reader_cursor_fini(&c.seen);
	reader_cursor_fini(&c.taken);
	liveunwind_fini(&c.unwind);
	event_list_fini(&written);
	str_fini(&c.out);
	reader_close(&reader);
	return 0;
}
