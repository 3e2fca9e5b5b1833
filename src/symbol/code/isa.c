#include "symbol/code/isa.h"

#include <elf.h>
#include <string.h>

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

static const struct isa_flow_word arm64_words[] = {
	{"b", ISA_JUMP},
	{"br", ISA_JUMP},
	{"braa*", ISA_JUMP},
	{"brab*", ISA_JUMP},
	{"b.*", ISA_BRANCH},
	{"bc.*", ISA_BRANCH},
	{"cbz", ISA_BRANCH},
	{"cbnz", ISA_BRANCH},
	{"tbz", ISA_BRANCH},
	{"tbnz", ISA_BRANCH},
	{"bl", ISA_CALL},
	{"blr*", ISA_CALL},
	{"ret*", ISA_RETURN},
	{"eret*", ISA_RETURN},
	{NULL, ISA_ON},
};

static const struct isa_flow_word riscv_words[] = {
	{"j", ISA_JUMP},
	{"jr", ISA_JUMP},
	{"tail", ISA_JUMP},
	{"beq*", ISA_BRANCH},
	{"bne*", ISA_BRANCH},
	{"blt*", ISA_BRANCH},
	{"bge*", ISA_BRANCH},
	{"bgt*", ISA_BRANCH},
	{"ble*", ISA_BRANCH},
	{"jal", ISA_CALL},
	{"jalr", ISA_CALL},
	{"call", ISA_CALL},
	{"ret", ISA_RETURN},
	{"sret", ISA_RETURN},
	{"mret", ISA_RETURN},
	{NULL, ISA_ON},
};

static const struct isa isas[] = {
	{EM_X86_64, "x86-64", "x86_64-linux-gnu", "X86", "", "i386:x86-64",
		{"/usr/bin/objdump", "/usr/bin/x86_64-linux-gnu-objdump", "/usr/local/bin/objdump"},
		1, true, x86_words},
	{EM_386, "i386", "i386-linux-gnu", "X86", "", "i386",
		{"/usr/bin/objdump", "/usr/bin/i686-linux-gnu-objdump", "/usr/local/bin/objdump"},
		1, true, x86_words},
	{EM_AARCH64, "arm64", "aarch64-linux-gnu", "AArch64",
		"+v8.5a,+crypto,+fullfp16,+sve,+sve2,+rand,+mte", "aarch64",
		{"/usr/bin/aarch64-linux-gnu-objdump", "/usr/bin/objdump",
			"/usr/local/bin/objdump"},
		4, false, arm64_words},
	{EM_RISCV, "riscv64", "riscv64-linux-gnu", "RISCV", "+m,+a,+f,+d,+c", "riscv:rv64",
		{"/usr/bin/riscv64-linux-gnu-objdump", "/usr/bin/objdump",
			"/usr/local/bin/objdump"},
		2, false, riscv_words},
};

const struct isa *isa_find(u16 machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(isas); i++)
		if (isas[i].machine == machine)
			return &isas[i];
	return NULL;
}

u16 isa_of_this_machine(void)
{
#if defined(__x86_64__)
	return EM_X86_64;
#elif defined(__i386__)
	return EM_386;
#elif defined(__aarch64__)
	return EM_AARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
	return EM_RISCV;
#else
	return EM_NONE;
#endif
}

enum isa_flow isa_flow(const struct isa *isa, const char *mnemonic, size_t n)
{
	for (const struct isa_flow_word *w = isa->words; w->mnemonic; w++) {
		size_t m = strlen(w->mnemonic);
		bool is_begin = w->mnemonic[m - 1] == '*';

		m -= is_begin;
		if ((is_begin ? n >= m : n == m) && !memcmp(mnemonic, w->mnemonic, m))
			return w->flow;
	}
	return ISA_ON;
}

const char *isa_flow_name(enum isa_flow flow)
{
	static const char *const names[ISA_FLOWS] = {
		[ISA_JUMP] = "jump",
		[ISA_BRANCH] = "branch",
		[ISA_CALL] = "call",
		[ISA_RETURN] = "return",
	};

	return names[flow];
}
