/*
 * standin.h - names of inputs that are no files, such as "clickhouse://host/db", and the bytes that stand in for them.
 *
 * A command fetches the bytes before it opens its inputs; what opens inputs by name asks here first, and messages show
 * the name.
 * In       names, as users gave them; descriptors of files in memory
 * Owns     the descriptors, until the process ends
 * Threads  names are added before threads start
 */
#ifndef PACE_FILE_STANDIN_H
#define PACE_FILE_STANDIN_H

#include "base/err.h"
#include "base/types.h"

/* From now on the name stands for these bytes, which are copied. */
int standin_add(const char *name, const void *bytes, size_t n, struct err *err);

bool standin_is(const char *name);

/* Opens the bytes that stand in for a name, or else the file of that name, as open(2) does with `flags`. */
int standin_open(const char *name, int flags);

#endif
