/*
 * builds.h - the code of one function in two builds, as text or JSON.
 *
 * Above the code stands in words which blocks took more or less of the run, by more than sampling explains. The text leaves out
 * blocks without samples; JSON has all.
 * In       two assemblies, compared; where they come from
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
	const char *names[CODEDIFF_SIDES]; /* of the recordings */
	const struct annotate_options *annotate;
	const bool *is_time; /* by event of the comparison: periods are nanoseconds */
	bool of_share; /* what changed is a share of the run, whatever that took; else an amount */
};

/* One word for what became of a part's code: same, alike, changed, gone, new. */
const char *builds_state(const struct codediff_part *part);

/* Where in the source a part lies: false if that is not known. */
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
