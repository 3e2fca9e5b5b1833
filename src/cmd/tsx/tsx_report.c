/*
 * tsx_report.c - what recordings of counts and of aborts say together.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/workers.h"
#include "cmd/tsx/tsx_command.h"
#include "profile/check/recorded.h"

struct reading {
	const struct tsx_command *options;
	const char *samples; /* the recording of aborts; NULL: none yet */
	struct log log;
	struct txcounts counts;
	bool has_counts;
	struct recorded in;
	struct aborts aborts;
	bool has_aborts;
	struct out out;
};

/* A file of counts is read at once; the others have to wait. */
static int take_file(struct reading *r, const char *path, struct err *err)
{
	if (txcounts_is_file(path)) {
		r->has_counts = true;
		return txcounts_read(&r->counts, path, &r->log, err);
	}
	if (r->samples)
		return err_set(err, ERR_INVAL,
			"'%s' and '%s' are both recordings of samples: give one, and any number by 'stat record'",
			r->samples, path);
	r->samples = path;
	return 0;
}

static int read_samples(struct reading *r, struct err *err)
{
	const struct tsx_command *o = r->options;
	struct recorded_options reading = {.n_workers = workers_available(),
		.naming.style = symbol_options_style(&o->symbols, o->verbose)};
	struct visitor visitor;

	if (recorded_open(&r->in, r->samples, &r->log, err))
		return err->code;
	r->has_aborts = true;
	if (aborts_init(&r->aborts, &r->in.trace, (unsigned)o->n_branches, err))
		return err->code;
	symbol_options_tell(&o->symbols, o->debuginfod_s, &reading);
	visitor = aborts_visitor(&r->aborts, &r->in.trace);
	reading.visitors[reading.n_visitors++] = &visitor;
	if (recorded_read(&r->in, &reading, err))
		return err->code;
	aborts_name(&r->aborts, &r->in.trace.resolver, reading.naming.style);
	return 0;
}

static bool has_any_count(const struct txcounts *c)
{
	for (unsigned i = 0; i < TSX_COUNTS; i++)
		if (c->is_known[i] && i != TSX_CYCLES)
			return true;
	return false;
}

static void show(struct reading *r)
{
	const struct form *form = form_chosen(&r->options->forms);
	const struct txreport_found found = {r->has_counts ? &r->counts : NULL,
		r->has_aborts ? &r->aborts : NULL};

	if (form_is_data(form)) {
		txreport_rows(form, &r->out, &found, &r->options->view);
		return;
	}
	if (found.counts)
		txreport_text_counts(&r->out, found.counts);
	if (found.aborts && found.aborts->total.n) {
		txreport_text_causes(&r->out, found.aborts);
		txreport_text_sites(&r->out, found.aborts, &r->options->view);
	} else if (found.aborts) {
		str_add(&r->out.text, "\n# No sample is of an abort.\n");
	}
	txreport_text_advice(&r->out, &found);
}

static int read_all(struct reading *r, const char *const *files, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (take_file(r, files[i], err))
			return err->code;
	if (r->samples && read_samples(r, err))
		return err->code;
	if (r->has_counts && !has_any_count(&r->counts) && !r->has_aborts)
		return err_set(err, ERR_INVAL,
			"'%s' counts nothing of transactions: 'pace stat record -T' does",
			files[0]);
	return 0;
}

int tsx_report(const struct tsx_command *o, const char *const *files, size_t n)
{
	struct reading r = {.options = o, .out.fd = STDOUT_FILENO};
	int status = EXIT_OK;
	struct err err;

	cmd_log_init(&r.log, o->verbose ? LOG_DEBUG : LOG_NOTE);
	if (read_all(&r, files, n, &err)) {
		if (r.samples && !r.has_aborts)
			cmd_explain_missing(r.samples, &err);
		status = cmd_fail(&cmd_tsx, &err,
			r.has_aborts && err.code != ERR_INVAL ? EXIT_FAILED : EXIT_USAGE);
	} else {
		show(&r);
		if (r.has_aborts)
			ledger_warn(&r.in.ledger, &r.log);
	}
	if (out_close(&r.out, &err))
		status = cmd_fail(&cmd_tsx, &err, EXIT_FAILED);
	if (status == EXIT_OK &&
		(r.log.has_warned || (r.has_aborts && ledger_has_unread(&r.in.ledger))))
		status = EXIT_FAILED;
	aborts_fini(&r.aborts);
	if (r.has_aborts)
		recorded_close(&r.in);
	log_fini(&r.log);
	return status;
}
