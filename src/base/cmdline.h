/*
 * cmdline.h - splits the text of a command line into words as sh would, or finds that it needs a shell; and the way back.
 *
 * Blanks separate words; '...', "..." and \ keep characters together. Everything else
 * that a shell understands (pipes, variables, patterns, assignments, comments) is left to a shell.
 * In       the text
 * Out      words, ended by NULL, ready for exec
 * Owns     a struct cmdline owns its words
 * Errors   ERR_INVAL: a quote is not closed, or there is no word
 * Source   POSIX.1-2017, Shell Command Language, 2.2 Quoting
 */
#ifndef PACE_BASE_CMDLINE_H
#define PACE_BASE_CMDLINE_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

struct cmdline {
	char **at; /* n of them and NULL */
	size_t n, cap;
	bool needs_shell; /* the words are not filled in */
	struct arena arena;
};

int cmdline_split(struct cmdline *w, const char *text, struct err *err);

/* Makes the words of 'sh -c TEXT'. */
void cmdline_make_shell(struct cmdline *w, const char *text);
void cmdline_fini(struct cmdline *w);

/* Adds a word as a shell reads it, in quotes if it needs them; control characters as escapes. */
void cmdline_add_word(struct str *text, const char *word);

#endif
