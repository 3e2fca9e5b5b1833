#include "arch/arch.h"

#include <elf.h>

static const struct arch_reg regs[] = {{"x0", 0}, {"x1", 1}, {"x2", 2}, {"x3", 3}, {"x4", 4},
	{"x5", 5}, {"x6", 6}, {"x7", 7}, {"x8", 8}, {"x9", 9}, {"x10", 10}, {"x11", 11},
	{"x12", 12}, {"x13", 13}, {"x14", 14}, {"x15", 15}, {"x16", 16}, {"x17", 17}, {"x18", 18},
	{"x19", 19}, {"x20", 20}, {"x21", 21}, {"x22", 22}, {"x23", 23}, {"x24", 24}, {"x25", 25},
	{"x26", 26}, {"x27", 27}, {"x28", 28}, {"x29", 29}, {"LR", 30}, {"SP", 31}, {"PC", 32}};

/* ---- signals ---- */

/* By DWARF's numbers. */
static const u16 offsets[] = {8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128,
	136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256, 264};

static const struct arch_trampoline trampolines[] = {
	/* mov x8, #139; svc #0: siginfo, ucontext, in it what is before the general registers */
	{{0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}, 8, 0, 128 + 176, offsets,
		ARRAY_SIZE(offsets)},
};

/* ---- to show code ---- */

static const struct isa_flow_word words[] = {
	{"b", ISA_JUMP},
	{"br", ISA_JUMP},
	{"braa*", ISA_JUMP},
	{"brab*", ISA_JUMP},
	{"b.*", ISA_BRANCH},
	{"bc.*", ISA_BRANCH},
	{"cbz", ISA_BRANCH},
	{"cbnz", ISA_BRANCH},
	{"tbz", ISA_BRANCH},
	{"tbnz", ISA_BRANCH},
	{"bl", ISA_CALL},
	{"blr*", ISA_CALL},
	{"ret*", ISA_RETURN},
	{"eret*", ISA_RETURN},
	{NULL, ISA_ON},
};

static const struct isa isa = {"arm64", "aarch64-linux-gnu", "AArch64",
	"+v8.5a,+crypto,+fullfp16,+sve,+sve2,+rand,+mte", "aarch64",
	{"/usr/bin/aarch64-linux-gnu-objdump", "/usr/bin/objdump", "/usr/local/bin/objdump"}, 4,
	false, words};

const struct arch arch_arm64 = {
	.names = {"aarch64", "arm64"},
	.machine = EM_AARCH64,
	.word = 8,
	ARCH_REGS(regs),
	.letter = 'x',
	.caller_regs = 0x1ffffffff,
	.sp = 31,
	.ip = 32,
	.fp = 29,
	.link = 30,
	.va_mask = (1ull << 48) - 1,
	.has_code = true,
	ARCH_TRAMPOLINES(trampolines),
	.isa = &isa,
};
