#include "test.h"

#include <elf.h>
#include <unistd.h>

#include "arch/arch.h"
#include "symbol/code/disasm.h"
#include "symbol/code/llvm.h"
#include "symbol/code/objdump.h"

/* je to the ret; a load relative to the next instruction; a call; ud2; ret */
static const u8 x86[] = {0x74, 0x0e, 0x8b, 0x05, 0x10, 0x00, 0x00, 0x00, 0xe8, 0xf3, 0x0f, 0x00,
	0x00, 0xff, 0xe0, 0x90, 0xc3};
/* stp; cbz to the ret; bl to itself - 4; b.ne back; ret */
static const u8 arm64[] = {0xfd, 0x7b, 0xbf, 0xa9, 0x60, 0x00, 0x00, 0xb4, 0xfe, 0xff, 0xff, 0x97,
	0xa1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6};

static struct code code_of(u16 machine, const u8 *bytes, size_t n, u64 va)
{
	const struct arch *arch = arch_of_machine(machine);

	return (struct code){.at = bytes,
		.n = n,
		.start = va,
		.va = va,
		.machine = machine,
		.isa = arch ? arch->isa : NULL};
}

static void list(struct disasm *d, const struct code *c, enum disasm_engine engine, bool is_intel)
{
	struct err err = {0};

	if (disasm(d, c, &(struct disasm_options){.engine = engine, .is_intel = is_intel}, &err))
		SKIP("%s", err.msg);
}

static const struct instruction *at(const struct disasm *d, size_t i)
{
	CHECK(i < d->listing.instructions.n);
	return &d->listing.instructions.at[i];
}

static const char *text(const struct disasm *d, size_t i)
{
	return listing_text(&d->listing, at(d, i));
}

/* Whoever decodes it: where instructions begin, and where they go. */
static void check_x86(const struct disasm *d)
{
	static const u64 begins[] = {0x1000, 0x1002, 0x1008, 0x100d, 0x100f, 0x1010};
	static const u8 flows[] = {ISA_BRANCH, ISA_ON, ISA_CALL, ISA_JUMP, ISA_ON, ISA_RETURN};

	CHECK_EQ(d->listing.instructions.n, ARRAY_SIZE(begins));
	for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
		CHECK_EQ(at(d, i)->va, begins[i]);
		CHECK_EQ(at(d, i)->flow, flows[i]);
		CHECK_EQ(at(d, i)->has_target, i == 0 || i == 2);
		CHECK_EQ(at(d, i)->has_reference, i == 1);
		CHECK(!at(d, i)->is_bad);
	}
	CHECK_EQ(at(d, 0)->target, 0x1010);
	CHECK_EQ(at(d, 1)->reference, 0x1018);
	CHECK_EQ(at(d, 2)->target, 0x2000);
	CHECK_STR(text(d, 0), "je     0x1010");
	CHECK_EQ(listing_find(&d->listing, 0x1007), 1);
	CHECK_EQ(listing_find(&d->listing, 0x1011), UINT32_MAX);
	CHECK_EQ(listing_find(&d->listing, 0xfff), UINT32_MAX);
}

TEST(llvm_decodes_x86_with_targets_and_references)
{
	struct code c = code_of(EM_X86_64, x86, sizeof(x86), 0x1000);
	struct disasm d;

	list(&d, &c, DISASM_LLVM, false);
	check_x86(&d);
	CHECK_STR(text(&d, 1), "movl   0x10(%rip), %eax");
	CHECK_STR(text(&d, 3), "jmpq   *%rax");
	disasm_fini(&d);
	list(&d, &c, DISASM_LLVM, true);
	check_x86(&d);
	CHECK_STR(text(&d, 1), "mov    eax, dword ptr [rip + 0x10]");
	disasm_fini(&d);
}

TEST(objdump_decodes_x86_with_targets_and_references)
{
	struct code c = code_of(EM_X86_64, x86, sizeof(x86), 0x1000);
	struct disasm d;

	list(&d, &c, DISASM_OBJDUMP, false);
	check_x86(&d);
	CHECK_STR(text(&d, 1), "mov    0x10(%rip),%eax");
	disasm_fini(&d);
	list(&d, &c, DISASM_OBJDUMP, true);
	check_x86(&d);
	CHECK_STR(text(&d, 1), "mov    eax,DWORD PTR [rip+0x10]");
	disasm_fini(&d);
}

static void check_arm64(const struct disasm *d)
{
	CHECK_EQ(d->listing.instructions.n, 5);
	CHECK_EQ(at(d, 1)->flow, ISA_BRANCH);
	CHECK_EQ(at(d, 1)->target, 0x400010);
	CHECK_EQ(at(d, 2)->flow, ISA_CALL);
	CHECK_EQ(at(d, 2)->target, 0x400000);
	CHECK_EQ(at(d, 3)->flow, ISA_BRANCH);
	CHECK_EQ(at(d, 3)->target, 0x400000);
	CHECK_EQ(at(d, 4)->flow, ISA_RETURN);
	CHECK_STR(text(d, 4), "ret");
}

TEST(llvm_and_objdump_decode_arm64)
{
	struct code c = code_of(EM_AARCH64, arm64, sizeof(arm64), 0x400000);
	struct disasm d;

	list(&d, &c, DISASM_LLVM, false);
	check_arm64(&d);
	CHECK_STR(text(&d, 1), "cbz    x0, 0x400010");
	disasm_fini(&d);
	list(&d, &c, DISASM_OBJDUMP, false);
	check_arm64(&d);
	disasm_fini(&d);
}

TEST(i386_is_decoded_by_both)
{
	/* push %ebp; inc %eax, which is a prefix in 64 bits; ret */
	static const u8 bytes[] = {0x55, 0x40, 0xc3};
	struct code c = code_of(EM_386, bytes, sizeof(bytes), 0x8048000);

	for (enum disasm_engine e = DISASM_LLVM; e <= DISASM_OBJDUMP; e++) {
		struct disasm d;

		list(&d, &c, e, true);
		CHECK_EQ(d.listing.instructions.n, 3);
		CHECK_STR(text(&d, 1), "inc    eax");
		disasm_fini(&d);
	}
}

TEST(what_is_no_instruction_is_shown_as_bytes_and_decoding_goes_on)
{
	/* 0x06 is none in 64 bits; the last one is cut off */
	static const u8 bytes[] = {0x06, 0xc3, 0xe8, 0x01};
	struct code c = code_of(EM_X86_64, bytes, sizeof(bytes), 0);

	for (enum disasm_engine e = DISASM_LLVM; e <= DISASM_OBJDUMP; e++) {
		u64 covered = 0;
		struct disasm d;

		list(&d, &c, e, false);
		CHECK(at(&d, 0)->is_bad);
		CHECK_STR(text(&d, 0), ".byte  0x06");
		CHECK_EQ(at(&d, 1)->flow, ISA_RETURN);
		vec_each(i, &d.listing.instructions) {
			CHECK_EQ(i->va, covered);
			covered += i->size;
		}
		CHECK_EQ(covered, sizeof(bytes));
		disasm_fini(&d);
	}
}

TEST(raw_bytes_always_work)
{
	struct code c = code_of(EM_X86_64, x86, sizeof(x86), 0x1000);
	struct code unknown = code_of(EM_VAX, x86, sizeof(x86), 0x1000);
	struct disasm d;

	list(&d, &c, DISASM_RAW, false);
	CHECK_EQ(d.listing.instructions.n, 2);
	CHECK_EQ(at(&d, 1)->va, 0x1010);
	CHECK_EQ(at(&d, 1)->size, 1);
	disasm_fini(&d);
	/* A processor that nobody knows: not an error, and the reasons are told. */
	list(&d, &unknown, DISASM_ANY, false);
	CHECK_EQ(d.engine, DISASM_RAW);
	CHECK_HAS(str_text(&d.why), "ELF machine 75 is not supported");
	disasm_fini(&d);
}

TEST(a_disassembler_that_was_asked_for_is_not_replaced)
{
	struct code c = code_of(EM_X86_64, x86, sizeof(x86), 0x1000);
	struct disasm d;
	struct err err = {0};

	CHECK_EQ(disasm(&d, &c, &(struct disasm_options){.objdump = "/nowhere/objdump"}, &err),
		ERR_NOENT);
	CHECK_STR(err.msg, "'/nowhere/objdump' is not a program");
	/* A program that says nothing of use. */
	CHECK_EQ(disasm(&d, &c, &(struct disasm_options){.objdump = "/bin/true"}, &err),
		ERR_UNSUPPORTED);
	CHECK_HAS(err.msg, "'/bin/true' does not decode x86-64");
	CHECK_EQ(disasm_engine("objdump"), DISASM_OBJDUMP);
	CHECK_EQ(disasm_engine("capstone"), DISASM_ANY);
}

TEST(texts_of_disassemblers_get_one_shape)
{
	const struct isa *isa = arch_x86_64.isa, *arm = arch_arm64.isa;
	struct listing l = {0};

	listing_add(&l, isa, 0, 1, "\tlock\t\taddl\t%eax, (%rbx)");
	listing_add(&l, isa, 1, 1, "lea    0x2fe2(%rip),%rdi        # 0x4010 <x>");
	listing_add(&l, isa, 2, 1, "jmp    *0x2fe2(%rip)        # 0x3fc8");
	listing_add(&l, arm, 3, 1, "tbz\tw0, #3, 0x10");
	listing_add(&l, arm, 4, 1, "blr\tx3");
	CHECK_STR(listing_text(&l, &l.instructions.at[0]), "lock   addl %eax, (%rbx)");
	CHECK_STR(listing_text(&l, &l.instructions.at[1]), "lea    0x2fe2(%rip),%rdi");
	CHECK_EQ(l.instructions.at[1].reference, 0x4010);
	CHECK_EQ(l.instructions.at[2].flow, ISA_JUMP);
	CHECK(!l.instructions.at[2].has_target && l.instructions.at[2].reference == 0x3fc8);
	CHECK_EQ(l.instructions.at[3].target, 0x10);
	CHECK_STR(listing_text(&l, &l.instructions.at[3]), "tbz    w0, #3, 0x10");
	CHECK_EQ(l.instructions.at[4].flow, ISA_CALL);
	listing_fini(&l);
}
