#include "cmd/report/report_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/out.h"
#include "cmd/cmd.h"
#include "file/layout.h"

enum { FILES_MOST = 500 };

/* ---- the files ---- */

void report_files_forget(struct browse *b)
{
	vec_each(file, &b->files)
		free(*file);
	b->files.n = 0;
}

/* Whether it is a recording, in either order of bytes; *ret has its size and age. */
static bool is_recording(const char *path, struct stat *ret)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	u64 magic = 0;
	bool is_it;

	if (fd < 0)
		return false;
	is_it = !fstat(fd, ret) && S_ISREG(ret->st_mode) &&
		read(fd, &magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
		(magic == LAYOUT_MAGIC_2 || magic == __builtin_bswap64(LAYOUT_MAGIC_2));
	close(fd);
	return is_it;
}

struct found {
	struct timespec time;
	u64 bytes;
	char *path;
};

static int by_age(const void *x, const void *y)
{
	const struct found *a = x, *b = y;

	if (a->time.tv_sec != b->time.tv_sec)
		return a->time.tv_sec > b->time.tv_sec ? -1 : 1;
	return strcmp(a->path, b->path);
}

/* Puts a menu with the recordings beside the one that is shown, the newest first. False: there are none. */
static bool list(struct browse *b, struct browser *screen)
{
	const char *input = report_levels_top(&b->levels)->options.input,
		   *slash = strrchr(input, '/');
	const size_t n = slash ? (size_t)(slash - input) + 1 : 0;
	struct str path = {0}, title = {0};
	VEC(struct found) found = {0};
	struct dirent *entry;
	DIR *folder;

	str_addn(&path, input, n);
	folder = opendir(n ? str_text(&path) : ".");
	while (folder && found.n < FILES_MOST && (entry = readdir(folder)) != NULL) {
		struct stat st;

		str_cut(&path, n);
		str_add(&path, entry->d_name);
		if (strcmp(str_text(&path), input) && is_recording(str_text(&path), &st))
			vec_add(&found,
				((struct found){st.st_mtim, (u64)st.st_size,
					strdup(str_text(&path))}));
	}
	if (folder)
		closedir(folder);
	if (found.n)
		qsort(found.at, found.n, sizeof(*found.at), by_age);
	report_files_forget(b);
	browser_menu_clear(screen);
	vec_each(f, &found) {
		str_cut(&title, 0);
		str_addf(&title, "%s  (%.1f MB)", f->path + n, (double)f->bytes / 1e6);
		browser_menu_add(screen, str_text(&title), b->files.n);
		vec_add(&b->files, f->path);
	}
	vec_fini(&found);
	str_fini(&path);
	str_fini(&title);
	if (!b->files.n)
		browser_say(screen, "there is no other recording in this folder");
	return b->files.n;
}

/* ---- another recording ---- */

/* It is shown whole: zooms and times were about the first one. */
static void open_file(struct browser *screen, size_t file)
{
	struct browse *b = screen->source->of;
	struct report_level *level = report_level_like(&b->levels, 's');

	vec_each(zoom, &level->zooms)
		zoom_fini(zoom);
	level->zooms.n = 0;
	level->options.time = NULL;
	str_add(&level->input, b->files.at[file]);
	level->options.input = str_text(&level->input);
	report_browse_read(b, screen, level);
}

bool report_files_offer_other(void *of, const struct browser_spot *at, struct str *title)
{
	(void)of;
	(void)at;
	str_add(title, "Show another recording of this folder");
	return true;
}

void report_files_open(void *of, struct browser *screen, const struct browser_spot *at)
{
	(void)at;
	if (list(of, screen))
		browser_menu_show(screen, "Show this recording", open_file);
}

/* ---- comparing ---- */

static struct str captured;

static int capture(const char *text, size_t n)
{
	str_addn(&captured, text, n);
	return 0;
}

/* What a command says meanwhile would stand on the screen: it becomes a part of the text. */
static int without_errors(const struct cmd *cmd, int argc, char **argv)
{
	const int said = memfd_create("said", MFD_CLOEXEC),
		  before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	char bytes[4096];
	ssize_t n;
	int status;

	if (said >= 0 && before >= 0)
		dup2(said, STDERR_FILENO);
	status = cmd->run(argc, argv);
	if (before >= 0)
		dup2(before, STDERR_FILENO);
	if (said >= 0)
		lseek(said, 0, SEEK_SET);
	while (said >= 0 && (n = read(said, bytes, sizeof(bytes))) > 0)
		str_addn(&captured, bytes, (size_t)n);
	if (said >= 0)
		close(said);
	if (before >= 0)
		close(before);
	return status;
}

/* A file in the current folder whose name looks like an option. */
static char *as_word(const char *path)
{
	struct str text = {0};

	str_addf(&text, "%s%s", *path == '-' ? "./" : "", path);
	return text.at;
}

/* Pages have no colours of their own. */
static void run_diff(const char *old, const char *new)
{
	char *old_word = as_word(old), *new_word = as_word(new);
	/* The parser of options moves words about. */
	char *words[] = {"diff", old_word, "--", new_word, NULL};
	const char *colour = getenv("NO_COLOR");
	char *before = colour ? strdup(colour) : NULL;

	str_cut(&captured, 0);
	str_addf(&captured, "A: %s\nB: %s\n\n", old, new);
	setenv("NO_COLOR", "1", 1);
	out_route(capture);
	without_errors(&cmd_diff, ARRAY_SIZE(words) - 1, words);
	out_route(NULL);
	if (before)
		setenv("NO_COLOR", before, 1);
	else
		unsetenv("NO_COLOR");
	free(before);
	mem_free(old_word);
	mem_free(new_word);
}

/* The one that is shown is the newer side. */
static void compare(struct browser *screen, size_t file)
{
	struct browse *b = screen->source->of;

	browser_wait(screen, "comparing ...");
	run_diff(b->files.at[file], report_levels_top(&b->levels)->options.input);
	browser_say(screen, "");
	browser_show_page(screen, "What changed", str_text(&captured));
	str_fini(&captured);
}

bool report_files_offer_diff(void *of, const struct browser_spot *at, struct str *title)
{
	(void)of;
	(void)at;
	str_add(title, "Compare this recording with another one of this folder");
	return true;
}

void report_files_compare(void *of, struct browser *screen, const struct browser_spot *at)
{
	(void)at;
	if (list(of, screen))
		browser_menu_show(screen, "What changed since this recording", compare);
}
