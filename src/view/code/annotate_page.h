/*
 * annotate_page.h - a function's code and what was sampled in it, for the page of --html.
 *
 * In       an assembly with source; which events of its profile
 * Out      an object of JSON with a comma after it: name, dso, start, size; `counts`, samples and period of each event; `code_from`, `by`,
 *          `no_code`, `no_lines`; `n_rows`; `files`, with `path`, `why` (missing or newer) and `lines`, stretches [first line, text...];
 *          `chains`, of inlined functions, the innermost first: [[function, file, line], ...]; `rows`: [index, offset, text, what it
 *          refers to, the index it jumps to or -1, chain or -1, then event, samples, period of each event that was sampled there]
 * Owns     nothing
 */
#ifndef PACE_VIEW_ANNOTATE_PAGE_H
#define PACE_VIEW_ANNOTATE_PAGE_H

#include "profile/code/assembly.h"

/* Of functions with more rows, those without samples nearby are left out, then those with the fewest samples. */
enum { ANNOTATE_PAGE_ROWS = 2000 };

/* Elements of an array: event, samples and period of each event that was sampled. `counts` are by event of the profile. */
void annotate_page_add_counts(struct str *text, const struct annotation_count *counts,
	const u32 *events, size_t n_events);

void annotate_page_add(struct str *text, struct assembly *a, const u32 *events, size_t n_events);

#endif
