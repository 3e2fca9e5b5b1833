#include "arch/arch.h"

#include <elf.h>

const struct arch arch_s390x = {
	.names = {"s390x", "s390"},
	.machine = EM_S390,
	.word = 8,
	.debug_relocs = {{R_390_64, 8}, {R_390_32, 4}},
};
