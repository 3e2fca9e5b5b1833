/*
 * setuid.h - whether a command gets other rights when it is executed.
 *
 * The kernel then takes the counters of the task away, whoever opened them: nobody is to learn from
 * them what a program with more rights does. They stay at what the first microseconds counted.
 * In       the command's name, looked for as execvp(3) does
 * Out      a sentence that says what is so about its file, and how it is counted all the same
 * Source   fs/exec.c: begin_new_exec(), would_dump(); kernel/cred.c: commit_creds(); capabilities(7)
 */
#ifndef PACE_COLLECT_SETUID_H
#define PACE_COLLECT_SETUID_H

#include "base/str.h"

/* True if its counters will be taken away; then `why` is appended to. */
bool setuid_takes_counters(const char *command, struct str *why);

#endif
