/*
 * annotate_types_page.h - the data types that were accessed, for the page of --html.
 *
 * In       a profile of types; which events of its profile; how far their samples are from what caused them
 * Out      an object of JSON: `types`, how many were accessed; `events`, for each [samples in types with members, all samples, enum
 *          typing_distance]; `shown`: the most accessed types, {name, size, n (of lines), lines}, a line: [index, depth, 1 if members follow,
 *          type, name, offset, size, then event, samples, period of each event that was sampled there]
 * Owns     nothing
 */
#ifndef PACE_VIEW_ANNOTATE_TYPES_PAGE_H
#define PACE_VIEW_ANNOTATE_TYPES_PAGE_H

#include "profile/code/typeprofile.h"
#include "profile/gather/typing.h"

/* Of types with more lines, those without samples nearby are left out. */
enum { ANNOTATE_TYPES_PAGE_LINES = 40 };

/* Whether no type has a share worth showing. */
bool annotate_types_page_is_empty(const struct typeprofile *a);

void annotate_types_page_add(struct str *text, const struct typeprofile *a,
	const struct typing_events *typing, const u32 *events, size_t n_events);

#endif
