#include "unwind/arch.h"

#include "event/abi.h"
#include "record/regs.h"

static const u8 x86_64_regs[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 255, 255, 255, 255, 255, 255, 255, 8,
	9, 10, 11, 12, 13, 14, 15};
static const u8 i386_regs[] = {0, 3, 1, 2, 6, 7, 5, 4, 8};
static const u8 arm64_regs[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
	19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

/* The program counter comes first, in the place of the register that is always 0. */
static const u8 riscv64_regs[] = {32, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
	19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

#define REGS(of) .dwarf = of, .n_regs = ARRAY_SIZE(of)

const struct arch archs[] = {
	[STACK_X86_64] = {REGS(x86_64_regs), .sp = 7, .ip = 16, .fp = 6, .link = 255, .word = 8,
		.code = UINT64_MAX, .has_code = true},
	[STACK_I386] = {REGS(i386_regs), .sp = 4, .ip = 8, .fp = 5, .link = 255, .word = 4,
		.code = UINT32_MAX, .has_code = true},
	[STACK_ARM64] = {REGS(arm64_regs), .sp = 31, .ip = 32, .fp = 29, .link = 30, .word = 8,
		.code = (1ull << 48) - 1, .has_code = true},
	[STACK_RISCV64] = {REGS(riscv64_regs), .sp = 2, .ip = 32, .fp = ARCH_NO_FP, .link = 1,
		.word = 8, .code = UINT64_MAX},
};

enum stack_arch arch_of(const char *machine, u64 regs_abi)
{
	static const struct {
		enum stack_arch of_64, of_32;
	} stacks[] = {
		[REGS_UNKNOWN] = {STACK_OTHER, STACK_OTHER},
		[REGS_X86] = {STACK_X86_64, STACK_I386},
		[REGS_ARM64] = {STACK_ARM64, STACK_OTHER},
		[REGS_RISCV64] = {STACK_RISCV64, STACK_OTHER},
	};
	enum regs_arch regs = regs_arch_of(machine);

	return regs_abi == PERF_SAMPLE_REGS_ABI_64    ? stacks[regs].of_64
		: regs_abi == PERF_SAMPLE_REGS_ABI_32 ? stacks[regs].of_32
						      : STACK_OTHER;
}
