/*
 * kallsyms.h - the running kernel's functions, including modules and BPF programs.
 *
 * In       /proc/kallsyms or a copy of it; the kernel's own part from the cache, if it was read before in
 *          this boot
 * Out      the function that covers an absolute address
 * Owns     its arrays or the mapping
 * Errors   ERR_PERM if all addresses are zero: the kernel hides them; ERR_FORMAT: it is another file
 * Threads  kallsyms_find() by any number
 * Source   Documentation/admin-guide/sysctl/kernel.rst (kptr_restrict), nm(1) for the type letters
 *
 * The kernel takes 45 ms to format /proc/kallsyms; reading the cache takes 0.1 ms.
 */
#ifndef PACE_SYMBOL_KALLSYMS_H
#define PACE_SYMBOL_KALLSYMS_H

#include "base/err.h"
#include "base/log.h"
#include "base/str.h"
#include "record/record.h"

struct kallsyms_entry {
	u64 start;
	u64 name; /* offset in names */
};

struct kallsyms {
	const struct kallsyms_entry *entries; /* ascending by start, one for each start */
	u64 n;
	const char *names; /* NUL-terminated, concatenated */
	u64 names_size;
	u64 text;         /* the address of _text */
	struct str bytes; /* backing store of entries and names, or */
	const u8 *map;    /* the mapped cache */
	u64 map_size;
};

/*
 * `with_modules`: modules and BPF programs are needed, too, so the cache is not enough. `build_id` (n bytes)
 * is the running kernel's; without one nothing is cached.
 */
int kallsyms_open(struct kallsyms *k, const char *path, bool with_modules, const u8 *build_id, u8 n,
	struct err *err);
void kallsyms_close(struct kallsyms *k);

/*
 * Returns the name of the function around an address, and its bounds; NULL if the address is before
 * the first.
 */
const char *kallsyms_find(const struct kallsyms *k, u64 address, u64 *ret_start, u64 *ret_end);

/*
 * Calls `take` with each place of a function or variable called `name`, all of whose names count, and not only the one that
 * the table keeps for its address. `module` is not NUL-terminated; n is 0 for the kernel itself.
 */
int kallsyms_each_named(const char *path, const char *name,
	void (*take)(void *ctx, u64 address, const char *module, size_t n), void *ctx,
	struct err *err);

/*
 * Calls `take` with the modules of /proc/modules or a copy of it, until it returns false; base is 0 if
 * addresses are hidden. The name is not NUL-terminated. Read errors are logged.
 */
void kallsyms_each_module(const char *path, struct log *log,
	bool (*take)(void *ctx, const char *name, size_t n, u64 base, u64 size), void *ctx);

/*
 * Where a module is loaded now, according to /proc/modules or a copy of it; 0 if it is not loaded, or
 * addresses are hidden.
 */
u64 kallsyms_module_base(const char *path, const char *name, size_t n, struct log *log);

#endif
