#include "record/datasrc.h"

/* Fields of the word: shift, width. */
enum {
	OP_SHIFT = 0,
	LVL_SHIFT = 5,
	SNOOP_SHIFT = 19,
	LOCK_SHIFT = 24,
	REMOTE_SHIFT = 37,
	SNOOPX_SHIFT = 38,
	BLK_SHIFT = 40,
	OP_MASK = 0x1f,
	LVL_MASK = 0x3fff,
	SNOOP_MASK = 0x1f,
	LOCK_MASK = 3,
	SNOOPX_MASK = 3,
	BLK_MASK = 7,
};

enum { OP_LOAD = 2, OP_STORE = 4 };
enum {
	LVL_NA = 1,
	LVL_HIT = 2,
	LVL_MISS = 4,
	LVL_L1 = 8,
	LVL_LFB = 0x10,
	LVL_L2 = 0x20,
	LVL_L3 = 0x40,
	LVL_RAM = 0x80,
	LVL_REMOTE_RAM = 0x100 | 0x200,
	LVL_REMOTE_CACHE = 0x400 | 0x800,
	LVL_IO = 0x1000,
	LVL_UNCACHED = 0x2000,
};
enum { SNOOP_HIT = 4, SNOOP_HITM = 0x10 };
enum { SNOOPX_PEER = 2 };
enum { LOCK_LOCKED = 2 };
enum { BLK_DATA = 2, BLK_ADDRESS = 4 };

/* The bits that make an access one of a kind; 0: any. */
struct datasrc_rule {
	u8 kind;
	u8 op;
	u16 hit_or_miss; /* all of these bits of the level */
	u16 level;       /* any of these */
	bool or_remote;  /* or the bit that makes any level remote */
	u8 snoop;        /* any of these */
	u8 not_snoop;    /* none of these */
	u8 snoopx;
};

static const struct datasrc_rule rules[] = {
	{DATASRC_LOAD_UNCACHED, OP_LOAD, LVL_HIT, LVL_UNCACHED},
	{DATASRC_LOAD_IO, OP_LOAD, LVL_HIT, LVL_IO},
	{DATASRC_LOAD_FILL_BUFFER, OP_LOAD, LVL_HIT, LVL_LFB},
	{DATASRC_LOAD_L1, OP_LOAD, LVL_HIT, LVL_L1},
	{DATASRC_LOAD_L2, OP_LOAD, LVL_HIT, LVL_L2},
	{DATASRC_LOCAL_PEER, OP_LOAD, LVL_HIT, LVL_L2, .snoopx = SNOOPX_PEER},
	{DATASRC_LOCAL_HITM, OP_LOAD, LVL_HIT, LVL_L3, .snoop = SNOOP_HITM},
	{DATASRC_LOAD_LLC, OP_LOAD, LVL_HIT, LVL_L3, .not_snoop = SNOOP_HITM},
	{DATASRC_LOCAL_PEER, OP_LOAD, LVL_HIT, LVL_L3, .snoopx = SNOOPX_PEER},
	{DATASRC_LOCAL_DRAM, OP_LOAD, LVL_HIT, LVL_RAM},
	{DATASRC_REMOTE_DRAM, OP_LOAD, LVL_HIT, LVL_REMOTE_RAM, .or_remote = true},
	{DATASRC_LOAD_SHARED, OP_LOAD, LVL_HIT, LVL_RAM | LVL_REMOTE_RAM, true, SNOOP_HIT},
	{DATASRC_LOAD_EXCLUSIVE, OP_LOAD, LVL_HIT, LVL_RAM | LVL_REMOTE_RAM, true, 0, SNOOP_HIT},
	{DATASRC_REMOTE_HIT, OP_LOAD, 0, LVL_REMOTE_CACHE, true, SNOOP_HIT},
	{DATASRC_REMOTE_HITM, OP_LOAD, 0, LVL_REMOTE_CACHE, true, SNOOP_HITM, SNOOP_HIT},
	{DATASRC_REMOTE_HIT, OP_LOAD, 0, LVL_REMOTE_CACHE, true, 0, SNOOP_HIT | SNOOP_HITM,
		SNOOPX_PEER},
	{DATASRC_REMOTE_PEER, OP_LOAD, 0, LVL_REMOTE_CACHE, true, 0, SNOOP_HIT | SNOOP_HITM,
		SNOOPX_PEER},
	{DATASRC_LOAD_MISS, OP_LOAD, LVL_MISS},
	{DATASRC_STORE_UNCACHED, OP_STORE, LVL_HIT, LVL_UNCACHED},
	{DATASRC_STORE_L1, OP_STORE, LVL_HIT, LVL_L1},
	{DATASRC_STORE_L1_MISS, OP_STORE, LVL_MISS, LVL_L1},
	{DATASRC_STORE_NO_LEVEL, OP_STORE, 0, LVL_NA},
};

static bool fits(const struct datasrc_rule *r, u64 data_src)
{
	unsigned level = data_src >> LVL_SHIFT & LVL_MASK,
		 snoop = data_src >> SNOOP_SHIFT & SNOOP_MASK;
	bool is_remote = r->or_remote && (data_src >> REMOTE_SHIFT & 1);

	return (level & r->hit_or_miss) == r->hit_or_miss &&
		(!r->level || level & r->level || is_remote) && (!r->snoop || snoop & r->snoop) &&
		!(snoop & r->not_snoop) &&
		(!r->snoopx || data_src >> SNOOPX_SHIFT & SNOOPX_MASK & r->snoopx);
}

/* per sample */
u32 datasrc_kinds(u64 data_src, bool has_address)
{
	unsigned op = data_src >> OP_SHIFT & OP_MASK, blocked = data_src >> BLK_SHIFT & BLK_MASK;
	u32 kinds = 0;

	/* An access that is both counts as a load. */
	op = op & OP_LOAD ? OP_LOAD : op & OP_STORE;
	if ((data_src >> LOCK_SHIFT & LOCK_MASK) & LOCK_LOCKED)
		kinds |= 1u << DATASRC_LOCKED;
	if (blocked & BLK_DATA)
		kinds |= 1u << DATASRC_BLOCKED_BY_DATA;
	if (blocked & BLK_ADDRESS)
		kinds |= 1u << DATASRC_BLOCKED_BY_ADDRESS;
	if (!op)
		return kinds | 1u << DATASRC_UNKNOWN;
	kinds |= 1u << (op == OP_LOAD ? DATASRC_LOAD : DATASRC_STORE);
	if (!has_address)
		return kinds |
			1u << (op == OP_LOAD ? DATASRC_LOAD_NO_ADDRESS : DATASRC_STORE_NO_ADDRESS);
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].op == op && fits(&rules[i], data_src))
			kinds |= 1u << rules[i].kind;
	return kinds;
}

static const struct {
	const char *word, *title;
} names[DATASRC_KINDS] = {
	[DATASRC_LOCKED] = {"locked", "Locked loads and stores"},
	[DATASRC_BLOCKED_BY_DATA] = {"blocked_by_data", "Blocked by data"},
	[DATASRC_BLOCKED_BY_ADDRESS] = {"blocked_by_address", "Blocked by address"},
	[DATASRC_LOAD] = {"load", "Loads"},
	[DATASRC_LOAD_NO_ADDRESS] = {"load_no_address", "Loads without an address"},
	[DATASRC_LOAD_UNCACHED] = {"load_uncached", "Loads, uncached"},
	[DATASRC_LOAD_IO] = {"load_io", "Loads, I/O"},
	[DATASRC_LOAD_FILL_BUFFER] = {"load_fill_buffer", "Loads, fill buffer"},
	[DATASRC_LOAD_L1] = {"load_l1", "Loads, L1"},
	[DATASRC_LOAD_L2] = {"load_l2", "Loads, L2"},
	[DATASRC_LOAD_LLC] = {"load_llc", "Loads, last level cache"},
	[DATASRC_LOCAL_HITM] = {"local_hitm", "Loads, modified in a cache of this node (HITM)"},
	[DATASRC_REMOTE_HITM] = {"remote_hitm",
		"Loads, modified in a cache of another node (HITM)"},
	[DATASRC_REMOTE_HIT] = {"remote_hit", "Loads, a cache of another node"},
	[DATASRC_LOCAL_PEER] = {"local_peer", "Loads, another core of this node"},
	[DATASRC_REMOTE_PEER] = {"remote_peer", "Loads, another core of another node"},
	[DATASRC_LOCAL_DRAM] = {"local_dram", "Loads, memory of this node"},
	[DATASRC_REMOTE_DRAM] = {"remote_dram", "Loads, memory of another node"},
	[DATASRC_LOAD_SHARED] = {"load_shared", "Loads of memory, shared"},
	[DATASRC_LOAD_EXCLUSIVE] = {"load_exclusive", "Loads of memory, exclusive"},
	[DATASRC_LOAD_MISS] = {"load_miss", "Loads, miss"},
	[DATASRC_STORE] = {"store", "Stores"},
	[DATASRC_STORE_NO_ADDRESS] = {"store_no_address", "Stores without an address"},
	[DATASRC_STORE_UNCACHED] = {"store_uncached", "Stores, uncached"},
	[DATASRC_STORE_L1] = {"store_l1", "Stores, L1"},
	[DATASRC_STORE_L1_MISS] = {"store_l1_miss", "Stores, L1 missed"},
	[DATASRC_STORE_NO_LEVEL] = {"store_no_level", "Stores of unknown level"},
	[DATASRC_UNKNOWN] = {"unknown", "Neither load nor store"},
};

const char *datasrc_word(enum datasrc_kind kind)
{
	return names[kind].word;
}

const char *datasrc_title(enum datasrc_kind kind)
{
	return names[kind].title;
}
