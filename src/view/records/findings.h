/*
 * findings.h - what is odd, lost or broken in a recording: a paragraph each, if there is any.
 *
 * In       an open reader, its inspection, the reader's messages; the parts of its file
 * Out      text
 */
#ifndef PACE_VIEW_FINDINGS_H
#define PACE_VIEW_FINDINGS_H

#include "view/records/lint.h"
#include "view/records/parts.h"

void findings_add_odd(const struct lint *l, const struct parts *parts, struct str *text);
void findings_add_lost(const struct inspection *s, struct str *text);

/* Returns the number of contradictions in the header. */
size_t findings_add_damage(const struct lint *l, const struct parts *parts, struct str *text);

#endif
