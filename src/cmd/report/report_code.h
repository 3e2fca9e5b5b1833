/*
 * report_code.h - the code of a report's hottest functions, for forms that are read on their own.
 *
 * In       a recording that has a trace, its named profile; which events are shown
 * Out      the document "code": {"functions": how many were sampled, "shown": [...]}, see view/code/annotate_page.h
 */
#ifndef PACE_CMD_REPORT_CODE_H
#define PACE_CMD_REPORT_CODE_H

#include "cmd/symbols.h"
#include "profile/check/recorded.h"
#include "view/forms/forms.h"

void report_code(struct recorded *r, const struct symbol_options *symbols, const u32 *events,
	size_t n_events, struct page_about *about);

#endif
