#include "symbol/extent.h"

#include "symbol/elfcfi.h"

bool extent_find(struct extents *e, const struct elf *elf, u64 rva, u64 *ret_start, u64 *ret_end)
{
	struct cfi_extent found;

	if (!e->is_open) {
		struct cfi_input input;

		elfcfi_find(elf, &input);
		cfi_init(&e->cfi, &input);
		e->is_open = true;
	}
	if (!cfi_extent_of(&e->cfi, rva, &found))
		return false;
	*ret_start = found.function.start;
	*ret_end = found.function.end;
	return true;
}

void extents_fini(struct extents *e)
{
	if (e->is_open)
		cfi_fini(&e->cfi);
	memset(e, 0, sizeof(*e));
}
