/*
 * outside.h - what other programs say: nm, objdump, cc. Tests skip where they are missing.
 */
#ifndef PACE_TESTS_OUTSIDE_H
#define PACE_TESTS_OUTSIDE_H

#include "base/str.h"

/* Ends the test as skipped unless the shell finds the program. */
void outside_need(const char *program);

/* Appends what a shell command prints; its exit status. */
int outside_run(struct str *ret_text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Compiles C text into <test's folder>/<name>; false if the compiler does not know these flags. */
bool outside_compile(const char *text, const char *name, const char *flags);

#endif
