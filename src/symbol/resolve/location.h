/*
 * location.h - an address of a thread: the map, the file, the place in it, the function.
 *
 * In       a machine, which may still be following a stream; a resolver; addresses as chains have
 *          them
 * Out      struct location; the function's name as the resolver gives it
 * Owns     nothing. The kernel's symbols are read when the first name in it is asked for
 * Life     `map` is valid until the machine takes in the next record; DSOs and names as long as
 *          machine and resolver are
 * Errors   none: what has no map is in [unknown], what has no name has none
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
	u64 address; /* what the resolver wants: in the file, or in memory where is none */
	bool is_return;
	/*
	 * Holds for this space from now on. A space grows while a stream is followed: what has no map
	 * yet, or only that of the program before the exec, may get another; where a JIT puts code,
	 * more may come.
	 */
	bool is_lasting;
};

void locator_init(struct locator *l, const struct machine *machine, struct resolver *resolver);

void locator_find(const struct locator *l, const struct thread_state *state,
	const struct chain_step *step, struct location *ret_location);

/* Of a caller, the call is meant, but `at` is where it returns to. */
struct resolver_answer locator_name(struct locator *l, const struct location *location);

#endif
