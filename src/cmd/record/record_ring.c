#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/record/recording.h"

static int check(const struct record_options *o, struct err *err)
{
	if (o->timing.when && !o->timing.ring_ns && o->files.switch_mode != RECORD_SWITCH_SIGNAL)
		return err_set(err, ERR_INVAL,
			"--when chooses when to write a snapshot: it needs '--ring SECONDS' or '--switch-output'");
	if (!o->timing.ring_ns)
		return 0;
	if (o->files.switch_mode == RECORD_SWITCH_SIZE ||
		o->files.switch_mode == RECORD_SWITCH_TIME)
		return err_set(err, ERR_INVAL,
			"--ring keeps only the newest records, so files cannot be switched by size or time: use --switch-output=signal, --when or --switch-output-event");
	if (o->rings.is_overwritten || o->records.is_synthesized_late)
		return err_set(err, ERR_INVAL,
			"--ring already keeps the newest samples and what ran before them: it does not work with %s",
			o->rings.is_overwritten ? "--overwrite" : "--tail-synthesize");
	if (!strcmp(o->files.output, "-"))
		return err_set(err, ERR_INVAL,
			"-o -: a stream cannot take back old records: --ring needs a file");
	return 0;
}

static void begin(struct recording *rec)
{
	struct record_ring *ring = &rec->ring;

	if (!rec->options->timing.ring_ns)
		return;
	window_init(&ring->window, rec->options->timing.ring_ns, rec->options->files.max_size,
		window_time_place(&rec->events));
	ring->sink = window_sink(&ring->window);
	rec->recorder.sink = &ring->sink;
}

static u64 due(const struct recording *rec)
{
	return rec->options->timing.ring_ns ? clock_now_ns() + RECORD_ROUND_NS : UINT64_MAX;
}

static int look(struct recording *rec, struct err *err)
{
	(void)err;
	if (rec->options->timing.ring_ns)
		window_advance(&rec->ring.window, clock_now_ns());
	return 0;
}

int record_ring_spill(struct recording *rec, const char *why, struct err *err)
{
	struct window *w = &rec->ring.window;
	u64 now = clock_now_ns();

	if (!rec->options->timing.ring_ns || rec->recorder.sink != &rec->ring.sink)
		return 0;
	window_advance(w, now);
	rec->recorder.sink = &rec->file;
	str_addf(&rec->ring.note, "ring: %s, the last %.3f of %.3f s\n", why,
		(double)(w->rounds.n ? now - w->rounds.at[0].begin_ns : 0) / 1e9,
		(double)w->span_ns / 1e9);
	if (w->was_full)
		log_note(&rec->log,
			"--ring: instead of the last %.3g s only the last %.3f s were kept, because of --max-size",
			(double)w->span_ns / 1e9,
			(double)(w->rounds.n ? now - w->rounds.at[0].begin_ns : 0) / 1e9);
	if (window_write(w, &rec->writer, err))
		return err->code;
	return writer_sync(&rec->writer, err);
}

/* Goes on collecting for the next file. */
static void resume(struct recording *rec)
{
	/* The notes were the last file's. */
	str_clear(&rec->ring.note);
	if (rec->options->timing.ring_ns)
		rec->recorder.sink = &rec->ring.sink;
}

static void close_window(struct recording *rec)
{
	window_fini(&rec->ring.window);
	str_fini(&rec->ring.note);
}

const struct record_watcher record_ring_watcher = {
	.check = check,
	.begin = begin,
	.resume = resume,
	.due = due,
	.look = look,
	.close = close_window,
};
