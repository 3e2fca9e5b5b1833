#include "symbol/resolve/extent.h"

bool extent_find(struct dso_files *f, struct dso_file *file, u64 rva, struct extent *ret_extent)
{
	const struct crt *crt = &file->crt;
	struct cfi_extent found;

	/* Hand-written assembly may have no call frame information. */
	if (rva >= crt->start && rva < crt->start_end) {
		*ret_extent = (struct extent){crt->start, crt->start_end, ORIGIN_CRT, "_start"};
		return true;
	}
	if (!cfi_extent_of(dso_files_cfi(f, file), rva, &found) &&
		!dso_file_around(file, rva, &found.function.start, &found.function.end))
		return false;
	*ret_extent =
		(struct extent){found.function.start, found.function.end, ORIGIN_EXTENT, NULL};
	if (crt->main && found.function.start == crt->main) {
		ret_extent->origin = ORIGIN_CRT;
		ret_extent->name = "main";
	}
	return true;
}
