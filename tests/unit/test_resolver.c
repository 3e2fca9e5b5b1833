#include "test.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "base/workers.h"
#include "event/abi.h"
#include "file/feature.h"
#include "symbol/find/buildid.h"
#include "symbol/embed/embedder.h"
#include "symbol/resolve/resolver.h"
#include "symbol/elf/vdso.h"
#include "unit/elfmaker.h"
#include "unit/said.h"
#include "unit/tree.h"

static const u8 id_a[BUILD_ID_MAX] = {0xaa, 1, 2, 3}, id_b[BUILD_ID_MAX] = {0xbb};

struct resolving {
	struct machine machine;
	struct dso_files files;
	struct resolver resolver;
	struct said said;
	char kallsyms[256], modules[256];
	struct utsname uts;
};

/* A machine whose files lie below the test's folder; DSOs are added before resolving_start(). */
static void resolving_init(struct resolving *r)
{
	memset(r, 0, sizeof(*r));
	machine_init(&r->machine);
	said_init(&r->said, LOG_DEBUG);
	setenv("HOME", test_path("home"), 1);
	setenv("XDG_CACHE_HOME", test_path("cache"), 1);
}

static const struct dso *add_dso(struct resolving *r, const char *path, bool is_kernel)
{
	return dso_get(&r->machine.dsos, path, strlen(path), 42, is_kernel);
}

static void resolving_start(struct resolving *r)
{
	dso_files_init(&r->files, &r->machine,
		&(struct find_places){.symfs = test_dir(), .log = &r->said.log});
	resolver_init(&r->resolver, &r->files);
	snprintf(r->kallsyms, sizeof(r->kallsyms), "%s", test_path("kallsyms"));
	snprintf(r->modules, sizeof(r->modules), "%s", test_path("modules"));
	r->resolver.kallsyms = r->kallsyms;
	r->resolver.modules = r->modules;
	uname(&r->uts);
	r->resolver.recorded_release = r->uts.release;
}

static void resolving_fini(struct resolving *r)
{
	resolver_fini(&r->resolver);
	dso_files_fini(&r->files);
	machine_fini(&r->machine);
	said_fini(&r->said);
}

/* "name 0xstart-0xend", or "- 0xaddress" and the outcome. */
static const char *find(struct resolving *r, const struct dso *dso, u64 address)
{
	static char text[8][160];
	static unsigned next;
	char *buf = text[next++ % ARRAY_SIZE(text)];
	struct resolver_answer a;

	resolver_load(&r->resolver, dso);
	a = resolver_find(&r->resolver, dso, address);
	CHECK_EQ(a.name != NULL, a.outcome == RESOLVER_FOUND);
	if (a.name) {
		snprintf(buf, sizeof(text[0]), "%s%s 0x%llx-0x%llx", a.name,
			a.origin == ORIGIN_PLT ? "@plt" : "", (unsigned long long)a.start,
			(unsigned long long)a.end);
	} else {
		CHECK_EQ(a.start, a.end);
		snprintf(buf, sizeof(text[0]), "- 0x%llx %d", (unsigned long long)a.start,
			a.outcome);
	}
	return buf;
}

enum { STATIC = 1, DYNAMIC = 2 };

/* A file with code at 0x401000, which lies at offset 0x1000; function "NAME" in .symtab, "NAME_dyn"
 * in .dynsym. */
static void make_file(const char *path, const u8 *id, const char *name, unsigned tables)
{
	char dynamic[64], full[512];
	struct elfmaker m;

	elfmaker_init(&m, true, false, EM_X86_64);
	elfmaker_segment(&m, PT_LOAD, PF_R, 0, 0x400000, 0x800);
	elfmaker_text(&m, 0x401000, 0x1000, NULL, 0x100);
	if (tables & STATIC)
		elfmaker_function(&m, name, 0x401010, 0x20);
	snprintf(dynamic, sizeof(dynamic), "%s_dyn", name);
	if (tables & DYNAMIC)
		elfmaker_symbol(&m, SHT_DYNSYM, dynamic, STB_GLOBAL, STT_FUNC, 1, 0x401010, 0x20);
	if (id)
		elfmaker_note(&m, ".note.gnu.build-id", "GNU", NT_GNU_BUILD_ID, id, BUILD_ID_MAX);
	elfmaker_finish(&m);
	tree_file(test_dir(), "", "%s", path);
	snprintf(full, sizeof(full), "%s/%s", test_dir(), path);
	test_write(full, m.file.at, m.file.n);
	elfmaker_fini(&m);
}

/* ---- files ---- */

TEST(resolver_finds_functions_by_file_offset)
{
	struct resolving r;
	const struct dso *dso;

	make_file("bin/prog", NULL, "main", STATIC | DYNAMIC);
	resolving_init(&r);
	dso = add_dso(&r, "/bin/prog", false);
	resolving_start(&r);
	CHECK_STR(find(&r, dso, 0x1010), "main 0x401010-0x401030");
	CHECK_STR(find(&r, dso, 0x102f), "main 0x401010-0x401030");
	/* Between functions: the address as the file's own tools print it. */
	CHECK_STR(find(&r, dso, 0x1030), "- 0x401030 4");
	CHECK_STR(find(&r, dso, 0x100f), "- 0x40100f 4");
	/* Outside of all segments there is only the offset. */
	CHECK_STR(find(&r, dso, 0x5000), "- 0x5000 4");
	CHECK(!resolver_reason(&r.resolver, dso));
	resolving_fini(&r);
}

TEST(resolver_tries_and_refuses_a_file_once_for_names_and_lines)
{
	struct resolving r;
	const struct dso *dso;
	struct dso *recorded;

	make_file("bin/prog", id_b, "prog", DYNAMIC);
	make_file("usr/lib/debug/.build-id/bb/00000000000000000000000000000000000000.debug", id_a,
		"other", STATIC);
	resolving_init(&r);
	dso = add_dso(&r, "/bin/prog", false);
	recorded = (struct dso *)dso;
	memcpy(recorded->build_id, id_b, BUILD_ID_MAX);
	recorded->build_id_size = BUILD_ID_MAX;
	resolving_start(&r);
	CHECK_STR(find(&r, dso, 0x1010), "prog_dyn 0x401010-0x401030");
	CHECK_HAS(resolver_reason(&r.resolver, dso), "is another build");
	resolver_load_lines(&r.resolver, dso);
	CHECK_HAS(resolver_lines_reason(&r.resolver, dso, LINE_GAP_FILE), "is another build");
	CHECK_EQ(said_count(&r.said, "is another build"), 1);
	resolving_fini(&r);
}

TEST(resolver_prefers_full_symbols_to_dynamic_ones)
{
	struct resolving r;
	const struct dso *both, *dynamic, *separate;

	make_file("bin/both", id_b, "both", STATIC | DYNAMIC);
	make_file("bin/dynamic", id_b, "dynamic", DYNAMIC);
	make_file("bin/separate", id_a, "separate", DYNAMIC);
	make_file("usr/lib/debug/.build-id/aa/01020300000000000000000000000000000000.debug", id_a,
		"of_debug", STATIC);
	resolving_init(&r);
	both = add_dso(&r, "/bin/both", false);
	dynamic = add_dso(&r, "/bin/dynamic", false);
	separate = add_dso(&r, "/bin/separate", false);
	resolving_start(&r);
	CHECK_STR(find(&r, both, 0x1010), "both 0x401010-0x401030");
	CHECK_STR(find(&r, dynamic, 0x1010), "dynamic_dyn 0x401010-0x401030");
	CHECK_STR(find(&r, separate, 0x1010), "of_debug 0x401010-0x401030");
	resolving_fini(&r);
}

TEST(resolver_says_why_a_file_has_no_names)
{
	const struct dso *missing, *other, *stripped, *text;
	char message[600];
	struct resolving r;

	make_file("bin/other", id_b, "main", STATIC);
	make_file("bin/stripped", NULL, "main", 0);
	tree_file(test_dir(), "#!/bin/sh\necho and so on\n", "bin/text");
	resolving_init(&r);
	missing = add_dso(&r, "/bin/missing", false);
	other = add_dso(&r, "/bin/other", false);
	stripped = add_dso(&r, "/bin/stripped", false);
	text = add_dso(&r, "/bin/text", false);
	memcpy(((struct dso *)other)->build_id, id_a, BUILD_ID_MAX);
	((struct dso *)other)->build_id_size = BUILD_ID_MAX;
	resolving_start(&r);
	CHECK_STR(find(&r, missing, 0x1010), "- 0x1010 1");
	snprintf(message, sizeof(message), "opening '%s/bin/missing': No such file or directory",
		test_dir());
	CHECK_STR(resolver_reason(&r.resolver, missing), message);
	CHECK_STR(find(&r, other, 0x1010), "- 0x1010 2");
	CHECK_HAS(resolver_reason(&r.resolver, other), "is another build: build-id bb0000");
	/* The file is the right one: its addresses can be told. */
	CHECK_STR(find(&r, stripped, 0x1010), "- 0x401010 3");
	CHECK_STR(resolver_reason(&r.resolver, stripped),
		"'/bin/stripped' is stripped: install the package with its debug symbols (-dbgsym, "
		"-debuginfo)");
	CHECK_STR(find(&r, text, 0x10), "- 0x10 2");
	CHECK_HAS(resolver_reason(&r.resolver, text), "it is not an ELF file");
	resolving_fini(&r);
}

TEST(resolver_has_nothing_to_say_of_what_is_no_file)
{
	static const struct {
		const char *path;
		int outcome;
	} rows[] = {{"[unknown]", RESOLVER_NO_CODE_FILE}, {"[heap]", RESOLVER_NO_CODE_FILE},
		{"[stack]", RESOLVER_NO_CODE_FILE},
		{"/SYSV00000000 (deleted)", RESOLVER_NO_CODE_FILE}};
	struct resolving r;
	char expected[64];

	resolving_init(&r);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		add_dso(&r, rows[i].path, false);
	resolving_start(&r);
	/* The one that stands for addresses without a map. */
	CHECK_STR(find(&r, r.machine.dsos.at.at[0], 0x1234), "- 0x1234 7");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct dso *dso = add_dso(&r, rows[i].path, false);

		snprintf(expected, sizeof(expected), "- 0x1234 %d", rows[i].outcome);
		CHECK_STR(find(&r, dso, 0x1234), expected);
		CHECK(!resolver_reason(&r.resolver, dso));
	}
	resolving_fini(&r);
}

TEST(resolver_loads_a_file_once)
{
	struct resolving r;
	const struct dso *dso;

	make_file("bin/prog", NULL, "main", STATIC);
	resolving_init(&r);
	dso = add_dso(&r, "/bin/prog", false);
	resolving_start(&r);
	for (int i = 0; i < 3; i++)
		resolver_load(&r.resolver, dso);
	CHECK_EQ(said_count(&r.said, "using '"), 1);
	remove(test_path("bin/prog"));
	CHECK_STR(find(&r, dso, 0x1010), "main 0x401010-0x401030");
	resolving_fini(&r);
}

/* ---- many at once ---- */

static void load_one(void *ctx, size_t i, unsigned worker)
{
	struct resolving *r = ctx;

	(void)worker;
	resolver_load(&r->resolver, r->machine.dsos.at.at[i]);
}

TEST(resolver_loads_different_files_on_many_threads_and_tells_of_each)
{
	enum { N = 400 };
	struct resolving r;

	resolving_init(&r);
	make_file("bin/prog", NULL, "main", STATIC);
	for (int i = 0; i < N; i++) {
		char path[64];

		snprintf(path, sizeof(path), i % 2 ? "/bin/missing%d" : "/bin/./%d/../prog", i);
		add_dso(&r, path, false);
	}
	for (int i = 0; i < N; i += 2)
		tree_dir(test_dir(), "bin/%d", i);
	resolving_start(&r);
	workers_run(8, r.machine.dsos.at.n, load_one, &r);
	CHECK_EQ(said_count(&r.said, ": using '"), N / 2);
	CHECK_EQ(said_count(&r.said, "No such file or directory"), N / 2);
	CHECK_STR(find(&r, r.machine.dsos.at.at[1], 0x1010), "main 0x401010-0x401030");
	resolving_fini(&r);
}

/* ---- kernel ---- */

static const char kallsyms[] = "ffffffff92000000 T _text\n"
			       "ffffffff92000100 T schedule\n"
			       "ffffffff92000200 T last\n"
			       "ffffffffc0a01000 t init_module\t[nf_tables]\n"
			       "ffffffffc0a01080 t nft_do_chain\t[nf_tables]\n";

static void use_kernel(const char *text)
{
	tree_file(test_dir(), text, "kallsyms");
	tree_file(test_dir(),
		"nf_tables 372736 2 - Live 0xffffffffc0a01000\nother 1 0 - Live 0x0\n", "modules");
}

TEST(resolver_finds_kernel_functions_wherever_the_kernel_lay)
{
	struct resolving r;
	const struct dso *dso;

	use_kernel(kallsyms);
	resolving_init(&r);
	dso = add_dso(&r, "[kernel.kallsyms]_text", true);
	/* When it was recorded the kernel lay 256 MiB lower. */
	r.machine.kernel_text = 0xffffffff82000000;
	resolving_start(&r);
	CHECK_STR(find(&r, dso, 0xffffffff82000180),
		"schedule 0xffffffff82000100-0xffffffff82000200");
	CHECK_STR(find(&r, dso, 0xffffffff81ffffff), "- 0xffffffff81ffffff 4");
	resolving_fini(&r);

	/* Nothing is known of where it lay: it is taken to be where it is. */
	resolving_init(&r);
	dso = add_dso(&r, "[kernel.kallsyms]_text", true);
	resolving_start(&r);
	CHECK_STR(find(&r, dso, 0xffffffff92000180),
		"schedule 0xffffffff92000100-0xffffffff92000200");
	resolving_fini(&r);
}

/* A kernel linked to 0xffffffff81000000, with schedule() 0x100 behind its begin. */
static void make_vmlinux(const char *path, const u8 *id, bool has_symbols)
{
	char full[512];
	struct elfmaker m;

	elfmaker_init(&m, true, false, EM_X86_64);
	elfmaker_section(&m,
		&(struct elfmaker_section){.name = ".text",
			.type = SHT_PROGBITS,
			.flags = SHF_ALLOC | SHF_EXECINSTR,
			.addr = 0xffffffff81000000,
			.size = 0x200});
	if (has_symbols) {
		elfmaker_symbol(&m, SHT_SYMTAB, "_text", STB_GLOBAL, STT_NOTYPE, 1,
			0xffffffff81000000, 0);
		elfmaker_function(&m, "startup_64", 0xffffffff81000000, 0x40);
		elfmaker_function(&m, "schedule", 0xffffffff81000100, 0x80);
	}
	elfmaker_note(&m, ".notes", "GNU", NT_GNU_BUILD_ID, id, BUILD_ID_MAX);
	elfmaker_finish(&m);
	tree_file(test_dir(), "", "%s", path);
	snprintf(full, sizeof(full), "%s/%s", test_dir(), path);
	test_write(full, m.file.at, m.file.n);
	elfmaker_fini(&m);
}

/* A kernel that does not run here. */
static const struct dso *add_foreign_kernel(struct resolving *r)
{
	struct dso *dso = (struct dso *)add_dso(r, "[kernel.kallsyms]_text", true);

	memcpy(dso->build_id, id_a, BUILD_ID_MAX);
	dso->build_id_size = BUILD_ID_MAX;
	r->machine.kernel_text = 0xffffffff9a000000;
	return dso;
}

TEST(resolver_finds_a_foreign_kernels_functions_in_its_vmlinux)
{
	static const char *const places[] = {
		"usr/lib/debug/.build-id/aa/01020300000000000000000000000000000000.debug",
		"home/.debug/.build-id/aa/01020300000000000000000000000000000000/vmlinux",
		"usr/lib/debug/boot/vmlinux-9.9.9", "boot/vmlinux-9.9.9",
		"lib/modules/9.9.9/build/vmlinux"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		struct resolving r;
		const struct dso *dso;

		make_vmlinux(places[i], id_a, true);
		resolving_init(&r);
		dso = add_foreign_kernel(&r);
		resolving_start(&r);
		r.resolver.recorded_release = "9.9.9";
		CHECK_STR(find(&r, dso, 0xffffffff9a000110),
			"schedule 0xffffffff9a000100-0xffffffff9a000180");
		CHECK_STR(find(&r, dso, 0xffffffff9a000001),
			"startup_64 0xffffffff9a000000-0xffffffff9a000040");
		CHECK_STR(find(&r, dso, 0xffffffff9a000190), "- 0xffffffff9a000190 4");
		CHECK(!resolver_reason(&r.resolver, dso));
		CHECK_HAS(str_text(&r.said.text), places[i]);
		resolving_fini(&r);
		remove(test_path(places[i]));
	}
}

TEST(resolver_refuses_a_vmlinux_of_another_build)
{
	struct resolving r;
	const struct dso *dso;

	make_vmlinux("boot/vmlinux-9.9.9", id_b, true);
	resolving_init(&r);
	dso = add_foreign_kernel(&r);
	resolving_start(&r);
	r.resolver.recorded_release = "9.9.9";
	CHECK_STR(find(&r, dso, 0xffffffff9a000110), "- 0xffffffff9a000110 6");
	CHECK_HAS(resolver_reason(&r.resolver, dso), "/boot/vmlinux-9.9.9' is another build");
	resolving_fini(&r);

	/* One that the user named, likewise; that is worth a warning. */
	use_kernel(kallsyms);
	resolving_init(&r);
	dso = add_foreign_kernel(&r);
	resolving_start(&r);
	r.resolver.vmlinux = test_path("boot/vmlinux-9.9.9");
	CHECK_STR(find(&r, dso, 0xffffffff9a000110), "- 0xffffffff9a000110 6");
	CHECK_HAS(str_text(&r.said.text), "is another build: build-id bb0");
	CHECK_HAS(str_text(&r.said.text), "kernel functions have no names");
	resolving_fini(&r);
}

TEST(resolver_cannot_use_vmlinux_when_nobody_knows_where_the_kernel_lay)
{
	struct resolving r;
	const struct dso *dso;

	make_vmlinux("boot/vmlinux-9.9.9", id_a, true);
	resolving_init(&r);
	dso = add_foreign_kernel(&r);
	r.machine.kernel_text = 0;
	resolving_start(&r);
	r.resolver.recorded_release = "9.9.9";
	CHECK_STR(find(&r, dso, 0xffffffff81000110), "- 0xffffffff81000110 6");
	CHECK_HAS(resolver_reason(&r.resolver, dso), "does not say where the kernel was loaded");
	resolving_fini(&r);
}

/* What is executable but .init, in this order: .text from 0, .text.unlikely from 0x28. */
static void make_module(const char *path, const u8 *id, u16 machine)
{
	static const struct {
		const char *name;
		u64 flags, size;
	} sections[] = {{".text", SHF_ALLOC | SHF_EXECINSTR, 0x25},
		{".init.text", SHF_ALLOC | SHF_EXECINSTR, 0x40}, {".data", SHF_ALLOC, 0x40},
		{".text.unlikely", SHF_ALLOC | SHF_EXECINSTR, 0x20},
		{".plt", SHF_ALLOC | SHF_EXECINSTR, 1}};
	char full[512];
	struct elfmaker m;

	elfmaker_init(&m, true, false, machine);
	for (size_t i = 0; i < ARRAY_SIZE(sections) - (machine == EM_X86_64); i++)
		elfmaker_section(&m,
			&(struct elfmaker_section){.name = sections[i].name,
				.type = SHT_PROGBITS,
				.flags = sections[i].flags,
				.size = sections[i].size});
	elfmaker_symbol(&m, SHT_SYMTAB, "nft_do_chain", STB_GLOBAL, STT_FUNC, 1, 0x10, 0x15);
	elfmaker_symbol(&m, SHT_SYMTAB, "init_module", STB_GLOBAL, STT_FUNC, 2, 0, 0x40);
	elfmaker_symbol(&m, SHT_SYMTAB, "some_data", STB_GLOBAL, STT_OBJECT, 3, 0, 0x40);
	elfmaker_symbol(&m, SHT_SYMTAB, "nft_fail.cold", STB_LOCAL, STT_FUNC, 4, 8, 0x10);
	elfmaker_note(&m, ".note.gnu.build-id", "GNU", NT_GNU_BUILD_ID, id, BUILD_ID_MAX);
	elfmaker_finish(&m);
	m.file.at[16] = ET_REL;
	tree_file(test_dir(), "", "%s", path);
	snprintf(full, sizeof(full), "%s/%s", test_dir(), path);
	test_write(full, m.file.at, m.file.n);
	elfmaker_fini(&m);
}

static const struct dso *add_module(struct resolving *r, const char *path)
{
	struct dso *dso = (struct dso *)add_dso(r, path, true);

	memcpy(dso->build_id, id_a, BUILD_ID_MAX);
	dso->build_id_size = BUILD_ID_MAX;
	return dso;
}

TEST(resolver_finds_functions_of_modules_that_are_not_loaded_in_their_files)
{
	static const char *const paths[] = {"[nf_tables]",
		"/lib/modules/9.9.9/kernel/net/nf-tables.ko"};
	const struct dso *dso;
	struct resolving r;

	tree_file(test_dir(),
		"kernel/net/nf-tables2.ko: \nkernel/net/nf-tables.ko: kernel/lib/libcrc32c.ko\n",
		"lib/modules/9.9.9/modules.dep");
	use_kernel("ffffffff92000000 T _text\n");
	tree_file(test_dir(), "", "modules");
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		make_module("lib/modules/9.9.9/kernel/net/nf-tables.ko", id_a, EM_X86_64);
		resolving_init(&r);
		add_foreign_kernel(&r);
		dso = add_module(&r, paths[i]);
		resolving_start(&r);
		r.resolver.recorded_release = "9.9.9";
		CHECK_STR(find(&r, dso, 0x24), "nft_do_chain 0x10-0x25");
		CHECK_STR(find(&r, dso, 0x30), "nft_fail.cold 0x30-0x40");
		CHECK_STR(find(&r, dso, 0x00), "- 0x0 4");
		CHECK_STR(find(&r, dso, 0x48), "- 0x48 4");
		resolving_fini(&r);

		/* Another build; and one whose place in memory nobody knows. */
		make_module("lib/modules/9.9.9/kernel/net/nf-tables.ko", id_b, EM_X86_64);
		resolving_init(&r);
		dso = add_module(&r, paths[i]);
		resolving_start(&r);
		r.resolver.recorded_release = "9.9.9";
		CHECK_STR(find(&r, dso, 0x24), "- 0x24 6");
		CHECK_HAS(resolver_reason(&r.resolver, dso), "nf-tables.ko': it is another build");
		resolving_fini(&r);
		make_module("lib/modules/9.9.9/kernel/net/nf-tables.ko", id_a, EM_AARCH64);
		resolving_init(&r);
		dso = add_module(&r, paths[i]);
		resolving_start(&r);
		r.resolver.recorded_release = "9.9.9";
		CHECK_STR(find(&r, dso, 0x24), "- 0x24 6");
		CHECK_HAS(resolver_reason(&r.resolver, dso), "the kernel adds a .plt");
		resolving_fini(&r);
	}
}

TEST(resolver_takes_functions_of_kernel_and_modules_from_a_copy_of_kallsyms)
{
	static const char *const places[] = {"copy",
		"home/.debug/.build-id/aa/01020300000000000000000000000000000000/kallsyms"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const struct dso *dso, *module;
		struct resolving r;

		tree_file(test_dir(), kallsyms, "%s", places[i]);
		resolving_init(&r);
		dso = add_foreign_kernel(&r);
		r.machine.kernel_text = 0xffffffff92000000;
		module = add_dso(&r, "[nf_tables]", true);
		((struct dso *)module)->base = 0xffffffffc0a01000;
		resolving_start(&r);
		if (!i)
			r.resolver.kallsyms_copy = test_path("copy");
		CHECK_STR(find(&r, dso, 0xffffffff92000180),
			"schedule 0xffffffff92000100-0xffffffff92000200");
		CHECK_STR(find(&r, module, 0x90), "nft_do_chain 0x80-0x1080");
		resolving_fini(&r);

		/* A copy of another boot: the kernel moved as a whole, each module on its own. */
		resolving_init(&r);
		dso = add_foreign_kernel(&r);
		module = add_dso(&r, "[nf_tables]", true);
		((struct dso *)module)->base = 0xffffffffc0b01000;
		resolving_start(&r);
		if (!i)
			r.resolver.kallsyms_copy = test_path("copy");
		CHECK_STR(find(&r, dso, 0xffffffff9a000180),
			"schedule 0xffffffff9a000100-0xffffffff9a000200");
		CHECK_STR(find(&r, module, 0x90), "- 0x90 6");
		resolving_fini(&r);
	}
}

TEST(resolver_takes_a_module_for_another_if_another_build_of_it_is_loaded)
{
	static const u8 *const ids[] = {id_a, id_b};
	u8 note[16 + BUILD_ID_MAX] = {4, 0, 0, 0, BUILD_ID_MAX, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0,
		'G', 'N', 'U'};

	use_kernel(kallsyms);
	tree_file(test_dir(), "", "sys/nf_tables/notes/.note.gnu.build-id");
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		const struct dso *module;
		struct resolving r;

		memcpy(note + 16, ids[i], BUILD_ID_MAX);
		test_write(test_path("sys/nf_tables/notes/.note.gnu.build-id"), note, sizeof(note));
		resolving_init(&r);
		module = add_module(&r, "[nf_tables]");
		resolving_start(&r);
		r.resolver.module_folder = test_path("sys");
		CHECK_STR(find(&r, module, 0x90), i ? "- 0x90 6" : "nft_do_chain 0x80-0x1080");
		if (i)
			CHECK_HAS(resolver_reason(&r.resolver, module),
				"another build of it is loaded now, and the file of the recorded one");
		resolving_fini(&r);
	}
}

TEST(resolver_prefers_the_kallsyms_that_lie_beside_the_recording)
{
	const struct dso *dso, *module;
	struct resolving r;

	use_kernel("ffffffff92000000 T _text\nffffffff92000100 T of_now\n");
	tree_file(test_dir(), kallsyms, "copy");
	tree_file(test_dir(), "0000000000000000 T _text\n", "zeros");
	for (int i = 0; i < 2; i++) {
		resolving_init(&r);
		dso = add_dso(&r, "[kernel.kallsyms]_text", true);
		r.machine.kernel_text = 0xffffffff92000000;
		module = add_dso(&r, "[nf_tables]", true);
		((struct dso *)module)->base = 0xffffffffc0a01000;
		resolving_start(&r);
		r.resolver.recorded_kallsyms = i ? test_path("zeros") : test_path("copy");
		if (i) {
			/* One without addresses is of no use: what runs is asked. */
			CHECK_STR(find(&r, dso, 0xffffffff92000180),
				"of_now 0xffffffff92000100-0xffffffff92001100");
		} else {
			CHECK_STR(find(&r, dso, 0xffffffff92000180),
				"schedule 0xffffffff92000100-0xffffffff92000200");
			CHECK_STR(find(&r, module, 0x90), "nft_do_chain 0x80-0x1080");
		}
		resolving_fini(&r);
	}
}

TEST(resolver_looks_for_no_vmlinux_if_told_so)
{
	const struct dso *dso;
	struct resolving r;

	use_kernel(kallsyms);
	make_vmlinux("usr/lib/debug/boot/vmlinux-9.9.9", id_a, true);
	for (int i = 0; i < 2; i++) {
		resolving_init(&r);
		dso = add_foreign_kernel(&r);
		resolving_start(&r);
		r.resolver.recorded_release = "9.9.9";
		r.resolver.ignores_vmlinux = i;
		CHECK_STR(find(&r, dso, 0xffffffff9a000110),
			i ? "- 0xffffffff9a000110 6"
			  : "schedule 0xffffffff9a000100-0xffffffff9a000180");
		resolving_fini(&r);
	}
}

TEST(resolver_finds_modules_of_the_running_kernel_beside_a_named_vmlinux)
{
	const struct dso *dso, *module;
	struct resolving r;

	use_kernel(kallsyms);
	make_vmlinux("vmlinux", id_a, true);
	resolving_init(&r);
	dso = add_dso(&r, "[kernel.kallsyms]_text", true);
	module = add_dso(&r, "[nf_tables]", true);
	r.machine.kernel_text = 0xffffffff92000000;
	resolving_start(&r);
	r.resolver.vmlinux = test_path("vmlinux");
	CHECK_STR(find(&r, dso, 0xffffffff92000110),
		"schedule 0xffffffff92000100-0xffffffff92000180");
	CHECK_STR(find(&r, module, 0x90), "nft_do_chain 0x80-0x1080");
	resolving_fini(&r);
}

/* ---- guests ---- */

static const struct dso *add_guest(struct resolving *r, const char *path, u32 pid, u64 start,
	u64 pgoff)
{
	struct record rec = {.type = PERF_RECORD_MMAP, .misc = PERF_RECORD_MISC_GUEST_KERNEL};
	union record_body body = {.mmap = {.pid = pid,
					  .addr = start,
					  .len = 0x1000,
					  .pgoff = pgoff,
					  .path = {(const u8 *)path, strlen(path)}}};

	machine_apply(&r->machine, &rec, &body, 0);
	return dso_get_guest(&r->machine.dsos, path, strlen(path), pid);
}

TEST(resolver_names_each_guests_functions_by_its_own_files)
{
	const struct dso *any, *seven, *module, *unknown;
	struct resolving r;

	use_kernel("ffffffff92000000 T _text\nffffffff92000100 T of_the_host\n");
	tree_file(test_dir(), kallsyms, "guest/kallsyms");
	tree_file(test_dir(), "nf_tables 372736 2 - Live 0xffffffffc0a01000\n", "guest/modules");
	tree_file(test_dir(), "ffffffff81000000 T _text\nffffffff81000100 T of_seven\n",
		"mounts/7/proc/kallsyms");
	resolving_init(&r);
	/* It was recorded 16 MiB lower than its files say, and its module elsewhere. */
	any = add_guest(&r, "[guest.kernel.kallsyms]", 0, 0xffffffff91000000, 0xffffffff91000000);
	module = add_guest(&r, "[nf_tables]", 0, 0xffffffffc0801000, 0);
	seven = add_guest(&r, "[guest.kernel.kallsyms.7]", 7, 0xffffffff81000000,
		0xffffffff81000000);
	resolving_start(&r);
	r.resolver.guest_files = (struct guest_files){.mount = test_path("mounts"),
		.kallsyms = test_path("guest/kallsyms"),
		.modules = test_path("guest/modules")};
	CHECK_STR(find(&r, any, 0xffffffff91000180),
		"schedule 0xffffffff91000100-0xffffffff91000200");
	CHECK_STR(find(&r, module, 0x90), "nft_do_chain 0x80-0x1080");
	CHECK_STR(find(&r, seven, 0xffffffff81000108),
		"of_seven 0xffffffff81000100-0xffffffff81001100");
	resolving_fini(&r);

	resolving_init(&r);
	unknown =
		add_guest(&r, "[guest.kernel.kallsyms]", 0, 0xffffffff91000000, 0xffffffff91000000);
	resolving_start(&r);
	CHECK_STR(find(&r, unknown, 0xffffffff91000180), "- 0xffffffff91000180 6");
	CHECK_HAS(resolver_reason(&r.resolver, unknown), "--guestkallsyms");
	resolving_fini(&r);
}

TEST(guest_introduces_kernels_that_no_record_tells_of)
{
	struct guest_files files = {.mount = test_path("mounts"),
		.kallsyms = test_path("kallsyms"),
		.modules = test_path("modules")};
	struct intern strings = {0};
	struct thread_state s;
	struct resolving r;

	use_kernel(kallsyms);
	tree_file(test_dir(), "ffffffff81000000 T _text\n", "mounts/7/proc/kallsyms");
	tree_file(test_dir(), "x 4096 0 - Live 0xffffffffc0000000\n", "mounts/7/proc/modules");
	tree_file(test_dir(), "0000000000000000 T _text\n", "mounts/8/proc/kallsyms");
	resolving_init(&r);
	guest_introduce(&r.machine, &files, &r.said.log);
	CHECK_EQ(r.machine.guests.n, 2);
	CHECK_EQ(machine_guest(&r.machine, 7)->text, 0xffffffff81000000);
	CHECK_EQ(machine_guest(&r.machine, 8)->text, 0xffffffff92000000);
	machine_state_at(&r.machine, 7, 7, 0, &strings, &s);
	CHECK_STR(machine_find(s.guest, 0xffffffff81000010)->dso->name,
		"[guest.kernel.kallsyms.7]");
	CHECK_STR(machine_find(s.guest, 0xffffffffc0000fff)->dso->name, "[x]");
	machine_state_at(&r.machine, 9, 9, 0, &strings, &s);
	CHECK_STR(machine_find(s.guest, 0xffffffffc0a01000)->dso->name, "[nf_tables]");
	/* What is known already is not told again. */
	guest_introduce(&r.machine, &files, &r.said.log);
	CHECK_EQ(r.machine.guests.n, 2);
	intern_fini(&strings);
	resolving_fini(&r);
}

TEST(resolver_takes_a_kernel_of_unknown_build_and_release_for_this_one_only_where_this_one_lies)
{
	for (int is_here = 0; is_here < 2; is_here++) {
		u64 text = is_here ? 0xffffffff92000000 : 0xffffffff82000000;
		struct resolving r;
		const struct dso *dso;

		use_kernel(kallsyms);
		resolving_init(&r);
		dso = add_dso(&r, "[kernel.kallsyms]_text", true);
		r.machine.kernel_text = text;
		resolving_start(&r);
		r.resolver.recorded_release = NULL;
		CHECK_EQ(!strncmp(find(&r, dso, text + 0x180), "schedule ", 9), is_here);
		resolving_fini(&r);
	}
}

TEST(resolver_prints_a_kernel_address_behind_the_last_function_as_it_is)
{
	struct resolving r;
	const struct dso *dso;

	use_kernel("ffffffff92000000 T _text\nffffffff92000200 T last\n");
	resolving_init(&r);
	dso = add_dso(&r, "[kernel.kallsyms]_text", true);
	r.machine.kernel_text = 0xffffffff82000000;
	resolving_start(&r);
	CHECK_STR(find(&r, dso, 0xffffffff85000000), "- 0xffffffff85000000 4");
	CHECK_STR(find(&r, dso, 0xffffffff85000010), "- 0xffffffff85000010 4");
	resolving_fini(&r);
}

TEST(resolver_finds_functions_of_modules_wherever_they_lay)
{
	const struct dso *loaded, *gone;
	struct resolving r;

	use_kernel(kallsyms);
	resolving_init(&r);
	add_dso(&r, "[kernel.kallsyms]_text", true);
	loaded = add_dso(&r, "/lib/modules/1/nf-tables.ko.xz", true);
	gone = add_dso(&r, "[gone]", true);
	resolving_start(&r);
	/* Addresses count from where the module was loaded. */
	CHECK_STR(find(&r, loaded, 0x7f), "init_module 0x0-0x80");
	CHECK_STR(find(&r, loaded, 0x90), "nft_do_chain 0x80-0x1080");
	CHECK_STR(find(&r, gone, 0x90), "- 0x90 6");
	CHECK_STR(resolver_reason(&r.resolver, gone),
		"the module is not loaded now: its file is not in /lib/modules");
	resolving_fini(&r);
}

/* What a recording says of its kernel, and nothing of modules. */
static void embed_kernel(struct embedded *e, const struct dso *kernel, u32 outcome)
{
	struct str section = {0};
	struct embedder out;
	struct err err;

	embedder_init(&out);
	embedder_add_dso(&out, kernel)->outcome = outcome;
	embedder_add_symbol(&out,
		&(struct embedded_name){0xffffffff92000100, 0xffffffff92000200, "recorded",
			ORIGIN_TABLE});
	CHECK_EQ(embedder_finish(&out, &section, &err), 0);
	embedder_fini(&out);
	CHECK_EQ(embedded_of_memory(e, section.at, section.n, &err), 0);
	str_fini(&section);
}

TEST(resolver_reads_the_kernels_list_once_for_what_a_recording_lacks)
{
	static const u32 outcomes[] = {RESOLVER_FOUND, RESOLVER_NO_KERNEL};

	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++) {
		const struct dso *kernel, *module;
		struct embedded embedded;
		struct resolving r;

		use_kernel(kallsyms);
		resolving_init(&r);
		kernel = add_dso(&r, "[kernel.kallsyms]_text", true);
		module = add_dso(&r, "[nf_tables]", true);
		resolving_start(&r);
		embed_kernel(&embedded, kernel, outcomes[i]);
		r.resolver.embedded = &embedded;
		resolver_begin_kernel(&r.resolver);
		CHECK_STR(find(&r, kernel, 0xffffffff92000180),
			i ? "- 0xffffffff92000180 6"
			  : "recorded 0xffffffff92000100-0xffffffff92000200");
		CHECK_STR(find(&r, module, 0x90), "nft_do_chain 0x80-0x1080");
		resolver_load_lines(&r.resolver, kernel);
		CHECK_STR(find(&r, module, 0x7f), "init_module 0x0-0x80");
		resolving_fini(&r);
		embedded_close(&embedded);
	}
}

TEST(resolver_names_no_function_of_another_kernel)
{
	u8 id[BUILD_ID_MAX];
	struct utsname uts;
	struct resolving r;
	struct dso *dso;
	char message[300];

	use_kernel(kallsyms);
	resolving_init(&r);
	dso = (struct dso *)add_dso(&r, "[kernel.kallsyms]_text", true);
	resolving_start(&r);
	r.resolver.recorded_release = "1.2.3-other";
	uname(&uts);
	CHECK_STR(find(&r, dso, 0xffffffff92000180), "- 0xffffffff92000180 6");
	snprintf(message, sizeof(message), "it was recorded on Linux 1.2.3-other, this is %s",
		uts.release);
	CHECK_STR(resolver_reason(&r.resolver, dso), message);
	resolving_fini(&r);

	if (!buildid_of_kernel(id, NULL))
		SKIP("this kernel tells no build-id");
	resolving_init(&r);
	dso = (struct dso *)add_dso(&r, "[kernel.kallsyms]_text", true);
	memcpy(dso->build_id, id_a, BUILD_ID_MAX);
	dso->build_id_size = BUILD_ID_MAX;
	resolving_start(&r);
	r.resolver.recorded_release = uts.release;
	CHECK_STR(find(&r, dso, 0xffffffff92000180), "- 0xffffffff92000180 6");
	snprintf(message, sizeof(message), "it was recorded on another kernel build, %s",
		uts.release);
	CHECK_STR(resolver_reason(&r.resolver, dso), message);
	resolving_fini(&r);
}

TEST(resolver_trusts_the_kernels_build_id_more_than_its_release)
{
	u8 id[BUILD_ID_MAX], n = buildid_of_kernel(id, NULL);
	struct resolving r;
	struct dso *dso;

	if (!n)
		SKIP("this kernel tells no build-id");
	use_kernel(kallsyms);
	resolving_init(&r);
	dso = (struct dso *)add_dso(&r, "[kernel.kallsyms]_text", true);
	memcpy(dso->build_id, id, n);
	dso->build_id_size = n;
	resolving_start(&r);
	r.resolver.recorded_release = "somebody renamed it";
	CHECK_STR(find(&r, dso, 0xffffffff92000180),
		"schedule 0xffffffff92000100-0xffffffff92000200");
	resolving_fini(&r);
}

TEST(resolver_says_when_kernel_addresses_are_hidden)
{
	const struct dso *kernel, *module;
	struct resolving r;

	use_kernel("0000000000000000 T _text\n0000000000000000 T schedule\n");
	resolving_init(&r);
	kernel = add_dso(&r, "[kernel.kallsyms]_text", true);
	module = add_dso(&r, "[nf_tables]", true);
	resolving_start(&r);
	CHECK_STR(find(&r, kernel, 0xffffffff92000180), "- 0xffffffff92000180 6");
	CHECK_HAS(resolver_reason(&r.resolver, kernel), "has no addresses: they were hidden");
	CHECK_STR(find(&r, module, 0x10), "- 0x10 6");
	CHECK_HAS(resolver_reason(&r.resolver, module), "has no addresses");
	resolving_fini(&r);
}

TEST(resolver_takes_a_bpf_programs_name_from_the_recording)
{
	struct resolving r;
	struct dso *dso;

	resolving_init(&r);
	dso = dso_get_kind(&r.machine.dsos, "bpf_prog_12_x", 13, DSO_BPF);
	resolving_start(&r);
	CHECK_STR(find(&r, dso, 0xffffffffc0000010), "bpf_prog_12_x 0x0-0x0");
	resolving_fini(&r);
}

/* ---- vdso ---- */

TEST(resolver_finds_functions_of_its_own_vdso_only)
{
	const struct elf_section *symbols;
	struct resolving r;
	struct elf elf;
	struct err err;
	struct dso *dso;
	struct symtab t = {0};
	char expected[160];
	u8 id[BUILD_ID_MAX];

	if (vdso_open(&elf, &err))
		SKIP("%s", err.msg);
	symbols = elf_section_of_type(&elf, SHT_DYNSYM);
	if (!symbols || !symtab_add_elf(&t, &elf, SHT_DYNSYM) || !vdso_build_id(id))
		SKIP("the vdso has no symbols or no build-id");
	symtab_finish(&t);
	resolving_init(&r);
	dso = (struct dso *)add_dso(&r, "[vdso]", false);
	resolving_start(&r);
	/* Without a build-id it may be any kernel's. */
	CHECK(strstr(find(&r, dso, t.symbols.at[0].start), "- 0x"));
	resolving_fini(&r);

	resolving_init(&r);
	dso = (struct dso *)add_dso(&r, "[vdso]", false);
	resolving_start(&r);
	r.files.places.is_of_this_release = true;
	/* Its addresses are its offsets. */
	snprintf(expected, sizeof(expected), "%s 0x%llx-0x%llx", t.symbols.at[0].name,
		(unsigned long long)t.symbols.at[0].start, (unsigned long long)t.symbols.at[0].end);
	CHECK_STR(find(&r, dso, t.symbols.at[0].start), expected);
	resolving_fini(&r);

	resolving_init(&r);
	dso = (struct dso *)add_dso(&r, "[vdso]", false);
	memcpy(dso->build_id, id_a, BUILD_ID_MAX);
	dso->build_id_size = BUILD_ID_MAX;
	resolving_start(&r);
	snprintf(expected, sizeof(expected), "- 0x%llx 1",
		(unsigned long long)t.symbols.at[0].start);
	CHECK_STR(find(&r, dso, t.symbols.at[0].start), expected);
	CHECK_STR(resolver_reason(&r.resolver, dso),
		"the vdso of the recording is not this kernel's");
	resolving_fini(&r);
	symtab_fini(&t);
	elf_close(&elf);
}

/* ---- build-ids ---- */

TEST(buildid_collects_those_of_what_was_hit)
{
	const struct dso *file, *missed, *none, *missing, *recorded;
	struct file_info info;
	struct resolving r;
	char path[300];
	u8 id[BUILD_ID_MAX], n;
	bool hit[16] = {0};

	make_file("bin/prog", id_a, "main", STATIC);
	make_file("bin/none", NULL, "main", STATIC);
	resolving_init(&r);
	snprintf(path, sizeof(path), "%s/bin/prog", test_dir());
	file = add_dso(&r, path, false);
	missed = add_dso(&r, "/bin/not_hit", false);
	snprintf(path, sizeof(path), "%s/bin/none", test_dir());
	none = add_dso(&r, path, false);
	missing = add_dso(&r, "/no/such/file", false);
	recorded = add_dso(&r, "/recorded/with/id", false);
	memcpy(((struct dso *)recorded)->build_id, id_b, 16);
	((struct dso *)recorded)->build_id_size = 16;
	hit[add_dso(&r, "//anon", false)->id] = true;
	hit[0] = hit[file->id] = hit[none->id] = hit[missing->id] = hit[recorded->id] = true;
	hit[missed->id] = false;
	file_info_init(&info);
	buildid_collect(&r.machine, hit, NULL, &info);
	CHECK_EQ(info.build_ids.n, 2);
	CHECK_STR(info.build_ids.at[0].path, file->path);
	CHECK_EQ(info.build_ids.at[0].id_size, BUILD_ID_MAX);
	CHECK(!memcmp(info.build_ids.at[0].id, id_a, BUILD_ID_MAX));
	CHECK_EQ(info.build_ids.at[0].pid, -1);
	CHECK_EQ(info.build_ids.at[0].misc, PERF_RECORD_MISC_USER);
	CHECK_STR(info.build_ids.at[1].path, "/recorded/with/id");
	CHECK_EQ(info.build_ids.at[1].id_size, 16);
	CHECK(!memcmp(info.build_ids.at[1].id, id_b, 16));
	file_info_fini(&info);

	n = buildid_of_kernel(id, NULL);
	memset(hit, 0, sizeof(hit));
	hit[add_dso(&r, "[kernel.kallsyms]_text", true)->id] = true;
	file_info_init(&info);
	buildid_collect(&r.machine, hit, NULL, &info);
	CHECK_EQ(info.build_ids.n, n > 0);
	if (n) {
		CHECK_STR(info.build_ids.at[0].path, "[kernel.kallsyms]");
		CHECK_EQ(info.build_ids.at[0].misc, PERF_RECORD_MISC_KERNEL);
		CHECK(!memcmp(info.build_ids.at[0].id, id, n));
	}
	file_info_fini(&info);

	/* The vdso's own, where there is one; none for a module that is not loaded. */
	n = vdso_build_id(id);
	memset(hit, 0, sizeof(hit));
	hit[add_dso(&r, "[vdso]", false)->id] = true;
	hit[add_dso(&r, "[no_such_module]", true)->id] = true;
	file_info_init(&info);
	buildid_collect(&r.machine, hit, NULL, &info);
	CHECK_EQ(info.build_ids.n, n > 0);
	if (n)
		CHECK(!memcmp(info.build_ids.at[0].id, id, n));
	file_info_fini(&info);
	machine_fini(&r.machine);
	said_fini(&r.said);
}

/* ---- generated code ---- */

TEST(resolver_names_generated_code_by_the_perf_map)
{
	struct resolving r;
	const struct dso *dso;
	struct resolver_answer a;

	tree_file(test_dir(), "1000 20 JS:*hot a.js:1\nwhat is this\n1020 10 next\n",
		"tmp/perf-42.map");
	resolving_init(&r);
	dso = add_dso(&r, "//anon", false);
	resolving_start(&r);
	CHECK_STR(find(&r, dso, 0x101f), "JS:*hot a.js:1 0x1000-0x1020");
	CHECK_STR(find(&r, dso, 0x1020), "next 0x1020-0x1030");
	CHECK_STR(find(&r, dso, 0x1030), "- 0x1030 4");
	a = resolver_find_caller(&r.resolver, dso, 0x1020);
	CHECK_STR(a.name, "JS:*hot a.js:1");
	CHECK_EQ(a.at, 0x1020);
	CHECK_EQ(said_count(&r.said, "1 lines are not like 'START SIZE name'"), 1);
	CHECK(!resolver_reason(&r.resolver, dso));
	resolving_fini(&r);
}

TEST(resolver_says_why_generated_code_has_no_names)
{
	struct resolving r;
	const struct dso *none, *link;

	tree_dir(test_dir(), "tmp");
	CHECK_EQ(symlink("/etc/passwd", test_path("tmp/perf-43.map")), 0);
	resolving_init(&r);
	none = add_dso(&r, "//anon", false);
	link = dso_get(&r.machine.dsos, "//anon", 6, 43, false);
	resolving_start(&r);
	CHECK_STR(find(&r, none, 0x101f), "- 0x101f 5");
	CHECK_HAS(resolver_reason(&r.resolver, none), "the program left no '/tmp/perf-42.map'");
	CHECK_STR(find(&r, link, 0x101f), "- 0x101f 5");
	CHECK_HAS(resolver_reason(&r.resolver, link), "is not read: it is a symbolic link");
	resolving_fini(&r);
}
