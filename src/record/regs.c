#include "record/regs.h"

#include <stdio.h>

static const char *const x86[] = {"AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS",
	"CS", "SS", "DS", "ES", "FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"};

static const char *const arm64_last[] = {"LR", "SP", "PC"};

const char *regs_name(enum regs_arch arch, unsigned number, char *buf, size_t size)
{
	if (arch == REGS_X86 && number < ARRAY_SIZE(x86))
		return x86[number];
	if (arch == REGS_X86 && number >= 32 && number < 64) {
		/* Two 64-bit halves for each of XMM0-15. */
		snprintf(buf, size, "XMM%u%s", (number - 32) / 2, number % 2 ? "h" : "");
		return buf;
	}
	if (arch == REGS_ARM64 && number >= 30 && number < 33)
		return arm64_last[number - 30];
	snprintf(buf, size, "%s%u", arch == REGS_ARM64 ? "x" : "r", number);
	return buf;
}

u64 regs_for_callers(enum regs_arch arch)
{
	const u64 ds_to_gs = 0xfull << 12;

	switch (arch) {
	case REGS_X86:
		/* A 32-bit kernel has no R8 to R15. */
		return ((1ull << (sizeof(void *) == 8 ? 24 : 16)) - 1) & ~ds_to_gs;
	case REGS_ARM64:
		return (1ull << 33) - 1;
	case REGS_UNKNOWN:
		break;
	}
	return 0;
}
