#include <string.h>

#include "cmd/formrow.h"
#include "cmd/tsx/tsx_command.h"

enum { SITES_SHOWN = 10, PATHS_SHOWN = 3 };

#define AT(member) offsetof(struct tsx_command, member)

static const struct opt options[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "Measuring step by step"},
	{'a', "all-cpus", OPT_BOOL, AT(is_system_wide), NULL,
		"everything that runs, while the command does"},
	{'p', "pid", OPT_STR, AT(pids), "PID,...", "running processes, while the command runs"},
	{'o', "output", OPT_STR, AT(output), "PATH",
		"write the recordings tsx-*.data into this folder; default: here; of record: its file",
		.flags = OPT_COMMON},
	{0, "dry-run", OPT_BOOL, AT(shows), NULL, "only print the commands of the steps",
		.flags = OPT_COMMON},
	{0, NULL, OPT_TITLE, 0, NULL, "report: any number of 'stat record' files, one of aborts"},
	{'i', "input", OPT_STR, AT(input), "FILE", "read FILE, and those that follow the options",
		.flags = OPT_COMMON},
	{0, "branches", OPT_U64, AT(n_branches), "N",
		"show the last N branches in the transaction; default 8", .min = 1,
		.max = ABORTS_BRANCHES_MOST},
	{0, "max-sites", OPT_U64, AT(view.max_sites), "N", "show N places; default 10, 0: all"},
	{0, "max-paths", OPT_U64, AT(view.max_paths), "N",
		"show N ways into each place; default 3, 0: all"},
	{0, "json", OPT_BOOL, AT(forms.is_chosen[FORM_JSON]), NULL,
		"print everything as JSON, see pace-tsx(1)", .flags = OPT_COMMON},
	FORM_ROW(struct tsx_command, forms),
	SYMBOL_FILE_ROWS(tsx_command),
	SYMBOL_NAME_ROWS(tsx_command),
	SYMBOL_FETCH_ROW(tsx_command),
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL, "say where files were looked for"},
	{.kind = OPT_END},
};

static int run_report(struct tsx_command *o, int argc, char **argv)
{
	const char **files = mem_alloc(((size_t)argc + 2) * sizeof(*files));
	size_t n = 0;
	struct err err;
	int status;

	if (o->input)
		files[n++] = o->input;
	for (int i = 0; i < argc; i++)
		files[n++] = argv[i];
	if (!n)
		files[n++] = cmd_input(NULL);
	status = form_check(&o->forms, FORM_OF_NESTED, &err) ? cmd_fail(&cmd_tsx, &err, EXIT_USAGE)
							     : tsx_report(o, files, n);
	mem_free(files);
	return status;
}

static int run_tsx(int argc, char **argv)
{
	struct tsx_command o = {.view = {SITES_SHOWN, PATHS_SHOWN},
		.n_branches = ABORTS_BRANCHES,
		.debuginfod_s = 10,
		.symbols.demangles = true,
		.symbols.makes_names = true};
	bool is_record = argc > 1 && !strcmp(argv[1], "record"),
	     is_report = argc > 1 && !strcmp(argv[1], "report");
	struct err err;
	int status;

	argc -= is_record || is_report;
	argv += is_record || is_report;
	/* Parsing stops at the command to run. */
	status = cmd_parse(&cmd_tsx, &o, is_report ? 0 : OPTS_STOP, &argc, argv);
	if (status >= 0)
		return status;
	if (is_report)
		return run_report(&o, argc, argv);
	if (is_record)
		return tsx_run_record(&o, argv, argc);
	if (argc && !form_is_data(form_chosen(&o.forms)))
		return tsx_run_steps(&o, argv, argc);
	if (argc)
		err_set(&err, ERR_INVAL,
			"--json and --format are for 'pace tsx report', which the last step prints as a command");
	else if (o.pids || o.is_system_wide)
		err_set(&err, ERR_INVAL,
			"%s: a command says how long each step takes: 'pace tsx %s%s -- sleep 10'",
			o.pids ? "-p" : "-a", o.pids ? "-p " : "-a", o.pids ? o.pids : "");
	else
		err_set(&err, ERR_INVAL, "give a command to measure, or 'record' or 'report'");
	return cmd_fail(&cmd_tsx, &err, EXIT_USAGE);
}

const struct cmd cmd_tsx = {
	.name = "tsx",
	.summary = "find out why transactions (Intel TSX) are aborted, step by step",
	.subcommands = {"record", "report", NULL},
	.usage = {"[OPTIONS] [--] COMMAND...", "record [OPTIONS] [-- RECORD-OPTIONS] COMMAND...",
		"report [OPTIONS] [FILE...]", NULL},
	.options = options,
	.is_paged = true,
	.run = run_tsx,
};
