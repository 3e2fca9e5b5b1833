/*
 * printout.h - writes what a view shows to a new file in the current folder.
 *
 * In       the beginning of the file's name; text, which is added to `out`
 * Out      the first file NAME.N that was not there; a message for the user
 * Owns     the file, from printout_open() to printout_close()
 * Errors   are in the message, which is replaced
 */
#ifndef PACE_VIEW_PRINTOUT_H
#define PACE_VIEW_PRINTOUT_H

#include "base/out.h"

struct printout {
	struct out out;
	struct str path;
};

/* False: there is no file, and nothing to close. */
bool printout_open(struct printout *s, const char *name, struct str *message);
/* n: how many lines it has. */
void printout_close(struct printout *s, size_t n, struct str *message);

#endif
