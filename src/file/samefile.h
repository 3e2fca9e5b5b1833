/*
 * samefile.h - whether two names are of one file, or of copies of it.
 *
 * In       two paths
 * Out      true if they are; false also where one cannot be read, which is said
 * Owns     nothing
 */
#ifndef PACE_FILE_SAMEFILE_H
#define PACE_FILE_SAMEFILE_H

#include "base/log.h"

bool samefile_is(const char *a, const char *b, struct log *log);

#endif
