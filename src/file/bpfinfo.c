#include "file/bpfinfo.h"

#include "file/section.h"

/* Offsets in the kernel's struct bpf_prog_info; perf replaced its pointers by offsets. */
enum {
	BPF_ID = 4,
	BPF_TAG = 8,
	BPF_NAME = 64,
	BPF_N_ADDRESSES = 104,
	BPF_N_SIZES = 108,
	BPF_ADDRESSES = 112,
	BPF_SIZES = 120,
};

static u64 bpf_word(const struct bytes *program, size_t at, size_t size)
{
	struct bytes b = *program;
	u64 wide = 0;
	u32 narrow = 0;

	if (bytes_skip(&b, at))
		(void)(size == 8 ? bytes_u64(&b, &wide) : bytes_u32(&b, &narrow));
	return size == 8 ? wide : narrow;
}

/* The first entry of one of the program's arrays; 0: the array is empty. */
static u64 bpf_first(const struct bytes *program, const struct bytes *arrays, size_t number_at,
	size_t array_at, size_t size)
{
	return bpf_word(program, number_at, 4)
		? bpf_word(arrays, bpf_word(program, array_at, 8), size)
		: 0;
}

/* Adds the name that the kernel's symbol has: bpf_prog_TAG_NAME. */
static void add_bpf_name(const struct bytes *program, struct str *text)
{
	struct bytes b = *program;
	const void *tag, *name;

	if (!bytes_skip(&b, BPF_TAG) || !bytes_take(&b, 8, &tag))
		return;
	str_add(text, " bpf_prog_");
	for (unsigned i = 0; i < 8; i++)
		str_addf(text, "%02x", ((const u8 *)tag)[i]);
	if (!bytes_skip(&b, BPF_NAME - BPF_TAG - 8) || !bytes_take(&b, 16, &name) ||
		!*(const char *)name)
		return;
	str_addc(text, '_');
	str_add_safe(text, name, strnlen(name, 16));
}

static void add_bpf_program(const struct bytes *program, const struct bytes *arrays,
	struct str *text)
{
	u64 n = bpf_word(program, BPF_N_ADDRESSES, 4);

	str_addf(text, "# bpf_prog_info %llu:", (unsigned long long)bpf_word(program, BPF_ID, 4));
	add_bpf_name(program, text);
	if (n)
		str_addf(text, " addr 0x%llx size %llu",
			(unsigned long long)bpf_first(program, arrays, BPF_N_ADDRESSES,
				BPF_ADDRESSES, 8),
			(unsigned long long)bpf_first(program, arrays, BPF_N_SIZES, BPF_SIZES, 4));
	if (n > 1)
		str_addf(text, ", and %llu more functions", (unsigned long long)(n - 1));
	str_addc(text, '\n');
}

bool bpfinfo_add_text(struct bytes *b, struct str *text)
{
	u32 n;

	if (!section_get_count(b, 16, &n))
		return false;
	while (n--) {
		struct bytes program, arrays;
		u32 info_size, data_size;
		u64 included;

		if (!bytes_u32(b, &info_size) || !bytes_u32(b, &data_size) ||
			!bytes_u64(b, &included) || !bytes_sub(b, info_size, &program) ||
			!bytes_sub(b, data_size, &arrays))
			return false;
		if (info_size >= BPF_TAG)
			add_bpf_program(&program, &arrays, text);
	}
	return true;
}
