/*
 * wallprofile.h - a profile of wall-clock time, so that its rows say what was waited for.
 *
 * The stack of a thread that leaves its CPU begins in the scheduler, whatever it waits for. What only
 * leads there is taken off: a row is the function of the kernel that waits (futex_do_wait, pipe_read), or,
 * of a thread that was taken off its CPU, what it would have gone on with. What no sample speaks for gets
 * rows too, so that the rows sum to what the wall has.
 * In       a profile with names, made with aggregate_options.wall; its wall; the machine, for the threads'
 *          names
 * Out      the same profile
 */
#ifndef PACE_PROFILE_WALLPROFILE_H
#define PACE_PROFILE_WALLPROFILE_H

#include "machine/machine.h"
#include "profile/gather/profile.h"
#include "profile/gather/wall.h"

/* Takes the scheduler off the stacks of rows. */
void wallprofile_trim(struct profile *p);

/* Adds rows for what no sample speaks for. */
void wallprofile_add_rest(struct profile *p, const struct wall *w, const struct machine *m);

#endif
