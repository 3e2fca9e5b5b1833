#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/term.h"
#include "base/workers.h"
#include "cmd/record/recording.h"

struct embedding_progress {
	struct recording *rec;
	u64 began_ns, said_ns;
};

static void say_progress(void *ctx, u64 done, u64 all)
{
	enum { QUIET_NS = 500000000, EACH_NS = 100000000 };
	struct embedding_progress *p = ctx;
	u64 now = clock_now_ns();

	if (p->rec->options->is_quiet || p->rec->is_aside || now - p->began_ns < QUIET_NS ||
		now - p->said_ns < EACH_NS || !term_is_terminal(STDERR_FILENO))
		return;
	p->said_ns = now;
	fprintf(stderr, "\r[ pace record: looking up names and lines: %llu%%, Ctrl-C skips it ]",
		(unsigned long long)(all ? 100 * MIN(done, all) / all : 100));
}

static bool is_stopped(void *ctx)
{
	struct embedding_progress *p = ctx;

	return !p->rec->is_aside && stop_came_again(&p->rec->recorder.stop);
}

/* Embedding may take a tenth of the recorded time, but at least a second. */
static u64 embedding_deadline(const struct file_info *info)
{
	enum { LEAST_NS = 1000000000, PART = 10 };

	return clock_now_ns() + MAX((info->last_time - info->first_time) / PART, (u64)LEAST_NS);
}

/* Code may take a quarter of the size of the records, before it is compressed. */
static u64 code_most(const struct writer *w)
{
	return MAX(writer_data_bytes(w) / 4, (u64)256 << 10);
}

void record_embed(struct recording *rec, struct lookback *back, struct file_info *info)
{
	struct embedding_progress progress = {rec, clock_now_ns(), 0};
	struct embed_options how = {.n_workers = workers_available(),
		.growth = &rec->growth.growth,
		.code_most = code_most(&rec->writer),
		.deadline_ns = embedding_deadline(info),
		.progress = say_progress,
		.is_stopped = is_stopped,
		.ctx = &progress};
	struct embed_tally tally;
	struct err err, ignored;

	if (lookback_embed(back, NULL, &how, &info->embedded, &tally, &err)) {
		log_warn(&rec->log, "no names were added to the recording: %s", err.msg);
		return;
	}
	if (progress.said_ns)
		fprintf(stderr, "\r\033[K");
	if (tally.n_lineless || tally.is_stopped)
		log_note(&rec->log,
			"source lines of %llu of %llu places are not in the recording %s: 'pace data pack' adds them",
			(unsigned long long)tally.n_lineless, (unsigned long long)tally.n_places,
			tally.is_stopped ? "because you stopped it"
					 : "because it would have taken too long");
	if (tally.least_samples > 1)
		log_debug(&rec->log,
			"code of functions with less than %llu samples is not in the recording: 'pace data pack' adds it",
			(unsigned long long)tally.least_samples);
	if (info->embedded.n && writer_finish(&rec->writer, info, &err)) {
		log_warn(&rec->log, "no names were added to the recording: %s", err.msg);
		str_clear(&info->embedded);
		writer_finish(&rec->writer, info, &ignored);
	}
}
