/*
 * A file of the cache, as symbol/dwarf/sheetfile maps it: with its checksums made right, so that what is
 * behind them is met.
 */
#include "fuzz/fuzz.h"

#include "symbol/dwarf/sheetfile.h"

static void look(const struct sheetfile *f)
{
	static const u64 addresses[] = {0, 1, 0x1000, 0x1005, 0x1009, 0x1021, 0x500000005,
		UINT64_MAX};

	for (u32 i = 0; i < f->n_units && i < 64; i++) {
		struct line_frame frames[LINE_DEPTH_MAX];
		struct sheet s;

		if (!sheetfile_sheet(f, i, &s))
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(addresses); k++) {
			size_t n = sheet_chain(&s, addresses[k], frames);

			FUZZ_CHECK(n <= LINE_DEPTH_MAX);
			for (size_t j = 0; j < n; j++) {
				FUZZ_CHECK(!frames[j].function ||
					strlen(frames[j].function) < f->size);
				FUZZ_CHECK(!frames[j].file || strlen(frames[j].file) < f->size);
			}
		}
	}
	for (size_t k = 0; k < ARRAY_SIZE(addresses); k++)
		pieces_find(f->pieces, f->n_pieces, addresses[k]);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	u8 *copy = fuzz_exact(data, n);
	struct sheetfile f;

	if (!((uintptr_t)copy % 8)) {
		sheetfile_mend(copy, n);
		if (sheetfile_view(&f, copy, n, NULL)) {
			FUZZ_CHECK(strlen(f.path) < n);
			look(&f);
		}
	}
	free(copy);
	return 0;
}
