/*
 * report_code.h - the code of a report's hottest functions, and the data types that it accesses, for forms that are read on their own.
 *
 * In       a recording that has a trace, its named profile; which events are shown
 * Out      the document "code": {"functions": how many were sampled, "shown": [...]}, see view/code/annotate_page.h;
 *          "types", see view/code/annotate_types_page.h, unless no type is known
 */
#ifndef PACE_CMD_REPORT_CODE_H
#define PACE_CMD_REPORT_CODE_H

#include "cmd/symbols.h"
#include "profile/check/recorded.h"
#include "view/forms/forms.h"

void report_code(struct recorded *r, const struct symbol_options *symbols, const u32 *events,
	size_t n_events, struct page_about *about);
void report_types(const struct recorded *r, const u32 *events, size_t n_events,
	struct page_about *about);

#endif
