#include "symbol/elf/elfword.h"

#include <elf.h>

#include "arch/arch.h"

/* ---- relocations ---- */

struct relocation {
	u64 place, info, addend;
};

static bool take_relocation(struct bytes *b, struct relocation *ret)
{
	return bytes_u64(b, &ret->place) && bytes_u64(b, &ret->info) && bytes_u64(b, &ret->addend);
}

/* The type of relocations that add the load address to a word; 0: unknown. */
static u32 relative_of(const struct elf *elf)
{
	const struct arch *arch = arch_of_machine(elf->machine);

	return arch ? arch->relative : 0;
}

static bool is_relative(const struct relocation *r, u32 relative)
{
	return relative && (u32)r->info == relative;
}

/* Returns the i-th section if its relocations have the whole address. */
static bool relocations_of(const struct elf *elf, u32 i, struct bytes *ret)
{
	return elf->is_64 && elf->sections[i].type == SHT_RELA &&
		elf_contents(elf, &elf->sections[i], ret);
}

/* ---- words ---- */

u64 elfword_at(const struct elf *elf, u64 va)
{
	u8 size = elf->is_64 ? 8 : 4;
	u32 relative = relative_of(elf);
	const u8 *there = elf_bytes_at(elf, va, size);
	struct relocation r;
	struct bytes b;
	u64 v;

	for (u32 i = 0; i < elf->n_sections; i++) {
		if (!relocations_of(elf, i, &b))
			continue;
		while (take_relocation(&b, &r))
			if (r.place == va && is_relative(&r, relative))
				return r.addend;
	}
	b = bytes_of(there, there ? size : 0);
	b.swap = elf->swap;
	return bytes_word(&b, size, &v) ? v : 0;
}

static bool find_relocated(const struct elf *elf, u64 v, elfword_test is_it, const void *ctx,
	u64 *ret_va)
{
	u32 relative = relative_of(elf);
	struct relocation r;
	struct bytes b;

	for (u32 i = 0; i < elf->n_sections; i++) {
		if (!relocations_of(elf, i, &b))
			continue;
		while (take_relocation(&b, &r)) {
			if (r.addend != v || !is_relative(&r, relative) ||
				!is_it(elf, r.place, ctx))
				continue;
			*ret_va = r.place;
			return true;
		}
	}
	return false;
}

static bool find_plain(const struct elf *elf, u64 v, elfword_test is_it, const void *ctx,
	u64 *ret_va)
{
	u8 size = elf->is_64 ? 8 : 4;

	for (u32 i = 0; i < elf->n_sections; i++) {
		const struct elf_section *s = &elf->sections[i];
		struct bytes b;
		u64 word;

		if (s->type != SHT_PROGBITS || !(s->flags & SHF_WRITE) || s->addr % size ||
			!elf_contents(elf, s, &b))
			continue;
		for (u64 va = s->addr; bytes_word(&b, size, &word); va += size) {
			if (word != v || !is_it(elf, va, ctx))
				continue;
			*ret_va = va;
			return true;
		}
	}
	return false;
}

bool elfword_find(const struct elf *elf, u64 v, elfword_test is_it, const void *ctx, u64 *ret_va)
{
	return find_relocated(elf, v, is_it, ctx, ret_va) || find_plain(elf, v, is_it, ctx, ret_va);
}
