#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sysfile.h"

#include "nobody.h"
#include "test.h"

/* The read() that each of the first reads of a test meets; n_interruptions are left. */
static int n_interruptions;

/* Stands before the C library's, because no file of /proc or /sys can be made to return EINTR at
 * will. */
ssize_t read(int fd, void *buf, size_t n)
{
	static ssize_t (*next)(int fd, void *buf, size_t n);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "read");
	if (n_interruptions <= 0)
		return next(fd, buf, n);
	n_interruptions--;
	errno = EINTR;
	return -1;
}

static const char *file(const char *text, size_t n)
{
	const char *path = test_path("file");

	test_write(path, text, n);
	return path;
}

TEST(sysfile_read_appends_the_whole_file)
{
	static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 8192, 100000, 1000000};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct str content = {0}, text = {0};
		struct err err = {0};

		for (size_t k = 0; k < sizes[i]; k++)
			str_addc(&content, (char)(k * 7 + k / 256));
		str_add(&text, "before");
		CHECK_EQ(sysfile_read(file(str_text(&content), sizes[i]), 1 << 20, &text, &err), 0);
		CHECK_EQ(text.n, sizes[i] + 6);
		CHECK(!memcmp(text.at, "before", 6));
		CHECK(!sizes[i] || !memcmp(text.at + 6, content.at, sizes[i]));
		CHECK_EQ(text.at[text.n], 0);
		str_fini(&content);
		str_fini(&text);
	}
}

TEST(sysfile_read_of_an_empty_file_is_an_empty_text)
{
	struct str text = {0};
	struct err err;

	CHECK_EQ(sysfile_read(file("", 0), 100, &text, &err), 0);
	CHECK_STR(str_text(&text), "");
	str_fini(&text);
}

TEST(sysfile_read_refuses_more_than_the_limit)
{
	struct str text = {0};
	struct err err = {0};
	char expected[512];

	CHECK_EQ(sysfile_read(file("12345678", 8), 8, &text, &err), 0);
	str_clear(&text);
	CHECK_EQ(sysfile_read(file("123456789", 9), 8, &text, &err), ERR_LIMIT);
	snprintf(expected, sizeof(expected), "reading '%s': it is larger than 8 bytes",
		test_path("file"));
	CHECK_STR(err.msg, expected);
	str_clear(&text);
	/* Without end: it must stop by itself. */
	CHECK_EQ(sysfile_read("/dev/zero", 1 << 20, &text, &err), ERR_LIMIT);
	str_fini(&text);
}

TEST(sysfile_read_says_what_and_why)
{
	struct str text = {0};
	struct err err = {0};

	CHECK_EQ(sysfile_read("/nonexistent/file", 100, &text, &err), ERR_NOENT);
	CHECK_STR(err.msg, "opening '/nonexistent/file': No such file or directory");
	CHECK_EQ(text.n, 0);
	CHECK_EQ(sysfile_read("/", 100, &text, &err), ERR_SYS);
	CHECK_STR(err.msg, "reading '/': Is a directory");
	CHECK_EQ(err.sys, EISDIR);
	str_fini(&text);
}

TEST(sysfile_read_without_permission_is_err_perm)
{
	const char *path = file("secret", 6);
	struct str text = {0};
	struct err err = {0};

	CHECK_EQ(chmod(path, 0), 0);
	nobody_begin();
	CHECK_EQ(sysfile_read(path, 100, &text, &err), ERR_PERM);
	CHECK_HAS(err.msg, "Permission denied");
	CHECK(!sysfile_line(path, (char[8]){""}, 8));
	nobody_end();
	str_fini(&text);
}

TEST(sysfile_read_goes_on_after_signals)
{
	for (int i = 0; i <= 3; i++) {
		struct str text = {0};
		struct err err = {0};

		n_interruptions = i;
		CHECK_EQ(sysfile_read(file("abc", 3), 100, &text, &err), 0);
		CHECK_EQ(n_interruptions, 0);
		CHECK_STR(str_text(&text), "abc");
		str_fini(&text);
	}
}

TEST(sysfile_read_works_on_proc)
{
	struct str text = {0};
	struct err err;

	CHECK_EQ(sysfile_read("/proc/self/status", 1 << 20, &text, &err), 0);
	CHECK_HAS(str_text(&text), "\nPid:\t");
	str_fini(&text);
}

TEST(sysfile_leaves_no_file_open)
{
	struct str text = {0};
	struct err err;
	char buf[8];
	s64 v;
	int next = dup(0);

	close(next);
	sysfile_read(file("123", 3), 100, &text, &err);
	sysfile_read(file("123", 3), 1, &text, &err);
	sysfile_read("/", 100, &text, &err);
	sysfile_read("/nonexistent", 100, &text, &err);
	sysfile_line(file("123", 3), buf, sizeof(buf));
	sysfile_line("/", buf, sizeof(buf));
	sysfile_s64(file("x", 1), &v);
	CHECK_EQ(dup(0), next);
	close(next);
	str_fini(&text);
}

TEST(sysfile_line_is_the_first_one)
{
	static const struct {
		const char *text;
		size_t n;
		bool is_line;
		const char *line;
	} cases[] = {
		{"", 0, false, NULL},
		{"\n", 1, true, ""},
		{"\nabc", 4, true, ""},
		{"abc", 3, true, "abc"},
		{"abc\n", 4, true, "abc"},
		{"abc\ndef\n", 8, true, "abc"},
		{"ab\0c\n", 5, true, "ab"},
		{"1234567", 7, true, "1234567"},
		{"12345678", 8, true, "1234567"},
		{"12345678\n9", 10, true, "1234567"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char buf[8];

		CHECK_EQ(sysfile_line(file(cases[i].text, cases[i].n), buf, sizeof(buf)),
			cases[i].is_line);
		if (cases[i].is_line)
			CHECK_STR(buf, cases[i].line);
	}
}

TEST(sysfile_line_of_what_cannot_be_read_is_none)
{
	char buf[8];

	CHECK(!sysfile_line("/nonexistent/file", buf, sizeof(buf)));
	CHECK(!sysfile_line("/", buf, sizeof(buf)));
}

TEST(sysfile_does_not_wait_for_a_pipe)
{
	const char *path = test_path("pipe");
	struct str text = {0};
	struct err err;
	char buf[8];

	CHECK_EQ(mkfifo(path, 0600), 0);
	CHECK(!sysfile_line(path, buf, sizeof(buf)));
	CHECK_EQ(sysfile_read(path, 100, &text, &err), 0);
	CHECK_EQ(text.n, 0);
	str_fini(&text);
}

TEST(sysfile_s64_reads_the_number_a_file_starts_with)
{
	static const struct {
		const char *text;
		bool is_number;
		s64 v;
	} cases[] = {
		{"0\n", true, 0},
		{"42", true, 42},
		{"-1\n", true, -1},
		{"12 34\n", true, 12},
		{"7abc", true, 7},
		{"9223372036854775807\n", true, INT64_MAX},
		{"-9223372036854775808\n", true, INT64_MIN},
		{"9223372036854775808\n", false, 0},
		{"", false, 0},
		{"\n", false, 0},
		{"abc", false, 0},
		{"\n42", false, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		s64 v = 77;

		CHECK_EQ(sysfile_s64(file(cases[i].text, strlen(cases[i].text)), &v),
			cases[i].is_number);
		CHECK_EQ(v, cases[i].is_number ? cases[i].v : 77);
	}
	CHECK(!sysfile_s64("/nonexistent/file", &(s64){0}));
}

TEST(sysfile_entries_are_in_order_and_not_hidden)
{
	struct intern names = {0};

	test_write(test_path("b"), "", 0);
	test_write(test_path("a"), "", 0);
	test_write(test_path(".hidden"), "", 0);
	CHECK(sysfile_entries(test_dir(), &names));
	CHECK_EQ(names.strings.n, 2);
	CHECK_STR(names.strings.at[0], "a");
	CHECK_STR(names.strings.at[1], "b");
	intern_fini(&names);
	CHECK(!sysfile_entries(test_path("none"), &names));
	CHECK_EQ(names.strings.n, 0);
}

TEST(sysfile_start_takes_lines_up_to_the_buffer)
{
	char buf[8] = "";

	test_write(test_path("file"), "one\ntwo\nthree\n", 14);
	CHECK(sysfile_start(test_path("file"), buf, sizeof(buf)));
	CHECK_STR(buf, "one\ntwo");
	CHECK(!sysfile_start(test_path("none"), buf, sizeof(buf)));
}
