/*
 * annotate_types.h - data types with their members and the samples of each, as text or JSON.
 *
 * In       a profile of types, with the statistics that are wanted; which figures
 * Out      the statistics, and a block a type; the schema of the JSON is in pace-annotate(1)
 * Owns     nothing
 */
#ifndef PACE_VIEW_ANNOTATE_TYPES_H
#define PACE_VIEW_ANNOTATE_TYPES_H

#include "profile/code/insnstat.h"
#include "profile/code/typeprofile.h"
#include "view/code/annotate.h"
#include "view/forms/forms.h"

struct annotate_types {
	const struct typeprofile *types;
	bool has_types;    /* the types themselves */
	bool has_outcomes; /* how many samples have a type, and why the others have none */
	const struct insnstat *instructions; /* the same by instruction; NULL: not wanted */
};

void annotate_types_text(struct out *out, const struct annotate_types *shown,
	const struct annotate_options *o);
void annotate_types_rows(const struct form *form, struct out *out,
	const struct annotate_types *shown, const struct annotate_options *o);

#endif
