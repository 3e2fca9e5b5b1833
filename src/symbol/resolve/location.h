/*
 * location.h - an address of a thread: its map, its file, the place in the file, the function.
 *
 * In       a machine, which may still be following a stream; a resolver; addresses from call
 *          chains
 * Out      struct location; the function's name from the resolver
 * Owns     nothing. The kernel's symbols are read when the first of their names is needed
 * Life     `map` is valid until the machine takes the next record; DSOs and names as long as
 *          machine and resolver are
 * Errors   none: an address without a map is in [unknown]; a name may be missing
 * Threads  one
 */
#ifndef PACE_SYMBOL_LOCATION_H
#define PACE_SYMBOL_LOCATION_H

#include "event/abi.h"
#include "symbol/resolve/resolver.h"
#include "unwind/chain.h"

struct locator {
	const struct machine *machine;
	struct resolver *resolver;
};

struct location {
	const struct map *map; /* NULL: none */
	const struct dso *dso; /* never NULL */
	u64 address;           /* for the resolver: in the file or, without a file, in memory */
	bool is_return;
	/*
	 * The result is valid for this space from now on. A space grows while a stream is followed: an
	 * address without a map, or with one only from before the exec, may get another; a JIT may add code
	 * where it has put some.
	 */
	bool is_lasting;
};

void locator_init(struct locator *l, const struct machine *machine, struct resolver *resolver);

void locator_find(const struct locator *l, const struct thread_state *state,
	const struct chain_step *step, struct location *ret_location);

/* The name of a caller is that of the call, but `at` is the return address. */
struct resolver_answer locator_name(struct locator *l, const struct location *location);

#endif
