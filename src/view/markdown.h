/*
 * markdown.h - a report as Markdown, for issues, pull requests and chats.
 *
 * In       the rows of an event, or of several in one table; a cut call tree (profile/outline)
 * Out      text
 * Owns     nothing
 */
#ifndef PACE_VIEW_MARKDOWN_H
#define PACE_VIEW_MARKDOWN_H

#include "profile/outline.h"
#include "view/text.h"

/* The events with their samples and a table of the rows, n_rows lines at most: the last one has the rest. */
void markdown_add_table(const struct hist *h, const struct text_options *t, u64 n_rows,
	struct str *text);

/* The tree, folded away; event: whose it is, NULL: there is no other. */
void markdown_add_tree(const struct outline *o, const char *event, struct str *text);

#endif
