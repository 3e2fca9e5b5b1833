/*
 * matching.h - functions by a regular expression on their names.
 *
 * In       an extended regular expression, as regex(7) has them; a profile with names
 * Out      by symbol: whether its name matches
 * Errors   ERR_INVAL with what is wrong with the expression
 */
#ifndef PACE_PROFILE_MATCHING_H
#define PACE_PROFILE_MATCHING_H

#include <regex.h>

#include "base/err.h"
#include "profile/gather/profile.h"

int matching_compile(regex_t *expression, const char *text, struct err *err);

/* As many as the profile has symbols; the caller frees them with mem_free(). */
bool *matching_symbols(const struct profile *p, const regex_t *expression);

#endif
