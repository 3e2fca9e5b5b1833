/*
 * assets.h - the code and the style of pages and pictures, as dev/textarray makes them of *.js and *.css.
 *
 * Out      text that ends with a NUL; the code of pages with its elements, packed but for what unpacks it
 */
#ifndef PACE_VIEW_ASSETS_H
#define PACE_VIEW_ASSETS_H

extern const char assets_script[], assets_style[];
extern const char assets_flamegraph[];                    /* of view/svg */
extern const char assets_timechart[], assets_chartpage[]; /* of view/chart */

#endif
