/*
 * setuid.h - whether a command gains rights when it is executed.
 *
 * The kernel then takes the counters of the task away, whoever opened them, so that they reveal nothing
 * of a more privileged program. They keep what the first microseconds counted.
 * In       the command's name, looked up as execvp(3) does
 * Out      a sentence that says what is special about its file, and how it can be counted all the same
 * Source   fs/exec.c: begin_new_exec(), would_dump(); kernel/cred.c: commit_creds(); capabilities(7)
 */
#ifndef PACE_COLLECT_SETUID_H
#define PACE_COLLECT_SETUID_H

#include "base/str.h"

/* Whether its counters will be taken away; then appends the reason to `why`. */
bool setuid_takes_counters(const char *command, struct str *why);

#endif
