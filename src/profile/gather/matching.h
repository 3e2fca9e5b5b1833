/*
 * matching.h - finds the functions whose names match a regular expression.
 *
 * In       an extended regular expression, see regex(7); a profile with names
 * Out      for each symbol whether its name matches
 * Errors   ERR_INVAL says what is wrong with the expression
 */
#ifndef PACE_PROFILE_MATCHING_H
#define PACE_PROFILE_MATCHING_H

#include <regex.h>

#include "base/err.h"
#include "profile/gather/profile.h"

int matching_compile(regex_t *expression, const char *text, struct err *err);

/* One flag per symbol of the profile; the caller frees the array with mem_free(). */
bool *matching_symbols(const struct profile *p, const regex_t *expression);

#endif
