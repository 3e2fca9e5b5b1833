#include "symbol/elf/elfparts.h"

#include <string.h>

u32 elfparts_add_name(struct str *strings, const char *name)
{
	u32 at = (u32)strings->n;

	str_addn(strings, name, strlen(name) + 1);
	return at;
}

void elfparts_begin_symbols(struct str *symbols, struct str *strings)
{
	str_fill(symbols, '\0', sizeof(Elf64_Sym));
	str_addc(strings, '\0');
}

void elfparts_add_function(struct str *symbols, struct str *strings, u16 section, const char *name,
	u64 start, u64 size)
{
	str_addn(symbols,
		&(Elf64_Sym){.st_name = elfparts_add_name(strings, name),
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = section,
			.st_value = start,
			.st_size = size},
		sizeof(Elf64_Sym));
}

void elfparts_add_build_id(struct str *note, const u8 *id, u32 n)
{
	const u32 head[] = {4, n, NT_GNU_BUILD_ID};

	str_addn(note, head, sizeof(head));
	str_addn(note, "GNU", 4);
	str_addn(note, id, n);
	str_fill(note, '\0', align_up(note->n, 4) - note->n);
}

Elf64_Ehdr elfparts_header(u16 machine, u16 n_segments, u64 table, u16 n_sections)
{
	Elf64_Ehdr h = {.e_type = ET_DYN,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(h),
		.e_shoff = table,
		.e_ehsize = sizeof(h),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = n_segments,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = n_sections,
		.e_shstrndx = n_sections - 1};

	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	h.e_ident[EI_VERSION] = EV_CURRENT;
	return h;
}
