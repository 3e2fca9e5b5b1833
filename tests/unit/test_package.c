#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "symbol/elf/lz4.h"
#include "symbol/find/package.h"
#include "unit/tree.h"

static const u8 id[] = {0xab, 0x12, 0x34};

static const char *advice(struct packages *p, const char *path, struct str *out)
{
	str_clear(out);
	return packages_advise(p, path, id, sizeof(id), out) ? str_text(out) : "";
}

TEST(package_of_a_file_is_what_dpkg_says_and_its_symbols_what_apt_has)
{
	struct packages p;
	struct str out = {0};

	unsetenv("DEBUGINFOD_URLS");
	tree_file(test_dir(), "/.\n/lib\n/lib/x/libc.so.6\n", "var/lib/dpkg/info/libc6:amd64.list");
	tree_file(test_dir(), "/.\n/usr/lib/x/libfoo.so.1\n", "var/lib/dpkg/info/libfoo1.list");
	tree_file(test_dir(), "/usr/bin/foo\n", "var/lib/dpkg/info/foo.list");
	tree_file(test_dir(),
		"Package: libc6\nVersion: 1\n\nPackage: libc6-dbg\nVersion: 1\n\n"
		"Package: foo-more-dbgsym\nVersion: 2\nBuild-Ids: 00 ab123456\n\n",
		"var/lib/apt/lists/a_main_Packages");
	packages_init(&p, test_dir());
	/* Of a machine whose /lib has become /usr/lib. */
	CHECK_STR(advice(&p, "/usr/lib/x/libc.so.6", &out), "install the package 'libc6-dbg'");
	CHECK_STR(advice(&p, "/usr/lib/x/libfoo.so.1", &out),
		"it belongs to the package 'libfoo1', whose debug symbols (-dbgsym) are in none of apt's sources: add an archive that has them, or set DEBUGINFOD_URLS");
	CHECK_STR(advice(&p, "/usr/bin/fo", &out), "");
	CHECK_STR(advice(&p, "/opt/own", &out), "");
	setenv("DEBUGINFOD_URLS", "https://some.where", 1);
	CHECK_HAS(advice(&p, "/usr/bin/foo", &out), "let report ask https://some.where");
	packages_fini(&p);
	/* A build-id says more than a name; here it has been 'foo' that was split up. */
	tree_file(test_dir(), "Package: foo-parts-dbgsym\nBuild-Ids: 77 ab1234\n",
		"var/lib/apt/lists/b_main_Packages");
	packages_init(&p, test_dir());
	CHECK_STR(advice(&p, "/usr/bin/foo", &out), "install the package 'foo-parts-dbgsym'");
	packages_fini(&p);
	str_fini(&out);
}

/* A list so long that what matters of it is kept. */
static void write_long_list(const char *package)
{
	struct str text = {0};

	while (text.n < 1 << 19)
		str_add(&text, "Package: filler\nDescription: nothing that matters\n\n");
	str_addf(&text, "Package: %s\nBuild-Ids: ab1234\n", package);
	tree_file(test_dir(), str_text(&text), "var/lib/apt/lists/c_main_Packages");
	str_fini(&text);
}

static void set_time(const char *path, time_t seconds)
{
	const struct timespec times[] = {{.tv_sec = seconds}, {.tv_sec = seconds}};

	CHECK_EQ(utimensat(AT_FDCWD, path, times, 0), 0);
}

TEST(package_lists_that_are_long_are_read_once)
{
	const char *list = test_path("var/lib/apt/lists/c_main_Packages");
	struct packages p;
	struct str out = {0};

	setenv("XDG_CACHE_HOME", test_dir(), 1);
	tree_file(test_dir(), "/usr/bin/foo\n", "var/lib/dpkg/info/foo.list");
	write_long_list("first-dbgsym");
	set_time(list, 1000);
	packages_init(&p, test_dir());
	CHECK_STR(advice(&p, "/usr/bin/foo", &out), "install the package 'first-dbgsym'");
	packages_fini(&p);
	/* As long, in the same file, of the same moment: what was kept of it is believed. */
	write_long_list("other-dbgsym");
	set_time(list, 1000);
	set_time(test_path("var/lib/apt/lists"), 1);
	packages_init(&p, test_dir());
	CHECK_STR(advice(&p, "/usr/bin/foo", &out), "install the package 'first-dbgsym'");
	packages_fini(&p);
	/* So is the answer, until something changes in the folder. */
	set_time(list, 2000);
	packages_init(&p, test_dir());
	CHECK_STR(advice(&p, "/usr/bin/foo", &out), "install the package 'first-dbgsym'");
	packages_fini(&p);
	set_time(test_path("var/lib/apt/lists"), 2);
	packages_init(&p, test_dir());
	CHECK_STR(advice(&p, "/usr/bin/foo", &out), "install the package 'other-dbgsym'");
	packages_fini(&p);
	str_fini(&out);
}

TEST(package_of_a_file_is_not_known_without_data)
{
	struct packages p;
	struct str out = {0};

	packages_init(&p, test_dir());
	CHECK_STR(advice(&p, "/usr/bin/foo", &out), "");
	/* Nor without a build-id. */
	str_clear(&out);
	CHECK(!packages_advise(&p, "/usr/bin/foo", NULL, 0, &out));
	/* rpm's link to what it has installed. */
	tree_file(test_dir(), "", "usr/lib/.build-id/ab/1234");
	CHECK_STR(advice(&p, "/usr/bin/foo", &out),
		"install them by 'dnf --enablerepo=*debug* install /usr/lib/debug/.build-id/ab/1234.debug'");
	packages_fini(&p);
	str_fini(&out);
}

/* "Package: a-dbg\n", then "ckage: a-dbg\n" again out of what is there, and the rest. */
static const u8 frame[] = {0x04, 0x22, 0x4d, 0x18, 0x40, 0x40, 0xc0, 23, 0, 0, 0, 0xf9, 0x00, 'P',
	'a', 'c', 'k', 'a', 'g', 'e', ':', ' ', 'a', '-', 'd', 'b', 'g', '\n', 13, 0, 0x30, 'P',
	'\n', '\n', 0, 0, 0, 0};

TEST(lz4_repeats_what_was_there)
{
	struct str out = {0};
	struct err err;

	CHECK_EQ(lz4_unpack(bytes_of(frame, sizeof(frame)), 31, &out, &err), 0);
	CHECK_STR(str_text(&out), "Package: a-dbg\nckage: a-dbg\nP\n\n");
	str_clear(&out);
	CHECK_EQ(lz4_unpack(bytes_of(frame, sizeof(frame)), 30, &out, &err), ERR_LIMIT);
	CHECK(out.n <= 30);
	for (size_t n = 1; n < sizeof(frame); n++) {
		str_clear(&out);
		CHECK_EQ(lz4_unpack(bytes_of(frame, n), 100, &out, &err), ERR_FORMAT);
	}
	/* A match that begins before everything; bytes that nobody wrote. */
	for (size_t i = 7; i < sizeof(frame); i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			u8 bent[sizeof(frame)];

			memcpy(bent, frame, sizeof(frame));
			bent[i] ^= (u8)(1u << bit);
			str_clear(&out);
			lz4_unpack(bytes_of(bent, sizeof(bent)), 100, &out, &err);
			CHECK(out.n <= 100);
		}
	str_fini(&out);
}

TEST(package_lists_may_be_packed)
{
	struct packages p;
	struct str out = {0};
	FILE *file;

	tree_file(test_dir(), "/usr/bin/a\n", "var/lib/dpkg/info/a.list");
	tree_file(test_dir(), "", "var/lib/apt/lists/x_Packages.lz4");
	file = fopen(test_path("var/lib/apt/lists/x_Packages.lz4"), "w");
	CHECK(file && fwrite(frame, 1, sizeof(frame), file) == sizeof(frame) && !fclose(file));
	packages_init(&p, test_dir());
	CHECK_STR(advice(&p, "/usr/bin/a", &out), "install the package 'a-dbg'");
	packages_fini(&p);
	str_fini(&out);
}
