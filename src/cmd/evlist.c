#include <unistd.h>

#include "base/out.h"
#include "cmd/cmd.h"
#include "file/reader.h"

struct evlist_options {
	const char *input;
	bool is_verbose, has_frequency;
};

#define AT(member) offsetof(struct evlist_options, member)

static const struct opt options[] = {
	{'i', "input", OPT_STR, AT(input), "FILE", "read FILE; default perf.data"},
	{'v', "verbose", OPT_BOOL, AT(is_verbose), NULL, "all fields of each event's attr"},
	{'F', "freq", OPT_BOOL, AT(has_frequency), NULL,
		"each event's sampling frequency or period"},
	{.kind = OPT_END},
};

static void add_event(const struct event *e, const struct evlist_options *o, struct str *text)
{
	str_add_safe(text, e->name, strlen(e->name));
	if (o->is_verbose) {
		str_add(text, ": ");
		attr_add_text(&e->attr, ": ", text);
	} else if (o->has_frequency) {
		str_addf(text, ": sample_%s=%llu", e->attr.flags & ATTR_FREQ ? "freq" : "period",
			(unsigned long long)e->attr.sample_period);
	}
	str_addc(text, '\n');
}

static int run_evlist(int argc, char **argv)
{
	struct evlist_options o = {0};
	struct out out = {.fd = STDOUT_FILENO};
	int status = cmd_parse(&cmd_evlist, &o, 0, &argc, argv);
	struct reader reader;
	struct log log;
	struct err err;

	if (status >= 0)
		return status;
	if (argc) {
		err_set(&err, ERR_INVAL, "'%s' is one word too many: a file is named with -i",
			argv[0]);
		return cmd_fail(&cmd_evlist, &err, EXIT_USAGE);
	}
	cmd_log_init(&log, LOG_NOTE);
	o.input = cmd_input(o.input);
	if (reader_open(&reader, o.input, &log, &err)) {
		cmd_explain_missing(o.input, &err);
		log_fini(&log);
		return cmd_fail(&cmd_evlist, &err, EXIT_FAILED);
	}
	vec_each(e, &reader.events)
		add_event(e, &o, &out.text);
	reader_close(&reader);
	log_fini(&log);
	return out_close(&out, &err) ? cmd_fail(&cmd_evlist, &err, EXIT_FAILED) : EXIT_OK;
}

const struct cmd cmd_evlist = {
	.name = "evlist",
	.summary = "list the events of a recording",
	.usage = {"[OPTIONS]", NULL},
	.options = options,
	.run = run_evlist,
};
