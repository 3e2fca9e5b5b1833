#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "cmd/cmd.h"
#include "cmd/features.h"

struct check_options {
	bool is_quiet;
};

static const struct opt options[] = {
	{'q', "quiet", OPT_BOOL, offsetof(struct check_options, is_quiet), NULL,
		"print nothing: the exit status is the answer"},
	{.kind = OPT_END},
};

/* Returns EXIT_OK if all features of the list are there. */
static int check_features(const struct check_options *o, const char *list)
{
	struct out out = {.fd = STDOUT_FILENO};
	int status = EXIT_OK;
	struct err err;

	for (const char *p = list, *end;; p = end + 1) {
		const size_t n = strcspn(p, ",");
		const struct feature_row *row = feature_find(p, n);

		end = p + n;
		if (!row) {
			err_set(&err, ERR_INVAL,
				"there is no feature '%.*s': 'pace check -h' lists them", (int)n,
				p);
			if (!o->is_quiet)
				cmd_fail(&cmd_check, &err, EXIT_FAILED);
			status = EXIT_FAILED;
		} else {
			if (!o->is_quiet)
				feature_add_line(row, &out.text);
			if (!row->is_there())
				status = EXIT_FAILED;
		}
		if (!*end)
			break;
	}
	return out_close(&out, &err) ? cmd_fail(&cmd_check, &err, EXIT_FAILED) : status;
}

static int run_check(int argc, char **argv)
{
	struct check_options o = {0};
	int status = cmd_parse(&cmd_check, &o, 0, &argc, argv);
	struct err err;

	if (status >= 0)
		return status;
	if (argc == 2 && !strcmp(argv[0], "feature"))
		return check_features(&o, argv[1]);
	if (argc && strcmp(argv[0], "feature"))
		err_set(&err, ERR_INVAL,
			"there is no 'check %s': 'check feature NAME' is all there is", argv[0]);
	else if (argc > 2)
		err_set(&err, ERR_INVAL,
			"unexpected argument '%s': several features are one list, like libelf,zstd",
			argv[2]);
	else
		err_set(&err, ERR_INVAL, "no feature was given: check feature NAME[,NAME...]");
	return cmd_fail(&cmd_check, &err, EXIT_USAGE);
}

static void add_names(struct str *text)
{
	size_t column = 0;

	str_add(text, "NAME, or the macro that perf prints behind it, is one of\n");
	for (size_t i = 0; i < feature_n_rows; i++) {
		const size_t n = strlen(feature_rows[i].name) + 1;

		if (column + n > 78)
			column = 0;
		str_addf(text, "%s%s", column ? " " : i ? "\n  " : "  ", feature_rows[i].name);
		column += n;
	}
	str_addc(text, '\n');
}

const struct cmd cmd_check = {
	.name = "check",
	.summary = "say whether a feature is there, by the name that perf has for it",
	.subcommands = {"feature", NULL},
	.needs_subcommand = true,
	.usage = {"feature NAME[,NAME...]", NULL},
	.options = options,
	.add_notes = add_names,
	.run = run_check,
};
