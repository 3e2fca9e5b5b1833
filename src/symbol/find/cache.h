/*
 * cache.h - results that are expensive to compute, kept as files below $XDG_CACHE_HOME/pace.
 *
 * In       a key (made of build-ids, or of a file's size and time, so that it never goes stale) and bytes;
 *          $PACE_CACHE_SIZE, for example 300M
 * Out      the same bytes, mapped; a list of the cached files
 * Owns     nothing; the caller unmaps
 * Limits   CACHE_BYTES in all, or $PACE_CACHE_SIZE; the least recently used files are removed. 0: nothing is
 *          stored, and nothing stored before is used
 * Errors   none that matter: without a cache the work is done again. A directory or file of another
 *          user is not used
 * Source   XDG Base Directory Specification
 *
 * Only files whose names the cache gives are counted, listed and removed: the folder may hold others.
 */
#ifndef PACE_SYMBOL_CACHE_H
#define PACE_SYMBOL_CACHE_H

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"
#include "base/vec.h"

#define CACHE_BYTES (1ull << 30)

enum cache_kind { CACHE_LINES, CACHE_KALLSYMS, CACHE_PACKAGES, CACHE_UNFINISHED, CACHE_KINDS };

/* Key prefix and description of each kind. Prefix NULL: files whose writer never finished. */
extern const struct cache_kind_row {
	const char *prefix, *what;
} cache_kinds[CACHE_KINDS];

/* Maps the file stored under `key`, read-only and private. This counts as a use unless `is_look`. */
bool cache_map(const char *key, bool is_look, const u8 **ret_data, u64 *ret_size);

struct cache_part {
	const void *at;
	u64 n;
};

/*
 * Stores the parts, concatenated, under `key`. They are written to a new file first, so that no reader sees
 * half of it. Afterwards the cache is trimmed to its limit.
 */
void cache_store(const char *key, const struct cache_part *parts, size_t n);

struct cache_entry {
	enum cache_kind kind;
	char *key;
	u64 bytes;
	s64 used_s; /* time() of the last use */
};

typedef VEC(struct cache_entry) cache_entries;

/* Lists all files of the cache, most recently used first, and the folder's path. */
void cache_list(cache_entries *ret_entries, struct str *ret_folder);
void cache_list_fini(cache_entries *entries);

/* Removes the files. ERR_SYS if one could not be removed. */
int cache_clear(const cache_entries *entries, struct err *err);

/* The size limit of the cache. ERR_INVAL: $PACE_CACHE_SIZE is malformed; the limit is then CACHE_BYTES. */
int cache_limit(u64 *ret_bytes, struct err *err);

#endif
