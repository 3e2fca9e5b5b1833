#include "record/regs.h"

#include "test.h"

#if defined(__x86_64__)
#include <asm/perf_regs.h>
#endif

static const char *name_of(const struct arch *arch, unsigned number)
{
	static char buf[16];

	return regs_name(arch, number, buf, sizeof(buf));
}

TEST(regs_of_x86_are_numbered_as_the_kernel_numbers_them)
{
	static const char *const names[] = {"AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP",
		"FLAGS", "CS", "SS", "DS", "ES", "FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13",
		"R14", "R15"};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		CHECK_STR(name_of(&arch_x86_64, i), names[i]);
	/* Numbers nobody has given out yet still get a name. */
	CHECK_STR(name_of(&arch_x86_64, 24), "r24");
	CHECK_STR(name_of(&arch_x86_64, 31), "r31");
	CHECK_STR(name_of(&arch_x86_64, 32), "XMM0");
	CHECK_STR(name_of(&arch_x86_64, 33), "XMM0h");
	CHECK_STR(name_of(&arch_x86_64, 62), "XMM15");
	CHECK_STR(name_of(&arch_x86_64, 63), "XMM15h");
	CHECK_STR(name_of(&arch_x86_64, 64), "r64");
}

TEST(regs_of_x86_agree_with_this_machines_header)
{
#if defined(__x86_64__)
	CHECK_STR(name_of(&arch_x86_64, PERF_REG_X86_AX), "AX");
	CHECK_STR(name_of(&arch_x86_64, PERF_REG_X86_BP), "BP");
	CHECK_STR(name_of(&arch_x86_64, PERF_REG_X86_SP), "SP");
	CHECK_STR(name_of(&arch_x86_64, PERF_REG_X86_IP), "IP");
	CHECK_STR(name_of(&arch_x86_64, PERF_REG_X86_FLAGS), "FLAGS");
	CHECK_STR(name_of(&arch_x86_64, PERF_REG_X86_GS), "GS");
	CHECK_STR(name_of(&arch_x86_64, PERF_REG_X86_R8), "R8");
	CHECK_STR(name_of(&arch_x86_64, PERF_REG_X86_R15), "R15");
	CHECK_STR(name_of(&arch_x86_64, PERF_REG_X86_XMM0), "XMM0");
	CHECK_STR(name_of(&arch_x86_64, PERF_REG_X86_XMM15), "XMM15");
	CHECK(arch_of_host() == &arch_x86_64);
#else
	SKIP("asm/perf_regs.h of x86 is only on x86 machines");
#endif
}

TEST(regs_of_arm64_end_with_lr_sp_pc)
{
	CHECK_STR(name_of(&arch_arm64, 0), "x0");
	CHECK_STR(name_of(&arch_arm64, 29), "x29");
	CHECK_STR(name_of(&arch_arm64, 30), "LR");
	CHECK_STR(name_of(&arch_arm64, 31), "SP");
	CHECK_STR(name_of(&arch_arm64, 32), "PC");
	CHECK_STR(name_of(&arch_arm64, 33), "x33");
	CHECK_STR(name_of(&arch_riscv64, 0), "pc");
	CHECK_STR(name_of(&arch_riscv64, 8), "s0");
	CHECK_STR(name_of(&arch_riscv64, 18), "s2");
	CHECK_STR(name_of(&arch_riscv64, 31), "t6");
	CHECK_STR(name_of(&arch_riscv64, 32), "r32");
}

TEST(regs_are_those_of_the_machine_that_recorded)
{
	CHECK(arch_of_name("x86_64") == &arch_x86_64);
	CHECK(arch_of_name("i686") == &arch_i386);
	CHECK(arch_of_name("aarch64") == &arch_arm64);
	CHECK(arch_of_name("riscv64") == &arch_riscv64);
	CHECK(arch_of_name("loongarch64") == NULL);
	CHECK(arch_of_name(NULL) == arch_of_host());
}

TEST(regs_for_callers_are_those_that_perf_records)
{
	CHECK_EQ(regs_for_callers(&arch_x86_64), 0xff0fff);
	CHECK_EQ(regs_for_callers(&arch_i386), 0x0fff);
	CHECK_EQ(regs_for_callers(&arch_arm64), 0x1ffffffff);
	CHECK_EQ(regs_for_callers(&arch_riscv64), 0xffffffff);
	CHECK_EQ(regs_for_callers(NULL), 0);
}

TEST(regs_of_unknown_machines_are_numbers_cut_to_the_buffer)
{
	char small[3];

	CHECK_STR(name_of(NULL, 0), "r0");
	CHECK_STR(name_of(NULL, 63), "r63");
	CHECK_STR(regs_name(NULL, 4294967295u, small, sizeof(small)), "r4");
}

TEST(regs_are_known_by_their_names_in_any_case)
{
	static const struct {
		const struct arch *arch;
		const char *text;
		bool has_vectors;
		u64 mask;
	} rows[] = {
		{&arch_x86_64, "ax", false, 1},
		{&arch_x86_64, "AX,bx", false, 3},
		{&arch_x86_64, "ip,sp,r15", false, 1ull << 8 | 1ull << 7 | 1ull << 23},
		{&arch_x86_64, "xmm0,XMM15", true, 3ull << 32 | 3ull << 62},
		{&arch_arm64, "x0,lr,sp,pc", false, 1ull | 7ull << 30},
		{&arch_riscv64, "pc,ra,S11", false, 3ull | 1ull << 27},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 mask = 0;
		struct err err;

		CHECK_EQ(regs_parse(rows[i].arch, rows[i].text,
				 regs_available(rows[i].arch, rows[i].has_vectors), &mask, &err),
			0);
		CHECK_EQ(mask, rows[i].mask);
	}
}

TEST(regs_that_nobody_has_are_refused_with_those_there_are)
{
	static const char *const texts[] = {"", "ax,", ",ax", "axx", "xmm0", "ds", "ax bx"};
	u64 mask, available = regs_available(&arch_x86_64, false);

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct err err = {0};

		CHECK_EQ(regs_parse(&arch_x86_64, texts[i], available, &mask, &err), ERR_INVAL);
		CHECK(strstr(err.msg, "AX BX CX"));
	}
}
