/* crt: _start and main of stripped programs, as nm had them; nothing of what begins otherwise. */
#include <elf.h>
#include <stdio.h>

#include "elfmaker.h"
#include "outside.h"
#include "symbol/elf/crt.h"
#include "symbol/resolve/extent.h"
#include "test.h"

static const char program[] =
	"#include <stdio.h>\n"
	"static int __attribute__((noinline)) inner(int x) { return x * 3; }\n"
	"int main(int argc, char **argv) { printf(\"%s\", argv[0]); return inner(argc); }\n";

static u64 address_of(const char *name)
{
	struct str out = {0};
	unsigned long long at = 0;

	CHECK_EQ(outside_run(&out, "nm '%s' | grep -w '[tT] %s$'", test_path("program"), name), 0);
	CHECK_EQ(sscanf(str_text(&out), "%llx", &at), 1);
	str_fini(&out);
	return at;
}

/* False: the compiler makes no such programs. */
static bool build(const char *compiler, const char *flags)
{
	struct str out = {0};
	int status;

	test_write(test_path("program.c"), program, strlen(program));
	status = outside_run(&out, "cd '%s' && %s -o program program.c %s 2>&1", test_dir(),
		compiler, flags);
	str_fini(&out);
	return !status;
}

/* What nm says of the whole program is what is found in the stripped one. */
static void check_stripped(const char *strip)
{
	u64 start = address_of("_start"), main_at = address_of("main"), inner = address_of("inner");
	const char *path = test_path("program");
	struct dso_files files;
	struct dso_file *file;
	struct machine machine;
	struct extent e = {0};
	struct str out = {0};

	CHECK_EQ(outside_run(&out, "%s '%s' 2>&1", strip, test_path("program")), 0);
	str_fini(&out);
	machine_init(&machine);
	dso_get(&machine.dsos, path, strlen(path), 42, false);
	dso_files_init(&files, &machine, &(struct find_places){.symfs = ""});
	file = dso_files_get(&files, machine.dsos.at.at[machine.dsos.at.n - 1]);
	CHECK(file->image.data);
	CHECK_EQ(file->crt.start, start);
	CHECK_EQ(file->crt.main, main_at);
	CHECK(extent_find(&files, file, start + 8, &e));
	CHECK_STR(e.name, "_start");
	CHECK_EQ(e.start, start);
	CHECK(extent_find(&files, file, main_at + 4, &e));
	CHECK_STR(e.name, "main");
	CHECK_EQ(e.start, main_at);
	CHECK(extent_find(&files, file, inner, &e));
	CHECK(!e.name);
	dso_files_fini(&files);
	machine_fini(&machine);
}

static bool has_symbol(const char *name)
{
	struct str out = {0};
	int status = outside_run(&out, "nm '%s' | grep -qw %s", test_path("program"), name);

	str_fini(&out);
	return !status;
}

static void check_says_nothing(void)
{
	struct elf elf;
	struct err err;

	CHECK_EQ(elf_open(&elf, test_path("program"), &err), 0);
	CHECK_EQ(crt_of(&elf).start, 0);
	CHECK_EQ(crt_of(&elf).main, 0);
	elf_close(&elf);
}

TEST(crt_finds_main_of_x86_programs_however_they_are_linked)
{
#if defined(__x86_64__) || defined(__i386__)
	static const char *const flags[] = {"-O1 -pie -fPIE", "-O2 -no-pie -fno-pie", "-O1 -static",
		"-O1 -static-pie", "-O1 -pie -fPIE -fcf-protection=full -z now",
		"-O1 -pie -fuse-ld=gold", "-O1 -pie -fuse-ld=lld", "-O1 -no-pie -fuse-ld=lld",
		"-O1 -pie -z pack-relative-relocs", "-O1 -Wl,--no-relax -pie",
		"-m32 -O1 -pie -fPIE", "-m32 -O2 -no-pie -fno-pie", "-m32 -O1 -static"};
	size_t n = 0;

	outside_need("strip");
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (build("cc -fasynchronous-unwind-tables", flags[i])) {
			check_stripped("strip");
			n++;
		}
	CHECK(n > 0);
#else
	SKIP("the compiler here makes no programs for x86");
#endif
}

TEST(crt_finds_main_of_programs_that_begin_as_musl_does)
{
	static const char *const flags[] = {"-O1", "-O1 -static", "-O1 -static-pie -fPIE",
		"-O2 -no-pie -fno-pie"};

	outside_need("musl-gcc");
	outside_need("strip");
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		CHECK(build("musl-gcc -fasynchronous-unwind-tables", flags[i]));
		if (has_symbol("__dls2"))
			check_says_nothing(); /* it begins with rcrt1.o */
		else
			check_stripped("strip");
	}
}

TEST(crt_finds_main_of_arm64_programs_however_they_are_linked)
{
	static const char *const flags[] = {"-O1 -pie -fPIE", "-O2 -no-pie -fno-pie", "-O1 -static",
		"-O1 -static-pie", "-O1 -pie -mbranch-protection=standard"};
	size_t n = 0;

	outside_need("aarch64-linux-gnu-gcc");
	outside_need("aarch64-linux-gnu-strip");
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (build("aarch64-linux-gnu-gcc -fasynchronous-unwind-tables", flags[i])) {
			check_stripped("aarch64-linux-gnu-strip");
			n++;
		}
	if (!n)
		SKIP("the cross compiler makes no whole programs");
}

static struct crt crt_of_code(const u8 *code, size_t n, u16 machine)
{
	struct elfmaker m;
	struct crt crt;
	struct elf elf;
	struct err err;

	elfmaker_init(&m, machine != EM_386, false, machine);
	elfmaker_text(&m, 0x401000, 0x1000, code, n);
	elfmaker_finish(&m);
	CHECK_EQ(elf_of_memory(&elf, m.file.at, m.file.n, &err), 0);
	elf.type = ET_EXEC;
	elf.entry = 0x401000;
	crt = crt_of(&elf);
	elf_close(&elf);
	elfmaker_fini(&m);
	return crt;
}

/* xor %ebp, %ebp; pop %rsi; mov $0x401010, %rdi; call; hlt; and a main. */
static const u8 begin[32] = {0x31, 0xed, 0x5e, 0x48, 0xc7, 0xc7, 0x10, 0x10, 0x40, 0, 0xe8, 0, 0, 0,
	0, 0xf4, 0xc3};

static struct crt crt_with(size_t at, u8 byte)
{
	u8 code[sizeof(begin)];

	memcpy(code, begin, sizeof(code));
	code[at] = byte;
	return crt_of_code(code, sizeof(code), EM_X86_64);
}

/*
 * As glibc 2.41 begins programs of i386 at a fixed address: xor %ebp, %ebp; call thunk; add
 * $0xff6, %ebx; lea 0x1b(%ebx) - that is the wrapper -, %eax; push %eax; call; hlt; thunk: mov
 * (%esp), %ebx; ret; wrapper: jmp main.
 */
static const u8 wrapped[96] = {0x31, 0xed, 0xe8, 0x13, 0, 0, 0, 0x81, 0xc3, 0xf9, 0x0f, 0, 0, 0x8d,
	0x83, 0x1e, 0xf0, 0xff, 0xff, 0x50, 0xe8, 0, 0, 0, 0, 0xf4, 0x8b, 0x1c, 0x24, 0xc3, 0xe9,
	0x1d, 0, 0, 0, 0xc3};

TEST(crt_follows_the_jump_to_main_that_stands_behind_start)
{
	u8 code[sizeof(wrapped)];
	struct crt crt = crt_of_code(wrapped, sizeof(wrapped), EM_386);

	CHECK_EQ(crt.start, 0x401000);
	CHECK_EQ(crt.start_end, 0x40101a);
	CHECK_EQ(crt.main, 0x401040);
	/* With an endbr32 in front, as of a library that is built for shadow stacks. */
	memcpy(code, wrapped, 30);
	memcpy(code + 30, "\xf3\x0f\x1e\xfb", 4);
	memcpy(code + 34, wrapped + 30, 6);
	CHECK_EQ(crt_of_code(code, sizeof(code), EM_386).main, 0x401044);
	/* What is no jump is main itself, and so is a jump that stands elsewhere. */
	memcpy(code, wrapped, sizeof(wrapped));
	code[30] = 0x90;
	CHECK_EQ(crt_of_code(code, sizeof(wrapped), EM_386).main, 0x40101e);
	code[30] = 0xe9;
	code[15] = 0x40;
	CHECK_EQ(crt_of_code(code, sizeof(wrapped), EM_386).main, 0x401040);
}

TEST(crt_believes_only_what_begins_as_the_c_library_does)
{
	struct crt crt = crt_of_code(begin, sizeof(begin), EM_X86_64);

	CHECK_EQ(crt.start, 0x401000);
	CHECK_EQ(crt.start_end, 0x401010);
	CHECK_EQ(crt.main, 0x401010);
	/* The call returns; the frame pointer stays; nothing is handed over. */
	CHECK_EQ(crt_with(15, 0x90).start, 0);
	CHECK_EQ(crt_with(1, 0xc0).start, 0);
	CHECK_EQ(crt_with(5, 0xc6).start, 0);
	/* No instruction. */
	CHECK_EQ(crt_with(2, 0x06).start, 0);
	/* Main is no code of the file: _start is it all the same. */
	CHECK_EQ(crt_with(8, 0x70).main, 0);
	CHECK_EQ(crt_with(8, 0x70).start, 0x401000);
	/* Other machines, and code that is cut anywhere. */
	CHECK_EQ(crt_of_code(begin, sizeof(begin), EM_AARCH64).start, 0);
	CHECK_EQ(crt_of_code(begin, sizeof(begin), EM_RISCV).start, 0);
	for (size_t n = 1; n < 16; n++)
		CHECK_EQ(crt_of_code(begin, n, EM_X86_64).start, 0);
}
