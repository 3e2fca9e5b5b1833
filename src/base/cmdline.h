/*
 * cmdline.h - a command line in one text made into words, as sh would; or found to need a shell.
 *
 * Blanks separate words; '...', "..." and \ keep characters together. Whatever else a shell
 * understands (pipes, variables, patterns, assignments, comments) is left to one.
 * In       the text
 * Out      words, closed by NULL, to hand to exec
 * Owns     a struct cmdline owns its words
 * Errors   ERR_INVAL: a quote that is not closed; no word at all
 * Source   POSIX.1-2017, Shell Command Language, 2.2 Quoting
 */
#ifndef PACE_BASE_CMDLINE_H
#define PACE_BASE_CMDLINE_H

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"

struct cmdline {
	char **at; /* n of them and NULL */
	size_t n, cap;
	bool needs_shell; /* the words are not filled in */
	struct arena arena;
};

int cmdline_split(struct cmdline *w, const char *text, struct err *err);

/* The words of 'sh -c TEXT'. */
void cmdline_make_shell(struct cmdline *w, const char *text);
void cmdline_fini(struct cmdline *w);

#endif
