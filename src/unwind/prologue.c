#include "unwind/prologue.h"

#include "unwind/rows.h"
#include "unwind/sigframe.h"

enum { INSTRUCTIONS_MAX = 24, SCANNED_MAX = 64 << 10 };

static bool has(const struct prologue *e, unsigned reg)
{
	return reg < ROW_REGS && *e->known >> reg & 1;
}

static void set(struct prologue *e, unsigned reg, u64 v)
{
	e->regs[reg] = e->arch->word == 4 ? (u32)v : v;
	*e->known |= 1ull << reg;
}

static bool load(struct prologue *e, u8 reg, u64 va)
{
	u64 v;

	if (reg == ARCH_NO_REG)
		return true;
	if (!e->read(e->ctx, va, e->arch->word, &v))
		return false;
	set(e, reg, v);
	return true;
}

/* Takes the return address, after everything above it on the stack has been popped. */
static bool take_return(struct prologue *e, u64 more, u64 *ret_ip)
{
	if (e->arch->link != ARCH_NO_REG) {
		if (!has(e, e->arch->link))
			return false;
		*ret_ip = e->regs[e->arch->link];
		return true;
	}
	if (!e->read(e->ctx, e->regs[e->arch->sp], e->arch->word, ret_ip))
		return false;
	e->regs[e->arch->sp] += e->arch->word + more;
	return true;
}

/* Executes an instruction. Returns false if its effect is unknown. */
static bool play(struct prologue *e, const struct arch_op *op)
{
	u64 sp = e->regs[e->arch->sp], from;

	switch ((enum arch_op_kind)op->kind) {
	case ARCH_OP_SKIP:
		return true;
	case ARCH_OP_LOST:
		*e->known &= ~(1ull << op->reg);
		return true;
	case ARCH_OP_SET:
		if (!has(e, op->from))
			return false;
		set(e, op->reg, e->regs[op->from] + (u64)op->value);
		return true;
	case ARCH_OP_LOAD:
		from = e->regs[op->from] + (u64)op->value;
		if (!has(e, op->from) || !load(e, op->reg, from) ||
			!load(e, op->reg2, from + e->arch->word))
			return false;
		e->regs[e->arch->sp] = sp + (u64)op->after;
		return true;
	case ARCH_OP_LEAVE:
		if (!has(e, e->arch->fp) || e->regs[e->arch->fp] < sp)
			return false;
		sp = e->regs[e->arch->fp];
		if (!load(e, e->arch->fp, sp))
			return false;
		e->regs[e->arch->sp] = sp + e->arch->word;
		return true;
	case ARCH_OP_NONE:
	case ARCH_OP_RETURN:
		break;
	}
	return false;
}

bool prologue_return(struct prologue *e, u64 *ret_ip)
{
	u32 at = 0;

	for (unsigned i = 0; i < INSTRUCTIONS_MAX && at < e->code.n_after; i++) {
		struct arch_op op =
			e->arch->code->op(e->arch, e->code.at + at, e->code.n_after - at);

		if (op.kind == ARCH_OP_RETURN)
			return take_return(e, (u64)op.value, ret_ip);
		if (!play(e, &op))
			return false;
		at += op.size;
	}
	return false;
}

bool prologue_entry(struct prologue *e, u64 *ret_ip)
{
	const struct stack_bytes *code = &e->code;
	struct arch_op undo;

	if (!code->at)
		return false;
	undo = e->arch->code->entry(e->arch, code->at, code->n_before, code->n_after);
	return play(e, &undo) && take_return(e, 0, ret_ip);
}

enum arch_frame prologue_frame(const struct arch *arch, const struct stack_bytes *code)
{
	if (!code->at || code->into > code->n_before || code->into > SCANNED_MAX)
		return ARCH_FRAME_UNKNOWN;
	return arch->code->frame(arch, code->at - code->into, (u32)code->into, code->n_after);
}

enum prologue_call prologue_call(const struct arch *arch, const struct stack_bytes *code, u64 ip,
	u64 function)
{
	u64 to;

	if (!code->at || code->n_before < 5 || !arch->code->callee(code->at, ip, &to))
		return PROLOGUE_CALL_UNKNOWN;
	return to == function ? PROLOGUE_CALL_HERE : PROLOGUE_CALL_ELSEWHERE;
}

bool prologue_is_returned_to(const struct arch *arch, const struct stack_bytes *code)
{
	return !code->at || arch->code->is_call_before(code->at, code->n_before) ||
		sigframe_is_trampoline(arch, code);
}

bool prologue_is_behind_system_call(const struct arch *arch, const struct stack_bytes *code)
{
	return code->at && arch->code->is_behind_system_call(code->at, code->n_before);
}
