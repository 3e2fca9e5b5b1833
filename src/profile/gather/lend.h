/*
 * lend.h - callers for the samples of an event that was recorded without any: those of another event's samples in the same
 * functions, in the same proportions.
 *
 * In       a profile with names and no timeline; which event lends and which borrows
 * Out      rows of the borrower with callers; each sample has those of one of the lender's
 * Errors   none. Samples in functions where the lender has none stay as they are
 */
#ifndef PACE_PROFILE_LEND_H
#define PACE_PROFILE_LEND_H

#include "profile/gather/profile.h"

/* Returns how many samples got callers. */
u64 lend_callers(struct profile *p, u32 lender, u32 borrower);

#endif
