#include "test.h"

#include "arch/arch.h"
#include "unwind/outermost.h"

static bool is_exit(const struct arch *arch, const u8 *code, u32 n)
{
	return outermost_is_exit(arch,
		&(struct stack_bytes){code, 0, n, STACK_START_UNKNOWN, false});
}

#define IS_EXIT(arch, ...) \
	is_exit(arch, (const u8[]){__VA_ARGS__}, sizeof((const u8[]){__VA_ARGS__}))

TEST(final_code_leaves_by_exit)
{
	/* mov %eax,%edi; xor %eax,%eax; mov $60,%al; syscall */
	CHECK(IS_EXIT(&arch_x86_64, 0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05, 0xf4));
	/* mov %rax,%rdi; mov $231,%eax; syscall */
	CHECK(IS_EXIT(&arch_x86_64, 0x48, 0x89, 0xc7, 0xb8, 0xe7, 0, 0, 0, 0x0f, 0x05));
	/* mov %eax,%ebx; xor %eax,%eax; inc %eax; int $0x80 */
	CHECK(IS_EXIT(&arch_i386, 0x89, 0xc3, 0x31, 0xc0, 0x40, 0xcd, 0x80));
	/* mov x8, #93; svc #0 */
	CHECK(IS_EXIT(&arch_arm64, 0xa8, 0x0b, 0x80, 0xd2, 0x01, 0, 0, 0xd4));
}

TEST(final_code_of_goroutines_is_behind_the_nop_that_goexit_begins_with)
{
	static const u8 goexit[] = {0x90, 0xe8, 0, 0, 0, 0, 0x90};

	CHECK(outermost_is_goexit(&arch_x86_64,
		&(struct stack_bytes){goexit + 1, 1, sizeof(goexit) - 1, 1, false}));
	/* elsewhere in a function, or at its start */
	CHECK(!outermost_is_goexit(&arch_x86_64,
		&(struct stack_bytes){goexit + 1, 1, sizeof(goexit) - 1, 9, false}));
	CHECK(!outermost_is_goexit(&arch_x86_64,
		&(struct stack_bytes){goexit, 0, sizeof(goexit), 0, false}));
	CHECK(!outermost_is_goexit(&arch_x86_64, &(struct stack_bytes){.into = 1}));
}

TEST(final_code_is_nothing_else)
{
	/* another system call, and one of which the number is not known */
	CHECK(!IS_EXIT(&arch_x86_64, 0x31, 0xc0, 0xb0, 0x3b, 0x0f, 0x05));
	CHECK(!IS_EXIT(&arch_x86_64, 0xb0, 0x3c, 0x0f, 0x05));
	CHECK(!IS_EXIT(&arch_x86_64, 0xb8, 0x3c, 0, 0, 0, 0x89, 0xd8, 0x0f, 0x05));
	/* a jump, a return, a call on the way */
	CHECK(!IS_EXIT(&arch_x86_64, 0xb8, 0x3c, 0, 0, 0, 0x74, 0x00, 0x0f, 0x05));
	CHECK(!IS_EXIT(&arch_x86_64, 0xb8, 0x3c, 0, 0, 0, 0xc3));
	CHECK(!IS_EXIT(&arch_x86_64, 0xe8, 0, 0, 0, 0, 0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05));
	/* the numbers of another machine; not all of it there */
	CHECK(!IS_EXIT(&arch_i386, 0x31, 0xc0, 0xb0, 0x3c, 0xcd, 0x80));
	CHECK(!IS_EXIT(&arch_x86_64, 0xb8, 0x3c, 0, 0, 0, 0x0f));
	CHECK(!IS_EXIT(&arch_arm64, 0xa8, 0x0b, 0x80, 0xd2));
	CHECK(!IS_EXIT(&arch_arm64, 0xe8, 0x0b, 0x80, 0xd2, 0x01, 0, 0, 0xd4));
	CHECK(!outermost_is_exit(&arch_x86_64, &(struct stack_bytes){0}));
}
