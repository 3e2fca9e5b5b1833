/*
 * cmd.h - a command: what main.c needs to know to list, explain and run it.
 *
 * A command parses its options, opens stages, runs them, and turns the result into an exit status.
 * It holds no algorithms. Exit status: 0 ok, 1 failed, 2 wrong usage, 128 + n after signal n;
 * record returns what the command that it measured returned.
 */
#ifndef PACE_CMD_CMD_H
#define PACE_CMD_CMD_H

#include "base/err.h"
#include "base/log.h"
#include "base/opts.h"

enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_INCOMPLETE = 3, /* --strict: samples were lost */
	EXIT_CONDITION = 4,  /* --fail-if: the condition holds */
};

struct cmd {
	const char *name;
	const char *summary;         /* one line for `pace help` */
	const char *subcommands[10]; /* words that may follow the name; NULL-terminated */
	bool needs_subcommand;
	const char *usage[6];                /* what follows "pace NAME"; NULL-terminated */
	const char *notes;                   /* text after the options in -h, or NULL */
	void (*add_notes)(struct str *text); /* the same, made from a table; or NULL */
	const struct opt *options;           /* NULL: none */
	bool is_paged;                       /* its text goes through a pager on terminals */
	int (*run)(int argc, char **argv);   /* argv[0] is the command's name */
};

extern const struct cmd cmd_list, cmd_stat, cmd_record, cmd_report, cmd_export, cmd_annotate,
	cmd_evlist, cmd_script, cmd_timechart, cmd_readperf, cmd_buildid_list, cmd_cache, cmd_data,
	cmd_diff, cmd_flame, cmd_kallsyms, cmd_buildid_cache, cmd_archive, cmd_inject, cmd_check,
	cmd_test, cmd_config, cmd_c2c, cmd_mem, cmd_tsx, cmd_gate, cmd_probe, cmd_doctor, cmd_top,
	cmd_completion, cmd_version, cmd_mcp, cmd_push, cmd_watch, cmd_help;

/* All commands, NULL-terminated. */
extern const struct cmd *const cmd_table[];

/* The subcommand that a command line begins with, behind the command's name; NULL: none. */
const char *cmd_subcommand(const struct cmd *cmd, int argc, char **argv);

/* "pace NAME: message" on stderr, made safe for a terminal; returns status. */
int cmd_fail(const struct cmd *cmd, const struct err *err, int status);

/*
 * Takes standard output for a recording: *ret_fd is where it went to, which the caller closes. What the command prints goes to
 * standard error from now on, with our own messages: the reader of the stream must not get it.
 */
int cmd_divert_stdout(int *ret_fd, struct err *err);

/*
 * Parses the options. >= 0: leave with that exit status (help was printed, or the usage was wrong);
 * -1: go on, *argc and argv hold the words left.
 */
int cmd_parse(const struct cmd *cmd, void *options, unsigned flags, int *argc, char **argv);

/* The same for commands that take no arguments: one that is left is a usage error. */
int cmd_parse_alone(const struct cmd *cmd, void *options, int argc, char **argv);

/*
 * The same for commands that read a recording, which may be given as the only argument. *input is the member of
 * `options` that -i sets.
 */
int cmd_parse_reader(const struct cmd *cmd, void *options, const char **input, int argc,
	char **argv);

/*
 * Likewise of a command that compares what stands before "--" with what stands behind it. Options end there; argv gets the words of
 * both sides. *ret_before: how many stand before; -1: there is no "--".
 */
int cmd_parse_sides(const struct cmd *cmd, void *options, int *argc, char **argv, int *ret_before);

/* Takes the remaining argument, if there is one, as *input. ERR_INVAL: too many arguments, or no such file. */
int cmd_take_input(const char **input, int argc, char **argv, struct err *err);

/*
 * The recording to read: the one that was named; else what is piped in, as perf does; else
 * perf.data.
 */
const char *cmd_input(const char *named);

/*
 * Rewrites *err if a missing 'perf.data' or an imported profile is the reason: says how to get one, or what reads it.
 */
void cmd_explain_missing(const char *input, struct err *err);

/* Writes the list of commands to a descriptor; returns EXIT_OK or EXIT_FAILED. */
int help_list_commands(int fd);

/* Prints the help page of a command. */
int cmd_print_help(const struct cmd *cmd);

/* Initializes a log that writes messages of `level` and above to stderr. */
void cmd_log_init(struct log *log, enum log_level level);

#endif
