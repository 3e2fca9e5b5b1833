#include "test.h"

#include "unwind/starts.h"

static bool is_start(const struct starts *s, u64 rva)
{
	u64 start, end;

	return starts_around(s, rva, &start, &end) && start == rva;
}

TEST(starts_are_what_is_called_and_what_has_its_address_taken)
{
	/*
	 * 0: call 32; lea 48(%rip),%rdi; lea 21(%rip),%rax; jmp *%rax; 21: pop; ret; nops
	 * 32: push; jmp 64; nops; 48: push; ret; nops; 64: ret; nops; 80: mov $0x200030,%eax; ret; zeros; 88: push
	 */
	static u8 code[96];
	static const u64 words[] = {0x200058, 0x200031, 0x200057, 7};
	struct bytes piece = bytes_of(code, sizeof(code));
	struct bytes data = bytes_of(words, sizeof(words));
	struct starts s = {0};
	u64 start, end;

	memset(code, 0x90, sizeof(code));
	memcpy(code,
		(const u8[]){0xe8, 27, 0, 0, 0, 0x48, 0x8d, 0x3d, 36, 0, 0, 0, 0x48, 0x8d, 0x05, 2,
			0, 0, 0, 0xff, 0xe0, 0x58, 0xc3},
		23);
	memcpy(code + 32, (const u8[]){0x53, 0xeb, 29}, 3);
	memcpy(code + 48, (const u8[]){0x53, 0xc3}, 2);
	code[64] = 0xc3;
	memcpy(code + 80, (const u8[]){0xb8, 0x30, 0, 0x20, 0, 0xc3}, 6);
	memcpy(code + 86, (const u8[]){0, 0, 0x53}, 3);
	piece.offset = 0x200000;
	starts_find(&s,
		&(struct starts_input){.code = &piece,
			.n_code = 1,
			.data = &data,
			.n_data = 1,
			.is_64 = true});
	starts_finish(&s);
	CHECK(is_start(&s, 0x200020));
	CHECK(is_start(&s, 0x200030));
	/* A word of data is a pointer where no instruction runs on into, behind zeros here. */
	CHECK(is_start(&s, 0x200058));
	CHECK(!is_start(&s, 0x200031) && !is_start(&s, 0x200057));
	/* Over the beginning of another function one jumps to a third one. */
	CHECK(is_start(&s, 0x200040));
	CHECK(starts_around(&s, 0x200035, &start, &end));
	CHECK_EQ(start, 0x200030);
	CHECK_EQ(end, 0x200040);
	CHECK(!starts_around(&s, 0x200000, &start, &end));
	CHECK(!starts_around(&s, 0x200060, &start, &end));
	starts_add(&s, 0x200000);
	starts_finish(&s);
	CHECK(is_start(&s, 0x200000));
	starts_fini(&s);
}

TEST(starts_of_code_of_32_bits_wrap_around)
{
	/* call to 16 bytes before the end of what it counts from */
	static const u8 code[] = {0xc3, 0x90, 0xe8, 0xf9, 0xff, 0xff, 0xff, 0xc3};
	struct bytes piece = bytes_of(code, sizeof(code));
	struct starts s = {0};

	piece.offset = 0x8048000;
	starts_find(&s, &(struct starts_input){.code = &piece, .n_code = 1});
	starts_finish(&s);
	CHECK(is_start(&s, 0x8048000));
	CHECK_EQ(s.at.n, 1);
	starts_fini(&s);
}

TEST(starts_within_a_function_are_not_taken_for_another_one)
{
	/*
	 * 0: call 36; call 54; call 64; ret; 32: push; push; push; push; 36: pop; ret; nops; 54: push; ret;
	 * 64: push; ret; and calls of 80, 96, ..., which are functions
	 */
	static u8 code[1024];
	struct bytes piece = bytes_of(code, sizeof(code));
	struct starts s = {0};
	u32 n = 0;

	memset(code, 0xcc, sizeof(code));
	memcpy(code, (const u8[]){0xe8, 31, 0, 0, 0, 0xe8, 44, 0, 0, 0, 0xe8, 49, 0, 0, 0, 0xc3},
		16);
	memcpy(code + 32, (const u8[]){0x53, 0x53, 0x53, 0x53, 0x5b, 0xc3}, 6);
	memset(code + 38, 0x90, 16);
	memcpy(code + 54, (const u8[]){0x53, 0xc3}, 2);
	memcpy(code + 64, (const u8[]){0x53, 0xc3}, 2);
	for (u32 at = 80; at < 512; at += 16, n += 5) {
		u32 to = at - 512 - n - 5;

		code[512 + n] = 0xe8;
		memcpy(code + 512 + n + 1, &to, sizeof(to));
	}
	piece.offset = 0x200000;
	starts_find(&s, &(struct starts_input){.code = &piece, .n_code = 1, .is_64 = true});
	starts_finish(&s);
	/* All that is called has a stack of its own. */
	CHECK(is_start(&s, 0x200024) && is_start(&s, 0x200036) && is_start(&s, 0x200040));
	/* What runs on into 36, and 54 is not aligned as the others are. */
	CHECK(!starts_function_between(&s, 0x200020, 0x200024));
	CHECK(!starts_function_between(&s, 0x200020, 0x20003f));
	CHECK(starts_function_between(&s, 0x200020, 0x200040));
	CHECK(!starts_function_between(&s, 0x200040, 0x20004f));
	/* Behind one that is not aligned itself it may be another function. */
	CHECK(starts_function_between(&s, 0x200021, 0x20003f));
	CHECK(!starts_function_between(&s, 0x200036, 0x20003f));
	starts_fini(&s);
}
