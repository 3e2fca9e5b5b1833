/*
 * samefile.h - whether two paths lead to the same file, or to copies of it.
 *
 * In       two paths
 * Out      true if they do; false also if one cannot be read, which is logged
 * Owns     nothing
 */
#ifndef PACE_FILE_SAMEFILE_H
#define PACE_FILE_SAMEFILE_H

#include "base/log.h"

bool samefile_is(const char *a, const char *b, struct log *log);

#endif
