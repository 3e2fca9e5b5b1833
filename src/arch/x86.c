#include "arch/x86.h"

#include <elf.h>

/* ---- registers ---- */

static const struct arch_reg x86_64_regs[] = {{"AX", 0}, {"BX", 3}, {"CX", 2}, {"DX", 1}, {"SI", 4},
	{"DI", 5}, {"BP", 6}, {"SP", 7}, {"IP", 16}, {"FLAGS", ARCH_NO_REG}, {"CS", ARCH_NO_REG},
	{"SS", ARCH_NO_REG}, {"DS", ARCH_NO_REG}, {"ES", ARCH_NO_REG}, {"FS", ARCH_NO_REG},
	{"GS", ARCH_NO_REG}, {"R8", 8}, {"R9", 9}, {"R10", 10}, {"R11", 11}, {"R12", 12},
	{"R13", 13}, {"R14", 14}, {"R15", 15}};
static const struct arch_reg i386_regs[] = {{"AX", 0}, {"BX", 3}, {"CX", 1}, {"DX", 2}, {"SI", 6},
	{"DI", 7}, {"BP", 5}, {"SP", 4}, {"IP", 8}, {"FLAGS", ARCH_NO_REG}, {"CS", ARCH_NO_REG},
	{"SS", ARCH_NO_REG}, {"DS", ARCH_NO_REG}, {"ES", ARCH_NO_REG}, {"FS", ARCH_NO_REG},
	{"GS", ARCH_NO_REG}, {"R8", ARCH_NO_REG}, {"R9", ARCH_NO_REG}, {"R10", ARCH_NO_REG},
	{"R11", ARCH_NO_REG}, {"R12", ARCH_NO_REG}, {"R13", ARCH_NO_REG}, {"R14", ARCH_NO_REG},
	{"R15", ARCH_NO_REG}};

/* ---- signals ---- */

/* Indexed by DWARF register number. */
static const u16 x86_64_offsets[] = {144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80,
	88, 96, 168};
static const u16 i386_offsets[] = {44, 40, 36, 32, 28, 24, 20, 16, 56};

#define OFFSETS(of) of, ARRAY_SIZE(of)

static const struct arch_trampoline x86_64_trampolines[] = {
	/* mov $15, %rax; syscall */
	{{0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}, 9, 0, 0, OFFSETS(x86_64_offsets)},
	/* mov $15, %eax; syscall */
	{{0xb8, 15, 0, 0, 0, 0x0f, 0x05}, 7, 0, 0, OFFSETS(x86_64_offsets)},
};

static const struct arch_trampoline i386_trampolines[] = {
	/* pop %eax; mov $119, %eax; int $0x80: the signal's number, the registers */
	{{0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80}, 8, 0, 4, OFFSETS(i386_offsets)},
	/* mov $173, %eax; int $0x80: the number, pointers to siginfo and ucontext */
	{{0xb8, 173, 0, 0, 0, 0xcd, 0x80}, 7, 8, 20, OFFSETS(i386_offsets)},
};

/* ---- to show code ---- */

static const struct isa_flow_word x86_words[] = {
	{"jmp*", ISA_JUMP},
	{"ljmp*", ISA_JUMP},
	{"j*", ISA_BRANCH},
	{"loop*", ISA_BRANCH},
	{"xbegin*", ISA_BRANCH},
	{"call*", ISA_CALL},
	{"lcall*", ISA_CALL},
	{"ret*", ISA_RETURN},
	{"lret*", ISA_RETURN},
	{"iret*", ISA_RETURN},
	{"sysret*", ISA_RETURN},
	{"sysexit*", ISA_RETURN},
	{"uiret", ISA_RETURN},
	{NULL, ISA_ON},
};

static const struct isa x86_64_isa = {"x86-64", "x86_64-linux-gnu", "X86", "", "i386:x86-64",
	{"/usr/bin/objdump", "/usr/bin/x86_64-linux-gnu-objdump", "/usr/local/bin/objdump"}, 1,
	true, x86_words};
static const struct isa i386_isa = {"i386", "i386-linux-gnu", "X86", "", "i386",
	{"/usr/bin/objdump", "/usr/bin/i686-linux-gnu-objdump", "/usr/local/bin/objdump"}, 1, true,
	x86_words};

/* ---- all architectures ---- */

const struct arch arch_x86_64 = {
	.names = {"x86_64"},
	.sibling = &arch_i386,
	.machine = EM_X86_64,
	.word = 8,
	ARCH_REGS(x86_64_regs),
	.letter = 'r',
	.has_vectors = true,
	.caller_regs = 0xff0fff, /* not the segments */
	.sp = 7,
	.ip = 16,
	.fp = 6,
	.link = ARCH_NO_REG,
	.va_mask = UINT64_MAX,
	.is_x86 = true,
	.code = &x86_code,
	ARCH_TRAMPOLINES(x86_64_trampolines),
	.isa = &x86_64_isa,
	.go = ARCH_GO_FRAME_POINTERS,
	.start = x86_start,
	.plt = &x86_plt,
	.debug_relocs = {{R_X86_64_64, 8}, {R_X86_64_32, 4}, {R_X86_64_32S, 4}},
	.irelative = R_X86_64_IRELATIVE,
	.relative = R_X86_64_RELATIVE,
	.has_small_pages = true,
	.kernel_ways = {"asm_sysvec_*", "sysvec_*", "asm_common_interrupt", "common_interrupt*",
		"asm_exc_*", "exc_*", "retint_user", "ret_from_intr", "do_syscall_64",
		"entry_SYSCALL_64*"},
	.has_plain_modules = true,
	.has_halves = true,
};

const struct arch arch_i386 = {
	.names = {"i686", "i586", "i386"},
	.sibling = &arch_x86_64,
	.machine = EM_386,
	.word = 4,
	ARCH_REGS(i386_regs),
	.letter = 'r',
	.has_vectors = true,
	.caller_regs = 0x0fff, /* a 32-bit kernel has no R8 to R15 */
	.sp = 4,
	.ip = 8,
	.fp = 5,
	.link = ARCH_NO_REG,
	.va_mask = UINT32_MAX,
	.is_x86 = true,
	.code = &x86_code,
	ARCH_TRAMPOLINES(i386_trampolines),
	.isa = &i386_isa,
	.go = ARCH_GO_DEPTHS,
	.start = x86_start,
	.plt = &x86_plt,
	.debug_relocs = {{R_386_32, 4}},
	.irelative = R_386_IRELATIVE,
	.has_small_pages = true,
};
