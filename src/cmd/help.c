#include <stdio.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/out.h"
#include "cmd/cmd.h"
#include "cmd/elsewhere.h"

int help_list_commands(int fd)
{
	struct out out = {.fd = fd};
	struct err err;

	str_add(&out.text,
		"pace - profile and count events: where does the time of a Linux program go?\n\n"
		"usage: pace COMMAND [OPTIONS]\n\n");
	for (size_t i = 0; cmd_table[i]; i++)
		str_addf(&out.text, "  %-12s %s\n", cmd_table[i]->name, cmd_table[i]->summary);
	str_add(&out.text,
		"\nFirst steps:\n"
		"  pace record -g ./program    record it, with call chains\n"
		"  pace report                 see where its time went\n"
		"  pace COMMAND -h             all options of a command\n");
	return out_close(&out, &err) ? cmd_fail(&cmd_help, &err, EXIT_FAILED) : EXIT_OK;
}

/* `typed` is not a command: names the nearest one, or what does the work of perf's command. */
static int explain_unknown(const char *typed)
{
	const char *advice = elsewhere_find(typed);
	struct nearest near = {.typed = typed};
	struct str text = {0}, safe = {0};

	str_addf(&text, "there is no command '%s'", typed);
	if (advice)
		str_addf(&text, ": %s", advice);
	for (size_t i = 0; cmd_table[i]; i++)
		nearest_offer(&near, cmd_table[i]->name);
	if (!advice)
		nearest_add_hint(&near, &text);
	str_add_safe(&safe, str_text(&text), text.n);
	fprintf(stderr, "pace: %s\n", str_text(&safe));
	str_fini(&text);
	str_fini(&safe);
	return EXIT_USAGE;
}

static int run_help(int argc, char **argv)
{
	int status = cmd_parse(&cmd_help, NULL, 0, &argc, argv);

	if (status >= 0)
		return status;
	if (!argc)
		return help_list_commands(STDOUT_FILENO);
	for (size_t i = 0; cmd_table[i]; i++)
		if (!strcmp(cmd_table[i]->name, argv[0]))
			return cmd_print_help(cmd_table[i]);
	return explain_unknown(argv[0]);
}

const struct cmd cmd_help = {
	.name = "help",
	.summary = "list the commands, or explain one",
	.usage = {"[COMMAND]", NULL},
	.is_paged = true,
	.run = run_help,
};
