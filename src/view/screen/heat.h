/*
 * heat.h - colours and bars of shares.
 *
 * In       a share, of 1
 * Out      a style, cells of a grid
 * Owns     nothing
 */
#ifndef PACE_VIEW_HEAT_H
#define PACE_VIEW_HEAT_H

#include "view/screen/grid.h"

enum { HEAT_BAR = 8 }; /* columns */

struct grid_style heat_style(double share);

/* Eighths of cells; in ASCII, whole ones. */
void heat_draw_bar(struct grid *g, unsigned row, unsigned column, double share);

#endif
