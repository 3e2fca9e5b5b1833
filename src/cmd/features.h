/*
 * features.h - what perf's callers ask about by perf's names: `version --build-options` and `check feature`.
 *
 * A row is on if pace does what the library or part of that name does for perf, whatever does it here.
 * In       the build, and the libraries that can be loaded now
 * Owns     nothing
 * Source   the lists that perf 6.1 and 7.2 print
 */
#ifndef PACE_CMD_FEATURES_H
#define PACE_CMD_FEATURES_H

#include "base/str.h"

struct feature_row {
	const char *name, *macro;
	bool (*is_there)(void);
};

extern const struct feature_row feature_rows[];
extern const size_t feature_n_rows;

/* By the name or the macro, upper or lower case; NULL: there is none. */
const struct feature_row *feature_find(const char *name, size_t n);

/* Adds a line as perf prints it. */
void feature_add_line(const struct feature_row *row, struct str *text);

bool feature_is_always(void);
bool feature_has_llvm(void);
bool feature_has_pfm(void);
bool feature_has_debuginfod(void);

#endif
