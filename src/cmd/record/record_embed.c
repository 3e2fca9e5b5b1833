#include "base/clock.h"
#include "base/progress.h"
#include "base/workers.h"
#include "cmd/record/recording.h"

struct embedding_progress {
	struct recording *rec;
	struct progress line;
};

static void say_progress(void *ctx, u64 done, u64 all)
{
	struct embedding_progress *p = ctx;

	progress_expect(&p->line, all);
	progress_set(&p->line, done);
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
	struct embedding_progress progress = {rec,
		{.what = "pace record: looking up names and lines",
			.offer = "skips it",
			.leaves_signal = true}};
	struct embed_options how = {.n_workers = workers_available(),
		.growth = &rec->growth.growth,
		.code_most = code_most(&rec->writer),
		.deadline_ns = embedding_deadline(info),
		.progress = say_progress,
		.is_stopped = is_stopped,
		.ctx = &progress};
	struct embed_tally tally;
	struct err err, ignored;
	int r;

	if (!rec->options->is_quiet && !rec->is_aside)
		progress_begin(&progress.line);
	r = lookback_embed(back, NULL, &how, &info->embedded, &tally, &err);
	progress_end(&progress.line);
	if (r) {
		log_warn(&rec->log, "no names were added to the recording: %s", err.msg);
		return;
	}
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
