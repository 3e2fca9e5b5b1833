#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/folder.h"
#include "cmd/cmd.h"
#include "file/fresh.h"
#include "file/reader.h"
#include "symbol/find/filecache.h"

struct archive_options {
	const char *input, *unpacked;
	bool has_all, unpacks;
	unsigned verbose;
};

#define AT(member) offsetof(struct archive_options, member)

static const struct opt options[] = {
	{'i', "input", OPT_STR, AT(input), "FILE", "read FILE, a recording; default perf.data"},
	{0, "all", OPT_BOOL, AT(has_all), NULL,
		"put the recording into the archive, too: FILE.all.tar.bz2"},
	{0, "unpack", OPT_BOOL, AT(unpacks), NULL,
		"put the files of an archive where pace and perf look for them"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL, "say which files are missing"},
	{.kind = OPT_END},
};

/* Runs a program to its end. */
static int run_program(char *const *argv, struct err *err)
{
	extern char **environ;
	int status = 0, sys;
	pid_t pid;

	sys = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (sys)
		return err_sys(err, sys, "running '%s', which makes and unpacks archives", argv[0]);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(err, errno, "waiting for '%s'", argv[0]);
	/* 1: a file has another link since. */
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		return err_set(err, ERR_UNSUPPORTED,
			"'%s' failed, see above: for .bz2 it needs bzip2", argv[0]);
	return 0;
}

struct packing {
	struct filecache cache;
	struct str names; /* of the archive's files, a line each */
	size_t n_files, n_missing;
};

/* Takes a file of the recording; adds it to the cache first, if this build of it is still here. */
static void take(struct packing *p, const struct file_build_id *b, struct log *log)
{
	struct str id = {0}, now = {0}, link_name = {0}, folder = {0};
	struct filecache_entry made;
	const struct filecache_entry *e;
	struct err err;

	for (u8 i = 0; i < b->id_size; i++)
		str_addf(&id, "%02x", b->id[i]);
	e = filecache_find(&p->cache, str_text(&id));
	if (!e && b->path[0] == '/' && !filecache_id(b->path, &now, &err) &&
		!strcmp(now.at, str_text(&id))) {
		str_clear(&now);
		if (!filecache_add(&p->cache, "", b->path, &now, &err)) {
			char *real = realpath(b->path, NULL);

			made = (struct filecache_entry){id.at,
				real ? intern_str(&p->cache.strings, real) : b->path};
			e = &made;
			free(real);
		}
	}
	if (e) {
		filecache_add_names(e, &link_name, &folder);
		str_addf(&p->names, "%s\n%s\n", link_name.at, folder.at);
		p->n_files++;
	} else {
		p->n_missing++;
		log_debug(log, "'%s' is neither in the cache nor here as it was", b->path);
	}
	str_fini(&id);
	str_fini(&now);
	str_fini(&link_name);
	str_fini(&folder);
}

static int write_names(struct packing *p, char *name, struct err *err)
{
	const int fd = mkstemp(name);
	int sys = fd < 0 ? errno : fd_write(fd, p->names.at, p->names.n);

	if (fd >= 0)
		close(fd);
	return sys ? err_sys(err, sys, "writing '%s'", name) : 0;
}

/* The archive gets its name when it is complete. */
static int run_tar(struct packing *p, const char *path, const char *archive, bool has_all,
	struct err *err)
{
	char names[PATH_MAX];
	char *real = realpath(path, NULL), *slash = real ? strrchr(real, '/') : NULL;
	struct fresh to;
	int r;

	if (!slash) {
		free(real);
		return err_sys(err, errno, "'%s'", path);
	}
	*slash = '\0';
	char *argv[] = {"tar", "-cjf", to.temporary, "-C", p->cache.folder.at, "--no-unquote",
		"--verbatim-files-from", "-T", names, has_all ? "-C" : NULL, *real ? real : "/",
		"--", slash + 1, NULL};

	snprintf(names, sizeof(names), "%s/pace-archive-XXXXXX", folder_of_temporaries());
	r = write_names(p, names, err);
	if (!r)
		r = fresh_init(&to, archive, true, err);
	if (!r) {
		r = run_program(argv, err);
		if (r || fresh_commit(&to, err)) {
			fresh_abandon(&to);
			r = err->code;
		}
	}
	unlink(names);
	free(real);
	return r;
}

static int pack(const struct archive_options *o, const char *path, struct log *log, struct err *err)
{
	struct packing p = {0};
	struct reader reader;
	struct str archive = {0};
	int r;

	if (filecache_open(&p.cache, err))
		return err->code;
	if (reader_open(&reader, path, log, err)) {
		filecache_close(&p.cache);
		return err->code;
	}
	vec_each(b, &reader.info.build_ids)
		if (b->id_size)
			take(&p, b, log);
	reader_close(&reader);
	str_addf(&archive, "%s%s.tar.bz2", path, o->has_all ? ".all" : "");
	if (!p.n_files)
		r = err_set(err, ERR_NOENT,
			"'%s' has no build-ids of files that are here: 'pace inject -b' adds build-ids",
			path);
	else
		r = run_tar(&p, path, archive.at, o->has_all, err);
	if (!r) {
		printf("%s has %zu files", archive.at, p.n_files);
		if (p.n_missing)
			printf("; %zu are missing (-v names them)", p.n_missing);
		if (o->has_all)
			printf(". Where the recording is to be read:\n\npace archive --unpack %s\n",
				archive.at);
		else
			printf(". Where the recording is to be read:\n\ntar xvf %s -C ~/.debug\n",
				archive.at);
	}
	str_fini(&archive);
	str_fini(&p.names);
	filecache_close(&p.cache);
	return r;
}

/* A recording in the archive goes to this folder. */
static int unpack(const char *archive, struct err *err)
{
	struct filecache cache;
	char *files[] = {"tar", "-xjf", (char *)archive, "-C", NULL, "--wildcards", "*/*", NULL};
	char *recording[] = {"tar", "-xjf", (char *)archive, "--wildcards", "--exclude=*/*", "*",
		NULL};
	int r;

	if (filecache_open(&cache, err))
		return err->code;
	files[4] = cache.folder.at;
	if (mkdir(cache.folder.at, 0755) && errno != EEXIST)
		r = err_sys(err, errno, "creating the folder '%s'", cache.folder.at);
	else
		r = run_program(files, err);
	if (!r && strstr(archive, ".all.tar."))
		r = run_program(recording, err);
	filecache_close(&cache);
	return r;
}

static int run_archive(int argc, char **argv)
{
	struct archive_options o = {0};
	int status = cmd_parse_reader(&cmd_archive, &o, &o.input, argc, argv);
	const char *path = o.input ? o.input : o.unpacks ? "perf.data.tar.bz2" : "perf.data";
	struct log log;
	struct err err;
	int r;

	if (status >= 0)
		return status;
	cmd_log_init(&log, o.verbose ? LOG_DEBUG : LOG_WARN);
	r = o.unpacks ? unpack(path, &err) : pack(&o, path, &log, &err);
	if (r) {
		cmd_explain_missing(path, &err);
		status = cmd_fail(&cmd_archive, &err, EXIT_FAILED);
	} else {
		status = EXIT_OK;
	}
	log_fini(&log);
	return status;
}

const struct cmd cmd_archive = {
	.name = "archive",
	.summary = "put the files that a recording ran into an archive, for other machines",
	.usage = {"[--all] [-i] [FILE]", "--unpack [ARCHIVE]", NULL},
	.notes =
		"pace's own recordings hold names, lines and code of what was sampled: they need no archive.\n",
	.options = options,
	.run = run_archive,
};
