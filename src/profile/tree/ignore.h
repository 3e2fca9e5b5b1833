/*
 * ignore.h - what some functions called counts for them, as if they had done it themselves.
 *
 * In       a profile with names and stacks; a regular expression
 * Out      rows that were sampled below a function whose name matches are of that function, called as
 *          it was; of several the outermost counts. What matches no function stays as it is
 * Owns     nothing
 */
#ifndef PACE_PROFILE_IGNORE_H
#define PACE_PROFILE_IGNORE_H

#include <regex.h>

#include "profile/gather/profile.h"

void ignore_callees(struct profile *p, const regex_t *expression);

#endif
