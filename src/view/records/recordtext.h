/*
 * recordtext.h - records that are not samples, in the words of perf script, which other programs parse.
 *
 * In       a record and its decoded body
 * Out      "PERF_RECORD_NAME ..." with the end of its line, appended to a struct str; types that perf script does not
 *          show have name=value for each field
 * Errors   none: foreign text is made safe
 * Threads  any number
 */
#ifndef PACE_VIEW_RECORDTEXT_H
#define PACE_VIEW_RECORDTEXT_H

#include "record/record.h"

void recordtext_add(const struct record *rec, const union record_body *body, struct str *text);

/* Adds the letters of `misc`: the CPU mode, and what the bit means in a record of this type; 6 columns. */
void recordtext_add_misc(u32 type, u16 misc, struct str *text);

#endif
