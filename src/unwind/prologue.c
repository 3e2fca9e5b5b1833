#include "unwind/prologue.h"

#include "unwind/rows.h"
#include "unwind/sigframe.h"

enum { INSTRUCTIONS_MAX = 24, SCANNED_MAX = 64 << 10 };

enum op_kind {
	OP_NONE, /* something else */
	OP_SKIP, /* does nothing that matters here */
	OP_SET,  /* reg = from + value */
	OP_LOAD, /* reg = [from + value], reg2 = [from + value + word]; then sp += after */
	OP_LOST, /* reg gets a value that nobody follows */
	OP_LEAVE,
	OP_RETURN, /* sp += value behind it */
};

enum { NOTHING = 255 }; /* no register */

struct op {
	u8 kind;
	u8 size; /* bytes of the instruction */
	u8 reg, reg2, from;
	s64 value, after;
};

/* ---- x86 ---- */

static const u8 endbr[] = {0xf3, 0x0f, 0x1e};

/* The DWARF number of a register as instructions have it. */
static u8 x86_reg(const struct prologue *e, unsigned n)
{
	static const u8 of_64[] = {0, 2, 1, 3, 7, 6, 4, 5};

	return e->arch == &arch_x86_64 && n < 8 ? of_64[n] : (u8)n;
}

/* Instructions that set the stack pointer, or load a register from near it. */
static struct op x86_memory(const struct prologue *e, const u8 *p, u32 n, unsigned rex)
{
	unsigned reg = (p[1] >> 3 & 7) | (rex & 4) << 1, mode = p[1] >> 6, base = p[1] & 7;
	u32 at = 2 + (base == 4), width = mode == 1 ? 1 : 4;
	struct op op = {.reg = x86_reg(e, reg), .reg2 = NOTHING, .from = x86_reg(e, base)};
	s32 disp;

	/* Only the stack pointer and the frame pointer as base, with a displacement or none. */
	if ((base != 4 && base != 5) || mode == 3 || (mode == 0 && base != 4) || rex & 3 ||
		(base == 4 && (n < 3 || p[2] != 0x24)))
		return (struct op){OP_NONE};
	if (mode == 0)
		width = 0;
	if (n < at + width)
		return (struct op){OP_NONE};
	disp = width == 1 ? (signed char)p[at] : width ? (s32)load_u32(p + at) : 0;
	op.size = (u8)(at + width);
	op.value = disp;
	if (p[0] == 0x8b) /* mov */
		op.kind = op.reg == e->sp ? OP_NONE : OP_LOAD;
	else /* lea */
		op.kind = op.reg == e->sp ? OP_SET : OP_LOST;
	return op;
}

/* add and sub $n,%rsp; moves between registers; xor of a register with itself. */
static struct op x86_register(const struct prologue *e, const u8 *p, u32 n, unsigned rex,
	bool is_wide)
{
	struct op op = {.size = 2, .reg2 = NOTHING};

	if (n >= 3 && p[0] == 0x83 && p[1] == 0xc4 && is_wide)
		return (struct op){OP_SET, 3, e->sp, NOTHING, e->sp, (signed char)p[2], 0};
	/* _fini makes its frame and undoes it. */
	if (n >= 3 && p[0] == 0x83 && p[1] == 0xec && is_wide)
		return (struct op){OP_SET, 3, e->sp, NOTHING, e->sp, -(signed char)p[2], 0};
	if (n >= 6 && p[0] == 0x81 && p[1] == 0xc4 && is_wide)
		return (struct op){OP_SET, 6, e->sp, NOTHING, e->sp, (s32)load_u32(p + 2), 0};
	if (p[1] >> 6 != 3 || (p[0] != 0x89 && p[0] != 0x31))
		return (struct op){OP_NONE};
	op.reg = x86_reg(e, (p[1] & 7) | (rex & 1) << 3);
	op.from = x86_reg(e, (p[1] >> 3 & 7) | (rex & 4) << 1);
	op.kind = p[0] == 0x89 && is_wide ? OP_SET : OP_LOST;
	/* A stack pointer that is computed is nothing for us. */
	if (op.reg == e->sp && op.kind == OP_LOST)
		op.kind = OP_NONE;
	return op;
}

static struct op x86_plain(const struct prologue *e, const u8 *p, u32 n, unsigned rex)
{
	bool is_wide = e->word == 4 || rex & 8;
	struct op op = {.size = 1, .reg2 = NOTHING};

	if (p[0] >= 0x58 && p[0] <= 0x5f) {
		op.kind = OP_LOAD;
		op.reg = x86_reg(e, (unsigned)(p[0] - 0x58) | (rex & 1) << 3);
		op.from = e->sp;
		op.after = e->word;
		return op.reg == e->sp ? (struct op){OP_NONE} : op;
	}
	if (p[0] == 0xc9)
		return (struct op){OP_LEAVE, 1, NOTHING, NOTHING, 0, 0, 0};
	if (p[0] == 0xc3)
		return (struct op){OP_RETURN, 1, NOTHING, NOTHING, 0, 0, 0};
	if (n < 2)
		return op;
	if ((p[0] == 0x8d || p[0] == 0x8b) && is_wide)
		return x86_memory(e, p, n, rex);
	return x86_register(e, p, n, rex, is_wide);
}

static u32 x86_endbr(const u8 *p, u32 n)
{
	return n >= 4 && !memcmp(p, endbr, sizeof(endbr)) && (p[3] == 0xfa || p[3] == 0xfb) ? 4 : 0;
}

/*
 * The bytes of a jump to an address that is in memory, not in a register nor an element of a table: an entry of the PLT, which in
 * static programs no call frame information covers, or a call of a function at the end of another.
 */
static u32 x86_jump_elsewhere(const u8 *p, u32 n)
{
	u32 prefix = x86_endbr(p, n);

	if (n > prefix && p[prefix] == 0xf2) /* bnd */
		prefix++;
	return n >= prefix + 6 && p[prefix] == 0xff && p[prefix + 1] == 0x25 ? prefix + 6 : 0;
}

static struct op x86_op(const struct prologue *e, const u8 *p, u32 n)
{
	unsigned rex = 0;
	u32 prefix = 0, jump = x86_jump_elsewhere(p, n);
	struct op op;

	if (jump)
		return (struct op){OP_RETURN, (u8)jump, NOTHING, NOTHING, 0, 0, 0};
	if (n >= 2 && (p[0] == 0xf3 || p[0] == 0xf2) && p[1] == 0xc3)
		return (struct op){OP_RETURN, 2, NOTHING, NOTHING, 0, 0, 0};
	if (n >= 3 && p[0] == 0xc2)
		return (struct op){OP_RETURN, 3, NOTHING, NOTHING, 0, load_u16(p + 1), 0};
	if (n >= 3 && p[0] == 0xc5 && p[1] == 0xf8 && p[2] == 0x77) /* vzeroupper */
		return (struct op){OP_SKIP, 3, NOTHING, NOTHING, 0, 0, 0};
	if (e->arch == &arch_x86_64 && n && p[0] >> 4 == 4) {
		rex = p[0] & 15;
		prefix = 1;
	}
	if (n <= prefix)
		return (struct op){OP_NONE};
	op = x86_plain(e, p + prefix, n - prefix, rex);
	op.size = (u8)(op.size + prefix);
	return op;
}

/* The bytes of `mov %rsp,%rbp` at p: their number, or 0. */
static u32 x86_move_to_fp(const struct prologue *e, const u8 *p, u32 n)
{
	u32 prefix = e->word == 8;

	if (n < 2 + prefix || (prefix && p[0] != 0x48))
		return 0;
	p += prefix;
	return (p[0] == 0x89 && p[1] == 0xe5) || (p[0] == 0x8b && p[1] == 0xec) ? 2 + prefix : 0;
}

/*
 * The first instructions of _init, which are in every program and library of glibc, without call frame
 * information: sub $8,%rsp; mov __gmon_start__(%rip),%rax; test %rax,%rax; je; call *%rax.
 */
static bool x86_is_init(const u8 *p, u32 n)
{
	static const u8 head[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0x8b, 0x05},
			tail[] = {0x48, 0x85, 0xc0, 0x74, 0x02, 0xff, 0xd0};
	u32 between = 4;

	return n >= sizeof(head) + between + sizeof(tail) && !memcmp(p, head, sizeof(head)) &&
		!memcmp(p + sizeof(head) + between, tail, sizeof(tail));
}

/* How much of endbr, push %rbp, mov %rsp,%rbp is still to come: 0: it is no such place. */
static unsigned x86_entry(const struct prologue *e)
{
	const u8 *p = e->code.at;
	u32 n = e->code.n_after, skip = x86_endbr(p, n);

	if (n > skip && p[skip] == 0x55 && x86_move_to_fp(e, p + skip + 1, n - skip - 1))
		return 2;
	if (x86_is_init(p + skip, n - skip))
		return 2;
	return e->code.n_before && p[-1] == 0x55 && x86_move_to_fp(e, p, n) ? 1 : 0;
}

/* Whether a jump before `end` leads behind it and not beyond `function_end`. Too much is found rather than too little. */
static bool x86_jumps_over(const u8 *p, u32 end, u64 limit)
{
	for (u32 i = 0; i + 1 < end; i++) {
		s64 to = -1;

		if (p[i] >> 4 == 7 || p[i] == 0xeb)
			to = (s64)i + 2 + (signed char)p[i + 1];
		else if (p[i] == 0x0f && p[i + 1] >> 4 == 8 && i + 6 <= end)
			to = (s64)i + 6 + (s32)load_u32(p + i + 2);
		else if (p[i] == 0xe9 && i + 5 <= end)
			to = (s64)i + 5 + (s32)load_u32(p + i + 1);
		if (to > (s64)end && to <= (s64)limit)
			return true;
	}
	return false;
}

/* Whether a frame is undone (mov %rbp,%rsp; pop %rbp) and the function goes on. */
static bool x86_goes_on_without_frame(const u8 *p, u32 n)
{
	for (u32 i = 0; i + 4 < n; i++) {
		bool is_undone = p[i] == 0x48 && p[i + 3] == 0x5d &&
			((p[i + 1] == 0x8b && p[i + 2] == 0xe5) ||
				(p[i + 1] == 0x89 && p[i + 2] == 0xec));
		u8 next = p[i + 4];

		if (is_undone && next != 0xc3 && next != 0xc2 && next != 0xe9 && next != 0xeb &&
			next != 0xff && next != 0x41)
			return true;
	}
	return false;
}

/* Whether the function begins with a jump to where it makes its frame (regular expressions of V8). */
static bool x86_enters_by_jump(const struct prologue *e, const u8 *start)
{
	u64 n = e->code.into + e->code.n_after, to = 0;

	if (n >= 2 && start[0] == 0xeb)
		to = 2 + (u64)(s64)(signed char)start[1];
	else if (n >= 5 && start[0] == 0xe9)
		to = 5 + (u64)(s64)(s32)load_u32(start + 1);
	return to && to < n && start[to] == 0x55 &&
		x86_move_to_fp(e, start + to + 1, (u32)MIN(n - to - 1, (u64)8));
}

/*
 * The frame may be made some instructions behind the start (generated code looks first whether it is
 * still valid), but then no way may lead around that.
 */
static enum prologue_frame x86_frame(const struct prologue *e)
{
	enum { LATEST = 64 };
	const u8 *start = e->code.at - e->code.into;
	u32 n = (u32)e->code.into, at = x86_endbr(start, n);

	/* At the very first instruction nothing can have been done. */
	if (n == 0 || n == at)
		return PROLOGUE_LEAF;
	if (x86_enters_by_jump(e, start))
		return PROLOGUE_FRAME;
	for (; at < n; at++) {
		u32 move = start[at] == 0x55 ? x86_move_to_fp(e, start + at + 1, n - at - 1) : 0;

		if (!move)
			continue;
		return at > LATEST || x86_jumps_over(start, at, n) ||
				x86_goes_on_without_frame(start + at, n - at)
			? PROLOGUE_SOMETIMES
			: PROLOGUE_FRAME;
	}
	return PROLOGUE_UNKNOWN;
}

/* call *...: opcode ff /2 of each length that there is. */
static bool x86_is_call_before(const u8 *p, u32 n)
{
	static const struct {
		u8 size, mode;
		bool has_sib;
	} forms[] = {{2, 3, false}, {2, 0, false}, {3, 1, false}, {6, 2, false}, {3, 0, true},
		{4, 1, true}, {7, 2, true}};

	if (n >= 5 && p[-5] == 0xe8)
		return true;
	if (n >= 6 && p[-6] == 0xff && p[-5] == 0x15) /* relative to the instruction, or absolute */
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const u8 *call = p - forms[i].size;

		if (n >= forms[i].size && call[0] == 0xff && (call[1] >> 3 & 7) == 2 &&
			call[1] >> 6 == forms[i].mode &&
			(forms[i].mode == 3 || ((call[1] & 7) == 4) == forms[i].has_sib))
			return true;
	}
	return n >= 7 && p[-7] == 0xff && p[-6] == 0x14 && (p[-5] & 7) == 5;
}

/* ---- arm64 ---- */

enum { ARM64_FP = 29, ARM64_LINK = 30, ARM64_SP = 31 };

/* nop, bti, paciasp, autiasp and their like: hints to processors without them. */
static bool arm64_is_hint(u32 v)
{
	return (v & 0xfffff01f) == 0xd503201f;
}

static bool arm64_is_return(u32 v)
{
	return v == 0xd65f03c0 || v == 0xd65f0bff || v == 0xd65f0fff;
}

static s64 sign_extended(u32 v, unsigned low, unsigned bits)
{
	return (s64)((u64)(v >> low) << (64 - bits)) >> (64 - bits);
}

/* Loads from the stack: of pairs and of one register, of integers and of vectors' halves. */
static struct op arm64_load(u32 v)
{
	struct op op = {OP_LOAD, 4, v & 31, NOTHING, ARM64_SP, 0, 0};
	bool is_vector = v >> 26 & 1;

	if ((v & 0xfbc00000) == (is_vector ? 0x68c00000u : 0xa8c00000u) ||
		(is_vector && (v & 0xffc00000) == 0x6cc00000))
		op.after = sign_extended(v, 15, 7) * 8;
	else if ((v & 0xffc00000) == 0xa9400000 || (v & 0xffc00000) == 0x6d400000)
		op.value = sign_extended(v, 15, 7) * 8;
	else if ((v & 0xffe00c00) == 0xf8400400 || (v & 0xffe00c00) == 0xfc400400)
		op.after = sign_extended(v, 12, 9);
	else if ((v & 0xffc00000) == 0xf9400000 || (v & 0xffc00000) == 0xfd400000)
		op.value = (v >> 10 & 0xfff) * 8;
	else
		return (struct op){OP_NONE};
	if ((v >> 5 & 31) != ARM64_SP)
		return (struct op){OP_NONE};
	if ((v >> 27 & 7) == 5) /* pairs */
		op.reg2 = v >> 10 & 31;
	if (is_vector)
		op.reg = op.reg2 = NOTHING;
	return op;
}

static struct op arm64_op(u32 v)
{
	s64 value = (v >> 10 & 0xfff) << (v >> 22 & 1 ? 12 : 0);
	u8 to = v & 31, from = v >> 5 & 31;

	if (arm64_is_return(v))
		return (struct op){OP_RETURN, 4, NOTHING, NOTHING, 0, 0, 0};
	if (arm64_is_hint(v))
		return (struct op){OP_SKIP, 4, NOTHING, NOTHING, 0, 0, 0};
	/* add and sub of a constant, to the stack pointer */
	if ((v & 0xff800000) == 0x91000000 && to == ARM64_SP)
		return (struct op){OP_SET, 4, to, NOTHING, from, value, 0};
	if ((v & 0xff800000) == 0xd1000000 && to == ARM64_SP)
		return (struct op){OP_SET, 4, to, NOTHING, from, -value, 0};
	if ((v & 0xffe0ffe0) == 0xaa0003e0 && to < ARM64_FP) /* mov */
		return (struct op){OP_LOST, 4, to, NOTHING, 0, 0, 0};
	return arm64_load(v);
}

static bool arm64_saves_frame(u32 v)
{
	return (v & 0xffc07fff) == 0xa9807bfd; /* stp x29,x30,[sp,#-n]! */
}

static unsigned arm64_entry(const struct prologue *e)
{
	const u8 *p = e->code.at;
	u32 n = e->code.n_after;

	if (n >= 4 && load_u32(p) == 0x910003fd && e->code.n_before >= 4 &&
		arm64_saves_frame(load_u32(p - 4))) /* mov x29,sp */
		return 1;
	while (n >= 4 && arm64_is_hint(load_u32(p))) {
		p += 4;
		n -= 4;
	}
	return n >= 4 && arm64_saves_frame(load_u32(p)) ? 2 : 0;
}

/* Whether an instruction may change where the return address is, or the stack pointer. */
static bool arm64_touches_link(u32 v)
{
	bool is_call = v >> 26 == 0x25 || (v & 0xfffff000) == 0xd63f0000;
	bool is_pair = (v & 0x3a000000) == 0x28000000;
	/* add and sub without flags, whose 31 is the stack pointer; before or after loads and stores */
	bool sets_sp = ((v & 0x3f000000) == 0x11000000 || (v & 0x3fe00000) == 0x0b200000) &&
		(v & 31) == ARM64_SP;
	bool moves_sp = (v >> 5 & 31) == ARM64_SP &&
		((is_pair && v >> 23 & 1) || (v & 0x3a200400) == 0x38000400);

	return is_call || sets_sp || moves_sp || (v & 31) == ARM64_LINK ||
		(is_pair && (v >> 10 & 31) == ARM64_LINK);
}

static enum prologue_frame arm64_frame(const struct prologue *e)
{
	bool has_saved = false, has_frame = false, has_touched = false;

	if (e->code.into % 4)
		return PROLOGUE_UNKNOWN;
	for (u64 at = 0; at < e->code.into; at += 4) {
		u32 v = load_u32(e->code.at - e->code.into + at);

		has_saved |= arm64_saves_frame(v);
		has_frame |= has_saved && v == 0x910003fd;
		has_touched |= !arm64_is_hint(v) && arm64_touches_link(v);
	}
	return has_frame ? PROLOGUE_FRAME : has_touched ? PROLOGUE_UNKNOWN : PROLOGUE_LEAF;
}

static bool arm64_is_call_before(const u8 *p, u32 n)
{
	u32 v;

	if (n < 4)
		return false;
	v = load_u32(p - 4);
	return v >> 26 == 0x25 || (v & 0xfffffc1f) == 0xd63f0000 || (v & 0xfefff800) == 0xd63f0800;
}

/* ---- all ---- */

static bool has(const struct prologue *e, unsigned reg)
{
	return reg < ROW_REGS && *e->known >> reg & 1;
}

static void set(struct prologue *e, unsigned reg, u64 v)
{
	e->regs[reg] = e->word == 4 ? (u32)v : v;
	*e->known |= 1ull << reg;
}

static bool load(struct prologue *e, u8 reg, u64 va)
{
	u64 v;

	if (reg == NOTHING || reg == ARM64_SP)
		return true;
	if (!e->read(e->ctx, va, e->word, &v))
		return false;
	set(e, reg, v);
	return true;
}

static struct op next_op(const struct prologue *e, u32 at)
{
	const u8 *p = e->code.at + at;
	u32 n = e->code.n_after - at;

	if (e->arch == &arch_arm64)
		return n >= 4 ? arm64_op(load_u32(p)) : (struct op){OP_NONE};
	return x86_op(e, p, n);
}

/* What is between the stack pointer and the return address has been undone. */
static bool take_return(struct prologue *e, u64 more, u64 *ret_ip)
{
	if (e->link != NOTHING) {
		if (!has(e, e->link))
			return false;
		*ret_ip = e->regs[e->link];
		return true;
	}
	if (!e->read(e->ctx, e->regs[e->sp], e->word, ret_ip))
		return false;
	e->regs[e->sp] += e->word + more;
	return true;
}

/* False: the instruction has no effect that can be told. */
static bool play(struct prologue *e, const struct op *op)
{
	u64 sp = e->regs[e->sp], from;

	switch ((enum op_kind)op->kind) {
	case OP_SKIP:
		return true;
	case OP_LOST:
		*e->known &= ~(1ull << op->reg);
		return true;
	case OP_SET:
		if (!has(e, op->from))
			return false;
		set(e, op->reg, e->regs[op->from] + (u64)op->value);
		return true;
	case OP_LOAD:
		from = e->regs[op->from] + (u64)op->value;
		if (!has(e, op->from) || !load(e, op->reg, from) ||
			!load(e, op->reg2, from + e->word))
			return false;
		e->regs[e->sp] = sp + (u64)op->after;
		return true;
	case OP_LEAVE:
		if (!has(e, e->fp) || e->regs[e->fp] < sp)
			return false;
		sp = e->regs[e->fp];
		if (!load(e, e->fp, sp))
			return false;
		e->regs[e->sp] = sp + e->word;
		return true;
	case OP_NONE:
	case OP_RETURN:
		break;
	}
	return false;
}

bool prologue_return(struct prologue *e, u64 *ret_ip)
{
	u32 at = 0;

	for (unsigned i = 0; i < INSTRUCTIONS_MAX && at < e->code.n_after; i++) {
		struct op op = next_op(e, at);

		if (op.kind == OP_RETURN)
			return take_return(e, (u64)op.value, ret_ip);
		if (!play(e, &op))
			return false;
		at += op.size;
	}
	return false;
}

bool prologue_entry(struct prologue *e, u64 *ret_ip)
{
	bool is_arm = e->arch == &arch_arm64;
	unsigned left = !e->code.at ? 0 : is_arm ? arm64_entry(e) : x86_entry(e);
	u64 sp = e->regs[e->sp];

	if (!left)
		return false;
	if (left == 1 && is_arm) {
		if (!load(e, ARM64_FP, sp) || !load(e, ARM64_LINK, sp + e->word))
			return false;
		e->regs[e->sp] = sp + (u64) - (sign_extended(load_u32(e->code.at - 4), 15, 7) * 8);
	} else if (left == 1) {
		if (!load(e, e->fp, sp))
			return false;
		e->regs[e->sp] += e->word;
	}
	return take_return(e, 0, ret_ip);
}

enum prologue_frame prologue_frame(const struct prologue *e)
{
	if (!e->code.at || e->code.into > e->code.n_before || e->code.into > SCANNED_MAX)
		return PROLOGUE_UNKNOWN;
	return e->arch == &arch_arm64 ? arm64_frame(e) : x86_frame(e);
}

enum prologue_call prologue_call(const struct arch *arch, const struct stack_bytes *code, u64 ip,
	u64 function)
{
	bool is_direct;
	u64 to;
	u32 v;

	if (!code->at || code->n_before < 5)
		return PROLOGUE_CALL_UNKNOWN;
	v = load_u32(code->at - 4);
	if (arch == &arch_arm64) {
		is_direct = v >> 26 == 0x25;
		to = ip - 4 + (u64)sign_extended(v, 0, 26) * 4;
	} else {
		is_direct = code->at[-5] == 0xe8;
		to = ip + (u64)(s64)(s32)v;
	}
	return !is_direct        ? PROLOGUE_CALL_UNKNOWN
		: to == function ? PROLOGUE_CALL_HERE
				 : PROLOGUE_CALL_ELSEWHERE;
}

bool prologue_is_returned_to(const struct arch *arch, const struct stack_bytes *code)
{
	if (!code->at)
		return true;
	return (arch == &arch_arm64 ? arm64_is_call_before : x86_is_call_before)(code->at,
		       code->n_before) ||
		sigframe_is_trampoline(arch, code);
}

bool prologue_is_behind_system_call(const struct arch *arch, const struct stack_bytes *code)
{
	const u8 *p = code->at;

	if (!p)
		return false;
	if (arch == &arch_arm64)
		return code->n_before >= 4 && load_u32(p - 4) == 0xd4000001; /* svc #0 */
	/* syscall, sysenter, int $0x80 */
	return code->n_before >= 2 &&
		((p[-2] == 0x0f && (p[-1] == 0x05 || p[-1] == 0x34)) ||
			(p[-2] == 0xcd && p[-1] == 0x80));
}
