#include "symbol/elf/elfcfi.h"

#include <elf.h>

struct bytes elfcfi_section(const struct elf *elf, const char *name)
{
	const struct elf_section *s = elf_section(elf, name);
	struct bytes b = {0};

	if (s && elf_contents(elf, s, &b))
		b.offset = s->addr;
	return b;
}

static u64 section_address(const struct elf *elf, const char *name)
{
	const struct elf_section *s = elf_section(elf, name);

	return s ? s->addr : 0;
}

struct bytes elfcfi_loaded_at(const struct elf *elf, u64 va, u64 *ret_before)
{
	for (u32 i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *s = &elf->segments[i];
		struct bytes b = bytes_of(elf->data, elf->size), segment;

		if (s->type != PT_LOAD || va < s->va || va - s->va >= s->file_size)
			continue;
		b.swap = elf->swap;
		if (!bytes_skip(&b, s->offset) || !bytes_sub(&b, s->file_size, &segment) ||
			!bytes_skip(&segment, va - s->va))
			break;
		segment.offset = va;
		*ret_before = va - s->va;
		return segment;
	}
	return (struct bytes){0};
}

/* For files without section headers: a segment leads to the search table, and that to .eh_frame. */
static void find_by_segment(const struct elf *elf, struct cfi_input *in)
{
	for (u32 i = 0; i < elf->n_segments; i++) {
		struct bytes hdr;
		u64 ignored;
		u32 to;

		if (elf->segments[i].type != PT_GNU_EH_FRAME)
			continue;
		in->eh_frame_hdr = hdr = elfcfi_loaded_at(elf, elf->segments[i].va, &ignored);
		/* version, three encodings; the first is nearly always pcrel sdata4 */
		if (bytes_left(&hdr) > 8 && hdr.at[1] == 0x1b && bytes_skip(&hdr, 4) &&
			bytes_u32(&hdr, &to))
			in->eh_frame =
				elfcfi_loaded_at(elf, hdr.offset - 4 + (u64)(s64)(s32)to, &ignored);
	}
}

void elfcfi_find(const struct elf *elf, struct cfi_input *ret)
{
	*ret = (struct cfi_input){.eh_frame = elfcfi_section(elf, ".eh_frame"),
		.eh_frame_hdr = elfcfi_section(elf, ".eh_frame_hdr"),
		.debug_frame = elfcfi_section(elf, ".debug_frame"),
		.text = section_address(elf, ".text"),
		.data = section_address(elf, ".got"),
		.is_64 = elf->is_64};
	if (!bytes_left(&ret->eh_frame))
		find_by_segment(elf, ret);
}
