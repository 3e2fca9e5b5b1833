/*
 * assertion.h - a condition on a profile, like share(malloc) > 5% && samples >= 1000.
 *
 *     condition   either && or || of comparisons, in ( ) as one likes, ! in front
 *     comparison  value < <= > >= == != value
 *     value       5%, 1000, or one of the words below; + and - of such
 *
 *     share(NAME)     self(NAME)   sampled in functions of this name
 *     children(NAME)  total(NAME)  in them and in what they called
 *     dso(NAME), comm(NAME)        in this file, by threads of this name
 *     nameless                     by address
 *     lost                         of all that should be there, the part that is missing
 *     samples                      how many there are
 *
 * A * in NAME stands for anything; a NAME with odd parentheses goes into "quotes".
 * In       text; what gives the values
 * Out      whether it is so, and the values that decided it
 * Owns     what assertion_parse() allocates
 * Errors   ERR_INVAL says what is wrong and where
 */
#ifndef PACE_PROFILE_ASSERTION_H
#define PACE_PROFILE_ASSERTION_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/types.h"
#include "base/vec.h"

enum assertion_word {
	ASSERTION_SHARE,
	ASSERTION_CHILDREN,
	ASSERTION_DSO,
	ASSERTION_COMM,
	ASSERTION_NAMELESS,
	ASSERTION_LOST,
	ASSERTION_SAMPLES,
	ASSERTION_WORDS,
};

struct assertion_node;

struct assertion {
	const char *text;
	const struct assertion_node *root;
	unsigned words; /* 1 << enum assertion_word: those in it */
	struct arena arena;
};

int assertion_parse(struct assertion *c, const char *text, struct err *err);
void assertion_fini(struct assertion *c);

/* Shares are in percent; `name` is NULL for words without one. */
typedef double assertion_value(void *ctx, enum assertion_word word, const char *name);

/* Adds "share(malloc) is 7.31%, samples is 12345" to *ret_values, if wanted. */
bool assertion_holds(const struct assertion *c, assertion_value *value, void *ctx,
	struct str *ret_values);

/* Whether the text is the pattern, in which * stands for anything. */
bool assertion_matches(const char *pattern, const char *text);

#endif
