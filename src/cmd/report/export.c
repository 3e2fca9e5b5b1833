/*
 * export.c - export: a recording as a file for another program. All stages are report's.
 */
#include <string.h>
#include <unistd.h>

#include "base/term.h"
#include "base/workers.h"
#include "cmd/cmd.h"
#include "cmd/report/report.h"
#include "base/out.h"
#include "fleet/schema.h"

struct export_options {
	struct report_options report; /* first: rows of report's table fit */
	const char *output;
	const char *ddl, *cluster;
	u64 days;
};

enum { DAYS = 14 };

#define AT(member) offsetof(struct export_options, member)

static const struct opt options[] = {
	{0, "format", OPT_STR, AT(report.answer.forms.name), "FORM",
		"firefox, chrome, speedscope, pprof, sqlite or any other form: an unknown name lists all"},
	{'i', "input", OPT_STR, AT(report.input), "FILE",
		"read FILE, a recording, folded stacks, a profile of pprof or OpenTelemetry; default perf.data"},
	{'o', "output", OPT_STR, AT(output), "FILE",
		"write FILE, default the standard output; a file of that name becomes FILE.old"},
	{0, NULL, OPT_TITLE, 0, NULL, "The tables of a fleet"},
	{0, "ddl", OPT_STR, AT(ddl), "ENGINE",
		"print the statements that make them: clickhouse, clickhouse-18, duckdb; 'pace push' fills them"},
	{0, "cluster", OPT_STR, AT(cluster), "NAME",
		"with --ddl: they lie on all servers of this cluster of ClickHouse"},
	{0, "days", OPT_U64, AT(days), "N", "with --ddl: how long samples are kept; default 14",
		.min = 1, .max = 10000},
	{0, NULL, OPT_TITLE, 0, NULL, "Which samples"},
	REPORT_SAMPLE_ROWS,
	{0, NULL, OPT_TITLE, 0, NULL, "What is in it"},
	{'s', "sort", OPT_STR, AT(report.keys.sort), "KEY,...",
		"the keys of the rows of tables (csv, ndjson); default comm,dso,symbol"},
	REPORT_MAX_STACK_ROW,
	REPORT_INLINE_ROW,
	REPORT_NAME_ROWS,
	{.kind = OPT_END},
};

static int check(struct export_options *o, struct err *err)
{
	const struct form_choice *forms = &o->report.answer.forms;
	const struct form *form = form_chosen(forms);

	if (o->cluster || o->days != DAYS)
		return err_set(err, ERR_INVAL, "%s belongs to --ddl",
			o->cluster ? "--cluster" : "--days");
	if (!forms->name)
		return err_set(err, ERR_INVAL,
			"--format says for which program: --format speedscope, for example");
	if (form_check(forms, FORM_OF_SAMPLES, err))
		return err->code;
	if (!form_is_data(form) || form->wants & FORM_IS_READ)
		return err_set(err, ERR_INVAL,
			"--format: '%s' is for people: 'pace report' prints it", form->name);
	if (o->output && !strcmp(o->output, "-"))
		o->output = NULL;
	if (o->report.keys.sort && form->wants & FORM_WANTS_STACKS)
		return err_set(err, ERR_INVAL, "--sort: '%s' has stacks, not rows", form->name);
	if (!o->output && form->wants & FORM_IS_BINARY && term_is_terminal(STDOUT_FILENO))
		return err_set(err, ERR_INVAL,
			"'%s' is nothing for a terminal: give a file with -o", form->name);
	return 0;
}

static int print_tables(const struct export_options *o, struct err *err)
{
	struct schema_options schema = {.cluster = o->cluster, .days = (u32)o->days};
	struct out out = {.fd = STDOUT_FILENO};

	if (o->report.input || o->report.answer.forms.name || o->output)
		return err_set(err, ERR_INVAL,
			"--ddl prints statements: it reads no recording and writes no file");
	if (schema_find_dialect(o->ddl, &schema.dialect, err))
		return err_prefix(err, "--ddl");
	if (schema_add(&out.text, &schema, err))
		str_clear(&out.text);
	out_close(&out, err);
	return err->code;
}

static int run_export(int argc, char **argv)
{
	struct export_options o = {.days = DAYS};
	struct err err = {0};
	int status;

	report_options_init(&o.report);
	/* What is exported are samples. */
	o.report.wall = 0;
	o.report.keys.branches = 0;
	status = cmd_parse_reader(&cmd_export, &o, &o.report.input, argc, argv);
	if (status < 0 && o.ddl)
		status = print_tables(&o, &err)
			? cmd_fail(&cmd_export, &err,
				  err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED)
			: EXIT_OK;
	else if (status < 0)
		status = check(&o, &err) ? cmd_fail(&cmd_export, &err, EXIT_USAGE)
					 : report_run(&cmd_export, &o.report, o.output);
	report_options_fini(&o.report);
	return status;
}

const struct cmd cmd_export = {
	.name = "export",
	.summary = "write the samples of a recording for another program",
	.usage = {"--format FORM [OPTIONS] [-o FILE] [FILE]",
		"--ddl ENGINE [--cluster NAME] [--days N]", NULL},
	.options = options,
	.run = run_export,
};
