/* data_convert.c - `data convert`: a recording as JSON, for programs that read perf's. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/out.h"
#include "base/selfname.h"
#include "cmd/data/data.h"
#include "file/fresh.h"
#include "session/spans.h"
#include "trace/follow.h"
#include "view/records/perfjson.h"

struct convert_options {
	const char *input, *json, *time;
	bool is_forced, has_dates;
	unsigned verbose;
};

#define AT(member) offsetof(struct convert_options, member)

const struct opt data_convert_options[] = {
	{'i', "input", OPT_STR, AT(input), "FILE", "read FILE; default perf.data"},
	{0, "to-json", OPT_STR, AT(json), "FILE", "write JSON with the members that perf writes"},
	{'f', "force", OPT_BOOL, AT(is_forced), NULL, "replace FILE if it exists"},
	{0, "time", OPT_STR, AT(time), "FROM,TO",
		"only samples of this time, in seconds or in percent of the whole"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL, "say where files were looked for"},
	{0, "tod", OPT_BOOL, AT(has_dates), NULL,
		"times are those of the day: ns since 1970, of recordings with 'record -k CLOCK'"},
	{0, "all", OPT_REFUSED,
		.help = "JSON has samples only, in perf, too; 'pace script' prints all records"},
	{0, "to-ctf", OPT_REFUSED, .arg = "DIR",
		.help = "CTF is written by libbabeltrace, which pace does not have: --to-json FILE, or 'pace export'"},
	{.kind = OPT_END},
};

struct converting {
	const struct convert_options *options;
	struct trace trace;
	struct perfjson json;
	struct spans spans;
	struct out out;
};

static int convert_visits(struct converting *c, struct err *err)
{
	struct follow follow;
	struct visit *v;
	int r;

	follow_init(&follow, &c->trace, FOLLOW_IN_TIME, UINT64_MAX);
	while ((r = follow_next(&follow, &v, err)) > 0) {
		if (!v->sample || v->is_idle || v->event == TABLE_NONE ||
			!spans_have(&c->spans, v->time))
			continue;
		perfjson_add(&c->json, v, &c->out.text);
		out_flush_some(&c->out);
	}
	follow_fini(&follow);
	return r;
}

static int convert_trace(struct converting *c, const char *path, struct log *log, struct err *err)
{
	/* perf leaves code without names nameless. */
	const struct trace_options names = {.ignores_made_names = true};
	const struct file_info *info = &c->trace.session.reader.info;
	int r;

	if (trace_open(&c->trace, path, log, err))
		return err->code;
	r = trace_begin(&c->trace, &names, err);
	if (!r && c->options->time)
		r = spans_parse(&c->spans, c->options->time, info->first_time,
			info->has_times ? info->last_time : 0, err);
	if (!r && c->options->has_dates && !info->has_clock_data)
		r = err_set(err, ERR_INVAL,
			"--tod: the recording does not say what time of day its clock showed: record with -k monotonic");
	if (r)
		return r;
	perfjson_begin(&c->json, &c->trace, &c->out.text);
	if (c->options->has_dates)
		c->json.shift_ns = info->wall_ns - info->clock_ns;
	r = convert_visits(c, err);
	perfjson_end(&c->json, &c->out.text);
	return r;
}

static int convert(const struct convert_options *o, const char *path, struct log *log,
	u64 *ret_samples, struct err *err)
{
	struct converting c = {.options = o, .out.name = o->json};
	struct fresh to;
	int r;

	if (fresh_init(&to, o->json, true, err))
		return err->code;
	c.out.fd = fresh_open(&to, err);
	if (c.out.fd < 0)
		return err->code;
	r = convert_trace(&c, path, log, err);
	trace_close(&c.trace);
	spans_fini(&c.spans);
	if (!r)
		r = out_close(&c.out, err);
	else
		str_fini(&c.out.text);
	close(c.out.fd);
	if (!r)
		r = fresh_commit(&to, err);
	if (r)
		fresh_abandon(&to);
	*ret_samples = c.json.n_samples;
	return r;
}

static int check(const struct convert_options *o, struct err *err)
{
	if (!o->json)
		return err_set(err, ERR_INVAL, "no output was given: --to-json FILE");
	if (!o->is_forced && !access(o->json, F_OK))
		return err_set(err, ERR_INVAL, "there is a file '%s': --force replaces it",
			o->json);
	return 0;
}

static const struct cmd cmd_convert = {
	.name = "data convert",
	.summary = "write a recording as JSON",
	.usage = {"--to-json FILE [-i] [FILE]", NULL},
	.options = data_convert_options,
	.run = data_convert,
};

int data_convert(int argc, char **argv)
{
	struct convert_options o = {0};
	int status = cmd_parse_reader(&cmd_convert, &o, &o.input, argc, argv);
	const char *path = cmd_input(o.input);
	struct stat st;
	struct log log;
	struct err err;
	u64 n = 0;

	if (status >= 0)
		return status;
	if (check(&o, &err))
		return cmd_fail(&cmd_convert, &err, EXIT_USAGE);
	cmd_log_init(&log, o.verbose ? LOG_DEBUG : LOG_NOTE);
	status = EXIT_OK;
	if (convert(&o, path, &log, &n, &err)) {
		cmd_explain_missing(path, &err);
		status = cmd_fail(&cmd_convert, &err,
			err.code == ERR_INVAL || err.code == ERR_NOENT ? EXIT_USAGE : EXIT_FAILED);
	} else {
		fprintf(stderr, "[ %s data convert: Converted '%s' into JSON data '%s' ]\n",
			program_name(), path, o.json);
		fprintf(stderr, "[ %s data convert: Converted and wrote %.3f MB (%llu samples) ]\n",
			program_name(), stat(o.json, &st) ? 0.0 : (double)st.st_size / 1e6,
			(unsigned long long)n);
	}
	log_fini(&log);
	return status;
}
