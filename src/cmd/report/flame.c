/*
 * flame.c - flame: a flame graph of a recording, or of what changed between recordings. All stages are report's.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/term.h"
#include "base/workers.h"
#include "cmd/pagefile.h"
#include "cmd/fetched.h"
#include "cmd/report/flame_sides.h"
#include "cmd/report/report.h"

#define DEFAULT_OUTPUT "flame.svg"

struct flame_options {
	struct report_options report; /* first: rows of report's table fit */
	const char *output, *order, *scale;
};

#define AT(member) offsetof(struct flame_options, member)

static const struct opt options[] = {
	{'i', "input", OPT_STR, AT(report.input), "FILE",
		"read FILE, a recording, folded stacks, a profile of pprof or OpenTelemetry; -: what is piped in; default perf.data",
		.flags = OPT_COMMON},
	{'o', "output", OPT_STR, AT(output), "FILE",
		"write FILE, or -, the standard output, which is the default if it is no terminal; else " DEFAULT_OUTPUT,
		.flags = OPT_COMMON},
	{0, NULL, OPT_TITLE, 0, NULL, "How it looks"},
	{0, "icicle", OPT_BOOL, AT(report.answer.picture.is_icicle), NULL,
		"draw callers above what they call, not below"},
	{'G', "inverted", OPT_BOOL, AT(report.answer.picture.is_inverted), NULL,
		"begin with the functions that stacks end in, and go on with their callers"},
	{0, "order", OPT_STR, AT(order), "HOW",
		"put what a function calls in the order of its name (default), or the heaviest first"},
	{0, "title", OPT_STR, AT(report.answer.picture.title), "TEXT",
		"the title; default the command that was recorded"},
	{0, "width", OPT_U64, AT(report.answer.picture.width), "PIXELS",
		"always as wide as this; default as wide as the window, 1200 where there is none",
		.min = PICTURE_NARROWEST, .max = PICTURE_WIDEST},
	{0, "percent-limit", OPT_DOUBLE, AT(report.answer.picture.least_pct), "PCT",
		"merge what has less than this share; default as much as fits into 10,000 elements and 2 MB",
		.max = 100},
	{0, NULL, OPT_TITLE, 0, NULL, "Which samples"},
	{'e', "event", OPT_STR, AT(report.answer.picture.event), "EVENT",
		"the event to draw; default the first that has samples", .flags = OPT_COMMON},
	REPORT_SAMPLE_ROWS,
	{0, NULL, OPT_TITLE, 0, NULL, "What is in it"},
	{0, "normalise", OPT_STR, AT(scale), "WHAT",
		"of several recordings: scale them by level (what most functions changed; default), run (not at all) or total"},
	{0, "wall", OPT_TRI, AT(report.wall), NULL,
		"time on and off the CPU (default for 'record --wall')"},
	REPORT_MAX_STACK_ROW,
	{0, "ignore-callees", OPT_STR, AT(report.forgotten), "REGEX",
		"count what functions with these names call as their own"},
	REPORT_INLINE_ROW,
	REPORT_NAME_ROWS,
	{.kind = OPT_END},
};

static int check(struct flame_options *o, struct err *err)
{
	const char *order = o->order ? o->order : "name";

	o->report.answer.picture.is_heaviest = !strcmp(order, "heaviest");
	if (!o->report.answer.picture.is_heaviest && strcmp(order, "name"))
		return err_set(err, ERR_INVAL, "--order: '%.60s' is none of name and heaviest",
			order);
	return 0;
}

/* Chooses where the picture goes: the file's name, or NULL for the standard output. */
static const char *choose_output(const struct flame_options *o)
{
	if (o->output)
		return strcmp(o->output, "-") ? o->output : NULL;
	return term_is_terminal(STDOUT_FILENO) ? DEFAULT_OUTPUT : NULL;
}

/* ---- several recordings ---- */

/* The files before "--" are the old ones; without one it is the first. */
static int choose_sides(struct flame_sides *f, const struct flame_options *o, int n_before, int n,
	char **words, struct err *err)
{
	if (!n_before || n_before == n)
		return err_set(err, ERR_INVAL,
			"'--' needs recordings on both sides: the old ones before it, the new ones after it");
	if (o->report.input)
		return err_set(err, ERR_INVAL,
			"'%s' and '%s': -i is for one recording, and arguments that are no options for several",
			o->report.input, words[0]);
	for (int i = 0; i < n; i++) {
		struct fetched_names names = {0};
		const u32 side = i < (n_before < 0 ? 1 : n_before) ? DELTA_A : DELTA_B;

		if (fetched_parts(words[i], o->report.keys.sort, o->report.filter.comms != NULL,
			    NULL, &names, err))
			return err->code;
		vec_each(name, &names)
			vec_add(&f->recordings, ((struct delta_recording){*name, .side = side}));
		vec_fini(&names);
	}
	return 0;
}

static int draw_into(struct flame_sides *f, const char *path, struct err *err)
{
	struct out out = {.fd = STDOUT_FILENO};
	struct fresh file;
	int result;

	if (pagefile_open(&file, path ? path : "-", &out, err))
		return err->code;
	result = pagefile_close(&file, &out, flame_sides_draw(f, &out, err), err);
	str_fini(&out.text);
	return result;
}

static int run_sides(struct flame_options *o, int n_before, int n, char **words)
{
	struct flame_sides f = {.cmd = &cmd_flame, .options = &o->report, .scale = o->scale};
	const char *path = choose_output(o);
	int status = EXIT_OK;
	struct err err;

	report_options_settle(&o->report);
	o->report.answer.forms.is_chosen[FORM_SVG] = true;
	if (choose_sides(&f, o, n_before, n, words, &err) || draw_into(&f, path, &err))
		status = cmd_fail(&cmd_flame, &err,
			err.code == ERR_INVAL || err.code == ERR_NOENT ? EXIT_USAGE : EXIT_FAILED);
	else if (path)
		report_say_written(&cmd_flame, path, &f.picture);
	if (status == EXIT_OK && f.is_unclean)
		status = EXIT_FAILED;
	flame_sides_fini(&f);
	return status;
}

/* ---- one ---- */

static int run_one(struct flame_options *o, int n, char **words)
{
	struct err err;

	if (cmd_take_input(&o->report.input, n, words, &err))
		return cmd_fail(&cmd_flame, &err, EXIT_USAGE);
	if (o->scale)
		return cmd_fail(&cmd_flame,
			(err_set(&err, ERR_INVAL,
				 "--normalise makes several recordings comparable, and this is one"),
				&err),
			EXIT_USAGE);
	o->report.answer.flame = choose_output(o);
	o->report.answer.forms.is_chosen[FORM_SVG] = true;
	return report_run(&cmd_flame, &o->report, NULL);
}

static int run_flame(int argc, char **argv)
{
	struct flame_options o = {0};
	int n_before, status;
	struct err err;

	report_options_init(&o.report);
	status = cmd_parse_sides(&cmd_flame, &o, &argc, argv, &n_before);
	if (status < 0 && check(&o, &err))
		status = cmd_fail(&cmd_flame, &err, EXIT_USAGE);
	if (status < 0)
		status = argc > 1 || n_before >= 0 ? run_sides(&o, n_before, argc, argv)
						   : run_one(&o, argc, argv);
	report_options_fini(&o.report);
	return status;
}

const struct cmd cmd_flame = {
	.name = "flame",
	.summary = "draw a flame graph, of a recording or of what changed",
	.usage = {"[OPTIONS] [FILE]", "[OPTIONS] OLD NEW", "[OPTIONS] OLD... -- NEW...", NULL},
	.notes =
		"The picture is an SVG: browsers search and zoom it, and everything else shows it as it is. Several recordings on each side tell change from chance.\n",
	.options = options,
	.run = run_flame,
};
