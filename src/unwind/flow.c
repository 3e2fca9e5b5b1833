#include "unwind/flow.h"

#include "arch/arch.h"
#include "base/hash.h"
#include "base/memo.h"
#include "arch/x86_decode.h"

enum { SP = 4, FP = 5, WAYS_MAX = 256, LONGEST = 64 << 10, ROUNDS = 3 };

/* What is known at a jump's target. */
struct way {
	u32 to;
	struct flow flow;
};

struct follower {
	u32 end;   /* the instruction in question */
	u32 limit; /* where this round stops looking for jumps */
	u32 at;    /* the current instruction */
	s64 word;
	bool is_reached; /* whether the code so far leads to the next instruction */
	struct flow now;
	struct way ways[WAYS_MAX]; /* targets ahead; descending */
	u32 n_ways;
	struct way back[WAYS_MAX]; /* targets of backward jumps, for the next round */
	u32 n_back;
	bool is_lost; /* too many targets */
	/* A jump through a table leads to its cases: code that may have no other predecessor. */
	bool has_cases, takes_cases;
	struct flow cases;
};

static s64 merged(s64 a, s64 b)
{
	return a == b ? a : FLOW_UNKNOWN;
}

static struct flow merged_flows(const struct flow *a, const struct flow *b)
{
	return (struct flow){merged(a->sp, b->sp), merged(a->fp, b->fp),
		merged(a->saved, b->saved)};
}

static void add_back(struct follower *f, u32 to)
{
	for (u32 i = 0; i < f->n_back; i++)
		if (f->back[i].to == to)
			return;
	if (f->n_back < WAYS_MAX)
		f->back[f->n_back++] = (struct way){to, f->now};
}

static void add_way(struct follower *f, s64 to)
{
	u32 i = f->n_ways;

	if (to < 0 || to > f->limit)
		return;
	if (to <= f->at) {
		add_back(f, (u32)to);
		return;
	}
	if (f->n_ways == WAYS_MAX) {
		f->is_lost = true;
		return;
	}
	for (; i && f->ways[i - 1].to < to; i--)
		f->ways[i] = f->ways[i - 1];
	f->ways[i] = (struct way){(u32)to, f->now};
	f->n_ways++;
}

/* Merges what leads to `at`: the instruction before it, and jumps. */
static void arrive(struct follower *f, u32 at)
{
	while (f->n_ways && f->ways[f->n_ways - 1].to <= at) {
		const struct way *way = &f->ways[--f->n_ways];

		/* A jump into the middle of an instruction: data that was decoded as code. */
		if (way->to < at)
			continue;
		f->now = f->is_reached ? merged_flows(&f->now, &way->flow) : way->flow;
		f->is_reached = true;
	}
}

/* ---- what instructions do ---- */

static void move_sp(struct follower *f, s64 by)
{
	if (f->now.sp != FLOW_UNKNOWN)
		f->now.sp += by;
}

static void pop(struct follower *f, u8 reg)
{
	s64 from = f->now.sp;

	move_sp(f, -f->word);
	if (reg == SP)
		f->now.sp = FLOW_UNKNOWN;
	if (reg != FP)
		return;
	f->now.fp = FLOW_UNKNOWN;
	/* The frame is undone if the loaded value is the caller's frame pointer. */
	f->now.saved = from != FLOW_UNKNOWN && from == f->now.saved ? 0 : FLOW_UNKNOWN;
}

static void push(struct follower *f, bool is_caller_fp)
{
	move_sp(f, f->word);
	if (is_caller_fp)
		f->now.saved = f->now.sp;
}

/* Sets a register to the address `at`, or to FLOW_UNKNOWN. */
static void set(struct follower *f, u8 reg, s64 at)
{
	if (reg == SP)
		f->now.sp = at;
	if (reg != FP)
		return;
	f->now.fp = at;
	if (!f->now.saved)
		f->now.saved = FLOW_UNKNOWN;
}

static s64 place_of(const struct follower *f, u8 reg)
{
	return reg == SP ? f->now.sp : reg == FP ? f->now.fp : FLOW_UNKNOWN;
}

static s64 higher(s64 place, s64 by)
{
	return place == FLOW_UNKNOWN ? FLOW_UNKNOWN : place - by;
}

/* add, or, adc, sbb, and, sub, xor, cmp */
static void calculate(struct follower *f, const struct x86_op *op, unsigned what, u8 reg)
{
	bool is_constant = op->opcode == 0x81 || op->opcode == 0x83;

	if (what == 7)
		return;
	if (is_constant && op->is_wide && what == 0)
		set(f, reg, higher(place_of(f, reg), op->imm));
	else if (is_constant && op->is_wide && what == 5)
		set(f, reg, higher(place_of(f, reg), -op->imm));
	else
		set(f, reg, FLOW_UNKNOWN);
}

/* A jump through a table, or a tail call at the function's end, where the frame is undone. */
static void end_by_pointer(struct follower *f)
{
	f->is_reached = false;
	if (f->now.sp == FLOW_UNKNOWN ? f->now.fp == FLOW_UNKNOWN : f->now.sp <= 0)
		return;
	f->cases = f->has_cases ? merged_flows(&f->cases, &f->now) : f->now;
	f->has_cases = true;
}

/* Instructions with two operands, one of which may be memory. */
static void take_modrm(struct follower *f, const struct x86_op *op)
{
	bool is_register = op->mode == 3;
	u8 code = op->opcode;

	/* Even opcodes work on bytes, whose registers 4 and 5 are different ones. */
	if (code < 0x40 && code % 2 == 0)
		return;
	if (code < 0x40) {
		if (code & 2)
			calculate(f, op, code >> 3, op->reg);
		else if (is_register)
			calculate(f, op, code >> 3, op->rm);
	} else if (code == 0x81 || code == 0x83) {
		if (is_register)
			calculate(f, op, op->reg & 7, op->rm);
	} else if (code == 0x89 && is_register) {
		set(f, op->rm, op->is_wide ? place_of(f, op->reg) : FLOW_UNKNOWN);
	} else if (code == 0x8b) {
		set(f, op->reg, op->is_wide && is_register ? place_of(f, op->rm) : FLOW_UNKNOWN);
	} else if (code == 0x8d) {
		set(f, op->reg,
			op->is_wide && op->has_base ? higher(place_of(f, op->rm), op->disp)
						    : FLOW_UNKNOWN);
	} else if (code == 0x63 || code == 0x69 || code == 0x6b) {
		set(f, op->reg, FLOW_UNKNOWN);
	} else if (code == 0x87 ||
		((code == 0xc1 || code == 0xd1 || code == 0xd3) && is_register)) {
		set(f, op->rm, FLOW_UNKNOWN);
		if (code == 0x87)
			set(f, op->reg, FLOW_UNKNOWN);
	} else if (code == 0xc7 && is_register) {
		set(f, op->rm, FLOW_UNKNOWN);
	} else if (code == 0x8f) {
		pop(f, is_register ? op->rm : 0);
	} else if (code == 0xff && (op->reg & 7) == 6) {
		push(f, false);
	} else if (code == 0xff && ((op->reg & 7) == 4 || (op->reg & 7) == 5)) {
		end_by_pointer(f);
	} else if ((code == 0xff && (op->reg & 7) < 2 && is_register) ||
		(code == 0xf7 && ((op->reg & 7) == 2 || (op->reg & 7) == 3) && is_register)) {
		set(f, op->rm, FLOW_UNKNOWN);
	}
}

static void leave(struct follower *f)
{
	f->now.sp = f->now.fp;
	pop(f, FP);
}

/* Opcodes of one byte without modrm. */
static void take_plain(struct follower *f, const struct x86_op *op, u32 next)
{
	u8 code = op->opcode;

	if (op->is_short && (code >> 4 == 5 || code == 0x68 || code == 0x6a))
		f->now.sp = FLOW_UNKNOWN;
	else if (code >> 3 == 10)
		push(f, op->reg == FP && !f->now.saved);
	else if (code >> 3 == 11)
		pop(f, op->reg);
	else if (code == 0x68 || code == 0x6a || code == 0x9c)
		push(f, false);
	else if (code == 0x9d)
		pop(f, 0);
	else if (code == 0xc9)
		leave(f);
	else if (code == 0xc8 || code == 0x60 || code == 0x61 || code >> 1 == 0x94 >> 1) {
		/* enter, pusha, popa, xchg with one of them */
		set(f, SP, FLOW_UNKNOWN);
		set(f, FP, FLOW_UNKNOWN);
	} else if (code >> 3 == 0x17)
		set(f, op->reg, FLOW_UNKNOWN);
	else if (code >> 4 == 7 || (code >= 0xe0 && code <= 0xe3))
		add_way(f, (s64)next + op->imm);
	else if (code == 0xe9 || code == 0xeb) {
		add_way(f, (s64)next + op->imm);
		f->is_reached = false;
	} else if (code == 0xc3 || code == 0xc2 || code == 0xcc || code == 0xf4 || code == 0xcb ||
		code == 0xcf) {
		f->is_reached = false;
	}
}

static void take_two(struct follower *f, const struct x86_op *op, u32 next)
{
	u8 code = op->opcode;

	if (code >> 4 == 8)
		add_way(f, (s64)next + op->imm);
	else if (code == 0x0b)
		f->is_reached = false;
	/* cmov, movzx, movsx, imul, bsf, bsr, popcnt, xadd, cmpxchg: they write registers */
	else if (code >> 4 == 4 || code == 0xaf || (code >= 0xb6 && code <= 0xbf && code != 0xba))
		set(f, op->reg, FLOW_UNKNOWN);
	else if ((code == 0xb1 || code == 0xc1) && op->mode == 3)
		set(f, op->rm, FLOW_UNKNOWN);
	else if (code >> 3 == 0xc8 >> 3)
		f->now.sp = (code & 7) == SP ? FLOW_UNKNOWN : f->now.sp;
}

static void take(struct follower *f, const struct x86_op *op, u32 next)
{
	if (op->map == X86_0F)
		take_two(f, op, next);
	else if (op->map == X86_ONE && op->has_modrm)
		take_modrm(f, op);
	else if (op->map == X86_ONE)
		take_plain(f, op, next);
}

/*
 * Follows the code from the start to the limit, or to where no flow leads on. Returns true if it passed
 * `end`.
 */
static bool follow(struct follower *f, const u8 *start, bool is_64)
{
	struct x86_op op;

	f->is_reached = true;
	f->now = (struct flow){0, FLOW_UNKNOWN, 0};
	f->n_ways = 0;
	f->at = 0;
	f->has_cases = false;
	for (u32 i = 0; i < f->n_back; i++) {
		f->now = f->back[i].flow;
		if (f->back[i].to)
			add_way(f, f->back[i].to);
	}
	f->now = (struct flow){0, FLOW_UNKNOWN, 0};
	for (;; f->at += op.size) {
		arrive(f, f->at);
		if (f->is_lost || (f->at == f->end && f->is_reached))
			return !f->is_lost;
		if (f->at >= f->limit || (f->at > f->end && !f->is_reached && !f->n_ways))
			return false;
		if (!x86_decode(start + f->at, f->limit - f->at, is_64, &op))
			return false;
		if (!f->is_reached && f->takes_cases && f->has_cases && !x86_is_padding(&op)) {
			f->now = f->cases;
			f->is_reached = true;
			if (f->at == f->end)
				return true;
		}
		if (f->is_reached)
			take(f, &op, f->at + op.size);
	}
}

/*
 * First follows the code down to the instruction. If no flow leads there, the code after it and its backward
 * jumps are followed, too: the bodies of loops that begin with their condition.
 */
bool flow_find(const struct arch *arch, const struct stack_bytes *code, struct flow *ret_flow)
{
	bool is_64 = arch->word == 8, is_found;
	struct follower f;
	const u8 *start;
	u32 far;

	if (!arch->is_x86 || !code->at || code->into > code->n_before || code->into > LONGEST)
		return false;
	start = code->at - code->into;
	/* The lists stay uninitialized: they are long. */
	f.word = is_64 ? 8 : 4;
	f.n_back = 0;
	f.is_lost = f.takes_cases = false;
	f.limit = f.end = (u32)code->into;
	far = (u32)MIN((u64)LONGEST, code->into + code->n_after);
	is_found = follow(&f, start, is_64);
	for (unsigned round = 0; round < 2 * ROUNDS && !is_found && !f.is_lost && f.end; round++) {
		f.takes_cases = round >= ROUNDS;
		f.limit = far;
		is_found = follow(&f, start, is_64);
	}
	if (!is_found)
		return false;
	*ret_flow = f.now;
	return f.now.sp != FLOW_UNKNOWN || f.now.fp != FLOW_UNKNOWN;
}

/* ---- recent results ---- */

enum { REMEMBERED = 1 << 13 };

struct flow_known {
	const u8 *at;
	u64 into;
	struct flow flow;
	bool is_found;
};

struct flow_memo {
	struct memo memo; /* over `known` */
	VEC(struct flow_known) known;
};

struct flow_memo *flow_memo_new(void)
{
	struct flow_memo *m = mem_zalloc(sizeof(*m));

	m->memo = memo_of(REMEMBERED);
	return m;
}

void flow_memo_free(struct flow_memo *m)
{
	if (!m)
		return;
	memo_fini(&m->memo);
	vec_fini(&m->known);
	mem_free(m);
}

bool flow_recall(struct flow_memo *m, const struct arch *arch, const struct stack_bytes *code,
	struct flow *ret_flow)
{
	u32 *slot = memo_slot(&m->memo, hash_u64((u64)(uintptr_t)code->at));
	const struct flow_known *known = *slot ? &m->known.at[*slot - 1] : NULL;
	struct flow_known found = {.at = code->at, .into = code->into};

	if (!known || known->at != code->at || known->into != code->into) {
		found.is_found = flow_find(arch, code, &found.flow);
		memo_keep(&m->known, slot, found);
		known = &m->known.at[*slot - 1];
	}
	if (known->is_found)
		*ret_flow = known->flow;
	return known->is_found;
}
