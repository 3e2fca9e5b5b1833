/*
 * settings.h - what perf's configuration files set: options that stand before the user's own.
 *
 * In       $PERF_CONFIG alone; else /etc/perfconfig and then ~/.perfconfig, as perf reads them
 * Out      a command line with the settings' options behind the command's name, so that the user's have the last word;
 *          some settings are environment variables
 * Owns     what it read, until settings_unload()
 * Errors   ERR_FORMAT with file and line: a file that cannot be parsed, a switch that is neither on nor off. A key that has no
 *          effect is kept: 'pace config -v' says which
 * Threads  loaded once, before other threads begin
 *
 * One table has the keys. Besides, [pace "COMMAND"] options = ... puts any options before a command's, and
 * [pace "COMMAND SUBCOMMAND"] those of a subcommand.
 */
#ifndef PACE_CMD_SETTINGS_H
#define PACE_CMD_SETTINGS_H

#include "base/configfile.h"
#include "cmd/cmd.h"

/* Reads one file. 0 also if there is none; a file of another user than this one and root is ignored. */
int settings_read(struct config *c, const char *path, struct err *err);

/* Their names: $PERF_CONFIG or the user's file (`is_at_home`: this one), and the system's. *ret stays empty if there is none. */
void settings_user_file(bool is_at_home, struct str *ret);
const char *settings_system_file(void);

/* What concerns the command. ERR_FORMAT: a file is damaged, or gives such a key a value that it cannot have. */
int settings_load(const struct cmd *cmd, int argc, char **argv, struct err *err);
void settings_unload(void);

/* Whether the key may have that value; of keys without a meaning any. */
bool settings_takes(const char *key, const char *value);

/* As asperf_words() of asperf.h: the options stand behind the command's name and its subcommand. */
char **settings_words(const struct cmd *cmd, int *argc, char **argv);

/* pager.COMMAND: 1: the command's text goes through a pager, 0: it does not, -1: nothing is set. */
int settings_pages(void);

/* What `record -g` means, by call-graph.record-mode and dump-size; false: nothing is set. */
bool settings_chain_mode(char *mode, size_t size);

/* Prints the options that came from files, if there were any: one of them may be what is wrong. */
void settings_say_used(void);

/* Whether a key of perf's has an effect; *ret_effect says which, or why it has none (NULL: it is unknown). */
bool settings_has_effect(const char *key, const char **ret_effect);

#endif
