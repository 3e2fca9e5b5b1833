/*
 * list_markers.h - the markers (SDT) of programs, as text and as rows.
 *
 * In       finished markers
 * Out      text: a line for each marker: name, file. As perf's: the name, behind it the file and its build where several have the
 *          marker. Rows: what programs get, described in pace-list(1)
 */
#ifndef PACE_VIEW_LIST_MARKERS_H
#define PACE_VIEW_LIST_MARKERS_H

#include "symbol/probe/markers.h"
#include "view/pages/list.h"

void list_markers_text(const struct markers *m, const struct list_style *style, struct out *out);
void list_markers_rows(const struct form *form, const struct markers *m, struct out *out);

/* Only the names, on one line. */
void list_markers_names(const struct markers *m, struct out *out);

/* As perf prints them, in text and as objects. `n_before`: how many objects of the array there are already. */
void list_markers_perf_text(const struct markers *m, struct out *out);
void list_markers_perf_json(const struct markers *m, size_t n_before, struct out *out);

#endif
