/*
 * parent.h - which of its callers, by name, each row is counted under.
 *
 * In       a profile with names and stacks, whose rows have LABEL_PARENT; a regular expression
 * Out      in that label the nearest function, from where the sample was taken to the root, whose name
 *          matches; 0: none does
 * Owns     nothing
 */
#ifndef PACE_PROFILE_PARENT_H
#define PACE_PROFILE_PARENT_H

#include <regex.h>

#include "profile/gather/profile.h"

/* What -p is if nobody says: where the kernel was entered. */
#define PARENT_DEFAULT "^(__x64_|__arm64_)?sys_|^do_page_fault|^exc_page_fault"

void parent_find(struct profile *p, const regex_t *expression);

/* Drops the rows without one; is_relative: their events' totals go with them. */
void parent_drop_others(struct profile *p, bool is_relative);

#endif
