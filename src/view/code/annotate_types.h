/*
 * annotate_types.h - data types with their members and the samples of each, as text or JSON.
 *
 * In       a profile of types; which figures
 * Out      a block a type; the schema of the JSON is in pace-annotate(1)
 * Owns     nothing
 */
#ifndef PACE_VIEW_ANNOTATE_TYPES_H
#define PACE_VIEW_ANNOTATE_TYPES_H

#include "profile/code/typeprofile.h"
#include "view/code/annotate.h"
#include "view/forms/forms.h"

void annotate_types_text(struct out *out, const struct typeprofile *a,
	const struct annotate_options *o);
/* How many samples have a type, and why the others have none: the largest number first. */
void annotate_types_stat(struct out *out, const struct profile *p);
void annotate_types_rows(const struct form *form, struct out *out, const struct typeprofile *a,
	const struct annotate_options *o);

#endif
