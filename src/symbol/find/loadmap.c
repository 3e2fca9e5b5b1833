#include "symbol/find/loadmap.h"

#include <elf.h>

#include "arch/arch.h"

/* Page sizes. */
static const u64 page_sizes[] = {4 << 10, 16 << 10, 64 << 10};

struct span {
	u64 from, to;
};

static u64 down(u64 n, u64 page)
{
	return n & ~(page - 1);
}

static u64 up(u64 n, u64 page)
{
	return n > UINT64_MAX - page ? UINT64_MAX : down(n + page - 1, page);
}

static struct span of_segment(const struct elf_segment *s, u64 page)
{
	u64 end = s->file_size > UINT64_MAX - s->offset ? UINT64_MAX : s->offset + s->file_size;

	return (struct span){down(s->offset, page), up(end, page)};
}

/* The end of the range that is mapped with the first segment: the loader reserves room for all segments. */
static u64 end_of_room(const struct elf *elf, const struct elf_segment *first, u64 page)
{
	u64 end = first->va, from = down(first->va, page), at = down(first->offset, page);

	for (u32 i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *s = &elf->segments[i];

		if (s->type == PT_LOAD && s->va >= from && s->mem_size <= UINT64_MAX - s->va)
			end = MAX(end, s->va + s->mem_size);
	}
	end = up(end, page) - from;
	return end > UINT64_MAX - at ? UINT64_MAX : at + end;
}

static enum loadmap_fit compare(const struct dso *dso, const struct elf *elf, u64 page)
{
	bool is_first = true, begins = false, ends = false, begins_in = false, ends_in = false;

	for (u32 i = 0; i < elf->n_segments; i++) {
		const struct elf_segment *s = &elf->segments[i];
		struct span code = of_segment(s, page);
		u64 room;

		if (s->type != PT_LOAD)
			continue;
		room = is_first ? end_of_room(elf, s, page) : code.to;
		is_first = false;
		if (!(s->flags & PF_X))
			continue;
		begins |= dso->code_from == code.from;
		ends |= dso->code_to == code.to || dso->code_to == room;
		begins_in |= dso->code_from >= code.from && dso->code_from < code.to;
		ends_in |= dso->code_to > code.from && dso->code_to <= MAX(code.to, room);
	}
	return begins && ends ? LOADMAP_WHOLE : begins_in && ends_in ? LOADMAP_PART : LOADMAP_OTHER;
}

enum loadmap_fit loadmap_compare(const struct dso *dso, const struct elf *elf)
{
	/* A map of the whole file, code and all, reveals its size. */
	bool is_all = !dso->code_from && dso->code_to == up(elf->size, page_sizes[0]);
	const struct arch *arch = arch_of_machine(elf->machine);
	size_t n_sizes = arch && arch->has_small_pages ? 1 : ARRAY_SIZE(page_sizes);
	enum loadmap_fit best = is_all ? LOADMAP_WHOLE : LOADMAP_OTHER;

	for (size_t i = 0; i < n_sizes && best != LOADMAP_WHOLE; i++)
		best = MAX(best, compare(dso, elf, page_sizes[i]));
	return best;
}
