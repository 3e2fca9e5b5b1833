/*
 * cell.h - one value of a table, with its type: what commands yield and every form shows in its own way.
 *
 * A value that is not known has a reason and is not shown as if it were one; what stands in its place is
 * the form's business, as are widths, padding and colours.
 * In       what a key, a comparison or a count found out
 * Out      its value; the same as plain text, for people and for programs
 * Owns     nothing: texts live as long as what they were taken from, or until the room that they were made
 *          in changes
 */
#ifndef PACE_PROFILE_CELL_H
#define PACE_PROFILE_CELL_H

#include "base/str.h"

enum cell_kind {
	CELL_NONE,     /* there is nothing to be said */
	CELL_TEXT,     /* text as it was found: whoever shows it makes it safe; NULL: it has none */
	CELL_FUNCTION, /* text is its name; NULL: it has none, and n is its address */
	CELL_PLACE,    /* the same, with `offset` bytes from its start if has_offset */
	CELL_COUNT,    /* n */
	CELL_SIGNED,   /* n, as s64 */
	CELL_ADDRESS,  /* n */
	CELL_SHARE,    /* n of whole */
	CELL_REAL,     /* real, of which `digits` behind the point are worth something */
	CELL_TIME,     /* n nanoseconds */
	CELL_SIZE,     /* n bytes */
	CELL_BOOL,     /* n: 0 or 1 */
	CELL_ROWS,     /* a table of n rows: the rowset's `below` has it */
	CELL_RANGE,    /* a share that is between real and high, both 0 to 1 */
};

/* What a form may show beside the value, by colours or signs. */
enum cell_span {
	CELL_IS_HEAT = 1,      /* a share of where the time went */
	CELL_IS_CHANGED = 2,   /* it differs by more than chance explains */
	CELL_IS_UNCERTAIN = 4, /* it may be otherwise */
	CELL_IS_INLINED = 8,   /* code of a function that is part of another one's */
};

struct cell {
	u8 kind, spans, digits;
	char level; /* where code runs: 'k' kernel, '.' user, 'g' and 'u' of guests, 'H'; 0: it is none */
	bool has_offset;
	bool is_significant; /* digits are those that count, before and behind the point */
	u64 n, whole, offset;
	double real, high;
	union {
		const char *text;
		const void *below; /* of CELL_ROWS: for whoever yields the table */
	};
	const char *name;   /* what a number is called: a thread; NULL: nothing */
	const char *unit;   /* "cycles"; NULL: what the kind says */
	const char *reason; /* why there is no value; NULL: there is one */
};

#define CELL_NOT_KNOWN "not known of these samples"

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

/* Whether programs get it as a number. */
bool cell_is_number(enum cell_kind kind);

/* A number for programs, anything else for people: safe for a terminal, without padding; "" of no value. */
void cell_add_text(const struct cell *c, struct str *text);
void cell_add_data(const struct cell *c, struct str *text);

#endif
