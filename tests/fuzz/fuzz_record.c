/*
 * One record that is not a sample. The first byte is the size of its trailer, in words of 8 bytes. The
 * rest is a header and a body.
 */
#include "fuzz/fuzz.h"

#include "record/record.h"

static void check_record(const u8 *at, size_t n, u32 trailer)
{
	struct record_header h;
	struct record rec;
	struct str text = {0}, again = {0};
	union record_body body;
	struct err err;

	memcpy(&h, at, sizeof(h));
	rec = (struct record){h.type, h.misc, (u16)n, at, 0};
	if (record_decode(&rec, trailer, &body, &err) > 0) {
		record_add_text(h.type, h.misc, &body, &text);
		FUZZ_CHECK(fuzz_is_safe_text(str_text(&text), text.n));
		/* What was decoded encodes to the same bytes. */
		FUZZ_CHECK(record_encode(h.type, h.misc, &body, trailer, &again));
		FUZZ_CHECK(again.n == n);
		FUZZ_CHECK(!memcmp(again.at + sizeof(h), at + sizeof(h), n - sizeof(h) - trailer));
	}
	str_fini(&text);
	str_fini(&again);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	struct record_header h;
	u32 trailer;
	u8 *copy;

	if (n < 1 + sizeof(h) || n - 1 > UINT16_MAX)
		return 0;
	trailer = 8 * (*data % 8);
	copy = fuzz_exact(data + 1, n - 1);
	n--;
	memcpy(&h, copy, sizeof(h));
	h.size = (u16)n;
	memcpy(copy, &h, sizeof(h));
	/* Who decodes has seen that there is room for the trailer. */
	if (trailer <= n - sizeof(h))
		check_record(copy, n, trailer);
	/* Of the other byte order: the header is turned already. */
	if (record_swap(copy, (u16)n, trailer <= n - sizeof(h) ? trailer : 0) &&
		trailer <= n - sizeof(h))
		check_record(copy, n, trailer);
	free(copy);
	return 0;
}
