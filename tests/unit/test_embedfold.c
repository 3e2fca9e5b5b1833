#include "symbol/embed/embedfold.h"

#include <stdlib.h>

#include "base/mem.h"
#include "test.h"

static u64 random_bytes(u8 *at, u64 n, u64 state)
{
	for (u64 i = 0; i < n; i++) {
		state = state * 6364136223846793005 + 1442695040888963407;
		at[i] = (u8)(state >> 56);
	}
	return state;
}

TEST(embedfold_tables_come_back_as_they_were)
{
	u8 *at = mem_alloc(136 * 300), *before = mem_alloc(136 * 300);

	for (u32 each = 1; each <= 136; each++)
		for (u64 n = 0; n <= 300; n += 75) {
			random_bytes(before, each * n, each + n);
			memcpy(at, before, each * n);
			embedfold_table(at, each, n);
			CHECK(each % 4 || n < 2 || memcmp(at, before, each * n));
			embedfold_table_back(at, each, n);
			CHECK(!memcmp(at, before, each * n));
		}
	mem_free(at);
	mem_free(before);
}

/* As doc/embedded.md says, by hand. */
TEST(embedfold_tables_stand_byte_by_byte_each_less_the_one_before)
{
	u32 at[] = {0x01020304, 5, 0x01020306, 4};
	static const u8 folded[] = {0x08, 4, 0x06, 0, 0x04, 0, 0x02, 0, 10, 1, 0, 0, 0, 0, 0, 0};

	embedfold_table((u8 *)at, 8, 2);
	CHECK(!memcmp(at, folded, sizeof(folded)));
}

TEST(embedfold_calls_of_one_function_look_the_same)
{
	/* Two calls of 0x401100, a jump over 17 MB, which stays one, a jne, and a lea. */
	u8 code[] = {0xe8, 0xfb, 0, 0, 0, 0xe8, 0xf6, 0, 0, 0, 0xe9, 0, 0, 0x10, 0x01, 0x0f, 0x85,
		0xff, 0xff, 0xff, 0xff, 0x48, 0x8d, 0x05, 1, 0, 0, 0, 0x90};
	u8 before[sizeof(code)];

	memcpy(before, code, sizeof(code));
	embedfold_code(code, sizeof(code), 0x401000);
	CHECK(!memcmp(code,
		"\xe8\x00\x40\x11\x00\xe8\x00\x40\x11\x00\xe9\x01\x10\x00\x00\x0f\x85\x00\x40\x10\x14"
		"\x48\x8d\x05\x00\x40\x10\x1d\x90",
		sizeof(code)));
	embedfold_code_back(code, sizeof(code), 0x401000);
	CHECK(!memcmp(code, before, sizeof(code)));
}

/* Whatever the bytes are: most begin what looks like an instruction here. */
TEST(embedfold_code_comes_back_as_it_was)
{
	static const u8 often[] = {0xe8, 0xe9, 0x0f, 0x80, 0x8f, 0x48, 0x4c, 0x8d, 0x8b, 0x05, 0x0d,
		0, 0xff, 1, 0xfe, 0x7f};
	enum { N = 4096 };
	u8 at[N], before[N];
	u64 state = 1, n_changed = 0;

	for (unsigned run = 0; run < 2000; run++) {
		u64 n = run % 64 ? run % 64 : N, address = state;

		state = random_bytes(before, n, state);
		for (u64 i = 0; i < n; i++)
			if (before[i] & 0xc0)
				before[i] = often[before[i] % ARRAY_SIZE(often)];
		memcpy(at, before, n);
		embedfold_code(at, n, address);
		n_changed += memcmp(at, before, n) != 0;
		embedfold_code_back(at, n, address);
		CHECK(!memcmp(at, before, n));
	}
	CHECK(n_changed > 1000);
}
