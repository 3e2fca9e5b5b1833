#include "event/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/fs.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "event/catalog.h"
#include "event/eventfile.h"

enum { PATH_SIZE = 4096 };

extern char **environ;

/* It says that pace made the folder, and from what. */
static const char marker[] = "FROM";

/* What is being made, beside the folder that it will replace. */
struct making {
	const struct tables_options *options;
	struct str place;    /* .../pace/events */
	struct str folder;   /* .../pace/events.new-123456 */
	struct str unpacked; /* an archive's files, in a folder of their own; "" if there is none */
	struct intern written;
	struct tables_result result;
};

/* ---- folders ---- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path) && errno != ENOENT ? -1 : 0;
}

/* Removes a folder and all that is in it, and follows no links. */
static int remove_tree(const char *path)
{
	return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Makes the folders above a file. */
static int make_folders(char *path, struct err *err)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int r;

		*slash = '\0';
		r = mkdir(path, 0755) && errno != EEXIST ? errno : 0;
		if (r)
			err_sys(err, r, "making the folder '%s'", path);
		*slash = '/';
		if (r)
			return err->code;
	}
	return 0;
}

static bool is_ours(const char *folder)
{
	char path[PATH_SIZE];

	return (size_t)snprintf(path, sizeof(path), "%s/%s", folder, marker) < sizeof(path) &&
		!access(path, F_OK);
}

/* Where tables are installed, unless something else is there. */
static int find_place(char *ret, struct err *err)
{
	struct stat st;

	if (!catalog_own_folder(ret, PATH_SIZE))
		return err_set(err, ERR_NOENT,
			"where would tables be installed? Neither XDG_DATA_HOME nor HOME names a folder");
	if (!lstat(ret, &st) && !is_ours(ret))
		return err_set(err, ERR_INVAL,
			"'%s' exists and was not installed by pace: move it elsewhere first", ret);
	return 0;
}

/* ---- archives ---- */

/* Unpacks the tables of a kernel's archive into m->unpacked, where they begin with tools/. */
static int unpack(struct making *m, struct err *err)
{
	const char *words[] = {"tar", "-x", "-f", m->options->path, "-C", str_text(&m->unpacked),
		"--strip-components=1", "--no-same-owner", "--wildcards",
		"*/tools/perf/pmu-events/arch/*", NULL};
	posix_spawn_file_actions_t files;
	int r, status = 0;
	pid_t pid;

	if (mkdir(str_text(&m->unpacked), 0700))
		return err_sys(err, errno, "making the folder '%s'", str_text(&m->unpacked));
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	r = posix_spawnp(&pid, words[0], &files, NULL, (char *const *)(uintptr_t)words, environ);
	posix_spawn_file_actions_destroy(&files);
	if (r)
		return err_set(err, ERR_UNSUPPORTED, "cannot run tar(1), which unpacks '%s': %s",
			m->options->path, strerror(r));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		return err_set(err, ERR_NOENT,
			"tar(1) finds no tools/perf/pmu-events/arch in '%s': it is no archive of a kernel's "
			"sources, or is damaged",
			m->options->path);
	return 0;
}

/* ---- files ---- */

static int write_file(char *path, const struct str *text, int flags, struct err *err)
{
	int fd, r;

	if (make_folders(path, err))
		return err->code;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
	if (fd < 0)
		return err_sys(err, errno, "writing '%s'", path);
	r = fd_write(fd, str_text(text), text->n);
	if (close(fd) && !r)
		r = errno;
	return r ? err_sys(err, r, "writing '%s'", path) : 0;
}

/* arch/NAME/FILE below the new folder, once each. 0: it is there already, or its name is too long. */
static int new_path(struct making *m, const struct catalog_source *s, const char *file, char *ret)
{
	const char *slash = strrchr(s->folder, '/'), *arch = slash ? slash + 1 : s->folder;
	size_t n;

	if (strstr(file, "..") || !*arch || !strcmp(arch, ".") || !strcmp(arch, ".."))
		arch = "tables";
	if (strstr(file, "..") ||
		(size_t)snprintf(ret, PATH_SIZE, "%s/arch/%s/%s", str_text(&m->folder), arch,
			file) >= PATH_SIZE)
		return 0;
	n = m->written.strings.n;
	intern_str(&m->written, ret);
	return m->written.strings.n > n;
}

static int copy_file(struct making *m, const struct catalog_source *s, struct log *log,
	struct err *err)
{
	char from[2 * PATH_SIZE], to[PATH_SIZE];
	struct str text = {0};
	struct err why;
	int r;

	if (!new_path(m, s, s->file, to))
		return 0;
	snprintf(from, sizeof(from), "%s/%s", s->folder, s->file);
	if (eventfile_compact(from, &text, &why)) {
		log_warn(log, "%s: not installed", why.msg);
		str_fini(&text);
		return 0;
	}
	r = write_file(to, &text, O_TRUNC, err);
	m->result.n_files++;
	m->result.n_bytes += text.n;
	str_fini(&text);
	return r;
}

static int copy_row(struct making *m, const struct catalog_source *s, struct err *err)
{
	struct str text = {0};
	char to[PATH_SIZE];
	size_t n;
	int r;

	new_path(m, s, "mapfile.csv", to);
	n = m->written.strings.n;
	/* The same row may have been read for each kind of core. */
	str_addf(&text, "%s\n%s", s->folder, s->row);
	intern_str(&m->written, str_text(&text));
	if (m->written.strings.n == n) {
		str_fini(&text);
		return 0;
	}
	str_clear(&text);
	str_addf(&text, "%s\n", s->row);
	r = write_file(to, &text, O_APPEND, err);
	str_fini(&text);
	return r;
}

static int copy_sources(struct making *m, const struct catalog_sources *sources, struct log *log,
	struct err *err)
{
	vec_each(s, &sources->list)
		if (s->file ? copy_file(m, s, log, err) : copy_row(m, s, err))
			return err->code;
	return 0;
}

/* ---- all of it ---- */

/* Counts what was read for this CPU, and notes all that belongs to it, or to all CPUs. */
static int find_sources(struct making *m, struct catalog_sources *sources, struct log *log,
	struct err *err)
{
	const struct catalog_places places = {
		.folder = m->unpacked.n ? str_text(&m->unpacked) : m->options->path,
		.sysfs = m->options->sysfs,
		.has_metrics = true,
		.sources = sources,
	};
	struct catalog catalog;

	if (catalog_open(&catalog, &places, log, err))
		return err->code;
	snprintf(m->result.cpuid, sizeof(m->result.cpuid), "%s", catalog.cpuid);
	m->result.n_events = catalog.events.n + catalog.n_absent;
	m->result.n_absent = catalog.n_absent;
	m->result.n_metrics = catalog.metrics.n;
	catalog_close(&catalog);
	if (!sources->list.n)
		return err_set(err, ERR_NOENT,
			"'%s' has no map (mapfile.csv) that names this CPU ('%s'), so nothing is installed: "
			"--all-cpus installs all tables, --events-dir reads a folder without a map",
			m->options->path, m->result.cpuid);
	return 0;
}

/* Puts the new folder where the old one was; there is no moment without one. */
static int replace(struct making *m, struct err *err)
{
	const char *new = str_text(&m->folder), *place = str_text(&m->place);

	if (!rename(new, place))
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return err_sys(err, errno, "renaming '%s' to '%s'", new, place);
	if (renameat2(AT_FDCWD, new, AT_FDCWD, place, RENAME_EXCHANGE))
		return err_sys(err, errno, "replacing '%s'", place);
	return 0;
}

static int make(struct making *m, struct log *log, struct err *err)
{
	struct catalog_sources sources = {.has_all_cpus = m->options->has_all_cpus};
	struct str from = {0};
	char path[PATH_SIZE];
	struct stat st;
	int r = 0;

	if (stat(m->options->path, &st))
		return err_sys(err, errno, "opening '%s'", m->options->path);
	if (S_ISDIR(st.st_mode))
		str_clear(&m->unpacked);
	else
		r = unpack(m, err);
	if (!r)
		r = find_sources(m, &sources, log, err);
	if (!r)
		r = copy_sources(m, &sources, log, err);
	catalog_sources_fini(&sources);
	if (r)
		return r;
	str_addf(&from, "%s\n%s\n", m->options->path,
		m->options->has_all_cpus ? "all CPUs" : m->result.cpuid);
	snprintf(path, sizeof(path), "%s/%s", str_text(&m->folder), marker);
	r = write_file(path, &from, O_TRUNC, err);
	str_fini(&from);
	if (!r && m->unpacked.n)
		remove_tree(str_text(&m->unpacked));
	return r ? r : replace(m, err);
}

int tables_install(const struct tables_options *options, struct tables_result *ret, struct log *log,
	struct err *err)
{
	struct making m = {.options = options};
	char place[PATH_SIZE], new[PATH_SIZE + 32];
	int r;

	if (find_place(place, err))
		return err->code;
	snprintf(new, sizeof(new), "%s.new-%d/", place, (int)getpid());
	if (strlen(new) >= PATH_SIZE - 256)
		return err_set(err, ERR_LIMIT, "the path '%s' is too long", place);
	remove_tree(new);
	if (make_folders(new, err))
		return err->code;
	new[strlen(new) - 1] = '\0';
	str_add(&m.place, place);
	str_add(&m.folder, new);
	str_addf(&m.unpacked, "%s/unpacked", new);
	r = make(&m, log, err);
	/* What is there now was there before, or could not be finished. */
	remove_tree(new);
	if (!r) {
		snprintf(m.result.folder, sizeof(m.result.folder), "%s", place);
		*ret = m.result;
	}
	intern_fini(&m.written);
	str_fini(&m.place);
	str_fini(&m.folder);
	str_fini(&m.unpacked);
	return r;
}

int tables_remove(char *ret_folder, struct err *err)
{
	struct stat st;

	if (find_place(ret_folder, err))
		return err->code;
	if (lstat(ret_folder, &st))
		return err_set(err, ERR_NOENT, "no tables are installed in '%s'", ret_folder);
	return remove_tree(ret_folder) ? err_sys(err, errno, "removing '%s'", ret_folder) : 0;
}
