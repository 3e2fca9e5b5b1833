/*
 * main.c - the table of commands, and nothing else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mapped.h"
#include "base/mem.h"
#include "base/pager.h"
#include "base/selfname.h"
#include "cmd/asperf.h"
#include "cmd/cmd.h"
#include "cmd/settings.h"
#include "event/tracefs.h"

/* In the order of `pace help`: the commands that users need first come first. */
const struct cmd *const cmd_table[] = {
	&cmd_stat,
	&cmd_record,
	&cmd_report,
	&cmd_top,
	&cmd_watch,
	&cmd_annotate,
	&cmd_diff,
	&cmd_gate,
	&cmd_flame,
	&cmd_c2c,
	&cmd_mem,
	&cmd_tsx,
	&cmd_export,
	&cmd_push,
	&cmd_probe,
	&cmd_list,
	&cmd_evlist,
	&cmd_script,
	&cmd_timechart,
	&cmd_readperf,
	&cmd_buildid_list,
	&cmd_buildid_cache,
	&cmd_archive,
	&cmd_cache,
	&cmd_data,
	&cmd_inject,
	&cmd_kallsyms,
	&cmd_mcp,
	&cmd_doctor,
	&cmd_check,
	&cmd_test,
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

static void look_below_debugfs(const char *folder)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/tracing", folder);
	setenv(TRACEFS_VARIABLE, path, 1);
}

/* The value of an option with one; NULL: the word is another one. */
static const char *global_value(int argc, char **argv, int *at, const char *name)
{
	const size_t n = strlen(name);

	if (!strncmp(argv[*at], name, n) && argv[*at][n] == '=')
		return argv[*at] + n + 1;
	return !strcmp(argv[*at], name) && *at + 1 < argc ? argv[++*at] : NULL;
}

/* What stands before the command, as with perf and git. Returns how many words that was. */
static int read_globals(int argc, char **argv, bool *ret_pages)
{
	const char *value;
	int at = 1;

	for (; at < argc; at++) {
		if (!strcmp(argv[at], "--no-pager"))
			pager_never();
		else if (!strcmp(argv[at], "-p") || !strcmp(argv[at], "--paginate") ||
			!strcmp(argv[at], "--pager"))
			*ret_pages = true;
		else if ((value = global_value(argc, argv, &at, "--buildid-dir")) != NULL)
			setenv("PERF_BUILDID_DIR", value, 1);
		else if ((value = global_value(argc, argv, &at, "--tracefs-dir")) != NULL)
			setenv(TRACEFS_VARIABLE, value, 1);
		else if ((value = global_value(argc, argv, &at, "--debugfs-dir")) != NULL)
			look_below_debugfs(value);
		else if (global_value(argc, argv, &at, "--debug"))
			continue; /* what it would say, -v of the commands says */
		else if (!strcmp(argv[at], "--as-perf"))
			program_be_perf();
		else
			break;
	}
	return at - 1;
}

/* Who wants a pager: the words before the command, then the configuration, then the command itself. */
static void set_pager(const struct cmd *cmd, bool is_asked_for)
{
	const int says = settings_pages();

	if (is_asked_for || says > 0)
		pager_ask();
	else if (!says)
		pager_never();
	else if (cmd->is_paged)
		pager_begin();
}

/* Options of configuration files stand before those of perf's place: the user's own have the last word. */
static int run_command(const struct cmd *cmd, int argc, char **argv, bool pages)
{
	const bool has_settings = cmd != &cmd_config && cmd != &cmd_completion;
	char **as_perf = NULL, **words;
	struct err err;
	int status;

	if (has_settings && settings_load(cmd, argc, argv, &err))
		return cmd_fail(cmd, &err, EXIT_FAILED);
	set_pager(cmd, pages);
	if (!has_settings)
		return cmd->run(argc, argv);
	if (program_is_perf())
		as_perf = asperf_words(&argc, argv);
	words = settings_words(cmd, &argc, as_perf ? as_perf : argv);
	status = cmd->run(argc, words);
	mem_free(words);
	mem_free(as_perf);
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
			return run_command(cmd_table[i], argc - 1, argv + 1, pages);
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
