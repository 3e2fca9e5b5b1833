/*
 * annotate_line.h - the parts of an annotated function's lines as text: what stands above its code, instructions, and the
 * source lines between them.
 *
 * In       an assembly; which parts are wanted
 * Out      text that is safe for terminals
 * Owns     nothing
 */
#ifndef PACE_VIEW_ANNOTATE_LINE_H
#define PACE_VIEW_ANNOTATE_LINE_H

#include "view/code/annotate.h"

/* Where the rows so far are from; {0}: nowhere, so that the next row's place stands above it. */
struct annotate_place {
	u32 first_frame, n_frames;
};

enum annotate_heading { ANNOTATE_FUNCTIONS = 1, ANNOTATE_SOURCE = 2 };

/* The enum annotate_heading that stand above a row, because it is from another place than those before it. */
unsigned annotate_headings(const struct assembly *a, const struct assembly_row *row,
	struct annotate_place *place);

/* "f() x.c:12 < g() y.c:7": the function, and the functions that it is inlined into. */
void annotate_add_functions(const struct annotate_options *o, const struct assembly *a,
	const struct assembly_row *row, struct str *text);

/* "12    code", or the file and the number of a line whose text is not there. */
void annotate_add_source(const struct annotate_options *o, const struct assembly *a,
	const struct assembly_row *row, struct str *text);

/* "file.c:12", or with its directory. */
void annotate_add_place(const struct annotate_options *o, const struct assembly *a, u32 file,
	u32 line, struct str *text);

/* The instruction of row i, its bytes if they are wanted, what it refers to, how often it ran; with -l its place. */
void annotate_add_instruction(const struct annotate_options *o, const struct assembly *a, size_t i,
	struct str *text);

/* What must be known of the code as a whole: how exact the events are, what is missing. Lines, each with `begin`. */
void annotate_add_notes(const struct annotate_options *o, const struct assembly *a,
	const char *begin, struct str *text);

/* How many samples are in none of the rows. Lines, each with `begin`. */
void annotate_add_outside(const struct annotate_options *o, const struct assembly *a,
	const char *begin, struct str *text);

/* How many digits addresses take. */
unsigned annotate_address_digits(const struct assembly *a);

/* How wide figures are; a figure of event e, that wide. */
unsigned annotate_figure_width(const struct annotate_options *o);
void annotate_add_figure(const struct annotate_options *o, const struct assembly *a, size_t e,
	const struct annotation_count *count, struct str *text);

/* Whether the event has samples anywhere: then it has a column. */
static inline bool annotate_has_event(const struct assembly *a, size_t e)
{
	return a->annotation->totals[e].n_samples != 0;
}

#endif
