#include "profile/rows/key_family.h"

#include "record/access.h"

enum { CACHE_LINE = 64 };

static u64 line_of(const struct profile *p, u64 frame)
{
	return p->frames.at[frame].at & ~(u64)(CACHE_LINE - 1);
}

static void set_address(u64 address, char level, struct cell *ret)
{
	cell_number(ret, CELL_ADDRESS, address);
	ret->level = level;
}

static void cell_of_line(const struct key_value *v, struct cell *ret)
{
	set_address(v->label, v->label >> 63 ? 'k' : '.', ret);
}

static void cell_of_physical(const struct key_value *v, struct cell *ret)
{
	set_address(v->label, '.', ret);
}

static void set_part(const struct key_value *v, enum access_part part, struct cell *ret)
{
	if (access_add_text(v->label, part, v->room))
		cell_text(ret, str_text(v->room));
	else
		cell_unknown(ret, CELL_NOT_KNOWN);
}

static u64 operation_of(const struct profile *p, u64 word)
{
	(void)p;
	return access_bits(word, ACCESS_OPERATION);
}

static void cell_of_operation(const struct key_value *v, struct cell *ret)
{
	set_part(v, ACCESS_OPERATION, ret);
}

static u64 level_of(const struct profile *p, u64 word)
{
	(void)p;
	return access_bits(word, ACCESS_LEVEL);
}

static void cell_of_level(const struct key_value *v, struct cell *ret)
{
	set_part(v, ACCESS_LEVEL, ret);
}

static void set_class(const struct key_value *v, enum accessclass_field field, struct cell *ret)
{
	cell_text(ret, key_class_title(field, (unsigned)v->label));
}

static u64 cache_of(const struct profile *p, u64 word)
{
	(void)p;
	return accessclass_of(word, ACCESSCLASS_CACHE);
}

static void cell_of_cache(const struct key_value *v, struct cell *ret)
{
	set_class(v, ACCESSCLASS_CACHE, ret);
}

static u64 memory_of(const struct profile *p, u64 word)
{
	(void)p;
	return accessclass_of(word, ACCESSCLASS_MEMORY);
}

static void cell_of_memory(const struct key_value *v, struct cell *ret)
{
	set_class(v, ACCESSCLASS_MEMORY, ret);
}

static u64 dtlb_of(const struct profile *p, u64 word)
{
	(void)p;
	return accessclass_of(word, ACCESSCLASS_DTLB);
}

static void cell_of_dtlb(const struct key_value *v, struct cell *ret)
{
	set_class(v, ACCESSCLASS_DTLB, ret);
}

static u64 snoop_of(const struct profile *p, u64 word)
{
	(void)p;
	return access_bits(word, ACCESS_SNOOP);
}

static void cell_of_snoop(const struct key_value *v, struct cell *ret)
{
	set_part(v, ACCESS_SNOOP, ret);
}

static u64 tlb_of(const struct profile *p, u64 word)
{
	(void)p;
	return access_bits(word, ACCESS_TLB);
}

static void cell_of_tlb(const struct key_value *v, struct cell *ret)
{
	set_part(v, ACCESS_TLB, ret);
}

static u64 lock_of(const struct profile *p, u64 word)
{
	(void)p;
	return access_bits(word, ACCESS_LOCK);
}

static void cell_of_lock(const struct key_value *v, struct cell *ret)
{
	set_part(v, ACCESS_LOCK, ret);
}

static u64 block_of(const struct profile *p, u64 word)
{
	(void)p;
	return access_bits(word, ACCESS_BLOCK);
}

static void cell_of_block(const struct key_value *v, struct cell *ret)
{
	set_part(v, ACCESS_BLOCK, ret);
}

/* clang-format off: a row a fact */
static const struct key keys[] = {
	{.name = "op",
		.title = "Operation",
		.help = "what the access does: LOAD, STORE, PFETCH, EXEC",
		.label = LABEL_DATA_SOURCE,
		.value = operation_of,
		.kind = CELL_TEXT,
		.cell = cell_of_operation},
	{.name = "symbol_daddr",
		.title = "Data Symbol",
		.help = "variable and offset, or address, of the data",
		.label = LABEL_DATA,
		.compare = key_compare_addresses,
		.kind = CELL_PLACE,
		.cell = key_cell_place},
	{.name = "dso_daddr",
		.title = "Data Object",
		.help = "file or memory area that contains the data",
		.label = LABEL_DATA,
		.value = key_dso_of,
		.compare = key_compare_texts,
		.kind = CELL_TEXT,
		.cell = key_cell_name},
	{.name = "dcacheline",
		.title = "Data Cacheline",
		.help = "64-byte cache line that contains the data",
		.label = LABEL_DATA,
		.value = line_of,
		.kind = CELL_ADDRESS,
		.cell = cell_of_line},
	{.name = "phys_daddr",
		.title = "Data Physical Address",
		.help = "physical address of the data",
		.label = LABEL_PHYSICAL,
		.kind = CELL_ADDRESS,
		.cell = cell_of_physical},
	{.name = "mem",
		.title = "Memory access",
		.help = "cache or memory that had the data",
		.label = LABEL_DATA_SOURCE,
		.value = level_of,
		.kind = CELL_TEXT,
		.cell = cell_of_level},
	{.name = "cache",
		.title = "Cache",
		.help = "cache that had the data: L1, L2, L3, L4, L1-buf, L2-buf, or Other",
		.label = LABEL_DATA_SOURCE,
		.value = cache_of,
		.kind = CELL_TEXT,
		.cell = cell_of_cache},
	{.name = "memory",
		.title = "Memory",
		.help = "memory that had the data: RAM, MSC, Uncach, CXL, IO, PMEM, or Other",
		.label = LABEL_DATA_SOURCE,
		.value = memory_of,
		.kind = CELL_TEXT,
		.cell = cell_of_memory},
	{.name = "dtlb",
		.title = "D-TLB",
		.help = "TLB that translated the address: L1-Hit, L2-Hit, L?-Hit, Miss, or Other",
		.label = LABEL_DATA_SOURCE,
		.value = dtlb_of,
		.kind = CELL_TEXT,
		.cell = cell_of_dtlb},
	{.name = "snoop",
		.title = "Snoop",
		.help = "state of the data in other caches",
		.label = LABEL_DATA_SOURCE,
		.value = snoop_of,
		.kind = CELL_TEXT,
		.cell = cell_of_snoop},
	{.name = "tlb",
		.title = "TLB access",
		.help = "how the address was translated",
		.label = LABEL_DATA_SOURCE,
		.value = tlb_of,
		.kind = CELL_TEXT,
		.cell = cell_of_tlb},
	{.name = "locked",
		.title = "Locked",
		.help = "whether the access was locked",
		.label = LABEL_DATA_SOURCE,
		.value = lock_of,
		.kind = CELL_TEXT,
		.cell = cell_of_lock},
	{.name = "blocked",
		.title = "Blocked",
		.help = "what a load had to wait for",
		.label = LABEL_DATA_SOURCE,
		.value = block_of,
		.kind = CELL_TEXT,
		.cell = cell_of_block},
	{.name = "symbol_iaddr",
		.title = "Code Symbol",
		.help = "address of the instruction",
		.label = LABEL_FRAME,
		.compare = key_compare_addresses,
		.kind = CELL_PLACE,
		.cell = key_cell_place},
};
/* clang-format on */

const struct key_family key_memory = {"memory", keys, ARRAY_SIZE(keys)};
