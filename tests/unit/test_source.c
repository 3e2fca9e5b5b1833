#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "symbol/code/source.h"
#include "unit/tree.h"

static const char *line(struct source *s, u32 n)
{
	static char text[4][64];
	static unsigned next;
	char *buf = text[next++ % ARRAY_SIZE(text)];
	size_t size;
	const char *found = source_line(s, n, &size);

	snprintf(buf, sizeof(text[0]), "%.*s", found ? (int)size : 4, found ? found : "none");
	return buf;
}

static struct source open_at(const struct source_places *places, const char *dir, const char *file,
	u64 built_ns)
{
	struct source s;

	source_open(&s, places, dir, file, built_ns);
	return s;
}

static const struct source_places nowhere = {.symfs = ""};

TEST(source_has_the_lines_of_a_file)
{
	struct source s;

	tree_file(test_dir(), "one\n\nthree\nlast without end", "src/a.c");
	s = open_at(&nowhere, test_path("src"), "a.c", 0);
	CHECK_EQ(s.state, SOURCE_FOUND);
	CHECK_STR(line(&s, 1), "one");
	CHECK_STR(line(&s, 2), "");
	CHECK_STR(line(&s, 3), "three");
	CHECK_STR(line(&s, 4), "last without end");
	CHECK_STR(line(&s, 5), "none");
	CHECK_STR(line(&s, 0), "none");
	source_close(&s);
	tree_file(test_dir(), "", "src/empty.c");
	s = open_at(&nowhere, NULL, test_path("src/empty.c"), 0);
	CHECK_EQ(s.state, SOURCE_FOUND);
	CHECK_STR(line(&s, 1), "none");
	source_close(&s);
}

TEST(source_that_changed_after_the_build_says_so)
{
	struct source s;
	u64 changed;

	tree_file(test_dir(), "int x;\n", "a.c");
	changed = source_time(test_path("a.c"), NULL);
	s = open_at(&nowhere, NULL, test_path("a.c"), changed - 1);
	CHECK_EQ(s.state, SOURCE_NEWER);
	CHECK_STR(line(&s, 1), "int x;");
	source_close(&s);
	s = open_at(&nowhere, NULL, test_path("a.c"), changed);
	CHECK_EQ(s.state, SOURCE_FOUND);
	source_close(&s);
}

TEST(source_is_looked_for_below_symfs_and_prefix)
{
	struct source_places symfs = {.symfs = test_dir()};
	struct source_places prefix = {.symfs = "", .prefix = test_dir(), .n_stripped = 2};
	struct source s;

	tree_file(test_dir(), "there\n", "build/x/a.c");
	s = open_at(&symfs, "/build", "x/a.c", 0);
	CHECK_EQ(s.state, SOURCE_FOUND);
	CHECK_STR(s.path.at, test_path("build/x/a.c"));
	source_close(&s);
	s = open_at(&prefix, "/home/me/build", "x/a.c", 0);
	CHECK_EQ(s.state, SOURCE_FOUND);
	source_close(&s);
	s = open_at(&nowhere, "/build", "x/a.c", 0);
	CHECK_EQ(s.state, SOURCE_MISSING);
	CHECK_STR(str_text(&s.why), "No such file or directory");
	CHECK_STR(line(&s, 1), "none");
	source_close(&s);
}

TEST(source_is_nothing_but_a_plain_file)
{
	struct source s;

	CHECK_EQ(mkfifo(test_path("fifo"), 0600), 0);
	s = open_at(&nowhere, NULL, test_path("fifo"), 0);
	CHECK_EQ(s.state, SOURCE_MISSING);
	CHECK_STR(str_text(&s.why), "it is not a regular file");
	source_close(&s);
	s = open_at(&nowhere, NULL, test_dir(), 0);
	CHECK_EQ(s.state, SOURCE_MISSING);
	source_close(&s);
}
