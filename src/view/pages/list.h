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

#endif
