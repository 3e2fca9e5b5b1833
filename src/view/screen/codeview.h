/*
 * codeview.h - the code of functions, with its samples, to walk through with keys.
 *
 * In       functions with samples, and a resolver; keys and clicks
 * Out      a grid; a file with the text of a function, if a key asks for it
 * Owns     the function that is open, until codeview_fini()
 * Errors   those of the screen; messages about functions and files are on the screen
 *
 * Its lines are those of the text (view/code/annotate_line.h), with the same figures.
 */
#ifndef PACE_VIEW_CODEVIEW_H
#define PACE_VIEW_CODEVIEW_H

#include "profile/code/rowtypes.h"
#include "view/code/annotate.h"
#include "view/screen/namesearch.h"
#include "view/screen/textpage.h"
#include "view/screen/screen.h"

struct codeview_source {
	const char *title;
	const struct annotation *annotation;
	struct resolver *resolver;
	const struct assembly_options *assembly;
	const struct annotate_options *shown; /* how it begins */
};

enum codeview_mode { CODEVIEW_CODE = 1, CODEVIEW_LIST = 2, CODEVIEW_SEARCH = 4 };

enum codeview_kind { CODEVIEW_NOTE, CODEVIEW_FUNCTIONS, CODEVIEW_SOURCE, CODEVIEW_INSTRUCTION };

struct codeview_line {
	u32 row; /* of the assembly, or that it stands above; of a note: where its text begins */
	u8 kind; /* enum codeview_kind */
};

/* A place for the cursor. */
struct codeview_place {
	u32 function;                 /* of the annotation; ANNOTATION_NONE: one without samples */
	struct profile_symbol symbol; /* of the one without */
	u32 row;                      /* ASSEMBLY_NONE: the hottest */
};

struct codeview {
	const struct codeview_source *source;
	struct screen *screen; /* NULL: in tests of single keys */
	struct assembly_options how;
	struct annotate_options shown;
	bool hides_addresses;
	/* The open function. */
	struct codeview_place at; /* the row is not kept up to date */
	struct assembly assembly;
	struct typefiles files;
	struct rowtypes types; /* if shown.has_types */
	struct str notes;
	VEC(struct codeview_line) lines;
	u32 *line_of; /* by row: its instruction's line */
	VEC(u32) hot; /* rows with samples, the hottest first */
	VEC(struct codeview_place) before;
	struct intern names;
	/* The cursor. */
	size_t line, first; /* and the first line that is drawn */
	size_t hottest;     /* in `hot`: where Tab was */
	unsigned height, shift;
	u8 mode; /* enum codeview_mode */
	bool is_over;
	struct str search, kept, message; /* as in struct browser */
	size_t search_from;               /* the cursor when the search began */
	struct namesearch pattern;
	struct textpage page;
	size_t choice; /* in the list */
};

extern const struct keytable codeview_keys;

void codeview_init(struct codeview *v, const struct codeview_source *source,
	const struct codeview_place *place);
void codeview_fini(struct codeview *v);

void codeview_take(struct codeview *v, const struct screen_event *e);
void codeview_draw(struct codeview *v, struct grid *g);

/* Adds what stands behind the figures and the address of a line. */
void codeview_add_line(const struct codeview *v, size_t line, struct str *text);
/* Whether a line matches what is searched for. */
bool codeview_is_found(const struct codeview *v, size_t line);
/* Adds what the key Enter would do; nothing if it does nothing. */
void codeview_add_lead(struct codeview *v, struct str *text);

/* Until a key ends it. */
void codeview_run(const struct codeview_source *source, const struct codeview_place *place,
	struct screen *s);

/* ---- codeview_code.c: the function that is open ---- */

void codeview_open(struct codeview *v, const struct codeview_place *place);
void codeview_close(struct codeview *v);
/* The lines change with what is shown; the cursor stays on its instruction. */
void codeview_set_lines(struct codeview *v);
/* Which instructions are hot depends on what counts: periods or samples. */
void codeview_sort(struct codeview *v);
void codeview_load_types(struct codeview *v);
/* The row of the line under the cursor; that of the first one, if the cursor is on a note. */
u32 codeview_row(const struct codeview *v);
void codeview_to_row(struct codeview *v, u32 row);

#endif
