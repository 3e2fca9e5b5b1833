/*
 * colour.h - colours of text on a terminal: whether there are any, and which ones shares of the time have.
 *
 * In       the user's wish, the file descriptor of the output; shares, by perf's two thresholds
 * Out      control sequences of terminals. No other text that pace prints has any: foreign text is made safe
 * Owns     nothing
 * Errors   ERR_INVAL for an unknown word
 */
#ifndef PACE_VIEW_COLOUR_H
#define PACE_VIEW_COLOUR_H

#include "base/err.h"
#include "base/str.h"

#define COLOUR_RED     "\033[31m"
#define COLOUR_GREEN   "\033[32m"
#define COLOUR_YELLOW  "\033[33m"
#define COLOUR_MAGENTA "\033[35m"
#define COLOUR_BOLD    "\033[1m"
#define COLOUR_END     "\033[m"

enum colour_mode { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* Reads "always", "never" or "auto"; NULL: always, like perf's --stdio-color without a word. */
int colour_parse(const char *word, enum colour_mode *ret, struct err *err);
/* Whether output has colours. By default it has if it goes to a terminal that knows them, unless NO_COLOR is set. */
bool colour_is_on(enum colour_mode mode, int fd);

/* The colour of a share of the time, of 1: red from 5 %, green above 0.5 %, else "". */
const char *colour_of_share(double share);
/* Gives a colour to the end of the text, from `start` on; "": none. */
void colour_paint(struct str *text, size_t start, const char *colour);

/* The columns that text takes on a terminal: those of its characters, without its colours. */
size_t colour_columns(const char *text, size_t n);
/* The bytes of the text, which has no colours, that fit into so many columns. */
size_t colour_fitting(const char *text, size_t n, size_t columns);

#endif
