/* A kernel's core file, its vmlinux, or its types (BTF): the first byte says which. */
#include "fuzz/fuzz.h"

#include "collect/record/bpf.h"
#include "symbol/kernel/kcore.h"
#include "symbol/kernel/vmlinux.h"

static void read_core(const char *path)
{
	struct kcore k;
	struct err err;
	u8 buf[64];

	if (kcore_open(&k, path, &err))
		return;
	for (size_t i = 0; i < k.ranges.n; i++) {
		const struct kcore_range *r = &k.ranges.at[i];

		FUZZ_CHECK(r->start < r->end);
		FUZZ_CHECK(!i || r[-1].end <= r->start);
		FUZZ_CHECK(kcore_read(&k, r->start, buf, sizeof(buf)) <= sizeof(buf));
		kcore_read(&k, r->end - 1, buf, sizeof(buf));
		FUZZ_CHECK(
			kcore_read(&k, r->end - 1, buf, sizeof(buf)) <= 1 || (i + 1 < k.ranges.n));
	}
	kcore_close(&k);
}

static void read_vmlinux(const char *path)
{
	struct vmlinux_wish wish = {.symfs = ""};
	struct vmlinux v;
	struct err err;

	if (vmlinux_open(&v, path, &wish, &err))
		return;
	symtab_find(&v.symtab, v.text);
	vmlinux_close(&v);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	u8 *exact;

	if (!n)
		return 0;
	switch (data[0] % 3) {
	case 0:
		read_core(fuzz_file(data + 1, n - 1));
		break;
	case 1:
		read_vmlinux(fuzz_file(data + 1, n - 1));
		break;
	case 2:
		exact = fuzz_exact(data + 1, n - 1);
		for (u32 id = 0; id < 4; id++)
			bpf_function_name(bytes_of(exact, n - 1), id);
		free(exact);
	}
	return 0;
}
