#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/selfname.h"
#include "cmd/cmd.h"
#include "cmd/record/recording.h"
#include "collect/record/drain.h"
#include "record/record.h"

/* ---- what the next file has to know ---- */

/* What the next file has to know of tasks: from /proc, and from the records that follow. */
struct carrying {
	struct str state, records;
	const struct sink *behind; /* also receives the records */
};

static int carry(void *carrying, const struct iovec *runs, int n, struct err *err)
{
	struct carrying *c = carrying;

	str_clear(&c->records);
	for (int i = 0; i < n; i++)
		str_addn(&c->records, runs[i].iov_base, runs[i].iov_len);
	window_keep_lasting(&c->records, &c->state);
	return c->behind->append(c->behind->ctx, runs, n, err);
}

/*
 * The rings have just been emptied. /proc is read first; then what has come to the rings meanwhile goes into the old
 * file. Each task with later samples either existed when /proc was read, or has begun since, and these records tell of
 * it. In the other order a task that ends in between would be unknown to the new file, which has its last samples.
 */
static int gather_state(struct recording *rec, struct carrying *c, struct err *err)
{
	struct sink sink = {c, carry, NULL};
	int r;

	if (rec->options->records.is_synthesized_late || rec->options->timing.ring_ns)
		return 0;
	if (record_write_state(rec, &c->state, err))
		return err->code;
	c->behind = rec->recorder.sink;
	rec->recorder.sink = &sink;
	r = drain_rings(&rec->recorder, true, err);
	rec->recorder.sink = c->behind;
	return r;
}

static int open_next(struct recording *rec, const struct str *state, struct err *err)
{
	struct iovec run = {state->at, state->n};

	if (record_open_output(rec, err) ||
		(run.iov_len && writer_append(&rec->writer, &run, 1, err)))
		return err->code;
	return writer_sync(&rec->writer, err);
}

/* ---- the end of the current file ---- */

/* Reaps children that have ended; waits for all of them if `waits`. */
static void reap(struct record_aside *a, bool waits)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n_children; i++) {
		pid_t r;

		do
			r = waitpid(a->children[i], NULL, waits ? 0 : WNOHANG);
		while (r < 0 && errno == EINTR);
		if (!r)
			a->children[n++] = a->children[i];
	}
	a->n_children = n;
}

static void say_dump(const struct recording *rec, const char *path)
{
	if (!rec->options->is_quiet)
		fprintf(stderr, "[ %s record: Dump %s ]\n", program_name(), path);
}

/*
 * Looking up names and lines takes up to a second, in which rings fill: a child does it, on its copy of everything that
 * is known. True if a child was started.
 */
static bool complete_aside(struct recording *rec, const char *path)
{
	struct record_aside *a = &rec->aside;
	struct session_tally ignored;
	struct err err;
	pid_t pid;

	reap(a, false);
	if (rec->options->files.has_no_embedding)
		return false;
	pid = a->n_children < ARRAY_SIZE(a->children) ? fork() : -1;
	if (!pid) {
		/* Signals that end the recorder are not meant for this child. */
		rec->is_aside = true;
		recorder_fall_back(&rec->recorder);
		if (record_complete(rec, path, RECORD_EMBEDDED, &ignored, &err))
			log_warn(&rec->log, "%s", err.msg);
		say_dump(rec, path);
		_exit(EXIT_OK);
	}
	if (pid > 0)
		a->children[a->n_children++] = pid;
	else if (!a->has_said_busy)
		log_note(&rec->log,
			"files follow each other too fast to look up names for each: 'pace data pack' adds them to '%s'",
			path);
	a->has_said_busy |= pid < 0;
	return pid > 0;
}

/* Gives the current file its name and completes it. */
static int end_file(struct recording *rec, struct err *err)
{
	const struct record_options *o = rec->options;
	bool is_read = record_wants_build_ids(o) || o->files.has_time_bounds;
	struct session_tally ignored;
	const char *name;

	record_write_late_state(rec);
	if (writer_sync(&rec->writer, err))
		return err->code;
	name = record_give_name(rec, false);
	if (!complete_aside(rec, name)) {
		if (record_complete(rec, name, is_read ? RECORD_READ : RECORD_NOT_READ, &ignored,
			    err))
			return err->code;
		say_dump(rec, name);
	}
	writer_close(&rec->writer, true);
	return 0;
}

void record_switch_close(struct recording *rec)
{
	reap(&rec->aside, true);
}

int record_switch_output(struct recording *rec, struct err *err)
{
	struct carrying c = {0};
	int r;

	if (!rec->writer.is_file)
		return 0;
	r = gather_state(rec, &c, err);
	if (!r && !rec->options->timing.ring_ns)
		r = drain_losses(&rec->recorder, err);
	if (!r)
		r = end_file(rec, err);
	if (!r)
		r = open_next(rec, &c.state, err);
	str_fini(&c.state);
	str_fini(&c.records);
	return r;
}
