#include "symbol/jit/simpleperf.h"

#include "test.h"
#include "unit/recording.h"

static void put_u32(struct str *out, u32 v)
{
	str_addn(out, &v, sizeof(v));
}

static void put_u64(struct str *out, u64 v)
{
	str_addn(out, &v, sizeof(v));
}

static void put_text(struct str *out, const char *text)
{
	str_addn(out, text, strlen(text) + 1);
}

/* Behind its size, as both sections have it. */
static void put_sized(struct str *section, const struct str *one)
{
	put_u32(section, (u32)one->n);
	str_addn(section, one->at, one->n);
}

/* A file of section FILE with two functions; `offset` UINT64_MAX: a version that did not tell it. */
static void put_struct(struct str *section, const char *path, u32 type, u64 min_va, u64 offset)
{
	struct str one = {0};

	put_text(&one, path);
	put_u32(&one, type);
	put_u64(&one, min_va);
	put_u32(&one, 2);
	put_u64(&one, min_va + 0x100);
	put_u32(&one, 0x20);
	put_text(&one, "second");
	put_u64(&one, min_va + 0x80);
	put_u32(&one, 0x10);
	put_text(&one, "first");
	if (offset != UINT64_MAX)
		put_u64(&one, offset);
	put_sized(section, &one);
	str_fini(&one);
}

static const char *name_at(const struct simpleperf *s, const struct dso *dso, u64 address)
{
	const struct simpleperf_file *file = simpleperf_find(s, dso);
	struct symtab table = {0};
	const struct symbol *symbol;
	const char *name;

	if (!file)
		return "(no file)";
	simpleperf_add(s, file, &table);
	symbol = symtab_find(&table, simpleperf_address(file, dso, address));
	name = symbol ? symbol->name : "(none)";
	symtab_fini(&table);
	return name;
}

TEST(simpleperf_names_functions_by_their_place_in_the_file)
{
	struct dso told = {.kind = DSO_FILE, .path = "/told", .code_from = 0x1000};
	struct dso untold = {.kind = DSO_FILE, .path = "/untold", .code_from = 0x3000};
	struct dso other = {.kind = DSO_FILE, .path = "/other"};
	struct file_info info = {0};
	struct simpleperf s;

	put_struct(&info.files[0], "/told", 2, 0x400000, 0x1000);
	put_struct(&info.files[0], "/untold", 2, 0x10000, UINT64_MAX);
	simpleperf_init(&s, &info);
	CHECK_STR(name_at(&s, &told, 0x1080), "first");
	CHECK_STR(name_at(&s, &told, 0x111f), "second");
	CHECK_STR(name_at(&s, &told, 0x1120), "(none)");
	CHECK_STR(name_at(&s, &untold, 0x3080), "first");
	CHECK_STR(name_at(&s, &other, 0x1080), "(no file)");
	simpleperf_fini(&s);
	str_fini(&info.files[0]);
}

TEST(simpleperf_names_the_kernel_also_where_a_modules_map_covers_it)
{
	struct dso kernel = {.kind = DSO_KERNEL, .path = "[kernel.kallsyms]"};
	struct dso module = {.kind = DSO_MODULE, .path = "[last]", .base = 0xff0000};
	struct dso guest = {.kind = DSO_KERNEL, .path = "[kernel.kallsyms]", .is_guest = true};
	struct file_info info = {0};
	struct simpleperf s;

	put_struct(&info.files[0], "[kernel.kallsyms]", 0, 0x1000000, UINT64_MAX);
	simpleperf_init(&s, &info);
	CHECK_STR(name_at(&s, &kernel, 0x1000080), "first");
	CHECK_STR(name_at(&s, &module, 0x10080), "first");
	CHECK_STR(name_at(&s, &guest, 0x1000080), "(no file)");
	simpleperf_fini(&s);
	str_fini(&info.files[0]);
}

TEST(simpleperf_reads_messages_too)
{
	/* {path, type, min_va, {va, size, name}, a field to come, elf{offset}} */
	static const u8 message[] = {0x0a, 2, '/', 'a', 0x10, 2, 0x18, 0x80, 0x20, 0x22, 9, 0x08,
		0x90, 0x20, 0x10, 0x10, 0x1a, 2, 'f', 'n', 0x58, 1, 0x32, 3, 0x08, 0x80, 0x08};
	struct dso dso = {.kind = DSO_FILE, .path = "/a"};
	struct file_info info = {0};
	struct simpleperf s;

	put_u32(&info.files[1], sizeof(message));
	str_addn(&info.files[1], message, sizeof(message));
	simpleperf_init(&s, &info);
	CHECK_EQ(s.files.n, 1);
	CHECK_EQ(s.files.at[0].min_va, 0x1000);
	CHECK_EQ(s.files.at[0].min_offset, 0x400);
	CHECK_STR(name_at(&s, &dso, 0x410), "fn");
	CHECK_STR(name_at(&s, &dso, 0x420), "(none)");
	simpleperf_fini(&s);
	str_fini(&info.files[1]);
}

TEST(simpleperf_ends_where_a_section_is_cut)
{
	struct str whole = {0};
	struct simpleperf s;

	put_struct(&whole, "/a", 2, 0x400000, 0x1000);
	put_struct(&whole, "/b", 2, 0x400000, 0x1000);
	for (size_t n = 0; n <= whole.n; n++) {
		for (unsigned k = 0; k < 2; k++) {
			struct file_info info = {0};

			info.files[k].at = recording_exact(whole.at, n);
			info.files[k].n = n;
			simpleperf_init(&s, &info);
			CHECK(s.files.n <= 2);
			if (!k && n >= whole.n / 2)
				CHECK_STR(s.files.at[0].path, "/a");
			simpleperf_fini(&s);
			free(info.files[k].at);
		}
	}
	str_fini(&whole);
}
