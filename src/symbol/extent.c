#include "symbol/extent.h"

#include "symbol/elfcfi.h"

static void open_it(struct extents *e, const struct elf *elf)
{
	struct cfi_input input;

	elfcfi_find(elf, &input);
	cfi_init(&e->cfi, &input);
	e->crt = crt_of(elf);
	e->is_open = true;
}

bool extent_find(struct extents *e, const struct elf *elf, u64 rva, struct extent *ret_extent)
{
	struct cfi_extent found;
	bool is_known;

	if (!e->is_open)
		open_it(e, elf);
	/* Assembler's code may have no call frame information. */
	if (rva >= e->crt.start && rva < e->crt.start_end) {
		*ret_extent = (struct extent){e->crt.start, e->crt.start_end, ORIGIN_CRT, "_start"};
		return true;
	}
	is_known = cfi_extent_of(&e->cfi, rva, &found) ||
		elfstarts_around(&e->starts, elf, rva, &found.function.start, &found.function.end);
	if (!is_known)
		return false;
	*ret_extent =
		(struct extent){found.function.start, found.function.end, ORIGIN_EXTENT, NULL};
	if (e->crt.main && found.function.start == e->crt.main) {
		ret_extent->origin = ORIGIN_CRT;
		ret_extent->name = "main";
	}
	return true;
}

void extents_fini(struct extents *e)
{
	if (e->is_open)
		cfi_fini(&e->cfi);
	elfstarts_fini(&e->starts);
	memset(e, 0, sizeof(*e));
}
