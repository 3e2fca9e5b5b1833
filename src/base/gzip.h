/*
 * gzip.h - packs bytes as gzip does.
 *
 * In       bytes
 * Out      a gzip member, without name and time: equal bytes are packed equally
 * Owns     nothing
 * Source   RFC 1952; zlib
 */
#ifndef PACE_BASE_GZIP_H
#define PACE_BASE_GZIP_H

#include "base/str.h"

/* Adds the packed bytes. */
void gzip_add(const void *data, size_t n, struct str *packed);

#endif
