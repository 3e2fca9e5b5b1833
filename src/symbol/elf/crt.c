#include "symbol/elf/crt.h"

#include <elf.h>

#include "arch/arch.h"
#include "symbol/elf/elfword.h"

/* Any _start is shorter. */
enum { LONGEST = 96 };

static bool is_loaded_code(const struct elf *elf, u64 va)
{
	for (u32 i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *s = &elf->segments[i];

		if (s->type == PT_LOAD && s->flags & PF_X && va >= s->va &&
			va - s->va < s->file_size)
			return true;
	}
	return false;
}

/* The bytes that are loaded at `va`: up to LONGEST, and their number. */
static const u8 *code_at(const struct elf *elf, u64 va, u32 *ret_n)
{
	for (u32 n = LONGEST; n >= 16; n -= 16) {
		const u8 *code = elf_bytes_at(elf, va, n);

		*ret_n = n;
		if (code)
			return code;
	}
	return NULL;
}

struct crt crt_of(const struct elf *elf)
{
	struct arch_image image = {.entry = elf->entry,
		.code_at = code_at,
		.word_at = elfword_at,
		.elf = elf};
	const struct arch *arch = elf_arch(elf);
	struct arch_start start;
	struct crt crt = {0};

	if (!arch || !arch->start || elf->swap || (elf->type != ET_EXEC && elf->type != ET_DYN) ||
		!is_loaded_code(elf, elf->entry) ||
		!(image.code = code_at(elf, elf->entry, &image.n)))
		return crt;
	start = arch->start(arch, &image);
	if (!start.end)
		return crt;
	crt.start = elf->entry;
	crt.start_end = start.end;
	crt.main = is_loaded_code(elf, start.main) ? start.main : 0;
	return crt;
}
