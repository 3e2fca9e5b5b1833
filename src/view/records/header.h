/*
 * header.h - what a recording says about itself: when, where, how, as "# key : value" lines.
 */
#ifndef PACE_VIEW_HEADER_H
#define PACE_VIEW_HEADER_H

#include "base/str.h"
#include "file/reader.h"

/* `details`: topologies and caches too. */
void header_add_text(const struct reader *r, bool details, struct str *text);

#endif
