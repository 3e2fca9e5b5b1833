#include "test.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/kernel/kallsyms.h"

static const u8 build_id[BUILD_ID_MAX] = {0xaa, 0xbb, 0xcc};

static const char *write_text(const char *name, const char *text)
{
	const char *path = test_path(name);

	test_write(path, text, strlen(text));
	return path;
}

/* Every test has a cache of its own. */
static void use_own_cache(void)
{
	setenv("XDG_CACHE_HOME", test_dir(), 1);
}

/* Opens a copy of /proc/kallsyms with that text; nothing is cached. */
static void open_text(struct kallsyms *k, const char *text)
{
	struct err err;

	use_own_cache();
	if (kallsyms_open(k, write_text("kallsyms", text), true, NULL, 0, &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
}

/* "name+offset of size", or "-". */
static const char *at(const struct kallsyms *k, u64 address)
{
	static char text[8][128];
	static unsigned next;
	char *buf = text[next++ % ARRAY_SIZE(text)];
	u64 start = 0, end = 0;
	const char *name = kallsyms_find(k, address, &start, &end);

	if (!name)
		return "-";
	snprintf(buf, sizeof(text[0]), "%s+0x%llx of 0x%llx", name,
		(unsigned long long)(address - start), (unsigned long long)(end - start));
	return buf;
}

static const char core[] = "0000000000000000 A fixed_percpu_data\n"
			   "ffffffff81000000 T startup_64\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000040 t secondary_startup_64\n"
			   "ffffffff81000100 W weak_one\n"
			   "ffffffff81001000 T _etext\n";
static const char modules[] = "ffffffffc0000000 t init_module\t[nf_tables]\n"
			      "ffffffffc0000080 t nft_do\t[nf_tables]\n"
			      "ffffffffc0000200 t bpf_prog_1234_x\t[bpf]\n";

TEST(kallsyms_finds_the_function_that_covers_an_address)
{
	struct kallsyms k;

	open_text(&k, core);
	CHECK_EQ(k.text, 0xffffffff81000000);
	CHECK_STR(at(&k, 0), "-");
	CHECK_STR(at(&k, 0xffffffff80ffffff), "-");
	CHECK_STR(at(&k, 0xffffffff8100003f), "_text+0x3f of 0x40");
	CHECK_STR(at(&k, 0xffffffff81000040), "secondary_startup_64+0x0 of 0xc0");
	CHECK_STR(at(&k, 0xffffffff810000ff), "secondary_startup_64+0xbf of 0xc0");
	CHECK_STR(at(&k, 0xffffffff81000100), "weak_one+0x0 of 0xf00");
	/* The last one has no end: a page is assumed. */
	CHECK_STR(at(&k, 0xffffffff81001fff), "_etext+0xfff of 0x1000");
	CHECK_STR(at(&k, 0xffffffff81002000), "-");
	CHECK_STR(at(&k, UINT64_MAX), "-");
	kallsyms_close(&k);
}

TEST(kallsyms_that_finds_nothing_leaves_the_bounds_alone)
{
	u64 start = 11, end = 22;
	struct kallsyms k;

	open_text(&k, core);
	CHECK(!kallsyms_find(&k, 0x1000, &start, &end));
	CHECK(!kallsyms_find(&k, 0xffffffff82000000, &start, &end));
	CHECK_EQ(start, 11);
	CHECK_EQ(end, 22);
	kallsyms_close(&k);
}

TEST(kallsyms_reads_modules_and_programs_without_their_brackets)
{
	struct kallsyms k;
	char text[1024];

	snprintf(text, sizeof(text), "%s%s", core, modules);
	open_text(&k, text);
	CHECK_STR(at(&k, 0xffffffffc0000000), "init_module+0x0 of 0x80");
	CHECK_STR(at(&k, 0xffffffffc00001ff), "nft_do+0x17f of 0x180");
	CHECK_STR(at(&k, 0xffffffffc0000200), "bpf_prog_1234_x+0x0 of 0x1000");
	kallsyms_close(&k);
}

TEST(kallsyms_takes_lines_in_any_order)
{
	struct kallsyms k;

	open_text(&k,
		"ffffffffc0000000 t module\t[m]\nffffffff81000040 T second\nffffffff81000000 "
		"T first\n");
	CHECK_STR(at(&k, 0xffffffff81000000), "first+0x0 of 0x40");
	CHECK_STR(at(&k, 0xffffffff81000040), "second+0x0 of 0x3effffc0");
	CHECK_STR(at(&k, 0xffffffffc0000000), "module+0x0 of 0x1000");
	kallsyms_close(&k);
}

TEST(kallsyms_takes_the_last_name_of_an_address)
{
	struct kallsyms k;

	open_text(&k,
		"ffffffff81000000 T _text\n"
		"ffffffff81000100 t __do_sys_fork\n"
		"ffffffff81000100 T __ia32_sys_fork\n"
		"ffffffff81000100 T __x64_sys_fork\n"
		"ffffffff81000200 T end\n");
	CHECK_EQ(k.n, 3);
	CHECK_STR(at(&k, 0xffffffff81000180), "__x64_sys_fork+0x80 of 0x100");
	kallsyms_close(&k);
}

TEST(kallsyms_takes_code_and_data_but_nothing_else)
{
	static const char wanted[] = "tTwWdDbB", others[] = "aArRvVnNuU?-";
	struct kallsyms k;

	for (const char *type = wanted; *type; type++) {
		char text[128];

		snprintf(text, sizeof(text), "1000 T first\n2000 %c second\n3000 T third\n", *type);
		open_text(&k, text);
		CHECK_STR(at(&k, 0x2000), "second+0x0 of 0x1000");
		kallsyms_close(&k);
	}
	for (const char *type = others; *type; type++) {
		char text[128];

		snprintf(text, sizeof(text), "1000 T first\n2000 %c second\n3000 T third\n", *type);
		open_text(&k, text);
		CHECK_STR(at(&k, 0x2000), "first+0x1000 of 0x2000");
		kallsyms_close(&k);
	}
}

TEST(kallsyms_skips_lines_that_are_none)
{
	struct kallsyms k;

	open_text(&k,
		"\n\nnonsense\nffffffff81000000\nffffffff81000010 \nffffffff81000020 "
		"T\nffffffff81000030 T \n"
		"ffffffff81000040 T a\n\x01\xff\n\tT x\nFFFF T upper\nffffffff81000050 T b "
		"with spaces\n");
	CHECK_EQ(k.n, 2);
	CHECK_STR(at(&k, 0xffffffff81000045), "a+0x5 of 0x10");
	CHECK_STR(at(&k, 0xffffffff81000050), "b with spaces+0x0 of 0x1000");
	kallsyms_close(&k);
}

TEST(kallsyms_needs_no_newline_at_the_end)
{
	static const char text[] = "1000 T first\n2000 T second\n3000 t third\t[module]";

	/* Nor anything else: cut anywhere it is a shorter list. */
	for (size_t n = 0; n < sizeof(text); n++) {
		struct kallsyms k;
		struct err err;

		test_write(test_path("kallsyms"), text, n);
		if (kallsyms_open(&k, test_path("kallsyms"), true, NULL, 0, &err)) {
			CHECK(n < 8);
			continue;
		}
		CHECK(at(&k, 0x1000)[0] == 'f');
		kallsyms_close(&k);
	}
	struct kallsyms k;

	open_text(&k, text);
	CHECK_STR(at(&k, 0x3000), "third+0x0 of 0x1000");
	kallsyms_close(&k);
}

static void check_refused(const char *text, int code, const char *why)
{
	struct kallsyms k;
	struct err err;
	char message[400];

	use_own_cache();
	CHECK_EQ(kallsyms_open(&k, write_text("kallsyms", text), false, build_id, sizeof(build_id),
			 &err),
		code);
	snprintf(message, sizeof(message), "'%s' %s", test_path("kallsyms"), why);
	CHECK_HAS(err.msg, message);
	CHECK(access(test_path("pace"), F_OK) < 0);
}

TEST(kallsyms_without_addresses_are_hidden)
{
	check_refused(
		"0000000000000000 T _stext\n0000000000000000 T _text\n0000000000000000 t x\t[m]\n",
		ERR_PERM, "has no addresses: they were hidden from the user who copied it");
}

TEST(kallsyms_that_are_none_are_not_said_to_be_hidden)
{
	static const char none[] = "is not a list of a kernel's functions: it has no line like";

	check_refused("", ERR_FORMAT, none);
	check_refused("no kallsyms at all\n", ERR_FORMAT, none);
	/* Words that begin with what could be digits, numbers that are no addresses. */
	check_refused("bad x of it\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n0 T zero\n",
		ERR_FORMAT, none);
	check_refused("ffffffff81000000 r only_data\n", ERR_FORMAT, "has no functions");
}

TEST(kallsyms_that_are_missing_say_so)
{
	struct kallsyms k;
	struct err err;

	CHECK_EQ(kallsyms_open(&k, test_path("nothing"), false, build_id, sizeof(build_id), &err),
		ERR_NOENT);
	CHECK_HAS(err.msg, "No such file or directory");
}

/* ---- cache ---- */

static const char *cache_file(void)
{
	return test_path("pace/kallsyms-ffffffff81000000-aabbcc0000000000000000000000000000000000");
}

/* Opens with the cache, from a file that says `text`. */
static void open_cached(struct kallsyms *k, const char *text, bool with_modules)
{
	struct err err;

	use_own_cache();
	if (kallsyms_open(k, write_text("kallsyms", text), with_modules, build_id, sizeof(build_id),
		    &err))
		test_failed(__FILE__, __LINE__, "%s", err.msg);
}

/* A kernel at the same place whose other symbols differ: what comes from the cache is not in here.
 */
static const char same_place[] = "ffffffff81000000 T _text\nffffffff81000040 t changed\n";

TEST(kallsyms_come_from_the_cache_the_second_time)
{
	struct kallsyms k;
	char text[1024];

	snprintf(text, sizeof(text), "%s%s", core, modules);
	open_cached(&k, text, false);
	CHECK(!k.map);
	CHECK_STR(at(&k, 0xffffffffc0000080), "nft_do+0x0 of 0x180");
	kallsyms_close(&k);
	CHECK_EQ(access(cache_file(), F_OK), 0);

	open_cached(&k, same_place, false);
	CHECK(k.map);
	CHECK_EQ(k.text, 0xffffffff81000000);
	CHECK_STR(at(&k, 0xffffffff81000000), "_text+0x0 of 0x40");
	CHECK_STR(at(&k, 0xffffffff81000040), "secondary_startup_64+0x0 of 0xc0");
	/* The kernel's own part only: modules come and go. */
	CHECK_STR(at(&k, 0xffffffffc0000080), "-");
	kallsyms_close(&k);
}

TEST(kallsyms_with_modules_do_not_come_from_the_cache)
{
	struct kallsyms k;

	open_cached(&k, core, false);
	kallsyms_close(&k);
	open_cached(&k, same_place, true);
	CHECK(!k.map);
	CHECK_STR(at(&k, 0xffffffff81000040), "changed+0x0 of 0x1000");
	kallsyms_close(&k);
}

TEST(kallsyms_of_another_place_or_build_are_read_anew)
{
	static const u8 other_id[BUILD_ID_MAX] = {0xaa, 0xbb, 0xcd};
	struct kallsyms k;
	struct err err;

	open_cached(&k, core, false);
	kallsyms_close(&k);
	open_cached(&k, "ffffffff82000000 T _text\nffffffff82000040 t changed\n", false);
	CHECK_STR(at(&k, 0xffffffff82000040), "changed+0x0 of 0x1000");
	kallsyms_close(&k);
	CHECK_EQ(kallsyms_open(&k, write_text("kallsyms", same_place), false, other_id,
			 sizeof(other_id), &err),
		0);
	CHECK_STR(at(&k, 0xffffffff81000040), "changed+0x0 of 0x1000");
	kallsyms_close(&k);
}

TEST(kallsyms_without_a_build_id_are_not_cached)
{
	struct kallsyms k;
	struct err err;

	use_own_cache();
	CHECK_EQ(kallsyms_open(&k, write_text("kallsyms", core), false, NULL, 0, &err), 0);
	kallsyms_close(&k);
	CHECK(access(test_path("pace"), F_OK) < 0);
}

/* Reads the cache's file, lets it be changed, and opens again. */
static void *read_cache(size_t *ret_n)
{
	FILE *f = fopen(cache_file(), "rb");
	struct stat st;
	void *data;

	CHECK(f && !fstat(fileno(f), &st));
	data = malloc(st.st_size);
	CHECK_EQ(fread(data, 1, st.st_size, f), st.st_size);
	fclose(f);
	*ret_n = st.st_size;
	return data;
}

/* The damaged file is not used: what the text says holds. */
static void check_ignored(const void *data, size_t n)
{
	struct kallsyms k;

	test_write(cache_file(), data, n);
	open_cached(&k, same_place, false);
	CHECK(!k.map);
	CHECK_STR(at(&k, 0xffffffff81000040), "changed+0x0 of 0x1000");
	kallsyms_close(&k);
}

TEST(kallsyms_cache_that_is_damaged_is_not_used)
{
	struct kallsyms k;
	u64 *words;
	u8 *data;
	size_t n;

	open_cached(&k, core, false);
	kallsyms_close(&k);
	data = read_cache(&n);
	for (size_t cut = 0; cut < n; cut++)
		check_ignored(data, cut);
	/* magic, text, number of entries, bytes of names */
	words = (u64 *)(void *)data;
	for (size_t word = 0; word < 4; word++) {
		static const u64 values[] = {0, 1, 1ULL << 31, UINT32_MAX, 1ULL << 60, 1ULL << 63,
			UINT64_MAX};
		u64 kept = words[word];

		for (size_t v = 0; v < ARRAY_SIZE(values) && word != 1; v++) {
			words[word] = values[v];
			check_ignored(data, n);
		}
		words[word] = kept;
	}
	/* The last name has no end. */
	data[n - 1] = 'x';
	check_ignored(data, n);
	free(data);
}

TEST(kallsyms_cache_with_wild_entries_is_survived)
{
	struct kallsyms k;
	u64 *words;
	u8 *data;
	size_t n;

	open_cached(&k, core, false);
	kallsyms_close(&k);
	data = read_cache(&n);
	words = (u64 *)(void *)data;
	for (size_t word = 4; word < 4 + 2 * words[2]; word++) {
		static const u64 values[] = {0, 1, 1ULL << 31, 1ULL << 63, UINT64_MAX};
		u64 kept = words[word];

		for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
			words[word] = values[v];
			test_write(cache_file(), data, n);
			open_cached(&k, same_place, false);
			for (u64 address = 0xffffffff80ffff00; address < 0xffffffff81002100;
				address += 0x40)
				at(&k, address);
			at(&k, 0);
			at(&k, UINT64_MAX);
			kallsyms_close(&k);
		}
		words[word] = kept;
	}
	free(data);
}

TEST(kallsyms_cache_of_a_folder_that_others_can_write_is_not_used)
{
	struct kallsyms k;

	open_cached(&k, core, false);
	kallsyms_close(&k);
	CHECK_EQ(chmod(test_path("pace"), 0777), 0);
	open_cached(&k, same_place, false);
	CHECK(!k.map);
	CHECK_STR(at(&k, 0xffffffff81000040), "changed+0x0 of 0x1000");
	kallsyms_close(&k);
}

/* ---- modules, build-id ---- */

TEST(kallsyms_knows_where_a_module_is_loaded)
{
	const char *path = write_text("modules",
		"nf_tables 372736 2 nft_ct,nft_compat, Live 0xffffffffc0801000 (E)\n"
		"nf 16384 0 - Live 0xffffffffc0701000\n"
		"hidden 16384 0 - Live 0x0000000000000000\n"
		"cut 16384 0 - Live\n"
		"last 16384 0 - Live 0xffffffffc0901000");

	CHECK_EQ(kallsyms_module_base(path, "nf_tables", 9, NULL), 0xffffffffc0801000);
	/* The name as far as it goes, and all of it. */
	CHECK_EQ(kallsyms_module_base(path, "nf_tables]", 9, NULL), 0xffffffffc0801000);
	CHECK_EQ(kallsyms_module_base(path, "nf", 2, NULL), 0xffffffffc0701000);
	CHECK_EQ(kallsyms_module_base(path, "nf_", 3, NULL), 0);
	CHECK_EQ(kallsyms_module_base(path, "last", 4, NULL), 0xffffffffc0901000);
	CHECK_EQ(kallsyms_module_base(path, "hidden", 6, NULL), 0);
	CHECK_EQ(kallsyms_module_base(path, "cut", 3, NULL), 0);
	CHECK_EQ(kallsyms_module_base(path, "tables", 6, NULL), 0);
	CHECK_EQ(kallsyms_module_base(path, "", 0, NULL), 0);
	CHECK_EQ(kallsyms_module_base(write_text("modules", ""), "nf", 2, NULL), 0);
	CHECK_EQ(kallsyms_module_base(test_path("missing"), "nf", 2, NULL), 0);
}

TEST(kallsyms_of_this_machine_are_in_order)
{
	struct kallsyms k;
	struct err err;

	if (kallsyms_open(&k, "/proc/kallsyms", true, NULL, 0, &err))
		SKIP("%s", err.msg);
	CHECK(k.n > 1000);
	CHECK(k.text);
	for (u64 i = 1; i < k.n; i++)
		CHECK(k.entries[i - 1].start < k.entries[i].start);
	kallsyms_close(&k);
}
