#include "record/regs.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "event/abi.h"

enum { X86_VECTORS = 32, X86_VECTOR_WORDS = 32 }; /* XMM0-15, two 64-bit halves each */

const struct arch *regs_arch(const struct arch *machine, u64 abi)
{
	return abi == PERF_SAMPLE_REGS_ABI_64    ? arch_with_word(machine, 8)
		: abi == PERF_SAMPLE_REGS_ABI_32 ? arch_with_word(machine, 4)
						 : NULL;
}

static bool is_vector(const struct arch *arch, unsigned number)
{
	return arch && arch->has_vectors && number >= X86_VECTORS &&
		number < X86_VECTORS + X86_VECTOR_WORDS;
}

const char *regs_name(const struct arch *arch, unsigned number, char *buf, size_t size)
{
	if (arch && number < arch->n_regs)
		return arch->regs[number].name;
	if (is_vector(arch, number))
		snprintf(buf, size, "XMM%u%s", (number - X86_VECTORS) / 2, number % 2 ? "h" : "");
	else
		snprintf(buf, size, "%c%u", arch && arch->letter ? arch->letter : 'r', number);
	return buf;
}

u64 regs_for_callers(const struct arch *arch)
{
	return arch ? arch->caller_regs : 0;
}

u64 regs_available(const struct arch *arch, bool has_vectors)
{
	u64 vectors = ((1ull << X86_VECTOR_WORDS) - 1) << X86_VECTORS;

	return regs_for_callers(arch) | (arch && arch->has_vectors && has_vectors ? vectors : 0);
}

/* The bits of the register that `number` is, or is the first half of. */
static u64 bits_of(const struct arch *arch, unsigned number)
{
	return (is_vector(arch, number) ? 3ull : 1ull) << number;
}

/* The number of the next register, past the second half of a vector. */
static unsigned next_number(const struct arch *arch, unsigned number)
{
	return number + (is_vector(arch, number) ? 2 : 1);
}

void regs_add_names(const struct arch *arch, u64 mask, struct str *text)
{
	char buf[16];

	for (unsigned i = 0; i < 64; i = next_number(arch, i))
		if (mask >> i & 1)
			str_addf(text, "%s%s", text->n ? " " : "",
				regs_name(arch, i, buf, sizeof(buf)));
}

static int unknown_name(const struct arch *arch, const char *name, size_t n, u64 available,
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

int regs_parse(const struct arch *arch, const char *text, u64 available, u64 *ret_mask,
	struct err *err)
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
