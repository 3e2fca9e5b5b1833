/*
 * ignore.h - counts the callees of some functions as a part of these functions.
 *
 * In       a profile with names and stacks; a regular expression
 * Out      a row below a function whose name matches becomes a row of that function, with its callers; if
 *          several match, of the outermost. Other rows stay unchanged
 * Owns     nothing
 */
#ifndef PACE_PROFILE_IGNORE_H
#define PACE_PROFILE_IGNORE_H

#include <regex.h>

#include "profile/gather/profile.h"

void ignore_callees(struct profile *p, const regex_t *expression);

#endif
