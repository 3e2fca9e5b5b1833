#include "test.h"

#include "arch/x86_decode.h"

/* Copied to memory of their own, so that sanitizers see who reads behind them. */
static unsigned decode(const u8 *bytes, u32 n, bool is_64, struct x86_op *op)
{
	u8 *copy = malloc(n + !n);
	unsigned size;

	memcpy(copy, bytes, n);
	size = x86_decode(copy, n, is_64, op);
	free(copy);
	return size;
}

static const struct {
	bool is_64;
	u8 n;
	u8 bytes[15];
} samples[] = {
	{true, 1, {0x55}}, {true, 2, {0x41, 0x57}}, {true, 3, {0x48, 0x89, 0xe5}},
	{true, 4, {0x48, 0x83, 0xec, 0x18}}, {true, 7, {0x48, 0x81, 0xec, 0x00, 0x10, 0x00, 0x00}},
	{true, 5, {0x48, 0x8b, 0x44, 0x24, 0x08}},
	{true, 8, {0x48, 0x8b, 0x84, 0x24, 0x80, 0, 0, 0}},
	{true, 8, {0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0}},
	{true, 10, {0x49, 0xbf, 1, 2, 3, 4, 5, 6, 7, 8}}, {true, 9, {0xa1, 1, 2, 3, 4, 5, 6, 7, 8}},
	{true, 4, {0x66, 0xb8, 0x34, 0x12}}, {true, 5, {0x66, 0xf7, 0xc0, 1, 0}},
	{true, 2, {0xf6, 0xd0}}, {true, 3, {0xf6, 0xc0, 1}}, {true, 6, {0xf7, 0xc0, 1, 0, 0, 0}},
	{true, 6, {0x0f, 0x84, 1, 0, 0, 0}}, {true, 4, {0xf3, 0x0f, 0x1e, 0xfa}},
	{true, 3, {0xc5, 0xf8, 0x77}}, {true, 5, {0xc5, 0xf9, 0x70, 0xc0, 1}},
	{true, 6, {0xc4, 0xe3, 0x7d, 0x39, 0xc1, 1}},
	{true, 6, {0x62, 0xf1, 0x7c, 0x48, 0x28, 0xc1}},
	{true, 7, {0x62, 0xf3, 0xfd, 0x48, 0x3b, 0xc1, 1}},
	{true, 6, {0x8f, 0xe8, 0x78, 0xc2, 0xec, 0x0e}},
	{true, 6, {0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8}}, {true, 5, {0x66, 0x0f, 0x38, 0x00, 0xc1}},
	{true, 4, {0xc8, 0x10, 0, 0}}, {false, 1, {0x48}}, {false, 5, {0xa1, 1, 2, 3, 4}},
	{false, 2, {0xc4, 0x06}}, {false, 2, {0x83, 0xec}}, /* not all there */
};

TEST(x86_instructions_have_the_size_that_the_manual_gives_them)
{
	struct x86_op op;

	for (size_t i = 0; i + 1 < ARRAY_SIZE(samples); i++) {
		u8 bytes[16];

		memset(bytes, 0x90, sizeof(bytes));
		memcpy(bytes, samples[i].bytes, samples[i].n);
		CHECK_EQ(decode(bytes, sizeof(bytes), samples[i].is_64, &op), samples[i].n);
		for (u32 n = 0; n < samples[i].n; n++)
			CHECK_EQ(decode(bytes, n, samples[i].is_64, &op), 0);
	}
	CHECK_EQ(decode(samples[ARRAY_SIZE(samples) - 1].bytes, 2, false, &op), 0);
}

TEST(x86_instructions_tell_their_registers_and_numbers)
{
	struct x86_op op;

	CHECK(decode((const u8[]){0x48, 0x8d, 0x64, 0x24, 0xf0}, 5, true, &op) && op.is_wide);
	CHECK(op.reg == 4 && op.rm == 4 && op.has_base && op.disp == -16);
	CHECK(decode((const u8[]){0x48, 0x8d, 0x64, 0x04, 0xf0}, 5, true, &op) && !op.has_base);
	CHECK(decode((const u8[]){0x41, 0x55}, 2, true, &op) && op.reg == 13);
	CHECK(decode((const u8[]){0x49, 0x89, 0xe5}, 3, true, &op) && op.rm == 13 && op.reg == 4);
	CHECK(decode((const u8[]){0xeb, 0xfe}, 2, true, &op) && op.imm == -2);
	CHECK(decode((const u8[]){0x66, 0x50}, 2, true, &op) && op.is_short);
	CHECK(decode((const u8[]){0x89, 0xe5}, 2, false, &op) && op.is_wide);
	CHECK(decode((const u8[]){0x89, 0xe5}, 2, true, &op) && !op.is_wide);
}

TEST(x86_instructions_tell_which_memory_they_access)
{
	struct x86_op op;

	/* mov %fs:0x28,%rax */
	CHECK(decode((const u8[]){0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}, 9, true, &op));
	CHECK(op.has_memory && op.segment == 0x64 && op.disp == 0x28);
	CHECK(op.base == X86_NO_REG && op.index == X86_NO_REG && !op.is_relative);
	/* mov 0x10(%rip),%eax */
	CHECK(decode((const u8[]){0x8b, 0x05, 0x10, 0, 0, 0}, 6, true, &op));
	CHECK(op.has_memory && op.is_relative && op.base == X86_NO_REG && op.disp == 16);
	/* mov 0x18(%r13,%r12,8),%rax */
	CHECK(decode((const u8[]){0x4b, 0x8b, 0x44, 0xe5, 0x18}, 5, true, &op));
	CHECK(op.base == 13 && op.index == 12 && op.scale == 3 && op.disp == 24);
	/* mov %rsi,%rdi; vmovups (%r8,%r9,4),%ymm1; vpgatherdd %ymm1,(%rax,%ymm3,4),%ymm2 */
	CHECK(decode((const u8[]){0x48, 0x89, 0xf7}, 3, true, &op) && !op.has_memory);
	CHECK(decode((const u8[]){0xc4, 0x81, 0x7c, 0x10, 0x0c, 0x88}, 6, true, &op));
	CHECK(op.base == 8 && op.index == 9 && op.scale == 2 && op.vector_map == 1);
	CHECK(decode((const u8[]){0xc4, 0xe2, 0x75, 0x90, 0x14, 0x98}, 6, true, &op));
	CHECK(op.base == 0 && op.index == X86_NO_REG && op.has_vector_index && op.other == 1);
	/* vmovups 0x40(%rax),%zmm0: 1 in its bytes */
	CHECK(decode((const u8[]){0x62, 0xf1, 0x7c, 0x48, 0x10, 0x40, 0x01}, 7, true, &op));
	CHECK(op.base == 0 && op.disp == 1 && op.has_packed_disp);
}

TEST(x86_decodes_nothing_beyond_what_is_there)
{
	u64 state = 88172645463325252ull;

	for (unsigned i = 0; i < 200000; i++) {
		struct x86_op op;
		u8 bytes[15];
		u32 n = i % 16;

		for (u32 k = 0; k < n; k++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			bytes[k] = (u8)state;
		}
		CHECK(decode(bytes, n, i & 16, &op) <= n);
	}
}
