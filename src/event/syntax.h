/*
 * syntax.h - parses the text after -e into a tree of words.
 *
 * It knows where a name may stand, not which names exist. The grammar is in parse.h.
 * Owns     nothing: words point into the text, nodes are in the caller's arena
 * Errors   ERR_INVAL with the column, what was expected there and what was found
 */
#ifndef PACE_EVENT_SYNTAX_H
#define PACE_EVENT_SYNTAX_H

#include "base/err.h"
#include "base/mem.h"
#include "base/types.h"

struct word {
	const char *at; /* in the text; NULL: absent */
	size_t n;
};

struct term {
	struct word name, value; /* value.at NULL: only a name */
	struct term *next;
};

enum node_kind { NODE_EVENT, NODE_BREAKPOINT, NODE_PFM, NODE_GROUP };

struct node {
	enum node_kind kind;
	/*
	 * NODE_EVENT: up to three, separated by ':'. NODE_BREAKPOINT: address, length, access.
	 * NODE_PFM: all that libpfm reads in [0]. NODE_GROUP: the name in [0].
	 */
	struct word words[3];
	bool has_slashes;      /* name/.../ */
	struct term *terms;    /* between the slashes */
	struct word filter;    /* or, for a tracepoint, the filter between them */
	struct word modifiers; /* after the slashes, the brace or the breakpoint */
	struct node *children; /* NODE_GROUP */
	struct node *next;
	const char *start, *end; /* its own text */
};

/* Reads a list of events into a list of nodes. */
int syntax_read(const char *text, struct arena *arena, struct node **ret_first, struct err *err);

/*
 * Sets an error that points into the text: "event 'a,b' at column 3: ...". A long text is cut around
 * that place.
 */
int syntax_fail(const char *text, const char *at, int code, const char *message, struct err *err);

/* The word as a string, cut to size - 1 bytes; returns buf. */
const char *syntax_copy(struct word w, char *buf, size_t size);

#endif
