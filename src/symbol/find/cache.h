/*
 * cache.h - what was worked out once and is worth keeping: files below $XDG_CACHE_HOME/pace.
 *
 * In       a key (made of build-ids, or of a file's size and time, so that it never goes stale), bytes; $PACE_CACHE_SIZE, as 300M
 * Out      the same bytes, mapped; what there is
 * Owns     nothing; the caller unmaps
 * Limits   CACHE_BYTES in all, or $PACE_CACHE_SIZE; what was not used for longest goes. 0: nothing is
 *          kept, and nothing that was is used
 * Errors   none that matter: without a cache the work is done again. A directory or file of another
 *          user is not used
 * Source   XDG Base Directory Specification
 *
 * Only files with the names of its kinds are counted, listed and removed: others may lie there too.
 */
#ifndef PACE_SYMBOL_CACHE_H
#define PACE_SYMBOL_CACHE_H

#include "base/err.h"
#include "base/str.h"
#include "base/types.h"
#include "base/vec.h"

#define CACHE_BYTES (1ull << 30)

enum cache_kind { CACHE_LINES, CACHE_KALLSYMS, CACHE_PACKAGES, CACHE_UNFINISHED, CACHE_KINDS };

/* How the keys of a kind begin, and what it is; NULL: files that nobody finished writing. */
extern const struct cache_kind_row {
	const char *prefix, *what;
} cache_kinds[CACHE_KINDS];

/* Maps the file stored under `key`, read-only and private. It counts as used unless it `is_look`. */
bool cache_map(const char *key, bool is_look, const u8 **ret_data, u64 *ret_size);

struct cache_part {
	const void *at;
	u64 n;
};

/*
 * Stores the parts, one behind the other, under `key`: into a new file first, so that nobody reads
 * half of it. What is over the limit then goes.
 */
void cache_store(const char *key, const struct cache_part *parts, size_t n);

struct cache_entry {
	enum cache_kind kind;
	char *key;
	u64 bytes;
	s64 used_s; /* when it was last used, as time() */
};

typedef VEC(struct cache_entry) cache_entries;

/* Every file that is the cache's, last used first; and the folder's path. */
void cache_list(cache_entries *ret_entries, struct str *ret_folder);
void cache_list_fini(cache_entries *entries);

/* Removes them; ERR_SYS if one of them stays. */
int cache_clear(const cache_entries *entries, struct err *err);

/* How many bytes the cache may have; ERR_INVAL: $PACE_CACHE_SIZE makes no sense, CACHE_BYTES holds. */
int cache_limit(u64 *ret_bytes, struct err *err);

#endif
