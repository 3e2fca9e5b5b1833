/*
 * c2c_calls.h - the call graphs below the uses of shared cache lines.
 *
 * In       profile/memory/sharers, with names
 * Out      text as of drawing.h, or a tree of cells: from the code up to its callers, with shares of the
 *          use's own loads from other caches or, if it has none, of its stores
 * Owns     rows by use
 */
#ifndef PACE_VIEW_C2C_CALLS_H
#define PACE_VIEW_C2C_CALLS_H

#include "profile/rows/hist.h"
#include "profile/rows/rowmaker.h"
#include "profile/memory/sharers.h"
#include "profile/rows/graph.h"
#include "view/forms/drawing.h"

struct c2c_calls_event {
	struct hist hist;
	struct hist_view view;
	VEC(u32) by_use; /* the position of its entry + 1; 0: none */
};

struct c2c_calls {
	struct hist_options options;
	struct c2c_calls_event hot, stores;
	enum graph_order order; /* callees first, unless it is changed */
	struct drawing_options
		drawing; /* shares of the row, the larger ones, unless it is changed */
};

void c2c_calls_init(struct c2c_calls *c, const struct sharers *s, enum sharers_event hot);
void c2c_calls_fini(struct c2c_calls *c);

/* Adds nothing if the use has none of these accesses. */
void c2c_calls_add(struct c2c_calls *c, u32 use, struct str *text);

/* Cells: "callers", and "callers_of", the kind of access they belong to. */
void c2c_calls_add_cells(struct c2c_calls *c, u32 use, struct rowmaker *m);

#endif
