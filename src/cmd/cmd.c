#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/out.h"
#include "base/pager.h"
#include "base/selfname.h"
#include "base/progress.h"
#include "cmd/settings.h"
#include "fleet/fleeturl.h"
#include "profile/import/import.h"

const char *cmd_subcommand(const struct cmd *cmd, int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && cmd->subcommands[i]; i++)
		if (!strcmp(cmd->subcommands[i], argv[1]))
			return cmd->subcommands[i];
	return NULL;
}

int cmd_fail(const struct cmd *cmd, const struct err *err, int status)
{
	struct str text = {0};

	str_add_safe(&text, err->msg, strlen(err->msg));
	fprintf(stderr, "%s %s: %s\n", program_name(), cmd->name, str_text(&text));
	str_fini(&text);
	return status;
}

int cmd_divert_stdout(int *ret_fd, struct err *err)
{
	if (isatty(STDOUT_FILENO))
		return err_set(err, ERR_INVAL,
			"-o -: standard output is a terminal, which cannot show a recording: pipe it into 'pace report' or a file");
	*ret_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (*ret_fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return err_sys(err, errno, "opening standard output");
	return 0;
}

int cmd_print_help(const struct cmd *cmd)
{
	struct out out = {.fd = STDOUT_FILENO};
	struct err err;

	pager_begin();
	str_addf(&out.text, "pace %s - %s\n\n", cmd->name, cmd->summary);
	for (size_t i = 0; i < ARRAY_SIZE(cmd->usage) && cmd->usage[i]; i++)
		str_addf(&out.text, "%s pace %s %s\n", i ? "   or:" : "usage:", cmd->name,
			cmd->usage[i]);
	if (cmd->options)
		opts_add_help(cmd->options, &out.text);
	if (cmd->notes)
		str_addf(&out.text, "\n%s", cmd->notes);
	if (cmd->add_notes) {
		str_addc(&out.text, '\n');
		cmd->add_notes(&out.text);
	}
	return out_close(&out, &err) ? cmd_fail(cmd, &err, EXIT_FAILED) : EXIT_OK;
}

int cmd_parse(const struct cmd *cmd, void *options, unsigned flags, int *argc, char **argv)
{
	static const struct opt none[] = {{.kind = OPT_END}};
	struct err err;
	int r;

	/* argv[0] is the command's name, not one of its arguments. */
	(*argc)--;
	r = opts_parse(cmd->options ? cmd->options : none, options, flags, argc, argv + 1, &err);
	for (int i = 0; i < *argc; i++)
		argv[i] = argv[i + 1];
	if (r == OPTS_HELP)
		return cmd_print_help(cmd);
	if (r < 0) {
		/* An option that is refused on purpose is not a typing error: the list of options would not help. */
		if (err.code == ERR_UNSUPPORTED)
			return cmd_fail(cmd, &err, EXIT_FAILED);
		cmd_fail(cmd, &err, EXIT_USAGE);
		fprintf(stderr, "'pace %s -h' lists the options\n", cmd->name);
		settings_say_used();
		return EXIT_USAGE;
	}
	return -1;
}

int cmd_parse_alone(const struct cmd *cmd, void *options, int argc, char **argv)
{
	int status = cmd_parse(cmd, options, 0, &argc, argv);
	struct err err;

	if (status >= 0 || !argc)
		return status;
	err_set(&err, ERR_INVAL, "unexpected argument '%s': this command takes none", argv[0]);
	return cmd_fail(cmd, &err, EXIT_USAGE);
}

int cmd_parse_sides(const struct cmd *cmd, void *options, int *argc, char **argv, int *ret_before)
{
	int dashes = 1, n, status;

	while (dashes < *argc && strcmp(argv[dashes], "--"))
		dashes++;
	n = dashes;
	status = cmd_parse(cmd, options, 0, &n, argv);
	if (status >= 0)
		return status;
	*ret_before = dashes < *argc ? n : -1;
	for (int i = dashes + 1; i < *argc; i++)
		argv[n++] = argv[i];
	*argc = n;
	return status;
}

int cmd_take_input(const char **input, int argc, char **argv, struct err *err)
{
	if (!argc)
		return 0;
	if (argc > 1 || *input)
		return err_set(err, ERR_INVAL,
			"unexpected argument '%s': the recording to read is '%s'", argv[argc - 1],
			*input ? *input : argv[0]);
	if (strcmp(argv[0], "-") && !fleeturl_is(argv[0]) && access(argv[0], F_OK))
		return err_set(err, ERR_INVAL,
			"there is no file '%s': an argument that is not an option names the recording to read",
			argv[0]);
	*input = argv[0];
	return 0;
}

int cmd_parse_reader(const struct cmd *cmd, void *options, const char **input, int argc,
	char **argv)
{
	int status = cmd_parse(cmd, options, 0, &argc, argv);
	struct err err;

	if (status < 0 && cmd_take_input(input, argc, argv, &err))
		return cmd_fail(cmd, &err, EXIT_USAGE);
	return status;
}

static void write_log(void *ctx, enum log_level level, const char *sentence)
{
	struct str text = {0};

	(void)ctx;
	str_add_safe(&text, sentence, strlen(sentence));
	progress_make_room();
	fprintf(stderr, "%s%s\n",
		level == LOG_WARN           ? "warning: "
			: level == LOG_NOTE ? "note: "
					    : "",
		str_text(&text));
	str_fini(&text);
}

void cmd_log_init(struct log *log, enum log_level level)
{
	/* In perf's place nothing is noted: perf takes other events and cuts chains off without a word, too. */
	if (program_is_perf() && level == LOG_NOTE)
		level = LOG_WARN;
	*log = (struct log){.level = level, .write = write_log};
}

const char *cmd_input(const char *named)
{
	struct stat st;

	if (named)
		return named;
	return fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) ? "-" : "perf.data";
}

void cmd_explain_missing(const char *input, struct err *err)
{
	const struct importer *importer;

	if (err->code == ERR_NOENT && fleeturl_is(input))
		err_set(err, ERR_INVAL,
			"'%s' is in a fleet's store, without single samples, times and code: 'pace report -i URL', 'pace flame', 'pace export' and 'pace diff' read it",
			input);
	if (err->code == ERR_NOENT && !strcmp(input, "perf.data"))
		err_set(err, ERR_NOENT,
			"there is no 'perf.data' in this directory: record one with 'pace record COMMAND', or name a file with -i");
	importer = err->code == ERR_FORMAT ? import_of_file(input) : NULL;
	if (importer)
		err_set(err, ERR_FORMAT,
			"'%s' is %s, without single samples, times and code: 'pace report -i FILE' and 'pace diff' read it",
			input, importer->what);
}
