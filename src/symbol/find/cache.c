#include "symbol/find/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"

enum {
	PATH_SIZE = 4096,
	PARTS_AT_ONCE = 64,
	FRESH_S = 3600, /* resolution of the time of last use */
};

const struct cache_kind_row cache_kinds[CACHE_KINDS] = {
	[CACHE_LINES] = {"lines-", "lines and inlined functions"},
	[CACHE_KALLSYMS] = {"kallsyms-", "kernel symbols"},
	[CACHE_PACKAGES] = {"packages-", "packages with symbols"},
	[CACHE_UNFINISHED] = {NULL, "unfinished"},
};

int cache_limit(u64 *ret_bytes, struct err *err)
{
	const char *text = getenv("PACE_CACHE_SIZE");

	*ret_bytes = CACHE_BYTES;
	if (!text || !*text)
		return 0;
	return num_parse_bytes(text, ret_bytes, err) ? err_prefix(err, "PACE_CACHE_SIZE") : 0;
}

static u64 limit(void)
{
	struct err ignored;
	u64 bytes;

	cache_limit(&bytes, &ignored);
	return bytes;
}

/* The path of the folder, and of its parent, which may have to be made. False: there is none. */
static bool find_dir(char above[PATH_SIZE], char path[PATH_SIZE])
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	/* The specification says to ignore a relative path. */
	if (base && base[0] == '/')
		snprintf(above, PATH_SIZE, "%s", base);
	else if (home && home[0] == '/')
		snprintf(above, PATH_SIZE, "%s/.cache", home);
	else
		return false;
	return (size_t)snprintf(path, PATH_SIZE, "%s/pace", above) < PATH_SIZE;
}

/* Opens the folder; makes it first if `create`. Returns an fd, or -1. */
static int open_dir(bool create)
{
	char above[PATH_SIZE], path[PATH_SIZE];
	struct stat st;
	int fd;

	if (!find_dir(above, path))
		return -1;
	if (create) {
		mkdir(above, 0700);
		mkdir(path, 0700);
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	/* A folder that others can write may hold forged files. */
	if (fd >= 0 && (fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & 022)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

bool cache_map(const char *key, bool is_look, const u8 **ret_data, u64 *ret_size)
{
	int dir = limit() ? open_dir(false) : -1, fd;
	struct stat st;
	void *map = MAP_FAILED;

	if (dir < 0)
		return false;
	fd = openat(dir, key, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	close(dir);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size > 0)
		map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	/* The file's mtime is its last use: not every mount records reads (atime). */
	if (map != MAP_FAILED && !is_look && time(NULL) - st.st_mtime > FRESH_S)
		futimens(fd, NULL);
	close(fd);
	if (map == MAP_FAILED)
		return false;
	*ret_data = map;
	*ret_size = st.st_size;
	return true;
}

/* ---- listing ---- */

/* Parses the PID of KEY.PID.new, a file that is still being written. */
static bool is_unfinished(const char *name, int *ret_pid)
{
	const char *dot = strrchr(name, '.');

	if (!dot || strcmp(dot, ".new"))
		return false;
	while (dot > name && dot[-1] != '.')
		dot--;
	*ret_pid = atoi(dot);
	return dot > name;
}

/* Returns false if the file is not the cache's. */
static bool kind_of(const char *name, enum cache_kind *ret_kind)
{
	for (enum cache_kind kind = 0; kind < CACHE_KINDS; kind++) {
		const char *prefix = cache_kinds[kind].prefix;
		int pid;

		if (!prefix || strncmp(name, prefix, strlen(prefix)))
			continue;
		*ret_kind = is_unfinished(name, &pid) ? CACHE_UNFINISHED : kind;
		return true;
	}
	return false;
}

static int by_use(const void *a, const void *b)
{
	const struct cache_entry *x = a, *y = b;

	if (x->used_s != y->used_s)
		return x->used_s > y->used_s ? -1 : 1;
	return strcmp(x->key, y->key);
}

/* Takes ownership of the descriptor. */
static void list_dir(int fd, cache_entries *entries)
{
	DIR *dir = fdopendir(fd);
	struct dirent *d;

	if (!dir) {
		close(fd);
		return;
	}
	while ((d = readdir(dir)) != NULL) {
		struct cache_entry e = {0};
		struct stat st;

		if (!kind_of(d->d_name, &e.kind) ||
			fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		e.key = mem_strdup(d->d_name);
		e.bytes = (u64)st.st_size;
		e.used_s = st.st_mtime;
		vec_add(entries, e);
	}
	closedir(dir);
	if (entries->n)
		qsort(entries->at, entries->n, sizeof(*entries->at), by_use);
}

void cache_list(cache_entries *ret_entries, struct str *ret_folder)
{
	char above[PATH_SIZE], path[PATH_SIZE];
	cache_entries entries = {0};
	int fd = open_dir(false);

	if (find_dir(above, path))
		str_add(ret_folder, path);
	if (fd >= 0)
		list_dir(fd, &entries);
	*ret_entries = entries;
}

void cache_list_fini(cache_entries *entries)
{
	vec_each(e, entries)
		mem_free(e->key);
	vec_fini(entries);
}

int cache_clear(const cache_entries *entries, struct err *err)
{
	int fd = open_dir(false), sys = 0;

	if (fd < 0)
		return 0;
	vec_each(e, entries)
		if (unlinkat(fd, e->key, 0) && errno != ENOENT)
			sys = errno;
	close(fd);
	return sys ? err_sys(err, sys, "removing files of the cache") : 0;
}

/* Removes the least recently used files until the rest is within the limit. `dir` stays open. */
static void trim(int dir, const char *newest)
{
	cache_entries entries = {0};
	u64 most = limit(), sum = 0;

	list_dir(dup(dir), &entries);
	vec_each(e, &entries)
		sum += e->bytes;
	for (size_t i = entries.n; i-- > 0;) {
		const struct cache_entry *e = &entries.at[i];
		int pid = 0;
		/* The writer of this file has died. */
		bool is_left = is_unfinished(e->key, &pid) && kill(pid, 0) && errno == ESRCH;

		if (!is_left && (sum <= most || !strcmp(e->key, newest)))
			continue;
		if (!unlinkat(dir, e->key, 0))
			sum -= e->bytes;
	}
	cache_list_fini(&entries);
}

/* ---- writing ---- */

/* Writes all bytes of the parts. Returns false if they do not fit. */
static bool write_parts(int fd, const struct cache_part *parts, size_t n)
{
	struct iovec some[PARTS_AT_ONCE];
	u64 skipped = 0; /* bytes of the first part */

	while (n) {
		size_t k = MIN(n, (size_t)PARTS_AT_ONCE);
		ssize_t done;

		for (size_t i = 0; i < k; i++) {
			some[i].iov_base = (char *)parts[i].at + (i ? 0 : skipped);
			some[i].iov_len = parts[i].n - (i ? 0 : skipped);
		}
		done = writev(fd, some, (int)k);
		if (done < 0)
			return false;
		skipped += (u64)done;
		while (n && skipped >= parts->n) {
			skipped -= parts->n;
			parts++;
			n--;
		}
		if (!done && n)
			return false;
	}
	return true;
}

void cache_store(const char *key, const struct cache_part *parts, size_t n)
{
	char temporary[300];
	u64 bytes = 0;
	int dir, fd;

	for (size_t i = 0; i < n; i++)
		bytes += parts[i].n;
	dir = bytes <= limit() ? open_dir(true) : -1;
	if (dir < 0)
		return;
	snprintf(temporary, sizeof(temporary), "%.200s.%d.new", key, getpid());
	fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0) {
		bool is_written = write_parts(fd, parts, n);

		if (close(fd) || !is_written || renameat(dir, temporary, dir, key))
			unlinkat(dir, temporary, 0);
	}
	trim(dir, key);
	close(dir);
}
