#include "profile/key_family.h"

#include "base/num.h"
#include "record/access.h"

enum { CACHE_LINE = 64 };

static u64 line_of(const struct profile *p, u64 frame)
{
	return p->frames.at[frame].at & ~(u64)(CACHE_LINE - 1);
}

static void print_line(const struct hist *h, const struct hist_entry *e, u64 address,
	struct str *text)
{
	(void)h;
	(void)e;
	str_addf(text, "[%c] 0x", address >> 63 ? 'k' : '.');
	num_add_hex(text, address, 16);
}

static void print_physical(const struct hist *h, const struct hist_entry *e, u64 address,
	struct str *text)
{
	(void)h;
	(void)e;
	str_add(text, "[.] 0x");
	num_add_hex(text, address, 16);
}

static u64 level_of(const struct profile *p, u64 word)
{
	(void)p;
	return access_bits(word, ACCESS_LEVEL);
}

static void print_level(const struct hist *h, const struct hist_entry *e, u64 word,
	struct str *text)
{
	(void)h;
	(void)e;
	access_add_text(word, ACCESS_LEVEL, text);
}

static u64 snoop_of(const struct profile *p, u64 word)
{
	(void)p;
	return access_bits(word, ACCESS_SNOOP);
}

static void print_snoop(const struct hist *h, const struct hist_entry *e, u64 word,
	struct str *text)
{
	(void)h;
	(void)e;
	access_add_text(word, ACCESS_SNOOP, text);
}

static u64 tlb_of(const struct profile *p, u64 word)
{
	(void)p;
	return access_bits(word, ACCESS_TLB);
}

static void print_tlb(const struct hist *h, const struct hist_entry *e, u64 word, struct str *text)
{
	(void)h;
	(void)e;
	access_add_text(word, ACCESS_TLB, text);
}

static u64 lock_of(const struct profile *p, u64 word)
{
	(void)p;
	return access_bits(word, ACCESS_LOCK);
}

static void print_lock(const struct hist *h, const struct hist_entry *e, u64 word, struct str *text)
{
	(void)h;
	(void)e;
	access_add_text(word, ACCESS_LOCK, text);
}

static u64 block_of(const struct profile *p, u64 word)
{
	(void)p;
	return access_bits(word, ACCESS_BLOCK);
}

static void print_block(const struct hist *h, const struct hist_entry *e, u64 word,
	struct str *text)
{
	(void)h;
	(void)e;
	access_add_text(word, ACCESS_BLOCK, text);
}

/* clang-format off: a row a fact */
static const struct key keys[] = {
	{.name = "symbol_daddr",
		.header = "Data Symbol",
		.help = "variable and offset, or address, of the data",
		.label = LABEL_DATA,
		.compare = key_compare_addresses,
		.print = key_print_place},
	{.name = "dso_daddr",
		.header = "Data Object",
		.help = "file or memory that it is in",
		.label = LABEL_DATA,
		.value = key_dso_of,
		.compare = key_compare_texts,
		.print = key_print_name},
	{.name = "dcacheline",
		.header = "Data Cacheline",
		.help = "the line of 64 bytes that it is in",
		.label = LABEL_DATA,
		.value = line_of,
		.print = print_line},
	{.name = "phys_daddr",
		.header = "Data Physical Address",
		.help = "where it is in memory",
		.label = LABEL_PHYSICAL,
		.print = print_physical},
	{.name = "mem",
		.header = "Memory access",
		.unknown = "N/A",
		.help = "which cache or memory had it",
		.label = LABEL_DATA_SOURCE,
		.value = level_of,
		.print = print_level},
	{.name = "snoop",
		.header = "Snoop",
		.unknown = "N/A",
		.help = "what other caches had of it",
		.label = LABEL_DATA_SOURCE,
		.value = snoop_of,
		.print = print_snoop},
	{.name = "tlb",
		.header = "TLB access",
		.unknown = "N/A",
		.help = "how its address was translated",
		.label = LABEL_DATA_SOURCE,
		.value = tlb_of,
		.print = print_tlb},
	{.name = "locked",
		.header = "Locked",
		.unknown = "N/A",
		.help = "whether the access was locked",
		.label = LABEL_DATA_SOURCE,
		.value = lock_of,
		.print = print_lock},
	{.name = "blocked",
		.header = "Blocked",
		.unknown = "N/A",
		.help = "what a load had to wait for",
		.label = LABEL_DATA_SOURCE,
		.value = block_of,
		.print = print_block},
	{.name = "symbol_iaddr",
		.header = "Code Symbol",
		.help = "address of the instruction",
		.label = LABEL_FRAME,
		.compare = key_compare_addresses,
		.print = key_print_place},
};
/* clang-format on */

const struct key_family key_memory = {keys, ARRAY_SIZE(keys)};
