/*
 * assertion.h - a condition on a profile, like share(malloc) > 5% && samples >= 1000.
 *
 *     condition   comparisons joined by && and ||, with parentheses, negated by !
 *     comparison  value < <= > >= == != value
 *     value       5%, 1000, or one of the words below; sums and differences of these
 *
 *     share(NAME)     self(NAME)   share of the samples in functions with this name
 *     children(NAME)  total(NAME)  in these functions and in what they called
 *     dso(NAME), comm(NAME)        in this file; in threads with this name
 *     nameless                     in functions without a name
 *     lost                         share of all samples that should be there but are missing
 *     samples                      the number of samples
 *
 * A * in NAME stands for anything; a NAME with unbalanced parentheses must be in "quotes".
 * In       text; a function that gives the values
 * Out      whether the condition holds, and the values that decided it
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
	unsigned words; /* 1 << enum assertion_word: the words it uses */
	struct arena arena;
};

int assertion_parse(struct assertion *c, const char *text, struct err *err);
void assertion_fini(struct assertion *c);

/* Returns the value of a word, shares in percent; `name` is NULL for words without one. */
typedef double assertion_value(void *ctx, enum assertion_word word, const char *name);

/* Whether the condition holds. Adds "share(malloc) is 7.31%, samples is 12345" to *ret_values unless NULL. */
bool assertion_holds(const struct assertion *c, assertion_value *value, void *ctx,
	struct str *ret_values);

/* Whether the text matches the pattern, in which * stands for anything. */
bool assertion_matches(const char *pattern, const char *text);

#endif
