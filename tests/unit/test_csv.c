#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sysfile.h"
#include "view/text/csv.h"

/* Opens a table in the test's directory. */
static void open_table(struct csv *c, const char *name)
{
	struct err err;
	int fd = open(test_dir(), O_RDONLY | O_DIRECTORY);

	CHECK(fd >= 0);
	CHECK_EQ(csv_open(c, fd, test_dir(), name, &err), 0);
	close(fd);
}

static void check_file(const char *name, const char *expected)
{
	struct str text = {0};
	struct err err;

	CHECK_EQ(sysfile_read(test_path(name), 1 << 20, &text, &err), 0);
	CHECK_STR(str_text(&text), expected);
	str_fini(&text);
}

TEST(csv_quotes_only_what_must_be_quoted)
{
	struct csv c;
	struct err err;

	open_table(&c, "t.csv");
	csv_word(&c, "plain text");
	csv_word(&c, "a,b");
	csv_word(&c, "say \"hi\"");
	csv_word(&c, "");
	csv_none(&c);
	csv_u64(&c, UINT64_MAX);
	csv_end_row(&c);
	csv_word(&c, "\"");
	csv_word(&c, ",");
	csv_end_row(&c);
	CHECK_EQ(csv_close(&c, &err), 0);
	check_file("t.csv",
		"plain text,\"a,b\",\"say \"\"hi\"\"\",,,18446744073709551615\n\"\"\"\",\",\"\n");
}

TEST(csv_cells_hold_no_control_characters)
{
	struct csv c;
	struct err err;

	open_table(&c, "t.csv");
	csv_word(&c, "two\r\nlines");
	csv_text(&c, "nul\0,\x1b[31m", 10);
	csv_word(&c, "gr\xc3\xbc\xc3\x9f");
	csv_word(&c, "\xff");
	csv_end_row(&c);
	CHECK_EQ(csv_close(&c, &err), 0);
	check_file("t.csv", "two\\x0d\\x0alines,\"nul\\x00,\\x1b[31m\",gr\xc3\xbc\xc3\x9f,\\xff\n");
}

TEST(csv_replaces_a_file_and_leaves_what_a_link_points_to)
{
	struct csv c;
	struct stat st;
	struct err err;

	test_write(test_path("victim"), "precious", 8);
	CHECK_EQ(symlink(test_path("victim"), test_path("t.csv")), 0);
	open_table(&c, "t.csv");
	csv_u64(&c, 1);
	csv_end_row(&c);
	CHECK_EQ(csv_close(&c, &err), 0);
	check_file("victim", "precious");
	check_file("t.csv", "1\n");
	CHECK_EQ(lstat(test_path("t.csv"), &st), 0);
	CHECK(S_ISREG(st.st_mode));
	CHECK_EQ(st.st_mode & 0777, 0600);
	open_table(&c, "t.csv");
	CHECK_EQ(csv_close(&c, &err), 0);
	check_file("t.csv", "");
}

TEST(csv_names_the_file_that_could_not_be_made_or_written)
{
	struct csv c, none = {0};
	struct err err;
	int fd = open(test_dir(), O_RDONLY | O_DIRECTORY);

	CHECK_EQ(mkdir(test_path("t.csv"), 0700), 0);
	CHECK(csv_open(&c, fd, "dir", "t.csv", &err) < 0);
	CHECK_HAS(err.msg, "replacing 'dir/t.csv': ");
	close(fd);
	open_table(&c, "full.csv");
	dup2(open("/dev/full", O_WRONLY), c.out.fd);
	csv_u64(&c, 1);
	CHECK(csv_close(&c, &err) < 0);
	CHECK_HAS(err.msg, "full.csv': No space left on device");
	CHECK_EQ(csv_close(&c, &err), 0);
	CHECK_EQ(csv_close(&none, &err), 0);
}
