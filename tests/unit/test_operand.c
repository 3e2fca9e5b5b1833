#include "test.h"

#include "unwind/operand.h"

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R13 = 13, NO = OPERAND_NO_REG };

static struct operand decode(const u8 *bytes, u32 n)
{
	struct operand o;

	CHECK_EQ(operand_decode(bytes, n, true, &o), n);
	return o;
}

#define DECODE(...) decode((const u8[]){__VA_ARGS__}, sizeof((const u8[]){__VA_ARGS__}))

TEST(operand_tells_which_memory_is_accessed)
{
	struct operand o = DECODE(0x48, 0x8b, 0x44, 0xf7, 0x18); /* mov 0x18(%rdi,%rsi,8),%rax */

	CHECK_EQ(o.access, OPERAND_MEMORY);
	CHECK(o.base == RDI && o.index == RSI && o.scale == 3 && o.disp == 0x18 && !o.segment);
	o = DECODE(0x48, 0x8b, 0x05, 0x10, 0, 0, 0); /* mov 0x10(%rip),%rax */
	CHECK(o.access == OPERAND_MEMORY && o.is_relative && o.base == NO && o.disp == 0x10);
	o = DECODE(0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0); /* mov %fs:0x28,%rax */
	CHECK(o.access == OPERAND_MEMORY && o.segment == 'f' && o.disp == 0x28);
	o = DECODE(0xf3, 0x48, 0xab); /* rep stos %rax,(%rdi) */
	CHECK(o.access == OPERAND_MEMORY && o.base == RDI && o.spoilt & 1 << RDI);
}

TEST(operand_tells_what_is_no_access)
{
	CHECK_EQ(DECODE(0x48, 0x8d, 0x44, 0x37, 0x08).access, OPERAND_NOTHING); /* lea */
	CHECK_EQ(DECODE(0x0f, 0x1f, 0x44, 0, 0).access, OPERAND_NOTHING); /* nopl 0(%rax,%rax) */
	CHECK_EQ(DECODE(0x48, 0x89, 0xc7).access, OPERAND_NOTHING);       /* mov %rax,%rdi */
	CHECK_EQ(DECODE(0x55).access, OPERAND_STACK);                     /* push %rbp */
	CHECK_EQ(DECODE(0xc3).access, OPERAND_STACK);                     /* ret */
	CHECK_EQ(DECODE(0xff, 0x50, 0x10).access, OPERAND_MEMORY);        /* call *0x10(%rax) */
}

TEST(operand_tells_what_becomes_of_registers)
{
	struct operand o = DECODE(0x49, 0x8b, 0x45, 0x08); /* mov 0x8(%r13),%rax */

	CHECK(o.effect == EFFECT_LOAD && o.target == RAX && o.bytes == 8 && o.base == R13);
	o = DECODE(0x0f, 0xb6, 0x50, 0x01); /* movzbl 0x1(%rax),%edx */
	CHECK(o.effect == EFFECT_LOAD && o.target == RDX && o.bytes == 1);
	o = DECODE(0x48, 0x89, 0xfb); /* mov %rdi,%rbx */
	CHECK(o.effect == EFFECT_COPY && o.target == RBX && o.source == RDI);
	o = DECODE(0x89, 0xfb); /* mov %edi,%ebx */
	CHECK(o.effect == EFFECT_OTHER && o.target == RBX);
	o = DECODE(0x48, 0x89, 0x44, 0x24, 0x10); /* mov %rax,0x10(%rsp) */
	CHECK(o.effect == EFFECT_STORE && o.source == RAX && o.base == RSP && o.disp == 0x10);
	o = DECODE(0x48, 0x83, 0xe8, 0x20); /* sub $0x20,%rax */
	CHECK(o.effect == EFFECT_ADD && o.target == RAX && o.imm == -0x20);
	o = DECODE(0x48, 0x01, 0xf0); /* add %rsi,%rax */
	CHECK(o.effect == EFFECT_MOVE_BY && o.target == RAX && o.source == RSI);
	o = DECODE(0x48, 0x0f, 0x44, 0xc2); /* cmove %rdx,%rax */
	CHECK(o.effect == EFFECT_COPY && o.is_conditional && o.source == RDX);
	o = DECODE(0x48, 0xf7, 0xf1); /* div %rcx */
	CHECK(o.effect == EFFECT_OTHER && o.target == RAX && o.spoilt == 1 << RDX);
	CHECK_EQ(DECODE(0x48, 0x39, 0xd8).effect, EFFECT_NONE);       /* cmp %rbx,%rax */
	CHECK_EQ(DECODE(0x48, 0x85, 0xc0).effect, EFFECT_NONE);       /* test %rax,%rax */
	CHECK_EQ(DECODE(0xf2, 0x0f, 0x10, 0x00).effect, EFFECT_NONE); /* movsd (%rax),%xmm0 */
	o = DECODE(0xc4, 0xe2, 0xe8, 0xf3, 0xc8);                     /* blsr %rax,%rdx */
	CHECK(o.effect == EFFECT_OTHER && o.spoilt & 1 << RDX);
}

TEST(operand_tells_where_the_processor_goes_on)
{
	struct operand o = DECODE(0x75, 0xf0); /* jne */

	CHECK(o.flow == OPERAND_BRANCH && o.to == -16);
	CHECK_EQ(DECODE(0xe9, 0, 1, 0, 0).flow, OPERAND_JUMP);
	CHECK_EQ(DECODE(0xe8, 0, 1, 0, 0).flow, OPERAND_CALL);
	CHECK_EQ(DECODE(0xff, 0xe0).flow, OPERAND_TABLE); /* jmp *%rax */
	CHECK_EQ(DECODE(0x0f, 0x0b).flow, OPERAND_END);   /* ud2 */
	CHECK_EQ(DECODE(0x90).flow, OPERAND_ON);
	CHECK_EQ(operand_decode((const u8[]){0x48}, 1, true, &o), 0);
}

static struct operand decode_i386(const u8 *bytes, u32 n)
{
	struct operand o;

	CHECK_EQ(operand_decode(bytes, n, false, &o), n);
	CHECK_EQ(o.word, 4);
	return o;
}

#define I386(...) decode_i386((const u8[]){__VA_ARGS__}, sizeof((const u8[]){__VA_ARGS__}))

TEST(operand_of_32_bits_has_addresses_of_4_bytes)
{
	struct operand o = I386(0x8b, 0x44, 0xb7, 0x18); /* mov 0x18(%edi,%esi,4),%eax */

	CHECK(o.access == OPERAND_MEMORY && o.base == RDI && o.index == RSI && o.scale == 2);
	CHECK(o.effect == EFFECT_LOAD && o.target == RAX && o.bytes == 4);
	o = I386(0x89, 0xfb); /* mov %edi,%ebx */
	CHECK(o.effect == EFFECT_COPY && o.target == RBX && o.source == RDI);
	o = I386(0x66, 0x89, 0xfb); /* mov %di,%bx */
	CHECK(o.effect == EFFECT_OTHER && o.target == RBX);
	o = I386(0x89, 0x45, 0xf8); /* mov %eax,-8(%ebp) */
	CHECK(o.effect == EFFECT_STORE && o.source == RAX && o.base == RBP && o.disp == -8);
	o = I386(0xa1, 0x44, 0xc0, 0x04, 0x08); /* mov 0x804c044,%eax */
	CHECK(o.access == OPERAND_MEMORY && o.base == NO && o.index == NO && o.disp == 0x804c044);
	CHECK(o.effect == EFFECT_LOAD && o.target == RAX && o.bytes == 4);
	o = I386(0xa3, 0x44, 0xc0, 0x04, 0x08); /* mov %eax,0x804c044 */
	CHECK(o.access == OPERAND_MEMORY && o.effect == EFFECT_STORE && o.source == RAX);
	o = I386(0x05, 0x67, 0x2d, 0, 0); /* add $0x2d67,%eax */
	CHECK(o.effect == EFFECT_ADD && o.target == RAX && o.imm == 0x2d67);
	o = I386(0x4e); /* dec %esi */
	CHECK(o.effect == EFFECT_ADD && o.target == RSI && o.imm == -1);
	o = I386(0xb4, 1); /* mov $1,%ah */
	CHECK(o.effect == EFFECT_OTHER && o.target == RAX);
	/* esp and ebp have each other's number. */
	CHECK(operand_reg(4, false) == RSP && operand_reg(5, false) == RBP);
	CHECK(operand_reg(6, false) == RSI && operand_reg(7, false) == RDI);
	CHECK(operand_reg(1, false) == RCX && operand_reg(2, false) == RDX);
	CHECK(operand_reg(8, false) == NO && operand_reg(7, true) == RSP);
}
