/* A copy of /proc/kallsyms, or, if the first byte is odd, of /proc/modules. */
#include "fuzz/fuzz.h"

#include "symbol/kernel/kallsyms.h"

static void check_address(const struct kallsyms *k, u64 address)
{
	u64 start, end;
	const char *name = kallsyms_find(k, address, &start, &end);

	FUZZ_CHECK(!name || (start <= address && address < end && strlen(name) < k->names_size));
}

static bool take_module(void *ctx, const char *name, size_t n, u64 base, u64 size)
{
	u64 *n_bytes = ctx;

	(void)base, (void)size;
	FUZZ_CHECK(n > 0 && !memchr(name, ' ', n) && !memchr(name, '\n', n));
	*n_bytes += n;
	return true;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct kallsyms k;
	struct err err;
	u64 n_bytes = 0;

	if (!n)
		return 0;
	if (data[0] & 1) {
		kallsyms_each_module(fuzz_file(data + 1, n - 1), NULL, take_module, &n_bytes);
		FUZZ_CHECK(n_bytes < n);
		kallsyms_module_base(fuzz_file(data + 1, n - 1), "nf_tables", 9, NULL);
		return 0;
	}
	if (kallsyms_open(&k, fuzz_file(data + 1, n - 1), true, NULL, 0, &err))
		return 0;
	for (u64 i = 0; i < k.n; i++) {
		FUZZ_CHECK(!i || k.entries[i - 1].start < k.entries[i].start);
		check_address(&k, k.entries[i].start);
		check_address(&k, k.entries[i].start - 1);
	}
	check_address(&k, 0);
	check_address(&k, UINT64_MAX);
	kallsyms_close(&k);
	return 0;
}
