/*
 * starts.h - where functions begin that neither a table of names nor call frame information tells of:
 * the code says whom it calls, and whose address it takes.
 *
 * In       the code of a file, once; then addresses in it
 * Out      the function's start, as far as anybody calls it or points to it
 * Owns     the list
 * Units    rva
 * Errors   none. What only relocations point to is not found: it seems to belong to what lies before it,
 *          behind whose end nothing leads (unwind/flow.h says so then)
 * Threads  one; any number once it is finished
 * Source   Intel SDM, volume 2. Only x86 has code without call frame information worth the trouble
 */
#ifndef PACE_UNWIND_STARTS_H
#define PACE_UNWIND_STARTS_H

#include "base/bytes.h"
#include "base/vec.h"

struct starts {
	VEC(u64) at;     /* ascending when finished */
	VEC(u64) outer;  /* ascending: those of them that no instruction runs on into */
	bool is_aligned; /* nearly all are where compilers put functions */
	u64 end;         /* of the last code */
};

/*
 * All of a file's pieces of code, whose offset is the address it is loaded to; and its data, in which
 * words that are the address of a function's begin are taken for pointers to it.
 */
struct starts_input {
	const struct bytes *code, *data;
	size_t n_code, n_data;
	bool is_64;
};

void starts_find(struct starts *s, const struct starts_input *in);

/* One that somebody else knows of, before starts_finish(). */
void starts_add(struct starts *s, u64 rva);
void starts_finish(struct starts *s);

/* The function around an address, up to the next start; false: none begins before it. */
bool starts_around(const struct starts *s, u64 rva, u64 *ret_start, u64 *ret_end);

/*
 * Whether a function begins behind `start`, at `rva` or before it. Places within a function that
 * others call do not count: assembler does that (x264: trellis_coefn.entry1).
 */
bool starts_function_between(const struct starts *s, u64 start, u64 rva);

void starts_fini(struct starts *s);

#endif
