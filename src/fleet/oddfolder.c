#include "fleet/oddfolder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/sort.h"

#define NS     1000000000ULL
#define NAME   "odd"
#define FORMAT "%Y-%m-%dT%H-%M-%S.data"

static void name_of(u64 begin_ns, char name[STORE_NAME])
{
	const time_t seconds = (time_t)(begin_ns / NS);
	struct tm tm = {0};

	gmtime_r(&seconds, &tm);
	strftime(name, STORE_NAME, FORMAT, &tm);
}

/* False: the name is none of ours. */
static bool parse_name(const char *name, u64 *ret_ns)
{
	char again[STORE_NAME];
	struct tm tm = {0};
	const char *end = strptime(name, FORMAT, &tm);
	time_t seconds;

	if (!end || *end || tm.tm_year < 70 || tm.tm_year > 400)
		return false;
	seconds = timegm(&tm);
	if (seconds < 0)
		return false;
	*ret_ns = (u64)seconds * NS;
	name_of(*ret_ns, again);
	return !strcmp(again, name);
}

SORT_BY(by_age, struct odd_file, begin_ns)

int oddfolder_refresh(struct oddfolder *o, struct err *err)
{
	const int fd = openat(o->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct odd_file f;
	struct stat st;

	if (!dir) {
		const int sys = errno;

		if (fd >= 0)
			close(fd);
		return err_sys(err, sys, "reading '%s'", o->path);
	}
	o->files.n = 0;
	o->n_bytes = 0;
	while ((entry = readdir(dir)) != NULL)
		if (parse_name(entry->d_name, &f.begin_ns) &&
			!fstatat(o->fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
			S_ISREG(st.st_mode)) {
			f.n_bytes = (u64)st.st_size;
			o->n_bytes += f.n_bytes;
			vec_add(&o->files, f);
		}
	closedir(dir);
	if (o->files.n)
		qsort(o->files.at, o->files.n, sizeof(*o->files.at), by_age);
	return 0;
}

int oddfolder_open(struct oddfolder *o, const char *store, bool makes, struct err *err)
{
	*o = (struct oddfolder){.fd = -1};
	snprintf(o->path, sizeof(o->path), "%s/" NAME, store);
	if (makes && mkdir(o->path, 0700) && errno != EEXIST)
		return err_sys(err, errno, "making the folder '%s'", o->path);
	o->fd = open(o->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (o->fd < 0)
		return err_sys(err, errno, "opening the folder '%s'", o->path);
	if (!oddfolder_refresh(o, err))
		return 0;
	oddfolder_close(o);
	return err->code;
}

void oddfolder_close(struct oddfolder *o)
{
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
	vec_fini(&o->files);
}

void oddfolder_path(const struct oddfolder *o, u64 begin_ns, char path[STORE_PATH + 2 * STORE_NAME])
{
	char name[STORE_NAME];

	name_of(begin_ns, name);
	snprintf(path, STORE_PATH + 2 * STORE_NAME, "%s/%s", o->path, name);
}

bool oddfolder_drop(struct oddfolder *o)
{
	char name[STORE_NAME];
	struct err ignored;

	if (oddfolder_refresh(o, &ignored) || !o->files.n)
		return false;
	name_of(o->files.at[0].begin_ns, name);
	return !unlinkat(o->fd, name, 0);
}
