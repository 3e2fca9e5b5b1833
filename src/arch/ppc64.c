#include "arch/arch.h"

#include <elf.h>

const struct arch arch_ppc64 = {
	.names = {"ppc64", "ppc"},
	.machine = EM_PPC64,
	.word = 8,
	.debug_relocs = {{R_PPC64_ADDR64, 8}, {R_PPC64_ADDR32, 4}},
};
