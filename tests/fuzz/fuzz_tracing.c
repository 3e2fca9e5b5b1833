/*
 * The formats of tracepoints, and the raw bytes of a sample of one of them. The last 128 bytes, or as
 * many as there are, are the sample; the rest is the section.
 */
#include "fuzz/fuzz.h"

#include "file/tracepoints.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	u32 n_raw = (u32)MIN(n, (size_t)128);
	struct str section = {0}, text = {0};
	struct tracepoints t;
	struct err err;
	u8 *raw = fuzz_exact(data + n - n_raw, n_raw);
	u16 id;

	str_addn(&section, data, n - n_raw);
	tracepoints_open(&t, &section, &err);
	for (unsigned i = 0; i < 400; i++) {
		struct record_bytes bytes = {raw, n_raw};

		/* All of the first ones: who fuzzes does not guess the number in the sample. */
		id = (u16)i;
		if (n_raw >= sizeof(id))
			memcpy(raw, &id, sizeof(id));
		tracepoints_add_text(&t, id, 0, &bytes, &text);
	}
	FUZZ_CHECK(fuzz_is_safe_text(str_text(&text), text.n));
	tracepoints_close(&t);
	str_fini(&section);
	str_fini(&text);
	free(raw);
	return 0;
}
