/*
 * A file of the cache, as symbol/dwarf/lineindexfile maps it. Its checksums are corrected, so that the code
 * after the check is reached.
 */
#include "fuzz/fuzz.h"

#include "symbol/dwarf/lineindexfile.h"

static void look(const struct lineindexfile *f)
{
	static const u64 addresses[] = {0, 1, 0x1000, 0x1005, 0x1009, 0x1021, 0x500000005,
		UINT64_MAX};

	for (u32 i = 0; i < f->n_units && i < 64; i++) {
		struct line_frame frames[LINE_DEPTH_MAX];
		struct lineindex s;

		if (!lineindexfile_unit(f, i, &s))
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(addresses); k++) {
			size_t n = lineindex_chain(&s, addresses[k], frames);

			FUZZ_CHECK(n <= LINE_DEPTH_MAX);
			for (size_t j = 0; j < n; j++) {
				FUZZ_CHECK(!frames[j].function ||
					strlen(frames[j].function) < f->size);
				FUZZ_CHECK(!frames[j].file || strlen(frames[j].file) < f->size);
			}
		}
	}
	for (size_t k = 0; k < ARRAY_SIZE(addresses); k++)
		intervalmap_find(f->pieces, f->n_pieces, addresses[k]);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	u8 *copy = fuzz_exact(data, n);
	struct lineindexfile f;

	if (!((uintptr_t)copy % 8)) {
		lineindexfile_mend(copy, n);
		if (lineindexfile_view(&f, copy, n, NULL)) {
			FUZZ_CHECK(strlen(f.path) < n);
			look(&f);
		}
	}
	free(copy);
	return 0;
}
