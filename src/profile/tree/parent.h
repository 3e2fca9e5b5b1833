/*
 * parent.h - finds the caller, by name, under which each row is counted.
 *
 * In       a profile with names and stacks, whose rows have LABEL_PARENT; a regular expression
 * Out      that label: the nearest function whose name matches, from the sampled one to the root; 0: none
 * Owns     nothing
 */
#ifndef PACE_PROFILE_PARENT_H
#define PACE_PROFILE_PARENT_H

#include <regex.h>

#include "profile/gather/profile.h"

/* The default of -p: the functions where the kernel is entered. */
#define PARENT_DEFAULT "^(__x64_|__arm64_)?sys_|^do_page_fault|^exc_page_fault"

void parent_find(struct profile *p, const regex_t *expression);

/* Drops the rows without a parent; is_relative: subtracts them from their events' totals. */
void parent_drop_others(struct profile *p, bool is_relative);

#endif
