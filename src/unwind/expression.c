#include "unwind/expression.h"

#include "unwind/leb.h"

enum {
	DEPTH = 64,
	STEPS = 4096,
};

enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU,
	OP_CONSTS,
	OP_DUP,
	OP_DROP,
	OP_OVER,
	OP_PICK,
	OP_SWAP,
	OP_ROT,
	OP_ABS = 0x19,
	OP_AND,
	OP_DIV,
	OP_MINUS,
	OP_MOD,
	OP_MUL,
	OP_NEG,
	OP_NOT,
	OP_OR,
	OP_PLUS,
	OP_PLUS_UCONST,
	OP_SHL,
	OP_SHR,
	OP_SHRA,
	OP_XOR,
	OP_BRA,
	OP_EQ,
	OP_GE,
	OP_GT,
	OP_LE,
	OP_LT,
	OP_NE,
	OP_SKIP,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

struct machine_state {
	const struct expression_world *world;
	struct bytes all, at;
	u64 stack[DEPTH];
	unsigned n;
};

static bool push(struct machine_state *m, u64 v)
{
	if (m->n == DEPTH)
		return false;
	m->stack[m->n++] = m->world->address_size == 4 ? (u32)v : v;
	return true;
}

static bool pop(struct machine_state *m, u64 *ret_v)
{
	if (!m->n)
		return false;
	*ret_v = m->stack[--m->n];
	return true;
}

/* Pushes a copy of the value `depth` places below the top. */
static bool pick(struct machine_state *m, unsigned depth)
{
	return depth < m->n && push(m, m->stack[m->n - 1 - depth]);
}

static bool swap(struct machine_state *m)
{
	u64 a, b;

	return pop(m, &a) && pop(m, &b) && push(m, a) && push(m, b);
}

/* Rotates the top three: the top becomes the third. */
static bool rotate(struct machine_state *m)
{
	u64 a, b, c;

	return pop(m, &a) && pop(m, &b) && pop(m, &c) && push(m, a) && push(m, c) && push(m, b);
}

static bool push_constant(struct machine_state *m, unsigned size, bool is_signed)
{
	u8 one;
	u16 two;
	u32 four;
	u64 v;

	switch (size) {
	case 1:
		if (!bytes_u8(&m->at, &one))
			return false;
		return push(m, is_signed ? (u64)(s64)(int8_t)one : one);
	case 2:
		if (!bytes_u16(&m->at, &two))
			return false;
		return push(m, is_signed ? (u64)(s64)(int16_t)two : two);
	case 4:
		if (!bytes_u32(&m->at, &four))
			return false;
		return push(m, is_signed ? (u64)(s64)(s32)four : four);
	}
	return bytes_u64(&m->at, &v) && push(m, v);
}

static bool push_register(struct machine_state *m, u64 reg)
{
	const struct expression_world *w = m->world;
	s64 offset;

	if (!leb_s64(&m->at, &offset) || reg >= w->n_regs || !(w->known >> reg & 1))
		return false;
	return push(m, w->regs[reg] + (u64)offset);
}

static bool dereference(struct machine_state *m, unsigned size)
{
	u64 va, v;

	if (size != 1 && size != 2 && size != 4 && size != 8)
		return false;
	return pop(m, &va) && m->world->read(m->world->ctx, va, size, &v) && push(m, v);
}

static bool jump(struct machine_state *m, bool is_taken)
{
	struct bytes to = m->all;
	u64 here;
	u16 by;

	if (!bytes_u16(&m->at, &by))
		return false;
	if (!is_taken)
		return true;
	here = m->at.offset - m->all.offset;
	if (!bytes_skip(&to, here + (u64)(s64)(int16_t)by))
		return false;
	m->at = to;
	return true;
}

static s64 sign_extended(const struct machine_state *m, u64 v)
{
	return m->world->address_size == 4 ? (s32)v : (s64)v;
}

static bool divide(struct machine_state *m, u64 a, u64 b)
{
	s64 x = sign_extended(m, a), y = sign_extended(m, b);

	if (!y)
		return false;
	/* The one quotient that overflows. */
	return push(m, y == -1 ? (u64)0 - (u64)x : (u64)(x / y));
}

static u64 shifted(const struct machine_state *m, u8 op, u64 a, u64 by)
{
	if (by > 63)
		return op == OP_SHRA && sign_extended(m, a) < 0 ? UINT64_MAX : 0;
	if (op == OP_SHL)
		return a << by;
	return op == OP_SHR ? a >> by : (u64)(sign_extended(m, a) >> by);
}

/* Replaces two values by one. */
static bool combine(struct machine_state *m, u8 op)
{
	u64 a, b;
	s64 x, y;

	if (!pop(m, &b) || !pop(m, &a))
		return false;
	x = sign_extended(m, a);
	y = sign_extended(m, b);
	switch (op) {
	case OP_AND:
		return push(m, a & b);
	case OP_DIV:
		return divide(m, a, b);
	case OP_MINUS:
		return push(m, a - b);
	case OP_MOD:
		return b && push(m, a % b);
	case OP_MUL:
		return push(m, a * b);
	case OP_OR:
		return push(m, a | b);
	case OP_PLUS:
		return push(m, a + b);
	case OP_SHL:
	case OP_SHR:
	case OP_SHRA:
		return push(m, shifted(m, op, a, b));
	case OP_XOR:
		return push(m, a ^ b);
	case OP_EQ:
		return push(m, x == y);
	case OP_GE:
		return push(m, x >= y);
	case OP_GT:
		return push(m, x > y);
	case OP_LE:
		return push(m, x <= y);
	case OP_LT:
		return push(m, x < y);
	case OP_NE:
		return push(m, x != y);
	}
	return false;
}

/* Replaces the top value. */
static bool change(struct machine_state *m, u8 op)
{
	u64 v;

	if (!pop(m, &v))
		return false;
	if (op == OP_NOT)
		return push(m, ~v);
	return push(m, op == OP_NEG || sign_extended(m, v) < 0 ? (u64)0 - v : v);
}

static bool run_one(struct machine_state *m, u8 op)
{
	s64 s;
	u64 v;
	u8 one;

	if (op >= OP_LIT0 && op <= OP_LIT31)
		return push(m, op - OP_LIT0);
	if (op >= OP_BREG0 && op <= OP_BREG31)
		return push_register(m, op - OP_BREG0);
	if (op >= OP_CONST1U && op <= OP_CONST8S)
		return push_constant(m, 1u << (op - OP_CONST1U) / 2, (op - OP_CONST1U) % 2);
	switch (op) {
	case OP_NOP:
		return true;
	case OP_ADDR:
		return push_constant(m, m->world->address_size, false) && pop(m, &v) &&
			push(m, v + m->world->bias);
	case OP_DEREF:
		return dereference(m, m->world->address_size);
	case OP_DEREF_SIZE:
		return bytes_u8(&m->at, &one) && dereference(m, one);
	case OP_CONSTU:
		return leb_u64(&m->at, &v) && push(m, v);
	case OP_CONSTS:
		return leb_s64(&m->at, &s) && push(m, (u64)s);
	case OP_DUP:
		return pick(m, 0);
	case OP_OVER:
		return pick(m, 1);
	case OP_PICK:
		return bytes_u8(&m->at, &one) && pick(m, one);
	case OP_DROP:
		return pop(m, &v);
	case OP_SWAP:
		return swap(m);
	case OP_ROT:
		return rotate(m);
	case OP_ABS:
	case OP_NEG:
	case OP_NOT:
		return change(m, op);
	case OP_PLUS_UCONST:
		return leb_u64(&m->at, &v) && push(m, v) && combine(m, OP_PLUS);
	case OP_BRA:
		return pop(m, &v) && jump(m, v != 0);
	case OP_SKIP:
		return jump(m, true);
	case OP_BREGX:
		return leb_u64(&m->at, &v) && push_register(m, v);
	}
	return combine(m, op);
}

bool expression_eval(struct bytes code, const struct expression_world *world, const u64 *first,
	u64 *ret_v)
{
	struct machine_state m = {.world = world, .all = code, .at = code};
	u8 op;

	if (first)
		push(&m, *first);
	for (unsigned steps = 0; bytes_u8(&m.at, &op); steps++)
		if (steps == STEPS || !run_one(&m, op))
			return false;
	return pop(&m, ret_v);
}
