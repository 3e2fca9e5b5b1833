/*
 * lint.h - a recording explained in plain words: what it is, what is in it, what is wrong with it.
 *
 * In       an open reader, its inspection, the reader's messages
 * Out      text; its last line is the verdict
 */
#ifndef PACE_VIEW_LINT_H
#define PACE_VIEW_LINT_H

#include "base/str.h"
#include "file/reader.h"
#include "profile/check/inspection.h"

struct lint {
	const struct reader *reader;
	const struct inspection *inspection;
	VEC(const char *) warnings; /* sentences; each means damage */
	VEC(const char *) notes;
};

/* False if the file is damaged. */
bool lint_add_text(const struct lint *l, struct str *text);

#endif
