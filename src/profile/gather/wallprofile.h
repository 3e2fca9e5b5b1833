/*
 * wallprofile.h - makes the rows of a wall-clock profile say what threads waited for.
 *
 * The stack of a thread that leaves its CPU begins in the scheduler, whatever it waits for. Those frames are
 * removed: the row is then the kernel function that waits (futex_do_wait, pipe_read) or, for a preempted
 * thread, the function that was interrupted. Time that no sample represents gets rows too, so that the rows
 * sum to the wall's totals.
 * In       a profile with names, made with aggregate_options.wall; its wall; the machine, for thread names
 * Out      the same profile, changed
 */
#ifndef PACE_PROFILE_WALLPROFILE_H
#define PACE_PROFILE_WALLPROFILE_H

#include "machine/machine.h"
#include "profile/gather/profile.h"
#include "profile/gather/wall.h"

/* Removes the scheduler's frames from the stacks of all rows. */
void wallprofile_trim(struct profile *p);

/* Adds rows for the time that no sample represents. */
void wallprofile_add_rest(struct profile *p, const struct wall *w, const struct machine *m);

#endif
