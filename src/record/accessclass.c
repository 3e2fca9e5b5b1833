#include "record/accessclass.h"

/* ---- the word's parts ---- */

enum { LOAD = 2, STORE = 4, PREFETCH = 8, EXEC = 16 };         /* mem_op */
enum { HIT = 2, MISS = 4, L1 = 8, L2 = 16 };                   /* mem_dtlb */
enum { SNOOPED_HIT = 4, SNOOPED_MISS = 8, SNOOPED_HITM = 16 }; /* mem_snoop */

static u64 take(u64 word, unsigned shift, unsigned width)
{
	return word >> shift & (((u64)1 << width) - 1);
}

static unsigned op_of(u64 word)
{
	const u64 op = take(word, 0, 5);

	if (op & PREFETCH)
		return OP_PREFETCH;
	if (op & EXEC)
		return OP_EXEC;
	return op == LOAD              ? OP_LOAD
		: op == STORE          ? OP_STORE
		: op == (LOAD | STORE) ? OP_LOAD_STORE
				       : OP_OTHER;
}

/* By mem_lvl_num. */
enum { NUMBERS = 16 };

static unsigned cache_of(u64 word)
{
	static const u8 caches[NUMBERS] = {CACHE_OTHER, CACHE_L1, CACHE_L2, CACHE_L3, CACHE_L4,
		CACHE_L2_BUFFER, CACHE_OTHER, CACHE_OTHER, CACHE_OTHER, CACHE_OTHER, CACHE_OTHER,
		CACHE_OTHER, CACHE_L1_BUFFER, CACHE_OTHER, CACHE_OTHER, CACHE_OTHER};

	return caches[take(word, 33, 4)];
}

static unsigned memory_of(u64 word)
{
	static const u8 memories[NUMBERS] = {MEMORY_OTHER, MEMORY_OTHER, MEMORY_OTHER, MEMORY_OTHER,
		MEMORY_OTHER, MEMORY_OTHER, MEMORY_SIDE_CACHE, MEMORY_OTHER, MEMORY_UNCACHED,
		MEMORY_CXL, MEMORY_IO, MEMORY_OTHER, MEMORY_OTHER, MEMORY_RAM, MEMORY_PERSISTENT,
		MEMORY_OTHER};

	return memories[take(word, 33, 4)];
}

static unsigned dtlb_of(u64 word)
{
	const u64 tlb = take(word, 26, 7);

	if (tlb & MISS)
		return DTLB_MISS;
	return tlb == (L1 | HIT)         ? DTLB_L1
		: tlb == (L2 | HIT)      ? DTLB_L2
		: tlb == (L1 | L2 | HIT) ? DTLB_ANY
					 : DTLB_OTHER;
}

static unsigned snoop_of(u64 word)
{
	const u64 snoop = take(word, 19, 5);

	return snoop == SNOOPED_HIT     ? SNOOP_HIT
		: snoop == SNOOPED_HITM ? SNOOP_HITM
		: snoop == SNOOPED_MISS ? SNOOP_MISS
					: SNOOP_OTHER;
}

/* ---- fields ---- */

unsigned accessclass_of(u64 data_src, enum accessclass_field field)
{
	static unsigned (*const fields[ACCESSCLASS_FIELDS])(u64 word) = {
		[ACCESSCLASS_OP] = op_of,
		[ACCESSCLASS_CACHE] = cache_of,
		[ACCESSCLASS_MEMORY] = memory_of,
		[ACCESSCLASS_DTLB] = dtlb_of,
		[ACCESSCLASS_SNOOP] = snoop_of,
	};

	return fields[field](data_src);
}
