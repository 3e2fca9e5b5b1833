#include "cmd/mcp/mcp_folders.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fence.h"
#include "base/mem.h"

/*
 * What a recording's names come from. Programs and debug files of distributions; the running kernel; what the loader needs for libraries
 * that pace loads when it needs them. Objdump is run where there is no libLLVM, behind the same fence.
 */
static const struct system_place {
	const char *path;
	enum { PLACE_READ, PLACE_RUN, PLACE_WRITE } rights;
} system_places[] = {
	{"/usr", PLACE_RUN},
	{"/lib", PLACE_RUN},
	{"/lib32", PLACE_RUN},
	{"/lib64", PLACE_RUN},
	{"/bin", PLACE_RUN},
	{"/sbin", PLACE_RUN},
	{"/opt", PLACE_READ},
	{"/boot", PLACE_READ},
	{"/proc/kallsyms", PLACE_READ},
	{"/proc/modules", PLACE_READ},
	{"/proc/version", PLACE_READ},
	{"/proc/sys/kernel", PLACE_READ},
	{"/sys/kernel/notes", PLACE_READ},
	{"/sys/module", PLACE_READ},
	{"/etc/ld.so.cache", PLACE_READ},
	{"/dev/null", PLACE_WRITE},
	{"/dev/urandom", PLACE_READ},
};

/* Folders of the user's: below a variable's value, or below home. */
static const struct user_place {
	const char *variable, *below_variable, *below_home;
	bool is_own; /* pace writes it, too */
} user_places[] = {
	{"PERF_BUILDID_DIR", "", "/.debug", false},
	{"DEBUGINFOD_CACHE_PATH", "", NULL, false},
	{"XDG_CACHE_HOME", "/debuginfod_client", "/.cache/debuginfod_client", false},
	{"XDG_CACHE_HOME", "/pace", "/.cache/pace", true},
};

static void allow_user_place(struct fence *f, const struct user_place *place)
{
	const char *value = getenv(place->variable), *home = getenv("HOME");
	struct str path = {0};

	if (value && value[0] == '/')
		str_addf(&path, "%s%s", value, place->below_variable);
	else if (home && home[0] == '/' && place->below_home)
		str_addf(&path, "%s%s", home, place->below_home);
	if (path.n)
		(place->is_own ? fence_allow_write : fence_allow_read)(f, path.at);
	str_fini(&path);
}

int mcp_fence_raise(const struct mcp_folders *f, struct err *err)
{
	static void (*const allow[])(struct fence *, const char *) = {
		[PLACE_READ] = fence_allow_read,
		[PLACE_RUN] = fence_allow_run,
		[PLACE_WRITE] = fence_allow_write,
	};
	struct fence fence;

	if (fence_open(&fence, err))
		return err->code;
	vec_each(folder, &f->all)
		fence_allow_read(&fence, folder->real);
	for (size_t i = 0; i < ARRAY_SIZE(system_places); i++)
		allow[system_places[i].rights](&fence, system_places[i].path);
	for (size_t i = 0; i < ARRAY_SIZE(user_places); i++)
		allow_user_place(&fence, &user_places[i]);
	return fence_raise(&fence, err);
}

int mcp_folders_add(struct mcp_folders *f, const char *path, struct err *err)
{
	struct mcp_folder folder = {.real = realpath(path, NULL)};
	struct str name = {0};
	char here[PATH_MAX];

	folder.fd = folder.real ? open(folder.real, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (folder.fd < 0) {
		err_sys(err, errno, "the folder '%s'", path);
		free(folder.real);
		return err->code;
	}
	if (path[0] != '/' && getcwd(here, sizeof(here)))
		str_addf(&name, "%s/", here);
	str_add(&name, path);
	folder.name = name.at;
	vec_add(&f->all, folder);
	return 0;
}

void mcp_folders_fini(struct mcp_folders *f)
{
	vec_each(folder, &f->all) {
		close(folder->fd);
		mem_free(folder->name);
		free(folder->real);
	}
	vec_fini(&f->all);
}

void mcp_folders_add_names(const struct mcp_folders *f, struct str *text)
{
	vec_each(folder, &f->all) {
		str_add(text, folder == f->all.at ? "'" : ", '");
		str_add_safe(text, folder->real, strlen(folder->real));
		str_addc(text, '\'');
	}
}

/* Adds the path without "//", "." and "..", as its text says, whatever is on the disk. False: it begins with "..". */
static bool tidy(const char *path, struct str *ret)
{
	for (const char *p = path; *p;) {
		const size_t n = strcspn(p, "/");

		if (n == 2 && !strncmp(p, "..", 2)) {
			const char *last = ret->n ? strrchr(ret->at, '/') : NULL;

			if (!ret->n)
				return false;
			str_cut(ret, last ? (size_t)(last - ret->at) : 0);
		} else if (n && !(n == 1 && *p == '.')) {
			str_add(ret, ret->n ? "/" : "");
			str_addn(ret, p, n);
		}
		p += n + (p[n] == '/');
	}
	return true;
}

/* What of the path lies below the folder, whose path is as given or without links; NULL: it lies elsewhere. Both are tidy. */
static const char *part_below(const char *folder, const char *path)
{
	struct str tidied = {0};
	const char *part = NULL;

	tidy(folder, &tidied);
	if (!tidied.n)
		part = path;
	else if (!strncmp(path, tidied.at, tidied.n) && path[tidied.n] == '/')
		part = path + tidied.n + 1;
	str_fini(&tidied);
	return part;
}

/* The path of the file that the folder's part leads to. An errno: there is none, or it is no recording. */
static int find_below(const struct mcp_folder *folder, const char *part, struct str *ret)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	const int fd = (int)syscall(SYS_openat2, folder->fd, part, &how, sizeof(how));
	char link[64], real[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof(real));
	if (fstat(fd, &st) || n <= 0 || (size_t)n >= sizeof(real)) {
		close(fd);
		return ENOENT;
	}
	close(fd);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return EINVAL;
	str_clear(ret);
	str_addn(ret, real, (size_t)n);
	return 0;
}

static int say_missing(const struct mcp_folders *f, const char *path, int sys, struct err *err)
{
	struct str names = {0};

	mcp_folders_add_names(f, &names);
	if (sys == EXDEV || sys == ELOOP)
		err_set(err, ERR_NOENT,
			"'%.300s' is a link that leads out of the folder that this server was given: name the file that it leads to, in %.400s",
			path, names.at);
	else if (sys == EINVAL)
		err_set(err, ERR_INVAL, "'%.300s' is neither a file nor a folder", path);
	else if (sys == ENOSYS || sys == EPERM)
		err_set(err, ERR_UNSUPPORTED,
			"this kernel does not find files without leaving a folder (openat2, Linux 5.6)");
	else
		err_set(err, ERR_NOENT,
			"there is no '%.300s' in the folders that this server was given: %.400s. Start it with another folder ('pace mcp FOLDER') to read recordings there",
			path, names.at);
	str_fini(&names);
	return err->code;
}

int mcp_folders_find(const struct mcp_folders *f, const char *path, struct str *ret,
	struct err *err)
{
	struct str tidied = {0};
	int sys = ENOENT;

	if (!tidy(path, &tidied))
		str_clear(&tidied);
	vec_each(folder, &f->all) {
		const char *part = tidied.n ? tidied.at : NULL;
		int now;

		if (part && path[0] == '/') {
			part = part_below(folder->name, tidied.at);
			part = part ? part : part_below(folder->real, tidied.at);
		}
		if (!part)
			continue;
		now = find_below(folder, part, ret);
		if (!now) {
			str_fini(&tidied);
			return 0;
		}
		sys = now == ENOENT || now == ENOTDIR ? sys : now;
	}
	str_fini(&tidied);
	return say_missing(f, path, sys, err);
}
