/*
 * starts.h - finds function starts that neither a symbol table nor call frame information lists, from the
 * calls in the code and the addresses it takes.
 *
 * In       the code of a file, once; then addresses in it
 * Out      the start of the function around an address, if any code calls or points to that start
 * Owns     the list
 * Units    rva
 * Errors   none. A function that only relocations point to is not found: it seems to be part of the one
 *          before it, behind whose end no flow leads (unwind/flow.h then says so)
 * Threads  one; any number once it is finished
 * Source   Intel SDM, volume 2. Only x86 has enough code without call frame information to be worth it
 */
#ifndef PACE_UNWIND_STARTS_H
#define PACE_UNWIND_STARTS_H

#include "base/bytes.h"
#include "base/vec.h"

struct starts {
	VEC(u64) at;     /* ascending when finished */
	VEC(u64) outer;  /* ascending: the starts that no preceding instruction runs into */
	bool is_aligned; /* nearly all starts have the alignment that compilers give functions */
	u64 end;         /* of the last code */
};

/*
 * The pieces of code of a file, whose `offset` is the address they are loaded at; and its data, in which
 * words that equal the address of a function's start are taken for pointers to it.
 */
struct starts_input {
	const struct bytes *code, *data;
	size_t n_code, n_data;
	bool is_64;
};

void starts_find(struct starts *s, const struct starts_input *in);

/* Adds a start known from elsewhere. Call before starts_finish(). */
void starts_add(struct starts *s, u64 rva);
void starts_finish(struct starts *s);

/* The function around an address, up to the next start. Returns false if none begins before the address. */
bool starts_around(const struct starts *s, u64 rva, u64 *ret_start, u64 *ret_end);

/*
 * Whether a function begins after `start`, at `rva` or before it. Places within a function that are called
 * do not count: hand-written assembly has them (x264: trellis_coefn.entry1).
 */
bool starts_function_between(const struct starts *s, u64 start, u64 rva);

void starts_fini(struct starts *s);

#endif
