/*
 * histsort.h - sorts a histogram's entries.
 *
 * In       a histogram whose entries are complete; its options tell the order
 * Out      the entries in that order
 * Owns     nothing
 */
#ifndef PACE_PROFILE_HISTSORT_H
#define PACE_PROFILE_HISTSORT_H

#include "profile/rows/hist.h"

void hist_sort(struct hist *h);

#endif
