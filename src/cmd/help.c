#include <stdio.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/out.h"
#include "cmd/cmd.h"

static int list_commands(void)
{
	struct out out = {.fd = STDOUT_FILENO};
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

static int run_help(int argc, char **argv)
{
	struct nearest near = {0};
	struct str hint = {0};
	struct err err;
	int status = cmd_parse(&cmd_help, NULL, 0, &argc, argv);

	if (status >= 0)
		return status;
	if (!argc)
		return list_commands();
	near.typed = argv[0];
	for (size_t i = 0; cmd_table[i]; i++) {
		if (!strcmp(cmd_table[i]->name, argv[0]))
			return cmd_print_help(cmd_table[i]);
		nearest_offer(&near, cmd_table[i]->name);
	}
	nearest_add_hint(&near, &hint);
	err_set(&err, ERR_NOENT, "there is no command '%s'%s", argv[0], str_text(&hint));
	str_fini(&hint);
	return cmd_fail(&cmd_help, &err, EXIT_USAGE);
}

const struct cmd cmd_help = {
	.name = "help",
	.summary = "list the commands, or explain one",
	.usage = {"[COMMAND]", NULL},
	.run = run_help,
};
