/*
 * argc.h - recognizes frame-pointer stacks that end in a program's argc as complete.
 *
 * In the first function of a process, the kernel reads argc where a return address would lie. No code is
 * ever mapped at so low an address.
 * In       a named profile whose stacks keep such an address below the ending that stands for it
 * Out      its stacks without such addresses: above _start and main no caller is missing, above other
 *          functions callers are
 */
#ifndef PACE_PROFILE_ARGC_H
#define PACE_PROFILE_ARGC_H

#include "profile/gather/profile.h"

enum { ARGC_MOST = 0xfff }; /* nothing is mapped so low, and no program gets more arguments */

void argc_remove(struct profile *p);

#endif
