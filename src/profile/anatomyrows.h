/*
 * anatomyrows.h - types of data as a table of cells: below each type its lines, below each line what was
 * sampled of each event.
 *
 * In       an anatomy
 * Out      struct rowset; the anatomy must stay
 * Owns     nothing
 */
#ifndef PACE_PROFILE_ANATOMYROWS_H
#define PACE_PROFILE_ANATOMYROWS_H

#include "profile/anatomy.h"
#include "profile/rowset.h"

struct rowset anatomyrows(const struct anatomy *a);

#endif
