/* An attr of 144 bytes, then the body of a sample of its event. */
#include "fuzz/fuzz.h"

#include "arch/arch.h"
#include "record/sample.h"

static void check_sample(const struct sample_format *format, const u8 *body, size_t n)
{
	struct sample sample = {0}, copy = {0};
	struct str text = {0}, once = {0}, twice = {0};
	struct err err;

	if (!sample_decode(format, body, n, UINT64_MAX, &sample, &err)) {
		sample_add_text(format, &sample, arch_of_host(), &text);
		FUZZ_CHECK(fuzz_is_safe_text(str_text(&text), text.n));
		for (u64 i = 0; i < sample.read.n_values; i++)
			sample_read_value(format, &sample.read, i);
		/* What is encoded decodes to the same sample. */
		sample_encode(format, &sample, &once);
		FUZZ_CHECK(!sample_decode(format, (const u8 *)str_text(&once), once.n, UINT64_MAX,
			&copy, &err));
		sample_encode(format, &copy, &twice);
		FUZZ_CHECK(once.n == twice.n && !memcmp(str_text(&once), str_text(&twice), once.n));
	}
	str_fini(&text);
	str_fini(&once);
	str_fini(&twice);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct sample_format format;
	struct event_attr attr;
	struct str text = {0};
	struct record rec;
	struct sample trailer;
	struct bytes b;
	struct err err;
	bool dropped;
	u8 *body;

	b = bytes_of(data, MIN(n, (size_t)ATTR_SIZE_VER9));
	if (n < ATTR_SIZE_VER9 || attr_read(&b, ATTR_SIZE_VER9, &attr, &dropped, &err))
		return 0;
	attr_add_text(&attr, " ", &text);
	str_fini(&text);
	sample_format_init(&format, &attr);
	n = MIN(n - ATTR_SIZE_VER9, (size_t)UINT16_MAX - RECORD_HEADER_SIZE);
	body = fuzz_exact(data + ATTR_SIZE_VER9, n);
	check_sample(&format, body, n);
	if (n >= RECORD_HEADER_SIZE) {
		rec = (struct record){PERF_RECORD_COMM, 0, (u16)n, body, 0};
		sample_decode_trailer(&format, &rec, &trailer);
		sample_swap_trailer(&format, body, (u16)n);
	}
	if (sample_swap(&format, body, n))
		check_sample(&format, body, n);
	free(body);
	return 0;
}
