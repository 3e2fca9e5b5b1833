#include "symbol/types/datanames.h"

#include <elf.h>
#include <string.h>

enum { TEXT_MIN = 3 };

static const struct elf_section *section_at(const struct elf *elf, u64 address)
{
	for (u32 i = 0; i < elf->n_sections; i++) {
		const struct elf_section *s = &elf->sections[i];

		if (s->flags & SHF_ALLOC && !(s->flags & SHF_TLS) && address >= s->addr &&
			address - s->addr < s->size)
			return s;
	}
	return NULL;
}

bool datanames_is_data(const struct elf *elf, u64 address)
{
	const struct elf_section *s = section_at(elf, address);

	return s && !(s->flags & SHF_EXECINSTR);
}

const struct symbol *datanames_find(struct datanames *d, const struct elf *elf, u64 address)
{
	if (d->elf != elf) {
		symtab_fini(&d->table);
		memset(&d->table, 0, sizeof(d->table));
		d->elf = elf;
		if (!symtab_add_data(&d->table, elf, SHT_SYMTAB))
			symtab_add_data(&d->table, elf, SHT_DYNSYM);
		symtab_finish(&d->table);
	}
	return symtab_find(&d->table, address);
}

const char *datanames_text(const struct elf *elf, u64 address, size_t *ret_n, bool *ret_is_cut)
{
	const struct elf_section *s = section_at(elf, address);
	const u8 *at;
	u64 room;
	size_t n = 0;

	if (!s || s->type != SHT_PROGBITS || s->flags & (SHF_WRITE | SHF_EXECINSTR))
		return NULL;
	room = MIN(s->addr + s->size - address, (u64)DATANAMES_TEXT_MAX + 1);
	at = elf_bytes_at(elf, address, room);
	while (at && n < room && at[n] >= ' ' && at[n] <= '~')
		n++;
	/* It ends with NUL, or continues. */
	if (n < TEXT_MIN || (n < room && at[n]))
		return NULL;
	*ret_is_cut = n > DATANAMES_TEXT_MAX;
	*ret_n = MIN(n, (size_t)DATANAMES_TEXT_MAX);
	return n < room || *ret_is_cut ? (const char *)at : NULL;
}

void datanames_fini(struct datanames *d)
{
	symtab_fini(&d->table);
}
