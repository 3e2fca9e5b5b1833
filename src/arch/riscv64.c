#include "arch/arch.h"

#include <elf.h>

/* The program counter comes first, in the place of the register that is always 0. */
static const struct arch_reg regs[] = {{"pc", 32}, {"ra", 1}, {"sp", 2}, {"gp", 3}, {"tp", 4},
	{"t0", 5}, {"t1", 6}, {"t2", 7}, {"s0", 8}, {"s1", 9}, {"a0", 10}, {"a1", 11}, {"a2", 12},
	{"a3", 13}, {"a4", 14}, {"a5", 15}, {"a6", 16}, {"a7", 17}, {"s2", 18}, {"s3", 19},
	{"s4", 20}, {"s5", 21}, {"s6", 22}, {"s7", 23}, {"s8", 24}, {"s9", 25}, {"s10", 26},
	{"s11", 27}, {"t3", 28}, {"t4", 29}, {"t5", 30}, {"t6", 31}};

static const struct isa_flow_word words[] = {
	{"j", ISA_JUMP},
	{"jr", ISA_JUMP},
	{"tail", ISA_JUMP},
	{"beq*", ISA_BRANCH},
	{"bne*", ISA_BRANCH},
	{"blt*", ISA_BRANCH},
	{"bge*", ISA_BRANCH},
	{"bgt*", ISA_BRANCH},
	{"ble*", ISA_BRANCH},
	{"jal", ISA_CALL},
	{"jalr", ISA_CALL},
	{"call", ISA_CALL},
	{"ret", ISA_RETURN},
	{"sret", ISA_RETURN},
	{"mret", ISA_RETURN},
	{NULL, ISA_ON},
};

static const struct isa isa = {"riscv64", "riscv64-linux-gnu", "RISCV", "+m,+a,+f,+d,+c",
	"riscv:rv64",
	{"/usr/bin/riscv64-linux-gnu-objdump", "/usr/bin/objdump", "/usr/local/bin/objdump"}, 2,
	false, words};

const struct arch arch_riscv64 = {
	.names = {"riscv64"},
	.machine = EM_RISCV,
	.word = 8,
	ARCH_REGS(regs),
	.letter = 'r',
	.caller_regs = 0xffffffff,
	.sp = 2,
	.ip = 32,
	.fp = ARCH_NO_FP,
	.link = 1,
	.va_mask = UINT64_MAX,
	.isa = &isa,
};
