/* The number of a section, the byte order (1: the other one), then the section. */
#include "fuzz/fuzz.h"

#include "file/feature.h"
#include "file/layout.h"

static void write_again(unsigned id, const struct file_info *info)
{
	struct str first = {0}, second = {0};
	struct file_info copy;
	struct err err;
	struct bytes b;

	/* What is written reads, and writes the same. */
	file_info_init(&copy);
	if (feature_write(id, info, &first)) {
		b = bytes_of(first.at, first.n);
		FUZZ_CHECK(feature_read(id, &b, &copy, &err) >= 0);
		FUZZ_CHECK(feature_write(id, &copy, &second));
		FUZZ_CHECK(first.n == second.n && !memcmp(first.at, second.at, first.n));
	}
	file_info_fini(&copy);
	str_fini(&first);
	str_fini(&second);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct str text = {0};
	struct file_info info;
	struct bytes b;
	struct err err;
	unsigned id;
	u8 *copy;

	if (n < 2)
		return 0;
	id = data[0] % LAYOUT_FEATURE_BITS;
	copy = fuzz_exact(data + 2, n - 2);
	b = bytes_of(copy, n - 2);
	b.swap = data[1] & 1;
	file_info_init(&info);
	if (feature_read(id, &b, &info, &err) > 0) {
		feature_add_text(id, &info, true, &text);
		FUZZ_CHECK(fuzz_is_safe_text(str_text(&text), text.n));
		write_again(id, &info);
	}
	file_info_fini(&info);
	str_fini(&text);
	free(copy);
	return 0;
}
