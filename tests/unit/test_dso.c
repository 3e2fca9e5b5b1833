#include "machine/dso.h"

#include <sys/mman.h>

#include "test.h"

struct fixture {
	struct intern strings;
	struct dso_list list;
};

static void fixture_init(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	dso_list_init(&f->list, &f->strings);
}

static void fixture_fini(struct fixture *f)
{
	dso_list_fini(&f->list);
	intern_fini(&f->strings);
}

TEST(dso_number_0_is_unknown)
{
	struct fixture f;

	fixture_init(&f);
	CHECK_EQ(f.list.at.n, 1);
	CHECK_STR(f.list.at.at[0]->name, "[unknown]");
	CHECK_EQ(f.list.at.at[0]->kind, DSO_UNKNOWN);
	CHECK_EQ(f.list.at.at[0]->id, 0);
	fixture_fini(&f);
}

TEST(dso_kinds_and_names_follow_from_the_path)
{
	static const struct {
		const char *path;
		bool is_kernel;
		enum dso_kind kind;
		const char *kept, *name;
	} cases[] = {
		{"/usr/lib/libc.so.6", false, DSO_FILE, "/usr/lib/libc.so.6", "libc.so.6"},
		{"a.out", false, DSO_FILE, "a.out", "a.out"},
		{"/", false, DSO_FILE, "/", "/"},
		{"/bin/", false, DSO_FILE, "/bin/", "/bin/"},
		{"/tmp/x (deleted)", false, DSO_FILE, "/tmp/x (deleted)", "x (deleted)"},
		{"/memfd:jit (deleted)", false, DSO_FILE, "/memfd:jit (deleted)",
			"memfd:jit (deleted)"},
		{"[vdso]", false, DSO_VDSO, "[vdso]", "[vdso]"},
		{"//anon", false, DSO_JIT, "/tmp/perf-42.map", "[JIT] tid 42"},
		{"/dev/zero", false, DSO_JIT, "/tmp/perf-42.map", "[JIT] tid 42"},
		{"/dev/zero (deleted)", false, DSO_JIT, "/tmp/perf-42.map", "[JIT] tid 42"},
		{"/anon_hugepage (deleted)", false, DSO_JIT, "/tmp/perf-42.map", "[JIT] tid 42"},
		{"", false, DSO_JIT, "/tmp/perf-42.map", "[JIT] tid 42"},
		{"[heap]", false, DSO_NONE, "[heap]", "[heap]"},
		{"[stack:12]", false, DSO_NONE, "[stack:12]", "[stack:12]"},
		{"[vsyscall]", false, DSO_NONE, "[vsyscall]", "[vsyscall]"},
		{"/SYSV00000000 (deleted)", false, DSO_NONE, "/SYSV00000000 (deleted)",
			"/SYSV00000000 (deleted)"},
		{"[kernel.kallsyms]", true, DSO_KERNEL, "[kernel.kallsyms]", "[kernel.kallsyms]"},
		{"[kernel.kallsyms]_text", true, DSO_KERNEL, "[kernel.kallsyms]",
			"[kernel.kallsyms]"},
		{"[kernel.kallsyms]_stext", true, DSO_KERNEL, "[kernel.kallsyms]",
			"[kernel.kallsyms]"},
		{"/lib/modules/6.1/kernel/net/nf-tables.ko.xz", true, DSO_MODULE,
			"/lib/modules/6.1/kernel/net/nf-tables.ko.xz", "[nf_tables]"},
		{"/lib/modules/6.1/ext4.ko", true, DSO_MODULE, "/lib/modules/6.1/ext4.ko",
			"[ext4]"},
		{"/x/snd-hda-intel.ko.zst", true, DSO_MODULE, "/x/snd-hda-intel.ko.zst",
			"[snd_hda_intel]"},
		{"odd", true, DSO_MODULE, "odd", "[odd]"},
		{"[nf_tables]", true, DSO_MODULE, "[nf_tables]", "[nf_tables]"},
		/* Only the kernel's own maps are the kernel's. */
		{"[kernel.kallsyms]", false, DSO_NONE, "[kernel.kallsyms]", "[kernel.kallsyms]"},
	};
	struct fixture f;

	fixture_init(&f);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct dso *dso = dso_get(&f.list, cases[i].path, strlen(cases[i].path), 42,
			cases[i].is_kernel);

		CHECK_EQ(dso->kind, cases[i].kind);
		CHECK_STR(dso->path, cases[i].kept);
		CHECK_STR(dso->name, cases[i].name);
		CHECK(f.list.at.at[dso->id] == dso);
		CHECK(dso_get(&f.list, cases[i].path, strlen(cases[i].path), 42,
			      cases[i].is_kernel) == dso);
	}
	fixture_fini(&f);
}

TEST(dso_of_anonymous_memory_is_one_for_each_process)
{
	struct fixture f;
	struct dso *a, *b;

	fixture_init(&f);
	a = dso_get(&f.list, "//anon", 6, 1, false);
	b = dso_get(&f.list, "//anon", 6, 4294967295u, false);
	CHECK(a != b);
	CHECK_EQ(a->pid, 1);
	CHECK_EQ(b->pid, 4294967295u);
	CHECK_STR(b->path, "/tmp/perf-4294967295.map");
	CHECK(dso_get(&f.list, "/dev/zero", 9, 1, false) == a);
	/* A file is one for all. */
	CHECK(dso_get(&f.list, "/x", 2, 1, false) == dso_get(&f.list, "/x", 2, 2, false));
	fixture_fini(&f);
}

TEST(dso_of_one_path_and_two_kinds_are_two)
{
	struct fixture f;
	struct dso *module, *file;

	fixture_init(&f);
	module = dso_get(&f.list, "/x.ko", 5, 0, true);
	file = dso_get(&f.list, "/x.ko", 5, 0, false);
	CHECK(module != file);
	CHECK_STR(module->name, "[x]");
	CHECK_STR(file->name, "x.ko");
	CHECK(dso_get_kind(&f.list, "/x.ko", 5, DSO_BPF) != file);
	fixture_fini(&f);
}

TEST(dso_paths_end_with_their_length_or_their_first_nul)
{
	struct fixture f;

	fixture_init(&f);
	CHECK_STR(dso_get(&f.list, "/lib/abcdef", 8, 0, false)->path, "/lib/abc");
	CHECK_STR(dso_get(&f.list, "/lib/abc\0def", 12, 0, false)->path, "/lib/abc");
	CHECK_EQ(dso_get(&f.list, "\0/lib", 5, 3, false)->kind, DSO_JIT);
	/* A name that is cut inside the bracket is no vdso. */
	CHECK_EQ(dso_get(&f.list, "[vdso]", 5, 0, false)->kind, DSO_NONE);
	CHECK_EQ(dso_get(&f.list, "[kernel.kallsyms]", 16, 0, true)->kind, DSO_MODULE);
	fixture_fini(&f);
}

TEST(dso_addresses_stay_the_same_however_many_there_are)
{
	enum { N = 3000 };
	struct dso *all[N];
	struct fixture f;
	char path[32];

	fixture_init(&f);
	for (u32 i = 0; i < N; i++) {
		snprintf(path, sizeof(path), "/lib/%u.so", i);
		all[i] = dso_get(&f.list, path, strlen(path), 0, false);
		CHECK_EQ(all[i]->id, i + 1);
	}
	for (u32 i = 0; i < N; i++) {
		snprintf(path, sizeof(path), "/lib/%u.so", i);
		CHECK(dso_get(&f.list, path, strlen(path), 0, false) == all[i]);
		CHECK_STR(all[i]->path, path);
	}
	CHECK_EQ(f.list.at.n, N + 1);
	fixture_fini(&f);
}

TEST(dso_of_anonymous_memory_that_cannot_be_executed_is_no_code)
{
	static const char path[] = "//anon";
	struct record_mmap map = {.pid = 7,
		.prot = PROT_READ | PROT_WRITE,
		.path = {(const u8 *)path, 6}};
	struct fixture f;
	struct dso *data;

	fixture_init(&f);
	data = dso_get_mapped(&f.list, &map, false);
	CHECK_EQ(data->kind, DSO_NONE);
	CHECK_STR(data->name, "//anon");
	map.path.n = 0;
	CHECK(dso_get_mapped(&f.list, &map, false) == data);
	/* Code was written there, and then it was made executable; or the record tells no rights. */
	map.prot = PROT_READ | PROT_EXEC;
	CHECK_STR(dso_get_mapped(&f.list, &map, false)->name, "[JIT] tid 7");
	map.prot = 0;
	CHECK_EQ(dso_get_mapped(&f.list, &map, false)->kind, DSO_JIT);
	fixture_fini(&f);
}

static const struct dso *mapped(struct fixture *f, u32 min, u64 ino, u64 generation, const char *id)
{
	static const char path[] = "/lib/x.so";
	struct record_mmap map = {.min = min,
		.ino = ino,
		.ino_generation = generation,
		.build_id_size = id ? (u8)strlen(id) : 0,
		.path = {(const u8 *)path, sizeof(path) - 1}};

	if (id)
		memcpy(map.build_id, id, strlen(id));
	return dso_get_mapped(&f->list, &map, false);
}

TEST(dso_of_another_inode_or_generation_at_the_same_path_is_another)
{
	const struct dso *first, *second, *third;
	struct fixture f;

	fixture_init(&f);
	/* synthesized from /proc, which tells no generation; then by the kernel */
	first = mapped(&f, 1, 10, 0, NULL);
	CHECK(mapped(&f, 1, 10, 77, NULL) == first && !first->has_namesakes);
	/* nothing is told; or by an overlay, which has devices of its own */
	CHECK(mapped(&f, 0, 0, 0, NULL) == first);
	CHECK(mapped(&f, 9, 500, 0, NULL) == first);
	second = mapped(&f, 1, 11, 78, NULL);
	CHECK(second != first && second->path == first->path && second->nth == 1);
	CHECK(first->has_namesakes && second->has_namesakes && first->namesake == second);
	/* the number of the first, which was deleted, has gone to a third */
	third = mapped(&f, 1, 10, 79, NULL);
	CHECK(third != first && third != second && third->nth == 2);
	CHECK(mapped(&f, 1, 10, 77, NULL) == first && mapped(&f, 1, 11, 78, NULL) == second);
	CHECK(mapped(&f, 1, 10, 79, NULL) == third);
	fixture_fini(&f);
}

TEST(dso_of_another_build_id_at_the_same_path_is_another)
{
	const struct dso *first, *second;
	struct fixture f;

	fixture_init(&f);
	first = mapped(&f, 0, 0, 0, "12345678");
	second = mapped(&f, 0, 0, 0, "87654321");
	CHECK(first != second && !memcmp(first->build_id, "12345678", 8));
	CHECK(!memcmp(second->build_id, "87654321", 8));
	CHECK(mapped(&f, 0, 0, 0, "12345678") == first &&
		mapped(&f, 0, 0, 0, "87654321") == second);
	fixture_fini(&f);
}

TEST(dso_that_was_mapped_last_has_the_build_id_that_a_table_tells_of_its_path)
{
	struct fixture f;
	struct dso *head;

	fixture_init(&f);
	head = dso_get(&f.list, "/lib/x.so", 9, 0, false);
	memcpy(head->build_id, "12345678", 8);
	head->build_id_size = 8;
	CHECK(mapped(&f, 1, 10, 0, NULL) == head && head->build_id_size == 8);
	CHECK_EQ(mapped(&f, 1, 11, 0, NULL)->build_id_size, 8);
	CHECK_EQ(head->build_id_size, 0);
	fixture_fini(&f);
}

TEST(dso_that_is_expected_takes_the_build_id_before_it_is_mapped)
{
	const struct dso *last;
	struct fixture f;
	struct dso *head;

	fixture_init(&f);
	head = dso_get(&f.list, "/lib/x.so", 9, 0, false);
	head->build_id_size = 8;
	dso_expect(&f.list, dso_get(&f.list, "/lib/x.so", 9, 0, false), 2);
	last = head->namesake->namesake;
	CHECK(last->nth == 2 && last->build_id_size == 8 && !head->build_id_size);
	CHECK(mapped(&f, 1, 10, 0, NULL) == head);
	CHECK(mapped(&f, 1, 11, 0, NULL) == head->namesake);
	CHECK(mapped(&f, 1, 12, 0, NULL) == last && mapped(&f, 1, 10, 0, NULL) == head);
	dso_expect(&f.list, dso_get(&f.list, "/lib/x.so", 9, 0, false), UINT32_MAX);
	CHECK(!last->namesake);
	fixture_fini(&f);
}

TEST(dso_paths_with_more_files_than_anything_real_cost_no_more_than_the_most_there_may_be)
{
	struct fixture f;
	size_t n;

	fixture_init(&f);
	for (u32 i = 1; i <= DSO_NAMESAKES_MAX; i++)
		CHECK_EQ(mapped(&f, 1, i, 0, NULL)->nth, i - 1);
	n = f.list.at.n;
	CHECK_EQ(mapped(&f, 1, UINT32_MAX, 0, NULL)->nth, DSO_NAMESAKES_MAX - 1);
	CHECK_EQ(mapped(&f, 1, 1, 0, NULL)->nth, 0);
	CHECK_EQ(f.list.at.n, n);
	fixture_fini(&f);
}

TEST(dso_build_ids_end_before_the_zeros_they_were_filled_up_with)
{
	static const struct {
		u8 used, size, expected;
	} cases[] = {{20, 20, 20}, {19, 20, 20}, {17, 20, 20}, {16, 20, 16}, {13, 20, 16},
		{8, 20, 8}, {7, 20, 8}, {1, 20, 4}, {0, 20, 0}, {8, 8, 8}, {4, 8, 8}, {0, 0, 0}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		u8 id[BUILD_ID_MAX] = {0};

		memset(id, 0xab, cases[i].used);
		CHECK_EQ(dso_build_id_bytes(id, cases[i].size), cases[i].expected);
	}
}

TEST(dso_spans_all_code_that_was_mapped_of_it)
{
	struct dso dso = {0};

	CHECK_EQ(dso.code_from, dso.code_to);
	dso_note_code(&dso, 0x28000, 0x1000);
	dso_note_code(&dso, 0x26000, 0x1000);
	dso_note_code(&dso, 0x27000, 0x8000);
	CHECK_EQ(dso.code_from, 0x26000);
	CHECK_EQ(dso.code_to, 0x2f000);
	dso_note_code(&dso, 0x30000, UINT64_MAX);
	CHECK_EQ(dso.code_to, UINT64_MAX);
}
