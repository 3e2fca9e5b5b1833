/*
 * listing.h - instructions as a disassembler writes them, and what they refer to.
 *
 * In       lines of LLVM or objdump
 * Out      instructions in ascending order, without gaps; their texts have one format for all
 *          disassemblers: mnemonic, spaces up to a column, operands
 * Owns     its texts
 * Units    addresses like code.va
 */
#ifndef PACE_SYMBOL_LISTING_H
#define PACE_SYMBOL_LISTING_H

#include "base/str.h"
#include "base/vec.h"
#include "arch/isa.h"

struct instruction {
	u64 va;
	u32 size;    /* bytes */
	u32 text;    /* offset in listing->texts */
	u8 flow;     /* enum isa_flow */
	bool is_bad; /* not an instruction: its bytes are shown */
	bool has_target, has_reference;
	u64 target;    /* of direct jumps and calls */
	u64 reference; /* the address of data that it reads or writes */
};

struct listing {
	VEC(struct instruction) instructions;
	struct str texts; /* NUL-terminated, concatenated */
};

/*
 * Appends an instruction of `size` bytes; `text` is what the disassembler wrote, including a reference after
 * '#'.
 */
struct instruction *listing_add(struct listing *l, const struct isa *isa, u64 va, u32 size,
	const char *text);

/* Appends bytes that are not an instruction. `isa` may be NULL. */
void listing_add_bytes(struct listing *l, u64 va, const u8 *bytes, u32 size);

const char *listing_text(const struct listing *l, const struct instruction *i);

/* The index of the instruction at or around an address, or UINT32_MAX. */
u32 listing_find(const struct listing *l, u64 va);
void listing_fini(struct listing *l);

#endif
