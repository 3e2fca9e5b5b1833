/*
 * cache.h - what was worked out once and is worth keeping: files below $XDG_CACHE_HOME/pace.
 *
 * In       a key (made of build-ids, so that it never goes stale), bytes
 * Out      the same bytes, mapped
 * Owns     nothing; the caller unmaps
 * Errors   none that matter: without a cache the work is done again. A directory or file of another
 *          user is not used
 * Source   XDG Base Directory Specification
 */
#ifndef PACE_SYMBOL_CACHE_H
#define PACE_SYMBOL_CACHE_H

#include "base/str.h"
#include "base/types.h"

/* Maps the file stored under `key`, read-only and private. */
bool cache_map(const char *key, const u8 **ret_data, u64 *ret_size);

/* Stores bytes under `key`: into a new file first, so that nobody reads half of it. */
void cache_store(const char *key, const struct str *bytes);

#endif
