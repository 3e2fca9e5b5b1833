#include "arch/x86_decode.h"

#include <string.h>

/* What follows an opcode. */
enum {
	M = 1,   /* modrm */
	B = 2,   /* 1 byte of immediate */
	W = 4,   /* 2 bytes */
	Z = 8,   /* 4 bytes, or 2 with the operand-size prefix */
	V = 16,  /* as Z, but 8 bytes with REX.W */
	A = 32,  /* an address */
	X = 64,  /* invalid, or not used by programs */
	L = 128, /* only in 32-bit code */
};

/* clang-format off */
static const u8 one[256] = {
	/* 00 */ M, M, M, M, B, Z, L, L, M, M, M, M, B, Z, L, X,
	/* 10 */ M, M, M, M, B, Z, L, L, M, M, M, M, B, Z, L, L,
	/* 20 */ M, M, M, M, B, Z, X, L, M, M, M, M, B, Z, X, L,
	/* 30 */ M, M, M, M, B, Z, X, L, M, M, M, M, B, Z, X, L,
	/* 40 */ L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
	/* 50 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	/* 60 */ L, L, L | M, M, X, X, X, X, Z, M | Z, B, M | B, 0, 0, 0, 0,
	/* 70 */ B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B,
	/* 80 */ M | B, M | Z, L | M | B, M | B, M, M, M, M, M, M, M, M, M, M, M, M,
	/* 90 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, X, 0, 0, 0, 0, 0,
	/* a0 */ A, A, A, A, 0, 0, 0, 0, B, Z, 0, 0, 0, 0, 0, 0,
	/* b0 */ B, B, B, B, B, B, B, B, V, V, V, V, V, V, V, V,
	/* c0 */ M | B, M | B, W, 0, L | M, L | M, M | B, M | Z, W | B, 0, W, 0, 0, B, L, 0,
	/* d0 */ M, M, M, M, L | B, L | B, X, 0, M, M, M, M, M, M, M, M,
	/* e0 */ B, B, B, B, B, B, B, B, Z, Z, X, B, 0, 0, 0, 0,
	/* f0 */ X, 0, X, X, 0, 0, M, M, 0, 0, 0, 0, 0, 0, M, M,
};

static const u8 two[256] = {
	/* 00 */ M, M, M, M, X, 0, 0, 0, 0, 0, X, 0, X, M, 0, M | B,
	/* 10 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* 20 */ M, M, M, M, X, X, X, X, M, M, M, M, M, M, M, M,
	/* 30 */ 0, 0, 0, 0, 0, 0, X, 0, X, X, X, X, X, X, X, X,
	/* 40 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* 50 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* 60 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* 70 */ M | B, M | B, M | B, M | B, M, M, M, 0, M, M, X, X, M, M, M, M,
	/* 80 */ Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z,
	/* 90 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* a0 */ 0, 0, 0, M, M | B, M, X, X, 0, 0, 0, M, M | B, M, M, M,
	/* b0 */ M, M, M, M, M, M, M, M, M, M, M | B, M, M, M, M, M,
	/* c0 */ M, M, M | B, M, M | B, M | B, M | B, M, 0, 0, 0, 0, 0, 0, 0, 0,
	/* d0 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* e0 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* f0 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
};
/* clang-format on */

struct decoder {
	const u8 *start, *at, *end;
	bool is_64, has_66, has_67;
	bool is_evex;
	bool is_gather; /* or scatter: the index is a vector */
	u8 rex, segment;
	struct x86_op *op;
};

static bool take_prefixes(struct decoder *d)
{
	for (; d->at < d->end && d->at - d->start < 14; d->at++) {
		switch (*d->at) {
		case 0x66:
			d->has_66 = true;
			break;
		case 0x67:
			d->has_67 = true;
			break;
		case 0x64:
		case 0x65:
			d->segment = *d->at;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0xf0:
		case 0xf2:
		case 0xf3:
			break;
		default:
			return true;
		}
	}
	return false;
}

/* Reads n bytes as a signed number. */
static bool take_number(struct decoder *d, unsigned n, s64 *ret_v)
{
	if (d->end - d->at < (ptrdiff_t)n)
		return false;
	*ret_v = n == 1  ? (signed char)*d->at
		: n == 2 ? (int16_t)load_u16(d->at)
		: n == 4 ? (s32)load_u32(d->at)
			 : (s64)load_u64(d->at);
	d->at += n;
	return true;
}

static bool take_modrm(struct decoder *d)
{
	struct x86_op *op = d->op;
	unsigned base, width, index;
	bool has_sib, has_index = false, is_bare;
	s64 disp = 0;

	if (d->at == d->end)
		return false;
	op->has_modrm = true;
	op->mode = *d->at >> 6;
	op->reg = (*d->at >> 3 & 7) | (d->rex & 4) << 1;
	base = *d->at++ & 7;
	op->rm = (u8)(base | (d->rex & 1) << 3);
	if (op->mode == 3)
		return true;
	if (!d->is_64 && d->has_67) /* 16-bit addresses */
		return false;
	has_sib = base == 4;
	if (has_sib) {
		if (d->at == d->end)
			return false;
		base = *d->at & 7;
		index = (*d->at >> 3 & 7) | (d->rex & 2) << 2;
		has_index = index != 4 || d->is_gather;
		op->has_vector_index = d->is_gather;
		op->index = has_index && !d->is_gather ? (u8)index : X86_NO_REG;
		op->scale = *d->at >> 6;
		op->rm = (u8)(base | (d->rex & 1) << 3);
		d->at++;
	}
	width = op->mode == 1 ? 1 : op->mode == 2 || base == 5 ? 4 : 0;
	if (width && !take_number(d, width, &disp))
		return false;
	is_bare = op->mode == 0 && base == 5;
	op->has_base = !has_index && !is_bare;
	op->disp = (s32)disp;
	op->has_memory = true;
	op->is_relative = is_bare && !has_sib && d->is_64;
	op->base = is_bare ? X86_NO_REG : op->rm;
	op->has_packed_disp = d->is_evex && op->mode == 1;
	return true;
}

static bool take_rest(struct decoder *d, u8 what)
{
	struct x86_op *op = d->op;
	unsigned full = d->has_66 ? 2 : 4;
	s64 ignored;

	if (what & X || (what & L && d->is_64))
		return false;
	if (what & M && !take_modrm(d))
		return false;
	/* test has an immediate, the other opcodes of its group do not */
	if (op->map == X86_ONE && (op->opcode & 0xfe) == 0xf6 && !(op->reg & 6))
		what |= op->opcode == 0xf6 ? B : Z;
	/* jumps in 64-bit code always have 4 bytes */
	if (d->is_64 &&
		((op->map == X86_ONE && (op->opcode & 0xfe) == 0xe8) ||
			(op->map == X86_0F && op->opcode >> 4 == 8)))
		full = 4;
	if (what & W && !take_number(d, 2, what & B ? &ignored : &op->imm))
		return false;
	if (what & B && !take_number(d, 1, &op->imm))
		return false;
	if (what & Z && !take_number(d, full, &op->imm))
		return false;
	if (what & V && !take_number(d, d->rex & 8 ? 8 : full, &op->imm))
		return false;
	return !(what & A) || take_number(d, d->is_64 && !d->has_67 ? 8 : 4, &op->imm);
}

/* VEX of 2 and 3 bytes, EVEX: their maps are those of 0f, 0f 38 and 0f 3a. */
static bool take_vector(struct decoder *d)
{
	u8 first = *d->at;
	unsigned n = first == 0xc5 ? 2 : first == 0xc4 ? 3 : 4, map;

	if (d->end - d->at < (ptrdiff_t)n + 1)
		return false;
	map = first == 0xc5 ? 1 : d->at[1] & (first == 0xc4 ? 31 : 7);
	/* The register bits are those of REX, inverted. No caller needs W. */
	d->rex = d->is_64 ? (u8)~d->at[1] >> 5 & (first == 0xc5 ? 4 : 7) : 0;
	d->has_66 = false;
	d->is_evex = first == 0x62;
	d->op->vector_map = (u8)map;
	d->op->other = (u8)~d->at[first == 0xc5 ? 1 : 2] >> 3 & 15;
	d->at += n;
	d->op->map = X86_VECTOR;
	d->op->opcode = *d->at++;
	d->is_gather = map == 2 &&
		(d->op->opcode >> 2 == 0x90 >> 2 || d->op->opcode >> 2 == 0xa0 >> 2 ||
			(d->is_evex && (d->op->opcode | 1) == 0xc7));
	return take_rest(d, map == 1 ? two[d->op->opcode] & (M | B) : map == 3 ? M | B : M);
}

/* XOP: pop, with a register field that pop cannot have. */
static bool is_xop(const struct decoder *d)
{
	return *d->at == 0x8f && d->end - d->at > 1 && (d->at[1] & 31) >= 8;
}

static bool take_xop(struct decoder *d)
{
	unsigned map = d->at[1] & 31;

	if (d->end - d->at < 4)
		return false;
	d->rex = d->is_64 ? (u8)~d->at[1] >> 5 & 7 : 0;
	d->has_66 = false;
	d->op->map = X86_VECTOR;
	d->op->opcode = d->at[3];
	d->at += 4;
	return take_rest(d, map == 8 ? M | B : map == 9 ? M : M | Z);
}

static bool is_vector(const struct decoder *d)
{
	u8 first = *d->at;

	if (first != 0xc4 && first != 0xc5 && first != 0x62)
		return false;
	/*
	 * In 32-bit code these are other instructions, unless the next byte says that the operand is no
	 * memory.
	 */
	return d->is_64 || (d->end - d->at > 1 && d->at[1] >> 6 == 3);
}

static bool take(struct decoder *d)
{
	struct x86_op *op = d->op;
	const u8 *what = one;

	if (!take_prefixes(d))
		return false;
	if (d->is_64 && *d->at >> 4 == 4) {
		d->rex = *d->at++ & 15;
		if (d->at == d->end)
			return false;
	}
	op->is_wide = d->is_64 ? (d->rex & 8) != 0 : !d->has_66;
	op->is_short = d->has_66 && !(d->rex & 8);
	if (is_vector(d))
		return take_vector(d);
	if (is_xop(d))
		return take_xop(d);
	op->opcode = *d->at++;
	if (op->opcode != 0x0f) {
		if (!take_rest(d, what[op->opcode]))
			return false;
		if ((op->opcode >= 0x50 && op->opcode <= 0x5f) || op->opcode >> 3 == 0x17)
			op->reg = (u8)((op->opcode & 7) | (d->rex & 1) << 3);
		return true;
	}
	if (d->at == d->end)
		return false;
	op->map = X86_0F;
	op->opcode = *d->at++;
	if (op->opcode != 0x38 && op->opcode != 0x3a)
		return take_rest(d, two[op->opcode]);
	if (d->at == d->end)
		return false;
	op->map = op->opcode == 0x38 ? X86_0F38 : X86_0F3A;
	op->opcode = *d->at++;
	return take_rest(d, op->map == X86_0F38 ? M : M | B);
}

unsigned x86_decode(const u8 *p, u32 n, bool is_64, struct x86_op *ret_op)
{
	struct decoder d = {.start = p,
		.at = p,
		.end = p + MIN(n, 15u),
		.is_64 = is_64,
		.op = ret_op};

	memset(ret_op, 0, sizeof(*ret_op));
	ret_op->base = ret_op->index = X86_NO_REG;
	if (!take(&d))
		return 0;
	ret_op->segment = d.segment;
	ret_op->size = (u8)(d.at - p);
	return ret_op->size;
}
