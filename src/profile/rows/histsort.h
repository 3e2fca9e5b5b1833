/*
 * histsort.h - the order of a histogram's entries.
 *
 * In       entries, what is beside them, the order that the options want
 * Out      the entries in that order
 * Owns     nothing
 */
#ifndef PACE_PROFILE_HISTSORT_H
#define PACE_PROFILE_HISTSORT_H

#include "profile/rows/hist.h"

void hist_sort(struct hist *h);

#endif
