/* data_cut.c - recordings made from recordings: a part of one, several as one, one without names. */
#include "cmd/data/data.h"
#include "edit/anonymise.h"
#include "edit/cut.h"
#include "edit/merge.h"

static int fail(const char *path, struct err *err)
{
	cmd_explain_missing(path, err);
	return cmd_fail(&cmd_data, err,
		err->code == ERR_INVAL || err->code == ERR_NOENT ? EXIT_USAGE : EXIT_FAILED);
}

int data_cut(const struct data_options *o, const char *path)
{
	struct cut_wish wish = {o->time, o->pids, o->tids, o->comms, o->cpus};
	struct cut_tally tally;
	struct fresh to;
	struct log log;
	struct err err;
	int status = EXIT_OK;

	cmd_log_init(&log, o->verbose ? LOG_DEBUG : LOG_NOTE);
	if (data_open_output(o, path, &to, &err) || cut_write(path, &wish, &to, &log, &tally, &err))
		status = fail(path, &err);
	else
		log_note(&log, "%llu of %llu samples", (unsigned long long)tally.n_kept,
			(unsigned long long)tally.n_samples);
	log_fini(&log);
	return status;
}

int data_anonymise(const struct data_options *o, const char *path)
{
	struct anonymise_tally t;
	struct fresh to;
	struct log log;
	struct err err;
	int status = EXIT_OK;

	cmd_log_init(&log, o->verbose ? LOG_DEBUG : LOG_NOTE);
	if (data_open_output(o, path, &to, &err) || anonymise_write(path, &to, &log, &t, &err)) {
		status = fail(path, &err);
	} else {
		log_note(&log, "%llu commands, %llu files, %llu functions were renamed",
			(unsigned long long)t.n_comms, (unsigned long long)t.n_paths,
			(unsigned long long)t.n_functions);
		if (t.has_blanked_stacks)
			log_note(&log,
				"stack dumps are blanked because they may hold anything: callers can no longer be found");
		if (t.has_blanked_raw)
			log_note(&log,
				"the fields of tracepoints are blanked because they may hold anything");
		log_note(&log,
			"times, pids, addresses, the kernel's release, the hardware and the names of events are kept");
	}
	log_fini(&log);
	return status;
}

int data_merge(const struct data_options *o, int n, char **paths)
{
	struct merge_tally tally;
	struct fresh to;
	struct log log;
	struct err err;
	int status = EXIT_OK;

	cmd_log_init(&log, o->verbose ? LOG_DEBUG : LOG_NOTE);
	if (!o->output) {
		err_set(&err, ERR_INVAL, "no output was given: -o names the new recording");
		status = fail(paths[0], &err);
	} else if (data_open_output(o, paths[0], &to, &err) ||
		merge_write((const char *const *)paths, (size_t)n, &to, &log, &tally, &err)) {
		status = fail(paths[0], &err);
	} else {
		log_note(&log, "%llu samples of %zu event%s", (unsigned long long)tally.n_samples,
			tally.n_events, tally.n_events == 1 ? "" : "s");
	}
	log_fini(&log);
	return status;
}
