/* data_pack.c - adds to a recording what it needs to be read anywhere, or removes it. */
#include "base/num.h"
#include "base/progress.h"
#include "base/workers.h"
#include "cmd/data/data.h"
#include "file/resection.h"
#include "edit/lookback.h"
#include "symbol/embed/unbox.h"

static void say_progress(void *line, u64 done, u64 all)
{
	progress_expect(line, all);
	progress_set(line, done);
}

static void say_packed(struct log *log, const struct embed_tally *t, const struct str *section)
{
	struct str size = {0};

	num_add_bytes(&size, section->n);
	log_note(log, "%llu places, %llu of them with a name: %s are added",
		(unsigned long long)t->n_places, (unsigned long long)t->n_named, str_text(&size));
	if (t->n_code_cut || t->is_dump_cut)
		log_warn(log, "not all code was added: there is too much of it");
	str_fini(&size);
}

static int pack(const struct data_options *o, const char *path, struct log *log, struct err *err)
{
	struct lookback_wishes wishes = {.has_places = true,
		.n_workers = o->n_workers ? (unsigned)o->n_workers : workers_available()};
	struct progress line = {.what = "looking up names and lines", .subject = path};
	struct embed_options how = {.n_workers = wishes.n_workers,
		.code_most = EMBED_CODE_MAX,
		.progress = say_progress,
		.ctx = &line};
	struct str section = {0};
	struct embed_tally tally;
	struct embedded older;
	struct lookback back;
	struct fresh to;
	int r;

	if (data_open_output(o, path, &to, err) || lookback_open(&back, path, &wishes, log, err))
		return err->code;
	embedded_attach(&older, &back.trace.session.reader, log);
	progress_begin(&line);
	r = lookback_embed(&back, &older, &how, &section, &tally, err);
	progress_end(&line);
	if (!r)
		r = resection_write(&back.trace.session.reader, FEATURE_EMBEDDED, &section, &to,
			err);
	if (!r)
		say_packed(log, &tally, &section);
	embedded_close(&older);
	lookback_close(&back);
	str_fini(&section);
	return r;
}

static int strip(const struct data_options *o, const char *path, struct log *log, struct err *err)
{
	struct reader reader;
	struct fresh to;
	int r;

	if (data_open_output(o, path, &to, err) || reader_open(&reader, path, log, err))
		return err->code;
	if (!layout_has_feature(&reader.header, FEATURE_EMBEDDED))
		log_note(log, "'%s' has nothing embedded", path);
	r = resection_write(&reader, FEATURE_EMBEDDED, &(struct str){0}, &to, err);
	reader_close(&reader);
	return r;
}

static int unpack_to(const struct data_options *o, const char *path, struct log *log,
	struct err *err)
{
	struct reader reader;
	struct embedded e;
	u64 n_files;
	int r;

	if (!o->output)
		return err_set(err, ERR_INVAL, "no output was given: -o names a new folder");
	if (reader_open(&reader, path, log, err))
		return err->code;
	r = embedded_open(&e, &reader, err);
	if (!r)
		r = err_set(err, ERR_FORMAT,
			"'%s' has nothing embedded: run 'pace data pack' on a machine that has the programs",
			path);
	if (r > 0) {
		r = unbox_write(&e, &reader, o->output, log, &n_files, err);
		if (!r)
			log_note(log, "wrote %llu files below '%s'", (unsigned long long)n_files,
				o->output);
	}
	embedded_close(&e);
	reader_close(&reader);
	return r;
}

/* ---- wiring ---- */

static int run(const struct data_options *o, const char *path,
	int (*work)(const struct data_options *o, const char *path, struct log *log,
		struct err *err))
{
	struct log log;
	struct err err;
	int status = EXIT_OK;

	cmd_log_init(&log, o->verbose ? LOG_DEBUG : LOG_NOTE);
	if (work(o, path, &log, &err)) {
		cmd_explain_missing(path, &err);
		status = cmd_fail(&cmd_data, &err,
			err.code == ERR_INVAL || err.code == ERR_NOENT ? EXIT_USAGE : EXIT_FAILED);
	}
	log_fini(&log);
	return status;
}

int data_pack(const struct data_options *o, const char *path)
{
	return run(o, path, pack);
}

int data_strip(const struct data_options *o, const char *path)
{
	return run(o, path, strip);
}

int data_unpack(const struct data_options *o, const char *path)
{
	return run(o, path, unpack_to);
}
