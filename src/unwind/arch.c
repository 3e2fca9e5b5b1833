#include "unwind/arch.h"

#include "event/abi.h"
#include "record/regs.h"

static const u8 x86_64_regs[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 255, 255, 255, 255, 255, 255, 255, 8,
	9, 10, 11, 12, 13, 14, 15};
static const u8 i386_regs[] = {0, 3, 1, 2, 6, 7, 5, 4, 8};
static const u8 arm64_regs[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
	19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

const struct arch archs[] = {
	[STACK_X86_64] = {x86_64_regs, ARRAY_SIZE(x86_64_regs), 7, 6, 16, 255, 8, UINT64_MAX},
	[STACK_I386] = {i386_regs, ARRAY_SIZE(i386_regs), 4, 5, 8, 255, 4, UINT32_MAX},
	[STACK_ARM64] = {arm64_regs, ARRAY_SIZE(arm64_regs), 31, 29, 32, 30, 8, (1ull << 48) - 1},
};

enum stack_arch arch_of(const char *machine, u64 regs_abi)
{
	static const struct {
		enum stack_arch of_64, of_32;
	} stacks[] = {
		[REGS_UNKNOWN] = {STACK_OTHER, STACK_OTHER},
		[REGS_X86] = {STACK_X86_64, STACK_I386},
		[REGS_ARM64] = {STACK_ARM64, STACK_OTHER},
	};
	enum regs_arch regs = regs_arch_of(machine);

	return regs_abi == PERF_SAMPLE_REGS_ABI_64    ? stacks[regs].of_64
		: regs_abi == PERF_SAMPLE_REGS_ABI_32 ? stacks[regs].of_32
						      : STACK_OTHER;
}
