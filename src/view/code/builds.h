/*
 * builds.h - the code of one function in two builds, as text or JSON.
 *
 * Words above the code say which blocks took more or less of the run than sampling explains. The text leaves out
 * blocks without samples; JSON has all.
 * In       two assemblies, compared; the names of their recordings
 * Out      text; or one object of JSON, whose members are in pace-annotate(1)
 * Owns     nothing
 */
#ifndef PACE_VIEW_BUILDS_H
#define PACE_VIEW_BUILDS_H

#include "base/out.h"
#include "profile/diff/codediff.h"
#include "view/code/annotate.h"
#include "view/forms/forms.h"

struct builds_options {
	const char *names[CODEDIFF_SIDES]; /* the recordings */
	const struct annotate_options *annotate;
	const bool *is_time; /* by event of the comparison: periods are nanoseconds */
	bool of_share;       /* changes are shares of the run, however long it took; else amounts */
};

/* One word for a part's code: same, alike, changed, gone, new. */
const char *builds_state(const struct codediff_part *part);

/* The part's place in the source; false if it is unknown. */
struct builds_place {
	const struct assembly_file *file;
	u32 first, last;
};
bool builds_find_place(const struct codediff *d, const struct codediff_part *part,
	struct builds_place *ret_place);

void builds_text(struct out *out, const struct codediff *d, const struct builds_options *o);
void builds_rows(const struct form *form, struct out *out, const struct codediff *d,
	const struct builds_options *o);

#endif
