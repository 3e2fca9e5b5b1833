/*
 * program.h - which file is executed when a command is given.
 *
 * In       the command's name, looked up as execvp(3) does
 * Out      its file; for a script also its interpreter's
 * Source   execve(2), section Interpreter scripts
 */
#ifndef PACE_COLLECT_PROGRAM_H
#define PACE_COLLECT_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

/* Finds the file that execvp() would execute. */
bool program_find(const char *command, char path[PATH_MAX]);

/* True if the file is a script; `interpreter` is what its first line names. */
bool program_interpreter(const char *path, char interpreter[PATH_MAX]);

#endif
