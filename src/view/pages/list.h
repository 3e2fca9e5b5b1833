/*
 * list.h - what can be measured, as text and as rows.
 *
 * In       an inventory, after inventory_try()
 * Out      text: a heading for each group, a line for each event: name, whether it opens here, one
 *          sentence. Rows: what programs get, described in pace-list(1)
 * Units    columns
 */
#ifndef PACE_VIEW_LIST_H
#define PACE_VIEW_LIST_H

#include "collect/known/inventory.h"
#include "view/forms/forms.h"

struct list_style {
	unsigned columns;      /* of the terminal; 0: lines may have any length */
	bool has_descriptions; /* descriptions after the names */
	bool has_encoding;     /* encodings instead of descriptions */
	bool has_details;      /* several lines for each event */
	const char *topdown;   /* a line about TopDown; NULL: none */
};

void list_text(const struct inventory *m, const struct list_style *style, struct out *out);

/* Only the names, on one line, for the shell's completion. */
void list_names(const struct inventory *m, struct out *out);
void list_rows(const struct form *form, const struct inventory *m, struct out *out);

/* ---- of which lists of other things are made, too ---- */

/* The most columns that names may take. */
size_t list_name_columns(const struct list_style *style);

/* Adds a line: a name, filled up to `width` columns, whether it opens here, and what it is. */
void list_add_line(const char *name, enum inventory_opens opens, const char *behind, size_t width,
	const struct list_style *style, struct str *text);

/* Adds words in lines that fit; a paragraph is indented, below a name. */
void list_add_paragraph(const char *words, const struct list_style *style, struct str *text);
void list_add_words(const char *words, const struct list_style *style, struct str *text);

#endif
