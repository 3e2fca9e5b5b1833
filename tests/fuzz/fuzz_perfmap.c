/* A perf map, read in two pieces: the first byte says where it is cut. */
#include "fuzz/fuzz.h"

#include "symbol/jit/perfmap.h"

/* Of the lines that cover the address, the latest is what the ranges say. */
static void check_address(const struct perfmap *p, u64 address)
{
	const struct perfmap_range *r = perfmap_find(p, address);

	FUZZ_CHECK(!r || (r->start <= address && address < r->end && r->symbol <= r->start));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct perfmap p;
	size_t half;
	u8 *first, *second;

	if (!n)
		return 0;
	half = (n - 1) * data[0] / 255;
	first = fuzz_exact(data + 1, half);
	second = fuzz_exact(data + 1 + half, n - 1 - half);
	perfmap_init(&p);
	perfmap_add(&p, first, half);
	perfmap_add(&p, second, n - 1 - half);
	perfmap_finish(&p);
	for (size_t i = 0; i < p.ranges.n; i++) {
		const struct perfmap_range *r = &p.ranges.at[i];

		FUZZ_CHECK(r->start < r->end);
		FUZZ_CHECK(!i || r[-1].end <= r->start);
		check_address(&p, r->start);
		check_address(&p, r->end - 1);
		check_address(&p, r->end);
	}
	check_address(&p, 0);
	check_address(&p, UINT64_MAX);
	perfmap_fini(&p);
	free(first);
	free(second);
	return 0;
}
