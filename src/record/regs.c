#include "record/regs.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { X86_VECTORS = 32, X86_VECTOR_WORDS = 32 }; /* XMM0-15, two 64-bit halves each */

static const char *const x86[] = {"AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS",
	"CS", "SS", "DS", "ES", "FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"};

static const char *const arm64_last[] = {"LR", "SP", "PC"};

static const char *const riscv64[] = {"pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1",
	"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8",
	"s9", "s10", "s11", "t3", "t4", "t5", "t6"};

enum regs_arch regs_arch_of(const char *machine)
{
	static const struct {
		const char *machine;
		enum regs_arch arch;
	} known[] = {
		{"x86_64", REGS_X86},
		{"i386", REGS_X86},
		{"i586", REGS_X86},
		{"i686", REGS_X86},
		{"aarch64", REGS_ARM64},
		{"arm64", REGS_ARM64},
		{"riscv64", REGS_RISCV64},
	};

	if (!machine)
		return REGS_THIS_MACHINE;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i].machine, machine))
			return known[i].arch;
	return REGS_UNKNOWN;
}

const char *regs_name(enum regs_arch arch, unsigned number, char *buf, size_t size)
{
	if (arch == REGS_X86 && number < ARRAY_SIZE(x86))
		return x86[number];
	if (arch == REGS_RISCV64 && number < ARRAY_SIZE(riscv64))
		return riscv64[number];
	if (arch == REGS_X86 && number >= X86_VECTORS && number < X86_VECTORS + X86_VECTOR_WORDS) {
		snprintf(buf, size, "XMM%u%s", (number - X86_VECTORS) / 2, number % 2 ? "h" : "");
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
	case REGS_RISCV64:
		return (1ull << ARRAY_SIZE(riscv64)) - 1;
	case REGS_UNKNOWN:
		break;
	}
	return 0;
}

u64 regs_available(enum regs_arch arch, bool has_vectors)
{
	u64 mask = regs_for_callers(arch);

	if (arch == REGS_X86 && has_vectors)
		mask |= ((1ull << X86_VECTOR_WORDS) - 1) << X86_VECTORS;
	return mask;
}

/* The bits of the register that `number` is, or is the first half of. */
static u64 bits_of(enum regs_arch arch, unsigned number)
{
	return (arch == REGS_X86 && number >= X86_VECTORS ? 3ull : 1ull) << number;
}

/* The number of the next register, past the second half of a vector. */
static unsigned next_number(enum regs_arch arch, unsigned number)
{
	return number + (arch == REGS_X86 && number >= X86_VECTORS ? 2 : 1);
}

void regs_add_names(enum regs_arch arch, u64 mask, struct str *text)
{
	char buf[16];

	for (unsigned i = 0; i < 64; i = next_number(arch, i))
		if (mask >> i & 1)
			str_addf(text, "%s%s", text->n ? " " : "",
				regs_name(arch, i, buf, sizeof(buf)));
}

static int unknown_name(enum regs_arch arch, const char *name, size_t n, u64 available,
	struct err *err)
{
	struct str names = {0};
	int r;

	regs_add_names(arch, available, &names);
	r = err_set(err, ERR_INVAL, "'%.*s' is not a register that can be sampled; these can: %s",
		(int)MIN(n, (size_t)32), name, str_text(&names));
	str_fini(&names);
	return r;
}

int regs_parse(enum regs_arch arch, const char *text, u64 available, u64 *ret_mask, struct err *err)
{
	u64 mask = 0;

	for (const char *p = text;; p++) {
		size_t n = strcspn(p, ",");
		unsigned i = 0;
		char buf[16];

		for (; i < 64; i = next_number(arch, i)) {
			const char *name = regs_name(arch, i, buf, sizeof(buf));

			if (available >> i & 1 && strlen(name) == n && !strncasecmp(name, p, n))
				break;
		}
		if (i >= 64)
			return unknown_name(arch, p, n, available, err);
		mask |= bits_of(arch, i);
		p += n;
		if (!*p)
			break;
	}
	*ret_mask = mask;
	return 0;
}
