/*
 * argc.h - stacks of frame pointers that end in the number of a program's arguments are whole.
 *
 * The kernel takes for a return address what lies where the first function of a process would have one.
 * That is argc, at an address at which there never is code.
 * In       a named profile whose stacks keep such an address below the ending that stands for it
 * Out      its stacks without them: below _start and main nothing is missing, below others callers are
 */
#ifndef PACE_PROFILE_ARGC_H
#define PACE_PROFILE_ARGC_H

#include "profile/gather/profile.h"

enum { ARGC_MOST = 0xfff }; /* nothing is mapped so low, and nobody passes more */

void argc_remove(struct profile *p);

#endif
