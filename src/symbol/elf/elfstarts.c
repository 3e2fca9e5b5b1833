#include "symbol/elf/elfstarts.h"

#include <elf.h>

#include "arch/arch.h"

/* Takes a tenth of a second. */
enum { CODE_MAX = 16 << 20 };

typedef VEC(struct bytes) interval_list;

/* Collects the sections of code and of data; in a file without sections, the segments of code. */
static void collect(const struct elf *elf, interval_list *pieces, interval_list *data)
{
	for (u32 i = 0; i < elf->n_sections; i++) {
		const struct elf_section *s = &elf->sections[i];
		bool is_code = s->flags & SHF_EXECINSTR;
		struct bytes b;

		if (!(s->flags & SHF_ALLOC) || (!is_code && s->type != SHT_PROGBITS) ||
			elf_has_name(elf, s, ".plt") || !elf_contents(elf, s, &b))
			continue;
		b.offset = s->addr;
		vec_add(is_code ? pieces : data, b);
	}
	for (u32 i = 0; !elf->n_sections && i < elf->n_segments; i++) {
		const struct elf_segment *s = &elf->segments[i];
		const u8 *code = s->type == PT_LOAD && s->flags & PF_X
			? elf_bytes_at(elf, s->va, s->file_size)
			: NULL;
		struct bytes b = bytes_of(code, code ? s->file_size : 0);

		b.offset = s->va;
		if (code)
			vec_add(pieces, b);
	}
}

static void read_it(struct elfstarts *e, const struct elf *elf)
{
	interval_list pieces = {0}, data = {0};
	const struct arch *arch = arch_of_machine(elf->machine);
	u64 n = 0;

	e->was_read = true;
	if (!arch || !arch->is_x86 || elf->swap || elf_section_of_type(elf, SHT_SYMTAB))
		return;
	collect(elf, &pieces, &data);
	vec_each(b, &pieces)
		n += bytes_left(b);
	if (n && n <= CODE_MAX)
		starts_find(&e->starts,
			&(struct starts_input){.code = pieces.at,
				.n_code = pieces.n,
				.data = data.at,
				.n_data = data.n,
				.is_64 = arch->word == 8});
	if (elf->entry)
		starts_add(&e->starts, elf->entry);
	starts_finish(&e->starts);
	vec_fini(&pieces);
	vec_fini(&data);
}

bool elfstarts_around(struct elfstarts *e, const struct elf *elf, u64 rva, u64 *ret_start,
	u64 *ret_end)
{
	if (!e->was_read)
		read_it(e, elf);
	return starts_around(&e->starts, rva, ret_start, ret_end);
}

bool elfstarts_is_beyond(struct elfstarts *e, const struct elf *elf, u64 start, u64 rva)
{
	if (!e->was_read)
		read_it(e, elf);
	return (elf->entry > start && elf->entry <= rva) ||
		starts_function_between(&e->starts, start, rva);
}

void elfstarts_fini(struct elfstarts *e)
{
	starts_fini(&e->starts);
	e->was_read = false;
}
