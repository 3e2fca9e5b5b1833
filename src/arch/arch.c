#include "arch/arch.h"

#include <string.h>

static const struct arch *const archs[] = {
	&arch_x86_64,
	&arch_i386,
	&arch_arm64,
	&arch_riscv64,
	&arch_arm,
	&arch_s390x,
	&arch_ppc64,
};

const struct arch *arch_at(size_t i)
{
	return i < ARRAY_SIZE(archs) ? archs[i] : NULL;
}

const struct arch *arch_of_host(void)
{
#if defined(__x86_64__)
	return &arch_x86_64;
#elif defined(__i386__)
	return &arch_i386;
#elif defined(__aarch64__)
	return &arch_arm64;
#elif defined(__riscv) && __riscv_xlen == 64
	return &arch_riscv64;
#else
	return NULL;
#endif
}

static bool is_called(const struct arch *a, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(a->names) && a->names[i]; i++)
		if (!strcmp(a->names[i], name))
			return true;
	return false;
}

const struct arch *arch_of_name(const char *name)
{
	if (!name)
		return arch_of_host();
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++)
		if (is_called(archs[i], name))
			return archs[i];
	return NULL;
}

const struct arch *arch_of_machine(u16 machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++)
		if (archs[i]->machine == machine)
			return archs[i];
	return NULL;
}

const struct arch *arch_with_word(const struct arch *a, u8 word)
{
	if (a && a->word != word)
		a = a->sibling;
	return a && a->word == word ? a : NULL;
}
