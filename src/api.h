/*
 * api.h - what the files of the public functions share.
 */
#ifndef PACE_API_H
#define PACE_API_H

#include "base/err.h"
#include "pace.h"

#define PUBLIC __attribute__((visibility("default")))

/* Copies an error to its public form; returns its code. */
int api_give_error(const struct err *from, struct pace_error *to);

#endif
