#include <unistd.h>

#include "base/out.h"
#include "cmd/cmd.h"
#include "view/lint.h"

struct data_options {
	const char *input;
};

#define AT(member) offsetof(struct data_options, member)

static const struct opt options[] = {
	{'i', "input", OPT_STR, AT(input), "FILE", "examine FILE; default perf.data"},
	{.kind = OPT_END},
};

/* ---- lint ---- */

struct linting {
	struct lint lint;
	struct arena arena; /* of its sentences */
};

/* What the reader says is part of the page, not beside it. */
static void keep_sentence(void *ctx, enum log_level level, const char *sentence)
{
	struct linting *l = ctx;
	const char *kept = arena_strdup(&l->arena, sentence, strlen(sentence));

	if (level == LOG_WARN)
		vec_add(&l->lint.warnings, kept);
	else
		vec_add(&l->lint.notes, kept);
}

static int run_lint(const char *path)
{
	struct linting l = {0};
	struct log log = {.level = LOG_NOTE, .write = keep_sentence, .ctx = &l};
	struct out out = {.fd = STDOUT_FILENO};
	int status = EXIT_OK;
	struct reader reader;
	struct survey survey = {0};
	struct err err;

	if (reader_open(&reader, path, &log, &err)) {
		cmd_explain_missing(path, &err);
		status = cmd_fail(&cmd_data, &err, EXIT_USAGE);
	} else {
		l.lint.reader = &reader;
		l.lint.survey = &survey;
		if (survey_take(&survey, &reader, &log, &err))
			status = cmd_fail(&cmd_data, &err, EXIT_FAILED);
		else if (!lint_add_text(&l.lint, &out.text))
			status = EXIT_FAILED;
		survey_fini(&survey);
		reader_close(&reader);
	}
	if (out_close(&out, &err))
		status = cmd_fail(&cmd_data, &err, EXIT_FAILED);
	vec_fini(&l.lint.warnings);
	vec_fini(&l.lint.notes);
	arena_fini(&l.arena);
	log_fini(&log);
	return status;
}

/* ---- which ---- */

static const struct {
	const char *name, *summary;
	int (*run)(const char *path);
} subcommands[] = {
	{"lint", "what a file is, what is in it, and whether it is whole", run_lint},
};

static int list_subcommands(void)
{
	struct out out = {.fd = STDOUT_FILENO};
	struct err err;

	str_add(&out.text, "pace data examines recordings as files:\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
		str_addf(&out.text, "  pace data %-8s %s\n", subcommands[i].name,
			subcommands[i].summary);
	return out_close(&out, &err) ? cmd_fail(&cmd_data, &err, EXIT_FAILED) : EXIT_USAGE;
}

static int run_data(int argc, char **argv)
{
	struct data_options o = {0};
	int status = cmd_parse(&cmd_data, &o, 0, &argc, argv);
	struct err err;

	if (status >= 0)
		return status;
	if (!argc)
		return list_subcommands();
	if (argc > 2 || (argc == 2 && o.input)) {
		err_set(&err, ERR_INVAL, "'%s' is one word too many: one file at a time",
			argv[argc - 1]);
		return cmd_fail(&cmd_data, &err, EXIT_USAGE);
	}
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
		if (!strcmp(subcommands[i].name, argv[0]))
			return subcommands[i].run(cmd_input(argc == 2 ? argv[1] : o.input));
	err_set(&err, ERR_INVAL, "there is no 'pace data %s': 'pace data' lists what there is",
		argv[0]);
	return cmd_fail(&cmd_data, &err, EXIT_USAGE);
}

const struct cmd cmd_data = {
	.name = "data",
	.summary = "examine a recording as a file: is it whole, what is in it",
	.usage = {"lint [-i] [FILE]", NULL},
	.notes =
		"lint explains a file: what wrote it, its parts, its records, what is odd, lost or damaged.\n",
	.options = options,
	.run = run_data,
};
