#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/str.h"
#include "symbol/find/buildid.h"
#include "symbol/kernel/kallsyms.h"
#include "symbol/kernel/kcore.h"
#include "unit/elfmaker.h"

static const u64 text = 0xffffffff81000000;

struct note { /* as in notes: everything aligned to 4 */
	u32 name_size, desc_size, type;
	char name[12];
	char desc[64];
};

/* A core file: notes, 16 bytes of code at `text`, others behind them, and overlapping ones. */
static void make_core(struct elfmaker *m, const char *info)
{
	struct note note = {11, (u32)strlen(info), 0, "VMCOREINFO", ""};
	char code[32] NONSTRING = "0123456789abcdefABCDEFGHIJKLMNOP";

	snprintf(note.desc, sizeof(note.desc), "%s", info);
	elfmaker_init(m, true, false, EM_X86_64);
	elfmaker_section(m,
		&(struct elfmaker_section){.name = ".code",
			.type = SHT_PROGBITS,
			.offset = 0x400,
			.size = sizeof(code),
			.data = code});
	elfmaker_section(m,
		&(struct elfmaker_section){.name = ".note",
			.type = SHT_NOTE,
			.offset = 0x500,
			.size = sizeof(note),
			.data = &note});
	elfmaker_segment(m, PT_NOTE, 0, 0x500, 0, sizeof(note));
	elfmaker_segment(m, PT_LOAD, PF_R | PF_X, 0x410, text + 0x1000, 16);
	elfmaker_segment(m, PT_LOAD, PF_R | PF_X, 0x400, text, 16);
	elfmaker_segment(m, PT_LOAD, PF_R | PF_X, 0x400, text + 8, 24);
	elfmaker_segment(m, PT_LOAD, PF_R, 0x400, UINT64_MAX - 8, 16);
	elfmaker_segment(m, PT_LOAD, PF_R, UINT64_MAX - 8, 0x1000, 16);
	elfmaker_finish(m);
	m->file.at[EI_NIDENT] = ET_CORE;
}

static void write_core(const char *info)
{
	struct elfmaker m;

	make_core(&m, info);
	test_write(test_path("kcore"), m.file.at, m.file.n);
	elfmaker_fini(&m);
}

static const char *bytes_at(const struct kcore *k, u64 va, size_t n)
{
	static char text_of[64];

	text_of[kcore_read(k, va, text_of, n)] = 0;
	return text_of;
}

TEST(kcore_reads_bytes_by_address)
{
	struct kcore k;
	struct err err;

	write_core("OSRELEASE=6.1\nBUILD-ID=00ffa5\nPAGESIZE=4096\n");
	CHECK_EQ(kcore_open(&k, test_path("kcore"), &err), 0);
	CHECK_EQ(k.ranges.n, 3);
	CHECK_STR(bytes_at(&k, text, 4), "0123");
	/* Up to the end of what is there. */
	CHECK_STR(bytes_at(&k, text + 14, 16), "ef");
	CHECK_STR(bytes_at(&k, text + 16, 4), "89ab");
	CHECK_STR(bytes_at(&k, text + 0x1000 + 12, 32), "MNOP");
	CHECK_STR(bytes_at(&k, text - 1, 4), "");
	CHECK_STR(bytes_at(&k, text + 0x1010, 4), "");
	CHECK_STR(bytes_at(&k, 0, 4), "");
	CHECK_STR(bytes_at(&k, UINT64_MAX, 4), "");
	CHECK_EQ(errno, 0);
	CHECK_EQ(k.build_id_size, 3);
	CHECK(!memcmp(k.build_id, "\x00\xff\xa5", 3));
	kcore_close(&k);
}

TEST(kcore_says_why_bytes_cannot_be_read)
{
	struct kcore k;
	struct err err;
	int fd;

	write_core("");
	CHECK_EQ(kcore_open(&k, test_path("kcore"), &err), 0);
	fd = k.fd;
	k.fd = open(test_path("."), O_RDONLY | O_CLOEXEC);
	CHECK_STR(bytes_at(&k, text, 4), "");
	CHECK_EQ(errno, EISDIR);
	close(k.fd);
	k.fd = fd;
	kcore_close(&k);
}

TEST(kcore_without_a_sound_build_id_has_none)
{
	static const char *const infos[] = {"", "BUILD-ID=", "BUILD-ID=xyz", "MY-BUILD-ID=00ff",
		"BUILD-ID=0"};

	for (size_t i = 0; i < ARRAY_SIZE(infos); i++) {
		struct kcore k;
		struct err err;

		write_core(infos[i]);
		CHECK_EQ(kcore_open(&k, test_path("kcore"), &err), 0);
		CHECK_EQ(k.build_id_size, 0);
		kcore_close(&k);
	}
}

TEST(kcore_refuses_what_is_none)
{
	struct elfmaker m;
	struct kcore k;
	struct err err;

	CHECK_EQ(kcore_open(&k, test_path("nothing"), &err), ERR_NOENT);
	make_core(&m, "");
	m.file.at[EI_NIDENT] = ET_EXEC;
	test_write(test_path("program"), m.file.at, m.file.n);
	CHECK_EQ(kcore_open(&k, test_path("program"), &err), ERR_FORMAT);
	CHECK_HAS(err.msg, "it is not a core file");
	elfmaker_fini(&m);
	test_write(test_path("short"), "\177ELF", 4);
	CHECK_EQ(kcore_open(&k, test_path("short"), &err), ERR_FORMAT);
}

TEST(kcore_cut_off_at_any_byte_is_survived)
{
	struct elfmaker m;
	char buf[64];

	make_core(&m, "BUILD-ID=0102\n");
	for (size_t n = 0; n < m.file.n; n += n < 0x400 ? 1 : 13) {
		struct kcore k;
		struct err err;

		test_write(test_path("cut"), m.file.at, n);
		if (kcore_open(&k, test_path("cut"), &err))
			continue;
		for (size_t i = 0; i < k.ranges.n; i++)
			CHECK(kcore_read(&k, k.ranges.at[i].start, buf, sizeof(buf)) <=
				sizeof(buf));
		kcore_close(&k);
	}
	elfmaker_fini(&m);
}

TEST(kcore_of_this_machine_has_the_kernels_code_and_build_id)
{
	u8 id[BUILD_ID_MAX], n = buildid_of_kernel(id, NULL), code[64], zeros[64] = {0};
	struct kallsyms symbols;
	struct kcore k;
	struct err err;

	if (access("/proc/kcore", R_OK))
		SKIP("there is no /proc/kcore, or it cannot be read");
	CHECK_EQ(kcore_open(&k, "/proc/kcore", &err), 0);
	/* The kernel says it since 5.9. */
	if (n && k.build_id_size) {
		CHECK_EQ(k.build_id_size, n);
		CHECK(!memcmp(k.build_id, id, n));
	}
	if (!kallsyms_open(&symbols, "/proc/kallsyms", true, NULL, 0, &err)) {
		CHECK_EQ(kcore_read(&k, symbols.text, code, sizeof(code)), sizeof(code));
		CHECK(memcmp(code, zeros, sizeof(code)));
		kallsyms_close(&symbols);
	}
	kcore_close(&k);
}
