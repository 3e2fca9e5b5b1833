#include "symbol/elf/reloc.h"

#include <elf.h>

#include "arch/arch.h"

/* One section of relocations, and its target. */
struct job {
	const struct elf *elf;
	const struct arch *arch;
	struct bytes entries, symbols;
	u8 *target;
	u64 target_bytes;
	bool has_addends; /* otherwise the addends are in the target */
};

struct entry {
	u64 offset, addend;
	u32 symbol, type;
};

static bool take_word(const struct job *j, struct bytes *b, u64 *ret_v)
{
	return bytes_word(b, j->elf->is_64 ? 8 : 4, ret_v);
}

static bool take_entry(struct job *j, struct entry *e)
{
	u64 info;

	e->addend = 0;
	if (!take_word(j, &j->entries, &e->offset) || !take_word(j, &j->entries, &info) ||
		(j->has_addends && !take_word(j, &j->entries, &e->addend)))
		return false;
	e->symbol = (u32)(j->elf->is_64 ? info >> 32 : info >> 8);
	e->type = (u32)(j->elf->is_64 ? info : info & 0xff);
	return true;
}

/*
 * The final address of a symbol. Returns false for symbols defined elsewhere: debug information needs none.
 */
static bool value_of(const struct job *j, u32 i, u64 *ret_value)
{
	struct bytes b = j->symbols;
	const struct elf_section *s;
	u64 value;
	u16 section;
	u32 word;

	if (j->elf->is_64) {
		if (!bytes_skip(&b, (u64)i * sizeof(Elf64_Sym) + offsetof(Elf64_Sym, st_shndx)) ||
			!bytes_u16(&b, &section) || !bytes_u64(&b, &value))
			return false;
	} else {
		struct bytes at = b;

		if (!bytes_skip(&b, (u64)i * sizeof(Elf32_Sym) + offsetof(Elf32_Sym, st_value)) ||
			!bytes_u32(&b, &word) ||
			!bytes_skip(&at,
				(u64)i * sizeof(Elf32_Sym) + offsetof(Elf32_Sym, st_shndx)) ||
			!bytes_u16(&at, &section))
			return false;
		value = word;
	}
	s = section && section < SHN_LORESERVE ? elf_section_at(j->elf, section) : NULL;
	*ret_value = value + (s ? s->addr : 0);
	return true;
}

static u8 size_of(const struct job *j, u32 type)
{
	const struct arch_reloc *known = j->arch->debug_relocs;

	for (size_t i = 0; i < ARRAY_SIZE(j->arch->debug_relocs); i++)
		if (known[i].type == type)
			return known[i].bytes;
	return 0;
}

static u64 read_addend(const struct job *j, const u8 *at, u8 n)
{
	if (n == 8)
		return j->elf->swap ? __builtin_bswap64(load_u64(at)) : load_u64(at);
	return j->elf->swap ? __builtin_bswap32(load_u32(at)) : load_u32(at);
}

static void put(const struct job *j, u8 *at, u8 n, u64 value)
{
	u64 wide = j->elf->swap ? __builtin_bswap64(value) : value;
	u32 narrow = j->elf->swap ? __builtin_bswap32((u32)value) : (u32)value;

	memcpy(at, n == 8 ? (const void *)&wide : (const void *)&narrow, n);
}

static int apply(struct job *j, struct err *err)
{
	struct entry e;

	while (take_entry(j, &e)) {
		u8 n = size_of(j, e.type);
		u64 value;
		u8 *at;

		if (!e.type)
			continue;
		if (!n)
			return err_set(err, ERR_UNSUPPORTED,
				"its debug information has relocations of the unknown type %u",
				e.type);
		if (e.offset > j->target_bytes || j->target_bytes - e.offset < n ||
			!value_of(j, e.symbol, &value))
			return err_set(err, ERR_FORMAT,
				"its debug information is damaged, a relocation points outside");
		at = j->target + e.offset;
		put(j, at, n, value + (j->has_addends ? e.addend : read_addend(j, at, n)));
	}
	return 0;
}

/* Opens a section of relocations and its target. Returns false if the target is no debug section. */
static bool open_job(const struct elf *elf, const struct elf_section *s, u8 *bytes, struct job *j)
{
	const struct elf_section *target = elf_section_at(elf, s->info);
	struct bytes b;

	if ((s->type != SHT_RELA && s->type != SHT_REL) || !target ||
		!elf_has_name(elf, target, ".debug_") || !elf_raw(elf, target, &b) ||
		!elf_raw(elf, s, &j->entries) ||
		!elf_raw(elf, elf_section_at(elf, s->link), &j->symbols))
		return false;
	j->has_addends = s->type == SHT_RELA;
	j->target = bytes + (b.at - elf->data);
	j->target_bytes = bytes_left(&b);
	return true;
}

int reloc_apply(const struct elf *elf, void *bytes, struct err *err)
{
	struct job j = {.elf = elf, .arch = arch_of_machine(elf->machine)};
	u64 left = elf->size;

	if (!j.arch || !j.arch->debug_relocs[0].bytes)
		return err_set(err, ERR_UNSUPPORTED,
			"it is not linked, and the relocations of its processor (%u) are not supported",
			elf->machine);
	for (u32 i = 0; i < elf->n_sections; i++) {
		if (!open_job(elf, &elf->sections[i], bytes, &j))
			continue;
		/* In a real file the sections do not overlap. */
		if (bytes_left(&j.entries) > left)
			return err_set(err, ERR_FORMAT,
				"its debug information is damaged, it has more relocations than bytes");
		left -= bytes_left(&j.entries);
		if (apply(&j, err))
			return err->code;
	}
	return 0;
}
