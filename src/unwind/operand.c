#include "unwind/operand.h"

#include <string.h>

#include "arch/x86_decode.h"

/* Converts the processor's register numbers to DWARF's. */
static u8 dwarf_reg(u8 reg)
{
	static const u8 low[] = {0, 2, 1, 3, 7, 6, 4, 5};

	return reg == X86_NO_REG ? OPERAND_NO_REG : reg < ARRAY_SIZE(low) ? low[reg] : reg;
}

/* i386's ABI numbers registers like the processor does. */
u8 operand_reg(u8 dwarf_number, bool is_64)
{
	enum { I386_REGS = 8 };

	if (is_64)
		return dwarf_number;
	return dwarf_number < I386_REGS ? dwarf_reg(dwarf_number) : OPERAND_NO_REG;
}

enum { AX = 0, CX = 1, DX = 2, BX = 3, SI = 6, DI = 7 }; /* the processor's numbers */

#define BIT_OF(reg) (1u << (reg))

/* What instructions do. An instruction without a rule changes nothing that matters. */
enum rule {
	SETS_REG,  /* reg = something else */
	SETS_RM,   /* rm likewise, if it is a register */
	SETS_BOTH, /* both */
	SETS_BYTE_REG,
	SETS_BYTE_RM,
	SETS_OTHER,   /* the third register of a vector instruction */
	SETS_A,       /* rax */
	SETS_A_D,     /* rax, rdx */
	SETS_A_B_C_D, /* cpuid */
	SYSCALL,
	LOADS,   /* reg = rm */
	LOADS_1, /* the same for 1, 2, 4 bytes, extended */
	LOADS_2,
	LOADS_4,
	LOADS_IF,   /* cmov */
	STORES,     /* rm = reg */
	ADDRESS,    /* lea */
	MOVES_REG,  /* reg += rm */
	MOVES_RM,   /* rm += reg */
	MOVES_A,    /* between rax and a fixed address */
	ADDS_A,     /* rax += or -= a constant */
	INC_DEC,    /* i386: the register in the opcode */
	IMMEDIATE,  /* group 1: with a constant */
	SETS_CONST, /* mov: rm */
	SETS_LOW,   /* mov: the register in the opcode */
	XCHG_LOW,
	PUSH,
	POP_LOW,
	POP_RM,
	LEAVE,
	UNARY, /* group 3: test, not, neg, mul, div */
	GROUP5,
	JCC,
	JMP,
	CALL,
	END,
	STRING_DI, /* stos, scas; movs and cmps read at rsi too */
	STRING_SI, /* lods */
	NO_ACCESS, /* has a memory operand, but does not access it */
};

struct row {
	u8 map, first, last, rule;
};

/* clang-format off: one row per fact; the first match is used */
static const struct row rows[] = {
	{X86_ONE, 0x01, 0x01, MOVES_RM},
	{X86_ONE, 0x03, 0x03, MOVES_REG},
	{X86_ONE, 0x05, 0x05, ADDS_A},
	{X86_ONE, 0x29, 0x29, MOVES_RM},
	{X86_ONE, 0x2b, 0x2b, MOVES_REG},
	{X86_ONE, 0x2d, 0x2d, ADDS_A},
	{X86_ONE, 0x3c, 0x3d, NO_ACCESS},
	{X86_ONE, 0x40, 0x4f, INC_DEC},
	{X86_ONE, 0x50, 0x57, PUSH},
	{X86_ONE, 0x58, 0x5f, POP_LOW},
	{X86_ONE, 0x63, 0x63, LOADS_4},
	{X86_ONE, 0x68, 0x68, PUSH},
	{X86_ONE, 0x69, 0x69, SETS_REG},
	{X86_ONE, 0x6a, 0x6a, PUSH},
	{X86_ONE, 0x6b, 0x6b, SETS_REG},
	{X86_ONE, 0x70, 0x7f, JCC},
	{X86_ONE, 0x80, 0x83, IMMEDIATE},
	{X86_ONE, 0x86, 0x87, SETS_BOTH},
	{X86_ONE, 0x88, 0x88, SETS_BYTE_RM},
	{X86_ONE, 0x89, 0x89, STORES},
	{X86_ONE, 0x8a, 0x8a, SETS_BYTE_REG},
	{X86_ONE, 0x8b, 0x8b, LOADS},
	{X86_ONE, 0x8c, 0x8c, SETS_RM},
	{X86_ONE, 0x8d, 0x8d, ADDRESS},
	{X86_ONE, 0x8f, 0x8f, POP_RM},
	{X86_ONE, 0x91, 0x97, XCHG_LOW},
	{X86_ONE, 0x98, 0x98, SETS_A},
	{X86_ONE, 0x99, 0x99, SETS_A_D},
	{X86_ONE, 0x9c, 0x9d, PUSH},
	{X86_ONE, 0x9f, 0x9f, SETS_A},
	{X86_ONE, 0xa0, 0xa3, MOVES_A},
	{X86_ONE, 0xa4, 0xa7, STRING_DI},
	{X86_ONE, 0xaa, 0xab, STRING_DI},
	{X86_ONE, 0xac, 0xad, STRING_SI},
	{X86_ONE, 0xae, 0xaf, STRING_DI},
	{X86_ONE, 0xb0, 0xb7, SETS_LOW},
	{X86_ONE, 0xb8, 0xbf, SETS_LOW},
	{X86_ONE, 0xc0, 0xc0, SETS_BYTE_RM},
	{X86_ONE, 0xc1, 0xc1, SETS_RM},
	{X86_ONE, 0xc2, 0xc3, END},
	{X86_ONE, 0xc6, 0xc6, SETS_BYTE_RM},
	{X86_ONE, 0xc7, 0xc7, SETS_CONST},
	{X86_ONE, 0xc8, 0xc9, LEAVE},
	{X86_ONE, 0xca, 0xcf, END},
	{X86_ONE, 0xd0, 0xd0, SETS_BYTE_RM},
	{X86_ONE, 0xd1, 0xd1, SETS_RM},
	{X86_ONE, 0xd2, 0xd2, SETS_BYTE_RM},
	{X86_ONE, 0xd3, 0xd3, SETS_RM},
	{X86_ONE, 0xe0, 0xe3, JCC},
	{X86_ONE, 0xe4, 0xe5, SETS_A},
	{X86_ONE, 0xe8, 0xe8, CALL},
	{X86_ONE, 0xe9, 0xe9, JMP},
	{X86_ONE, 0xeb, 0xeb, JMP},
	{X86_ONE, 0xec, 0xed, SETS_A},
	{X86_ONE, 0xf4, 0xf4, END},
	{X86_ONE, 0xf6, 0xf7, UNARY},
	{X86_ONE, 0xfe, 0xfe, SETS_BYTE_RM},
	{X86_ONE, 0xff, 0xff, GROUP5},
	{X86_0F, 0x01, 0x01, NO_ACCESS},
	{X86_0F, 0x05, 0x05, SYSCALL},
	{X86_0F, 0x0b, 0x0b, END},
	{X86_0F, 0x19, 0x1f, NO_ACCESS},
	{X86_0F, 0x2c, 0x2d, SETS_REG},
	{X86_0F, 0x31, 0x33, SETS_A_D},
	{X86_0F, 0x40, 0x4f, LOADS_IF},
	{X86_0F, 0x50, 0x50, SETS_REG},
	{X86_0F, 0x7e, 0x7e, SETS_RM},
	{X86_0F, 0x80, 0x8f, JCC},
	{X86_0F, 0x90, 0x9f, SETS_BYTE_RM},
	{X86_0F, 0xa2, 0xa2, SETS_A_B_C_D},
	{X86_0F, 0xa4, 0xa5, SETS_RM},
	{X86_0F, 0xab, 0xad, SETS_RM},
	{X86_0F, 0xaf, 0xaf, SETS_REG},
	{X86_0F, 0xb0, 0xb1, SETS_A},
	{X86_0F, 0xb3, 0xb3, SETS_RM},
	{X86_0F, 0xb6, 0xb6, LOADS_1},
	{X86_0F, 0xb7, 0xb7, LOADS_2},
	{X86_0F, 0xb8, 0xb8, SETS_REG},
	{X86_0F, 0xb9, 0xb9, END},
	{X86_0F, 0xba, 0xbb, SETS_RM},
	{X86_0F, 0xbc, 0xbd, SETS_REG},
	{X86_0F, 0xbe, 0xbe, LOADS_1},
	{X86_0F, 0xbf, 0xbf, LOADS_2},
	{X86_0F, 0xc0, 0xc1, SETS_BOTH},
	{X86_0F, 0xc5, 0xc5, SETS_REG},
	{X86_0F, 0xc7, 0xc7, SETS_A_D},
	{X86_0F, 0xc8, 0xcf, SETS_LOW},
	{X86_0F, 0xd7, 0xd7, SETS_REG},
	{X86_0F, 0xff, 0xff, END},
	{X86_0F38, 0xf0, 0xf1, SETS_REG},
	{X86_0F38, 0xf6, 0xf6, SETS_REG},
	{X86_0F3A, 0x14, 0x17, SETS_RM},
};

/* Vector instructions that write general registers; `map` is their opcode map. */
static const struct row vector_rows[] = {
	{1, 0x2c, 0x2d, SETS_REG},
	{1, 0x50, 0x50, SETS_REG},
	{1, 0x7e, 0x7e, SETS_RM},
	{1, 0x93, 0x93, SETS_REG},
	{1, 0xc5, 0xc5, SETS_REG},
	{1, 0xd7, 0xd7, SETS_REG},
	{2, 0xf2, 0xf2, SETS_REG},
	{2, 0xf3, 0xf3, SETS_OTHER},
	{2, 0xf5, 0xf5, SETS_REG},
	{2, 0xf6, 0xf6, SETS_OTHER},
	{2, 0xf7, 0xf7, SETS_REG},
	{3, 0x14, 0x17, SETS_RM},
	{3, 0xf0, 0xf0, SETS_REG},
};
/* clang-format on */

static void set_other(struct operand *o, u8 target)
{
	o->effect = EFFECT_OTHER;
	o->target = dwarf_reg(target);
}

static void spoil(struct operand *o, u8 reg)
{
	if (reg != X86_NO_REG)
		o->spoilt |= BIT_OF(dwarf_reg(reg));
}

/* Byte registers 4 to 7 are the second bytes of 0 to 3, or with REX the low bytes of other registers. */
static void set_byte(struct operand *o, u8 reg)
{
	if (o->word == 4) {
		set_other(o, reg & 3);
		return;
	}
	set_other(o, reg);
	if (reg >= 4 && reg < 8)
		spoil(o, reg - 4);
}

static unsigned width_of(const struct operand *o, const struct x86_op *op)
{
	return op->is_wide ? o->word : op->is_short ? 2 : 4;
}

/* Loads reg from rm, which is `bytes` wide if it is memory. */
static void load(struct operand *o, const struct x86_op *op, unsigned bytes)
{
	o->target = dwarf_reg(op->reg);
	o->bytes = (u8)bytes;
	o->effect = EFFECT_LOAD;
	if (op->mode != 3)
		return;
	/* Half of an address is not an address. */
	o->effect = bytes == o->word ? EFFECT_COPY : EFFECT_OTHER;
	o->source = dwarf_reg(op->rm);
}

static void store(struct operand *o, const struct x86_op *op)
{
	o->source = dwarf_reg(op->reg);
	if (op->mode != 3) {
		o->effect = op->is_wide ? EFFECT_STORE : EFFECT_NONE;
		return;
	}
	o->target = dwarf_reg(op->rm);
	o->effect = op->is_wide ? EFFECT_COPY : EFFECT_OTHER;
}

static void move_by(struct operand *o, const struct x86_op *op, u8 target, u8 source)
{
	o->target = dwarf_reg(target);
	o->source = dwarf_reg(source);
	o->bytes = op->is_wide ? o->word : 4;
	o->effect = op->is_wide ? EFFECT_MOVE_BY : EFFECT_OTHER;
}

static void add_constant(struct operand *o, const struct x86_op *op, s64 imm)
{
	o->target = dwarf_reg(op->rm);
	o->imm = imm;
	o->effect = op->is_wide ? EFFECT_ADD : EFFECT_OTHER;
}

static void take_fixed_address(struct operand *o, const struct x86_op *op)
{
	bool is_store = op->opcode & 2, is_byte = !(op->opcode & 1);

	o->access = OPERAND_MEMORY;
	o->base = o->index = OPERAND_NO_REG;
	o->disp = op->imm;
	o->source = o->target = dwarf_reg(AX);
	o->bytes = is_byte ? 1 : (u8)width_of(o, op);
	if (is_byte)
		o->effect = is_store ? EFFECT_NONE : EFFECT_OTHER;
	else if (is_store)
		o->effect = op->is_wide ? EFFECT_STORE : EFFECT_NONE;
	else
		o->effect = EFFECT_LOAD;
}

static void take_inc_dec(struct operand *o, const struct x86_op *op)
{
	o->target = dwarf_reg(op->opcode & 7);
	o->imm = op->opcode & 8 ? -1 : 1;
	o->effect = op->is_wide ? EFFECT_ADD : EFFECT_OTHER;
}

/* add, or, adc, sbb, and, sub, xor, cmp */
static void take_immediate(struct operand *o, const struct x86_op *op)
{
	unsigned what = op->reg & 7;

	if (op->mode != 3 || what == 7)
		return;
	if (op->opcode == 0x80)
		set_byte(o, op->rm);
	else if (what == 0 || what == 5)
		add_constant(o, op, what ? -op->imm : op->imm);
	else
		set_other(o, op->rm);
}

static void take_unary(struct operand *o, const struct x86_op *op)
{
	unsigned what = op->reg & 7;

	if (what >= 4) {
		set_other(o, AX);
		spoil(o, DX);
	} else if (what >= 2 && op->mode == 3) {
		set_byte(o, op->rm);
	}
}

/* inc, dec, call, call far, jmp, jmp far, push */
static void take_group5(struct operand *o, const struct x86_op *op)
{
	unsigned what = op->reg & 7;

	if (what < 2 && op->mode == 3)
		add_constant(o, op, what ? -1 : 1);
	else if (what == 2 || what == 3)
		o->flow = OPERAND_CALL;
	else if (what == 4 || what == 5)
		o->flow = OPERAND_TABLE;
	if ((what == 2 || what == 6) && op->mode == 3)
		o->access = OPERAND_STACK;
}

static void take_string(struct operand *o, u8 base)
{
	o->access = OPERAND_MEMORY;
	o->base = dwarf_reg(base);
	set_other(o, SI);
	spoil(o, DI);
	spoil(o, CX);
	if (base == SI)
		spoil(o, AX);
}

static void take_stack(struct operand *o, const struct x86_op *op, enum rule rule)
{
	o->access = OPERAND_STACK;
	if (rule == POP_LOW)
		set_other(o, op->reg);
	else if (rule == LEAVE)
		set_other(o, 5);
	else if (rule == POP_RM)
		o->access = op->mode == 3 ? OPERAND_STACK : OPERAND_MEMORY;
	if (rule == POP_RM && op->mode == 3)
		set_other(o, op->rm);
}

static void take_flow(struct operand *o, const struct x86_op *op, enum rule rule)
{
	o->to = op->imm;
	o->is_direct = rule != END;
	o->flow = rule == JCC  ? OPERAND_BRANCH
		: rule == JMP  ? OPERAND_JUMP
		: rule == CALL ? OPERAND_CALL
			       : OPERAND_END;
	/* Returns pop their address from the stack. */
	if (rule == CALL || (rule == END && op->map == X86_ONE && op->opcode >> 1 == 0xc2 >> 1))
		o->access = OPERAND_STACK;
}

static void take_fixed(struct operand *o, enum rule rule)
{
	set_other(o, AX);
	if (rule == SETS_A_D || rule == SETS_A_B_C_D)
		spoil(o, DX);
	if (rule == SETS_A_B_C_D || rule == SYSCALL)
		spoil(o, CX);
	if (rule == SETS_A_B_C_D)
		spoil(o, BX);
	if (rule == SYSCALL)
		spoil(o, 11);
}

static void take_registers(struct operand *o, const struct x86_op *op, enum rule rule)
{
	bool has_rm = op->has_modrm && op->mode == 3;

	if (rule == SETS_REG || rule == SETS_BOTH || rule == SETS_OTHER)
		set_other(o, op->reg);
	if (rule == SETS_OTHER)
		spoil(o, op->other);
	if (rule == SETS_BYTE_REG)
		set_byte(o, op->reg);
	if (rule == SETS_BYTE_RM && has_rm)
		set_byte(o, op->rm);
	if (rule == SETS_RM && has_rm)
		set_other(o, op->rm);
	if (rule == SETS_BOTH && has_rm)
		spoil(o, op->rm);
}

static void take_constant(struct operand *o, const struct x86_op *op, enum rule rule)
{
	if (rule == XCHG_LOW) {
		set_other(o, AX);
		spoil(o, op->opcode & 7);
		spoil(o, (op->opcode & 7) | 8);
	} else if (rule == SETS_LOW && op->map == X86_ONE && op->opcode >= 0xb8) {
		o->effect = EFFECT_SET;
		o->target = dwarf_reg(op->reg);
		o->imm = op->imm;
	} else if (rule == SETS_LOW && op->map == X86_ONE) {
		set_byte(o, op->opcode & 7);
		spoil(o, (op->opcode & 7) | 8);
	} else if (rule == SETS_LOW) {
		/* bswap: the register's highest bit is in a prefix */
		set_other(o, op->opcode & 7);
		spoil(o, (op->opcode & 7) | 8);
	} else if (op->mode == 3) {
		o->effect = EFFECT_SET;
		o->target = dwarf_reg(op->rm);
		o->imm = op->imm;
	}
}

/* cmp and test, in all their forms */
static bool compares(const struct x86_op *op)
{
	unsigned what = op->reg & 7, code = op->opcode;

	if (op->map != X86_ONE)
		return false;
	return (code >= 0x38 && code <= 0x3d) || (code >= 0x80 && code <= 0x83 && what == 7) ||
		code >> 1 == 0x84 >> 1 || code >> 1 == 0xa8 >> 1 ||
		(code >> 1 == 0xf6 >> 1 && what < 2);
}

/* Instructions that access one operand in memory. */
static void take_access(struct operand *o, const struct x86_op *op, enum rule rule)
{
	switch (rule) {
	case LOADS:
	case LOADS_IF:
		load(o, op, width_of(o, op));
		o->is_conditional = o->is_conditional || rule == LOADS_IF;
		break;
	case LOADS_1:
	case LOADS_2:
	case LOADS_4: /* arpl in 32-bit code, which no program uses */
		load(o, op, rule == LOADS_1 ? 1 : rule == LOADS_2 ? 2 : 4);
		break;
	case STORES:
		store(o, op);
		break;
	case STRING_DI:
	case STRING_SI:
		take_string(o, rule == STRING_SI ? SI : DI);
		break;
	case NO_ACCESS:
		o->access = OPERAND_NOTHING;
		break;
	default:
		take_registers(o, op, rule);
		break;
	}
}

/* Instructions that move or compute. */
static void take_move(struct operand *o, const struct x86_op *op, enum rule rule)
{
	switch (rule) {
	case ADDRESS:
		o->access = OPERAND_NOTHING;
		o->effect = op->is_wide ? EFFECT_ADDRESS : EFFECT_OTHER;
		o->target = dwarf_reg(op->reg);
		break;
	case MOVES_REG:
		move_by(o, op, op->reg, op->mode == 3 ? op->rm : X86_NO_REG);
		break;
	case MOVES_RM:
		if (op->mode == 3)
			move_by(o, op, op->rm, op->reg);
		break;
	case MOVES_A:
		take_fixed_address(o, op);
		break;
	case ADDS_A:
		o->target = dwarf_reg(AX);
		o->imm = op->opcode == 0x05 ? op->imm : -op->imm;
		o->effect = op->is_wide ? EFFECT_ADD : EFFECT_OTHER;
		break;
	case INC_DEC:
		take_inc_dec(o, op);
		break;
	case IMMEDIATE:
		take_immediate(o, op);
		break;
	case UNARY:
		take_unary(o, op);
		break;
	default:
		take_access(o, op, rule);
		break;
	}
}

static void take_rule(struct operand *o, const struct x86_op *op, enum rule rule)
{
	switch (rule) {
	case GROUP5:
		take_group5(o, op);
		break;
	case PUSH:
	case POP_LOW:
	case POP_RM:
	case LEAVE:
		take_stack(o, op, rule);
		break;
	case JCC:
	case JMP:
	case CALL:
	case END:
		take_flow(o, op, rule);
		break;
	case SETS_CONST:
	case SETS_LOW:
	case XCHG_LOW:
		take_constant(o, op, rule);
		break;
	case SETS_A:
	case SETS_A_D:
	case SETS_A_B_C_D:
	case SYSCALL:
		take_fixed(o, rule);
		break;
	default:
		take_move(o, op, rule);
		break;
	}
}

/* or, adc, sbb, and, xor: the result goes to one of two operands, or to rax; cmp changes nothing */
static void take_arithmetic(struct operand *o, const struct x86_op *op)
{
	unsigned kind = op->opcode & 7;
	u8 target = kind & 2 ? op->reg : op->rm;

	if (op->opcode >= 0x38 || kind > 5)
		return;
	if (kind >= 4)
		set_other(o, AX);
	else if (kind & 2 || op->mode == 3)
		kind & 1 ? set_other(o, target) : set_byte(o, target);
}

static void take_memory(struct operand *o, const struct x86_op *op)
{
	o->base = dwarf_reg(op->base);
	o->index = dwarf_reg(op->index);
	o->scale = op->scale;
	o->disp = op->disp;
	o->is_relative = op->is_relative;
	o->is_vague = op->has_packed_disp && op->disp;
	o->segment = op->segment == 0x64 ? 'f' : op->segment == 0x65 ? 'g' : 0;
	if (op->has_memory)
		o->access = OPERAND_MEMORY;
}

unsigned operand_decode(const u8 *p, u32 n, bool is_64, struct operand *ret)
{
	const struct row *row = rows, *end = rows + ARRAY_SIZE(rows);
	struct x86_op op;
	u8 map;

	memset(ret, 0, sizeof(*ret));
	ret->target = ret->source = OPERAND_NO_REG;
	ret->word = is_64 ? 8 : 4;
	ret->size = (u8)x86_decode(p, n, is_64, &op);
	if (!ret->size)
		return 0;
	take_memory(ret, &op);
	ret->is_compare = compares(&op);
	map = op.map;
	if (op.map == X86_VECTOR) {
		row = vector_rows;
		end = row + ARRAY_SIZE(vector_rows);
		map = op.vector_map;
	}
	for (; row < end; row++) {
		if (row->map == map && op.opcode >= row->first && op.opcode <= row->last) {
			take_rule(ret, &op, row->rule);
			return ret->size;
		}
	}
	if (op.map == X86_ONE && op.opcode < 0x40)
		take_arithmetic(ret, &op);
	return ret->size;
}
