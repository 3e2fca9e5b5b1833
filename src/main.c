/*
 * main.c - the table of commands, and nothing else.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/mapped.h"
#include "base/mem.h"
#include "base/pager.h"
#include "base/selfname.h"
#include "cmd/asperf.h"
#include "cmd/cmd.h"
#include "cmd/settings.h"

/* In the order of `pace help`: the commands that users need first come first. */
const struct cmd *const cmd_table[] = {
	&cmd_stat,
	&cmd_record,
	&cmd_report,
	&cmd_top,
	&cmd_annotate,
	&cmd_diff,
	&cmd_flame,
	&cmd_c2c,
	&cmd_mem,
	&cmd_tsx,
	&cmd_export,
	&cmd_probe,
	&cmd_list,
	&cmd_evlist,
	&cmd_script,
	&cmd_timechart,
	&cmd_readperf,
	&cmd_buildid_list,
	&cmd_cache,
	&cmd_data,
	&cmd_kallsyms,
	&cmd_doctor,
	&cmd_check,
	&cmd_config,
	&cmd_completion,
	&cmd_version,
	&cmd_help,
	NULL,
};

static const char *running; /* the command */

static void say_exhausted(size_t size)
{
	char text[160], needed[64] = "";
	int n;

	if (size)
		snprintf(needed, sizeof(needed), " (%zu bytes more were needed)", size);
	n = snprintf(text, sizeof(text), "pace%s%s: out of memory%s\n", running ? " " : "",
		running ? running : "", needed);
	if (write(STDERR_FILENO, text, n) < 0)
		_exit(EXIT_FAILED);
	_exit(EXIT_FAILED);
}

/* What stands before the command, as with perf and git. Returns how many words that was. */
static int read_globals(int argc, char **argv, bool *ret_pages)
{
	int at = 1;

	for (; at < argc; at++) {
		if (!strcmp(argv[at], "--no-pager"))
			pager_never();
		else if (!strcmp(argv[at], "-p") || !strcmp(argv[at], "--paginate") ||
			!strcmp(argv[at], "--pager"))
			*ret_pages = true;
		else if (!strcmp(argv[at], "--as-perf"))
			program_be_perf();
		else
			break;
	}
	return at - 1;
}

static int run_command(const struct cmd *cmd, int argc, char **argv)
{
	struct err err;
	char **words;
	int status;

	if (cmd == &cmd_config || cmd == &cmd_completion)
		return cmd->run(argc, argv);
	if (settings_load(&err))
		return cmd_fail(cmd, &err, EXIT_FAILED);
	words = settings_words(&argc, argv);
	if (program_is_perf()) {
		char **more = asperf_words(&argc, words);

		status = cmd->run(argc, more);
		mem_free(more);
	} else {
		status = cmd->run(argc, words);
	}
	mem_free(words);
	settings_unload();
	return status;
}

static int run(int argc, char **argv, bool pages)
{
	char *help[] = {"help", argc > 1 ? argv[1] : NULL, NULL};

	if (argc < 2) {
		const int status = help_list_commands(STDERR_FILENO);

		return status == EXIT_OK ? EXIT_USAGE : status;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) {
		pager_begin();
		return cmd_help.run(1, help);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-v"))
		return cmd_version.run(argc - 1, argv + 1);
	for (size_t i = 0; cmd_table[i]; i++)
		if (!strcmp(cmd_table[i]->name, argv[1])) {
			running = cmd_table[i]->name;
			if (pages)
				pager_ask();
			else if (cmd_table[i]->is_paged)
				pager_begin();
			return run_command(cmd_table[i], argc - 1, argv + 1);
		}
	if (program_is_perf()) {
		const int status = asperf_answer(argc - 1, argv + 1);

		if (status >= 0)
			return status;
	}
	/* Suggests the nearest name. */
	return cmd_help.run(2, help);
}

int main(int argc, char **argv)
{
	bool pages = false;
	int status, n;

	mem_on_exhaustion(say_exhausted);
	mapped_read_zeros();
	if (asperf_is_wanted(argv[0]))
		program_be_perf();
	n = read_globals(argc, argv, &pages);
	status = run(argc - n, argv + n, pages);
	pager_end();
	return status;
}
