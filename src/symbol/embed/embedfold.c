#include "symbol/embed/embedfold.h"

#include <string.h>

#include "base/mem.h"

/* ---- tables ---- */

enum { WORD = 4 }; /* members have one or two words */

/* Maps small numbers of either sign to small unsigned ones. */
static u32 zigzag(u32 v)
{
	return v << 1 ^ -(v >> 31);
}

static u32 zigzag_back(u32 v)
{
	return v >> 1 ^ -(v & 1);
}

/* The bytes of word `k` of all entries: the least significant bytes of all entries first. */
static u8 *column(u8 *folded, u64 n, u32 k)
{
	return folded + k * WORD * n;
}

void embedfold_table(u8 *at, u32 each, u64 n)
{
	u8 *folded;

	if (each % WORD || !n)
		return;
	folded = mem_alloc(each * n);
	for (u32 k = 0; k < each / WORD; k++) {
		u8 *out = column(folded, n, k);
		u32 before = 0;

		for (u64 i = 0; i < n; i++) {
			u32 now = load_u32(at + i * each + k * WORD), v = zigzag(now - before);

			for (u32 byte = 0; byte < WORD; byte++)
				out[byte * n + i] = (u8)(v >> 8 * byte);
			before = now;
		}
	}
	memcpy(at, folded, each * n);
	mem_free(folded);
}

void embedfold_table_back(u8 *at, u32 each, u64 n)
{
	u8 *folded;

	if (each % WORD || !n)
		return;
	folded = memcpy(mem_alloc(each * n), at, each * n);
	for (u32 k = 0; k < each / WORD; k++) {
		const u8 *in = column(folded, n, k);
		u32 now = 0;

		for (u64 i = 0; i < n; i++) {
			u32 v = 0;

			for (u32 byte = 0; byte < WORD; byte++)
				v |= (u32)in[byte * n + i] << 8 * byte;
			now += zigzag_back(v);
			memcpy(at + i * each + k * WORD, &now, WORD);
		}
	}
	mem_free(folded);
}

/* ---- code ---- */

enum { LONGEST = 7, REACH = 1 << 24 };

/* The offset of the 32-bit distance that ends the instruction at `p`; 0: not an instruction that has one. */
static unsigned distance_at(const u8 *p)
{
	enum { MODRM_MASK = 0xc7, MODRM_RIP = 0x05 };

	switch (p[0]) {
	case 0xe8: /* call */
	case 0xe9: /* jmp */
		return 1;
	case 0x0f: /* jcc */
		return (p[1] & 0xf0) == 0x80 ? 2 : 0;
	case 0x48: /* mov, lea, cmp of 64 bits with a RIP-relative operand */
	case 0x4c:
		return (p[2] & MODRM_MASK) == MODRM_RIP &&
				(p[1] == 0x8d || p[1] == 0x8b || p[1] == 0x89 || p[1] == 0x3b ||
					p[1] == 0x39)
			? 3
			: 0;
	}
	return 0;
}

/*
 * Distances up to REACH become addresses, modulo REACH, so that unfolding can see which ones were changed. All of
 * them are stored with the most significant byte first, the one that addresses have in common. Instructions are
 * recognised by their first bytes, at any offset: bytes that are no instruction are restored all the same.
 */
static s32 moved(s32 distance, u32 by)
{
	u32 sum = (u32)distance + by;

	if (distance < -REACH || distance >= REACH)
		return distance;
	/* A number of 25 bits; the highest is the sign. */
	return (s32)((sum & (2 * REACH - 1)) ^ REACH) - REACH;
}

static u32 folded(u32 distance, u32 end)
{
	return __builtin_bswap32((u32)moved((s32)distance, end));
}

static u32 unfolded(u32 v, u32 end)
{
	return (u32)moved((s32)__builtin_bswap32(v), -end);
}

/* Changes all distances; `end` is the address that a distance is relative to. */
static void change(u8 *at, u64 n, u64 address, u32 (*changed)(u32 v, u32 end))
{
	for (u64 i = 0; i + LONGEST <= n; i++) {
		unsigned k = distance_at(at + i);
		u32 v;

		if (!k)
			continue;
		v = changed(load_u32(at + i + k), (u32)(address + i + k + WORD));
		memcpy(at + i + k, &v, sizeof(v));
		i += k + WORD - 1;
	}
}

void embedfold_code(u8 *at, u64 n, u64 address)
{
	change(at, n, address, folded);
}

void embedfold_code_back(u8 *at, u64 n, u64 address)
{
	change(at, n, address, unfolded);
}
