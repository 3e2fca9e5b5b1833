#include "arch/arch.h"

#include <elf.h>

const struct arch arch_arm = {
	.names = {"armv7l", "armv8l"},
	.sibling = &arch_arm64,
	.machine = EM_ARM,
	.word = 4,
	.debug_relocs = {{R_ARM_ABS32, 4}},
	.has_thumb = true,
};
