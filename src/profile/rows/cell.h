/*
 * cell.h - one typed value of a table. Commands make cells; each form shows them in its own way.
 *
 * An unknown value has a reason instead. What is shown in its place is up to the form, as are widths,
 * padding and colours.
 * In       the result of a key, a comparison or a count
 * Out      a typed value; the same as plain text, for people and for programs
 * Owns     nothing: texts live as long as their source, or until the `room` that they were built in changes
 */
#ifndef PACE_PROFILE_CELL_H
#define PACE_PROFILE_CELL_H

#include "base/str.h"

enum cell_kind {
	CELL_NONE,     /* no value */
	CELL_TEXT,     /* raw text, which forms must make safe to show; NULL: none */
	CELL_FUNCTION, /* text is its name; NULL: it has none, and n is its address */
	CELL_PLACE,    /* a place in a function: the same, plus `offset` bytes if has_offset */
	CELL_COUNT,    /* n */
	CELL_SIGNED,   /* n, as s64 */
	CELL_ADDRESS,  /* n */
	CELL_SHARE,    /* n of whole */
	CELL_REAL,     /* real, with `digits` meaningful digits after the point */
	CELL_TIME,     /* n nanoseconds; as text with six digits after the point, or CELL_TIME_NS */
	CELL_SIZE,     /* n bytes */
	CELL_BOOL,     /* n: 0 or 1 */
	CELL_ROWS,     /* a table of n rows: see rowset.below */
	CELL_RANGE,    /* a share between real and high, both 0 to 1 */
};

/* What a form may show in addition to the value, by colours or signs. */
enum cell_span {
	CELL_IS_HEAT = 1,      /* a share of where the time went */
	CELL_IS_CHANGED = 2,   /* it differs by more than chance explains */
	CELL_IS_UNCERTAIN = 4, /* chance may explain it */
	CELL_IS_INLINED = 8,   /* a function that is inlined into another one */
};

enum { CELL_TIME_NS = 9 }; /* `digits` */

struct cell {
	u8 kind, spans, digits;
	char level; /* where code runs: 'k' kernel, '.' user, 'g' and 'u' of guests, 'H'; 0: no code */
	char origin; /* of code: where its name comes from; text begins with that and the address `offset` */
	bool has_offset;
	bool is_significant; /* `digits` counts all significant digits, also those before the point */
	u64 n, whole, offset;
	double real, high; /* of a text that says a number: real is the number, to sort by */
	union {
		const char *text;
		const void *below; /* of CELL_ROWS: for whoever yields the table */
	};
	const char *name;   /* the name that belongs to a number, such as a thread's; NULL: none */
	const char *unit;   /* "cycles"; NULL: as the kind implies */
	const char *reason; /* why there is no value; NULL: there is one */
};

#define CELL_NOT_KNOWN "not known for these samples"

static inline void cell_text(struct cell *c, const char *text)
{
	c->kind = CELL_TEXT;
	c->text = text;
}

static inline void cell_number(struct cell *c, enum cell_kind kind, u64 n)
{
	c->kind = kind;
	c->n = n;
}

static inline void cell_share(struct cell *c, u64 part, u64 whole)
{
	c->kind = CELL_SHARE;
	c->spans = CELL_IS_HEAT;
	c->n = part;
	c->whole = whole;
}

static inline void cell_real(struct cell *c, double real, unsigned digits)
{
	c->kind = CELL_REAL;
	c->real = real;
	c->digits = digits;
}

static inline void cell_unknown(struct cell *c, const char *reason)
{
	c->kind = CELL_NONE;
	c->reason = reason;
}

/* Whether values of this kind are numbers for programs. */
bool cell_is_number(enum cell_kind kind);

/* Add the value as text, safe for a terminal, without padding; nothing if there is none. data: for programs. */
void cell_add_text(const struct cell *c, struct str *text);
void cell_add_data(const struct cell *c, struct str *text);

#endif
