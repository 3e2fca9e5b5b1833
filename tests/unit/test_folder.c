#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/log.h"
#include "base/mem.h"

struct seen {
	unsigned n, stop_at;
	bool exhausts;
};

static bool see(void *ctx, const struct dirent *entry)
{
	struct seen *seen = ctx;

	CHECK(entry->d_name[0] == 'f');
	if (seen->exhausts)
		mem_exhausted(77);
	return ++seen->n != seen->stop_at;
}

static const char *make_folder(void)
{
	static char path[64];
	char name[128];

	strcpy(path, "/tmp/pace-folder-XXXXXX");
	CHECK(mkdtemp(path));
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "%s/f%d", path, i);
		CHECK_EQ(mkdir(name, 0700), 0);
	}
	return path;
}

static void remove_folder(const char *path)
{
	char name[128];

	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "%s/f%d", path, i);
		rmdir(name);
	}
	CHECK_EQ(rmdir(path), 0);
}

TEST(folder_shows_each_entry_until_it_is_enough)
{
	const char *path = make_folder();
	struct seen all = {0}, some = {.stop_at = 2};

	CHECK_EQ(folder_each(path, see, &all), 0);
	CHECK_EQ(all.n, 5);
	CHECK_EQ(folder_each(path, see, &some), 0);
	CHECK_EQ(some.n, 2);
	remove_folder(path);
	CHECK_EQ(folder_each(path, see, &all), ENOENT);
}

static void look(void *path)
{
	struct seen seen = {.exhausts = true};

	folder_each(path, see, &seen);
}

TEST(folder_is_closed_when_there_is_no_memory)
{
	const char *path = make_folder();
	int before = open("/dev/null", O_RDONLY), after;
	size_t size = 0;

	close(before);
	CHECK(!mem_try(look, (void *)path, &size));
	CHECK_EQ(size, 77);
	after = open("/dev/null", O_RDONLY);
	CHECK_EQ(after, before);
	close(after);
	remove_folder(path);
}

static void exhaust(void *ctx, enum log_level level, const char *sentence)
{
	(void)level;
	(void)sentence;
	if (!(*(unsigned *)ctx)++)
		mem_exhausted(78);
}

static void say(void *log)
{
	log_note(log, "a sentence");
}

/* Others who say something would wait for ever. */
TEST(log_goes_on_behind_a_sentence_that_there_was_no_memory_for)
{
	unsigned n = 0;
	struct log log = {.level = LOG_NOTE, .write = exhaust, .ctx = &n};
	size_t size = 0;

	CHECK(!mem_try(say, &log, &size));
	CHECK_EQ(size, 78);
	log_note(&log, "another");
	CHECK_EQ(n, 2);
	log_fini(&log);
}
