/*
 * namesearch.h - which names a text searches for: the same words as in the page of report --html.
 *
 * Words that blanks separate must all match; '|' separates choices. A word is a regular expression, in which upper case
 * matters if it has any, or, if it is none, a part of a name. dso:, file: and thread: in front of it say what it is about.
 * In       a text as it is being typed
 * Out      whether something with names matches it
 * Owns     the expressions, until namesearch_fini()
 */
#ifndef PACE_VIEW_NAMESEARCH_H
#define PACE_VIEW_NAMESEARCH_H

#include <regex.h>

#include "base/str.h"
#include "base/vec.h"

enum namesearch_field {
	NAMESEARCH_NAME,
	NAMESEARCH_DSO,
	NAMESEARCH_FILE,
	NAMESEARCH_THREAD,
	NAMESEARCH_FIELDS
};

struct namesearch_word {
	u8 field;      /* enum namesearch_field */
	bool is_first; /* of its choice */
	bool is_cased; /* upper case matters */
	char *literal; /* the word, if it is no expression but itself; NULL: it is an expression */
	regex_t regexp;
};

struct namesearch {
	VEC(struct namesearch_word) words; /* none: nothing is searched for */
	bool is_plain; /* a word is no regular expression: its characters stand for themselves */
};

/* Replaces what was searched for before. */
void namesearch_set(struct namesearch *s, const char *text);

/* names: by enum namesearch_field; NULL: it has none. A word without a field also matches threads. */
bool namesearch_matches(const struct namesearch *s, const char *const *names);

/* Adds a text that only this name matches. */
void namesearch_add_name(const char *name, struct str *text);

void namesearch_fini(struct namesearch *s);

#endif
