/*
 * Figures that break the period of a row down by what its samples say about memory accesses. They are words of -F: there
 * are keys to group by of the same names.
 */
#include "profile/rows/key_family.h"

/* hist_sum.what: a field and one of its classes. */
#define CLASS(field, class) ((field) << 8 | (class))

static u64 period_in(const struct profile *p, size_t row, u32 what)
{
	const u64 word = profile_label(p, row, LABEL_DATA_SOURCE);

	return accessclass_of(word, what >> 8) == (what & 0xff) ? p->rows.at[row].period : 0;
}

static u64 part_of(const struct hist *h, const struct hist_entry *e, u32 k, const struct key *part)
{
	return hist_sum(h, e, k, part->sums);
}

static void cell_of_part(const struct key_value *v, struct cell *ret)
{
	cell_share(ret, part_of(v->hist, v->entry, v->event, v->key),
		v->hist->events[v->event].all.period);
}

static void cell_of_whole(const struct key_value *v, struct cell *ret)
{
	cell_share(ret, v->entry->of[v->event].self.period, v->hist->events[v->event].all.period);
}

static u64 whole_of(const struct hist *h, const struct hist_entry *e, u32 k)
{
	(void)h;
	return e->of[k].self.period;
}

#define SUM(field, class)                                         \
	{                                                         \
		LABEL_DATA_SOURCE, period_in, CLASS(field, class) \
	}

/* Titles, by whose addresses parts know that they belong together. */
static const char mem_op[] = "Mem Op", cache[] = "Cache", memory[] = "Memory", dtlb[] = "D-TLB",
		  snoop[] = "Snoop";

/* clang-format off: a row a fact */
static const struct hist_sum
	op_sums[OPS] = {SUM(ACCESSCLASS_OP, OP_LOAD), SUM(ACCESSCLASS_OP, OP_STORE),
		SUM(ACCESSCLASS_OP, OP_LOAD_STORE), SUM(ACCESSCLASS_OP, OP_PREFETCH),
		SUM(ACCESSCLASS_OP, OP_EXEC), SUM(ACCESSCLASS_OP, OP_OTHER)},
	cache_sums[CACHES] = {SUM(ACCESSCLASS_CACHE, CACHE_L1), SUM(ACCESSCLASS_CACHE, CACHE_L2),
		SUM(ACCESSCLASS_CACHE, CACHE_L3), SUM(ACCESSCLASS_CACHE, CACHE_L4),
		SUM(ACCESSCLASS_CACHE, CACHE_L1_BUFFER), SUM(ACCESSCLASS_CACHE, CACHE_L2_BUFFER),
		SUM(ACCESSCLASS_CACHE, CACHE_OTHER)},
	memory_sums[MEMORIES] = {SUM(ACCESSCLASS_MEMORY, MEMORY_RAM),
		SUM(ACCESSCLASS_MEMORY, MEMORY_SIDE_CACHE),
		SUM(ACCESSCLASS_MEMORY, MEMORY_UNCACHED), SUM(ACCESSCLASS_MEMORY, MEMORY_CXL),
		SUM(ACCESSCLASS_MEMORY, MEMORY_IO), SUM(ACCESSCLASS_MEMORY, MEMORY_PERSISTENT),
		SUM(ACCESSCLASS_MEMORY, MEMORY_OTHER)},
	dtlb_sums[DTLBS] = {SUM(ACCESSCLASS_DTLB, DTLB_L1), SUM(ACCESSCLASS_DTLB, DTLB_L2),
		SUM(ACCESSCLASS_DTLB, DTLB_ANY), SUM(ACCESSCLASS_DTLB, DTLB_MISS),
		SUM(ACCESSCLASS_DTLB, DTLB_OTHER)},
	snoop_sums[SNOOPS] = {SUM(ACCESSCLASS_SNOOP, SNOOP_HIT), SUM(ACCESSCLASS_SNOOP, SNOOP_HITM),
		SUM(ACCESSCLASS_SNOOP, SNOOP_MISS), SUM(ACCESSCLASS_SNOOP, SNOOP_OTHER)};

#define PART(word, heading, whole, sum)                                                \
	{                                                                              \
		.name = (word), .title = (heading), .band = (whole), .is_value = true, \
		.sums = &(sum), .n_sums = 1, .kind = CELL_SHARE, .cell = cell_of_part  \
	}

static const struct key ops[OPS] = {
	PART("op_load", "Load", mem_op, op_sums[OP_LOAD]),
	PART("op_store", "Store", mem_op, op_sums[OP_STORE]),
	PART("op_load_store", "Ld+St", mem_op, op_sums[OP_LOAD_STORE]),
	PART("op_prefetch", "Pfetch", mem_op, op_sums[OP_PREFETCH]),
	PART("op_exec", "Exec", mem_op, op_sums[OP_EXEC]),
	PART("op_other", "Other", mem_op, op_sums[OP_OTHER]),
};
static const struct key caches[CACHES] = {
	PART("cache_l1", "L1", cache, cache_sums[CACHE_L1]),
	PART("cache_l2", "L2", cache, cache_sums[CACHE_L2]),
	PART("cache_l3", "L3", cache, cache_sums[CACHE_L3]),
	PART("cache_l4", "L4", cache, cache_sums[CACHE_L4]),
	PART("cache_l1_buffer", "L1-buf", cache, cache_sums[CACHE_L1_BUFFER]),
	PART("cache_l2_buffer", "L2-buf", cache, cache_sums[CACHE_L2_BUFFER]),
	PART("cache_other", "Other", cache, cache_sums[CACHE_OTHER]),
};
static const struct key memories[MEMORIES] = {
	PART("memory_ram", "RAM", memory, memory_sums[MEMORY_RAM]),
	PART("memory_side_cache", "MSC", memory, memory_sums[MEMORY_SIDE_CACHE]),
	PART("memory_uncached", "Uncach", memory, memory_sums[MEMORY_UNCACHED]),
	PART("memory_cxl", "CXL", memory, memory_sums[MEMORY_CXL]),
	PART("memory_io", "IO", memory, memory_sums[MEMORY_IO]),
	PART("memory_persistent", "PMEM", memory, memory_sums[MEMORY_PERSISTENT]),
	PART("memory_other", "Other", memory, memory_sums[MEMORY_OTHER]),
};
static const struct key dtlbs[DTLBS] = {
	PART("dtlb_l1_hit", "L1-Hit", dtlb, dtlb_sums[DTLB_L1]),
	PART("dtlb_l2_hit", "L2-Hit", dtlb, dtlb_sums[DTLB_L2]),
	PART("dtlb_any_hit", "L?-Hit", dtlb, dtlb_sums[DTLB_ANY]),
	PART("dtlb_miss", "Miss", dtlb, dtlb_sums[DTLB_MISS]),
	PART("dtlb_other", "Other", dtlb, dtlb_sums[DTLB_OTHER]),
};
static const struct key snoops[SNOOPS] = {
	PART("snoop_hit", "Hit", snoop, snoop_sums[SNOOP_HIT]),
	PART("snoop_hitm", "HitM", snoop, snoop_sums[SNOOP_HITM]),
	PART("snoop_miss", "Miss", snoop, snoop_sums[SNOOP_MISS]),
	PART("snoop_other", "Other", snoop, snoop_sums[SNOOP_OTHER]),
};

#define WHOLE(word, also, heading, what, its_parts, its_sums)                           \
	{                                                                               \
		.name = (word), .alias = (also), .title = (heading), .help = (what),    \
		.is_value = true, .data = (its_parts), .n_data = ARRAY_SIZE(its_parts), \
		.has_parts = true, .sums = (its_sums), .n_sums = ARRAY_SIZE(its_sums),  \
		.figure = whole_of, .kind = CELL_SHARE, .cell = cell_of_whole           \
	}

static const struct key keys[] = {
	[ACCESSCLASS_OP] = WHOLE("op", NULL, mem_op,
		"the share, by what the accesses do: load, store, prefetch...", ops, op_sums),
	[ACCESSCLASS_CACHE] = WHOLE("cache", NULL, cache,
		"the share, by the cache that had the data: L1, L2...", caches, cache_sums),
	[ACCESSCLASS_MEMORY] = WHOLE("memory", "mem", memory,
		"the share, by the memory that had the data: RAM, CXL, I/O...", memories,
		memory_sums),
	[ACCESSCLASS_DTLB] = WHOLE("dtlb", NULL, dtlb,
		"the share, by the TLB that translated the address: L1, L2, none", dtlbs,
		dtlb_sums),
	[ACCESSCLASS_SNOOP] = WHOLE("snoop", NULL, snoop,
		"the share, by what other caches had: hit, modified, miss", snoops, snoop_sums),
};
/* clang-format on */

const char *key_class_title(enum accessclass_field field, unsigned class)
{
	return keys[field].data[class].title;
}

const struct key_family key_parts = {"parts of the share by memory access (-F only)", keys,
	ARRAY_SIZE(keys)};
