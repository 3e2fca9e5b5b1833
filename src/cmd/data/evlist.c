#include <unistd.h>

#include "base/out.h"
#include "cmd/cmd.h"
#include "event/abi.h"
#include "file/reader.h"
#include "file/tracepoints.h"

struct evlist_options {
	const char *input;
	bool is_verbose, has_frequency, has_groups, has_trace_fields, is_forced;
};

#define AT(member) offsetof(struct evlist_options, member)

static const struct opt options[] = {
	{'i', "input", OPT_STR, AT(input), "FILE", "read FILE; default perf.data"},
	{'v', "verbose", OPT_BOOL, AT(is_verbose), NULL, "all fields of each event's attr"},
	{'F', "freq", OPT_BOOL, AT(has_frequency), NULL,
		"each event's sampling frequency or period"},
	{'g', "group", OPT_BOOL, AT(has_groups), NULL, "events of a group together, as {a,b}"},
	{0, "trace-fields", OPT_BOOL, AT(has_trace_fields), NULL,
		"the fields that each tracepoint has"},
	{'f', "force", OPT_BOOL, AT(is_forced), NULL,
		"read files of any owner (always; perf needs -f)"},
	{.kind = OPT_END},
};

static void add_trace_fields(const struct event *e, const struct tracepoints *formats,
	struct str *text)
{
	if (e->attr.type != PERF_TYPE_TRACEPOINT) {
		str_add(text, ": (not a tracepoint)");
		return;
	}
	str_add(text, ": trace_fields: ");
	if (!tracepoints_add_fields(formats, e->attr.config, text))
		str_add(text, "(its format is not in the recording)");
}

/* Adds "{a,b}" for the leader of a group, nothing for its members. */
static void add_group(const struct event_list *events, const struct event *e, struct str *text)
{
	u32 at = (u32)(e - events->at);

	if (e->leader != at && events->at[e->leader].n_members > 1)
		return;
	if (e->n_members > 1)
		str_addc(text, '{');
	for (u32 i = 0; i < MAX(e->n_members, 1u); i++) {
		str_add(text, i ? "," : "");
		str_add_safe(text, e[i].name, strlen(e[i].name));
	}
	str_add(text, e->n_members > 1 ? "}\n" : "\n");
}

static void add_event(const struct event *e, const struct evlist_options *o,
	const struct tracepoints *formats, struct str *text)
{
	str_add_safe(text, e->name, strlen(e->name));
	if (o->has_trace_fields) {
		add_trace_fields(e, formats, text);
		str_addc(text, '\n');
		return;
	}
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
	int status = cmd_parse_reader(&cmd_evlist, &o, &o.input, argc, argv);
	struct tracepoints formats;
	struct reader reader;
	struct log log;
	struct err err;

	if (status >= 0)
		return status;
	cmd_log_init(&log, LOG_NOTE);
	o.input = cmd_input(o.input);
	if (reader_open(&reader, o.input, &log, &err)) {
		cmd_explain_missing(o.input, &err);
		log_fini(&log);
		return cmd_fail(&cmd_evlist, &err, EXIT_USAGE);
	}
	if (tracepoints_open(&formats, &reader.info.tracing_data, &err))
		log_warn(&log, "'%s': %s", o.input, err.msg);
	vec_each(e, &reader.events) {
		if (o.has_groups)
			add_group(&reader.events, e, &out.text);
		else
			add_event(e, &o, &formats, &out.text);
	}
	tracepoints_close(&formats);
	reader_close(&reader);
	log_fini(&log);
	return out_close(&out, &err) ? cmd_fail(&cmd_evlist, &err, EXIT_FAILED) : EXIT_OK;
}

const struct cmd cmd_evlist = {
	.name = "evlist",
	.summary = "list the events of a recording",
	.usage = {"[OPTIONS] [FILE]", NULL},
	.options = options,
	.is_paged = true,
	.run = run_evlist,
};
