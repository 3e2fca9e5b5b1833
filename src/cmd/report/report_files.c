#include "cmd/report/report_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/diff/difftables.h"
#include "file/layout.h"
#include "view/screen/working.h"

enum { FILES_MOST = 500 };

/* Texts of reports and comparisons begin their lines with "# ". */
void report_files_strip(struct str *text)
{
	size_t to = 0;
	bool is_start = true;

	for (size_t at = 0; at < text->n; at++) {
		if (is_start && text->at[at] == '#') {
			at += at + 1 < text->n && text->at[at + 1] == ' ';
			is_start = false;
			continue;
		}
		is_start = text->at[at] == '\n';
		text->at[to++] = text->at[at];
	}
	str_cut(text, to);
}

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
	level->options.input_name = level->options.at = NULL;
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

struct sides {
	struct diff_tables *tables;
	const struct symbol_options *symbols;
	struct log log;
	struct err err;
	struct browser_source source;
	struct browser_page page;
	const char *old, *new;
	struct str title, words, said;
};

static void note(void *ctx, enum log_level level, const char *sentence)
{
	(void)level;
	str_addf(ctx, "%s\n", sentence);
}

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The table of an event, with what diff says above it as a page. */
static const struct rowset *open_sides(void *of, size_t table)
{
	struct sides *s = of;

	str_cut(&s->title, 0);
	str_addf(&s->title, "%s  %s -> %s", diff_tables_event(s->tables, table), file_of(s->old),
		file_of(s->new));
	s->source.title = str_text(&s->title);
	str_cut(&s->words, 0);
	str_add(&s->words, diff_tables_words(s->tables, table));
	report_files_strip(&s->words);
	str_add(&s->words, s->said.n ? "\n" : "");
	str_add(&s->words, str_text(&s->said));
	s->page =
		(struct browser_page){BROWSER_KEY_HEADER, "What was compared", str_text(&s->words)};
	return diff_tables_rows(s->tables, table);
}

static void show_sides(struct sides *s, struct browser *screen)
{
	static const struct drawing_options no_calls;

	s->source = (struct browser_source){.title = "",
		.n = diff_tables_n(s->tables),
		.open = open_sides,
		.of = s,
		.drawing = &no_calls,
		.pages = &s->page,
		.n_pages = 1,
		.is_inner = true};
	browser_say(screen, "");
	if (!s->source.n)
		browser_say(screen, "the recordings have no event in common");
	else if (screen->screen)
		browser_run(&s->source, screen->screen);
}

static void read_sides(void *of)
{
	struct sides *s = of;

	s->tables = diff_tables_new(s->old, s->new, s->symbols, &s->log, &s->err);
}

/* The one that is shown is the newer side. */
static void compare(struct browser *screen, size_t file)
{
	struct browse *b = screen->source->of;
	const struct report_options *o = &report_levels_top(&b->levels)->options;
	struct sides s = {.old = b->files.at[file],
		.new = o->input,
		.symbols = &o->symbols,
		.log = {.level = LOG_NOTE, .write = note, .ctx = &s.said}};

	if (working_run(screen, "comparing", read_sides, &s)) {
		if (s.tables)
			show_sides(&s, screen);
		else
			browser_say(screen, s.err.msg);
	}
	if (s.tables)
		diff_tables_free(s.tables);
	log_fini(&s.log);
	str_fini(&s.title);
	str_fini(&s.words);
	str_fini(&s.said);
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
