/*
 * annotate.h - a function's code and what was sampled in it, as text or JSON.
 *
 * In       an assembly, and the types of what its instructions access; which events and which figures
 * Out      text in perf's layout, so that scripts for it keep working: an instruction's line
 *          is "  12.50 :   401136:   push   %rbp"; or an object of JSON
 * Owns     nothing
 */
#ifndef PACE_VIEW_ANNOTATE_H
#define PACE_VIEW_ANNOTATE_H

#include "base/out.h"
#include "event/event.h"
#include "profile/code/assembly.h"
#include "profile/code/rowtypes.h"
#include "profile/rows/rowmaker.h"

enum annotate_figure { ANNOTATE_PERCENT, ANNOTATE_SAMPLES, ANNOTATE_PERIOD };

struct annotate_options {
	const struct event_list *events; /* of the recording; for their precision */
	enum annotate_figure figure;
	bool is_global;  /* shares of everything, not of the function */
	bool is_by_hits; /* shares of samples, not of periods */
	bool has_bytes;  /* --asm-raw */
	bool has_places; /* -l: file and line of sampled instructions */
	bool has_source;
	bool has_full_paths;
	bool has_types; /* --code-with-type: the types of what instructions access */
	bool is_quiet;
	bool has_colour; /* of text: percentages have colours */
	bool is_excerpt; /* text has only the hottest instructions, with `around` before and after each */
	u64 around;
};

/* The share of `count`, which is of event e of the assembly, in percent. */
double annotate_share(const struct annotate_options *o, const struct assembly *a, size_t e,
	const struct annotation_count *count);

/* "local period": the name of the share. */
const char *annotate_share_name(const struct annotate_options *o);

/* Adds a sentence for each kind of skid that the events have; nothing for exact events. */
void annotate_add_skid(const struct annotate_options *o, const struct assembly *a,
	const char *begin, struct str *text);

/* types: of the rows; NULL: not wanted. */
void annotate_text(struct out *out, const struct assembly *a, const struct rowtypes *types,
	const struct annotate_options *o);

/* Adds the table "events" with the samples of each; `totals`: by event. */
void annotate_add_events(struct rowmaker *m, const struct profile *p,
	const struct annotation_count *totals, const struct event_list *events);

/* What stands before and after all functions, and one function. */
void annotate_json_begin(struct out *out, const struct annotation *a,
	const struct annotate_options *o);
void annotate_json(struct out *out, const struct assembly *a, const struct rowtypes *types,
	const struct annotate_options *o);
void annotate_json_end(struct out *out);

#endif
