#include "symbol/find/filecache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/folder.h"
#include "symbol/elf/elf.h"

/* ---- the list ---- */

struct visiting {
	struct filecache *cache;
	struct str folder; /* "…/.build-id/XX" */
	char digits[3];
};

static bool is_hex(const char *text, size_t least)
{
	const size_t n = strlen(text);

	return n >= least && strspn(text, "0123456789abcdef") == n;
}

/* Whether a path leads out of the folder that it begins in: links come from archives of others, too. */
static bool leads_out(const char *path)
{
	for (const char *p = path; *p; p += strcspn(p, "/")) {
		p += strspn(p, "/");
		if (!strncmp(p, "..", 2) && (p[2] == '/' || !p[2]))
			return true;
	}
	return false;
}

static bool see_link(void *ctx, const struct dirent *entry)
{
	struct visiting *v = ctx;
	struct str path = {0}, id = {0};
	char target[4096];
	ssize_t n;

	str_addf(&path, "%s/%s", v->folder.at, entry->d_name);
	n = is_hex(entry->d_name, 2) ? readlink(path.at, target, sizeof(target) - 1) : -1;
	str_addf(&id, "%s%s", v->digits, entry->d_name);
	if (n > 6 && !memcmp(target, "../../", 6)) {
		char *slash;

		target[n] = '\0';
		slash = strrchr(target, '/');
		/* "../../usr/bin/dash/ID", "../../[vdso]/ID" */
		if (slash > target + 6 && !strcmp(slash + 1, id.at) && !leads_out(target + 6)) {
			*slash = '\0';
			str_clear(&path);
			str_addf(&path, "%s%s", target[6] == '[' ? "" : "/", target + 6);
			vec_add(&v->cache->entries,
				((struct filecache_entry){intern_str(&v->cache->strings, id.at),
					intern_str(&v->cache->strings, path.at)}));
		}
	}
	str_fini(&path);
	str_fini(&id);
	return true;
}

static bool see_folder(void *ctx, const struct dirent *entry)
{
	struct visiting v = {.cache = ctx};

	if (strlen(entry->d_name) != 2 || !is_hex(entry->d_name, 2))
		return true;
	memcpy(v.digits, entry->d_name, 3);
	str_addf(&v.folder, "%s/.build-id/%s", v.cache->folder.at, v.digits);
	folder_each(v.folder.at, see_link, &v);
	str_fini(&v.folder);
	return true;
}

static int by_id(const void *a, const void *b)
{
	const struct filecache_entry *x = a, *y = b;

	return strcmp(x->id, y->id);
}

int filecache_open(struct filecache *c, struct err *err)
{
	const char *own = getenv("PERF_BUILDID_DIR"), *home = getenv("HOME");
	struct str links = {0};

	memset(c, 0, sizeof(*c));
	if (own && *own)
		str_add(&c->folder, own);
	else if (home && *home)
		str_addf(&c->folder, "%s/.debug", home);
	else
		return err_set(err, ERR_NOENT,
			"HOME does not say where ~/.debug is: --buildid-dir DIR names the folder");
	str_addf(&links, "%s/.build-id", c->folder.at);
	folder_each(links.at, see_folder, c);
	str_fini(&links);
	if (c->entries.n)
		qsort(c->entries.at, c->entries.n, sizeof(*c->entries.at), by_id);
	return 0;
}

void filecache_close(struct filecache *c)
{
	vec_fini(&c->entries);
	intern_fini(&c->strings);
	str_fini(&c->folder);
}

const struct filecache_entry *filecache_find(const struct filecache *c, const char *id)
{
	vec_each(e, &c->entries)
		if (!strcmp(e->id, id))
			return e;
	return NULL;
}

void filecache_add_names(const struct filecache_entry *e, struct str *ret_link,
	struct str *ret_folder)
{
	str_addf(ret_link, ".build-id/%.2s/%s", e->id, e->id + 2);
	str_addf(ret_folder, "%s/%s", e->path + (e->path[0] == '/'), e->id);
}

/* ---- changes ---- */

static int make_folders(const char *path, struct err *err)
{
	char *copy = mem_strdup(path);
	int sys = 0;

	for (char *p = copy + 1; !sys; p++) {
		if (*p && *p != '/')
			continue;
		const char end = *p;

		*p = '\0';
		if (mkdir(copy, 0755) && errno != EEXIST)
			sys = errno;
		*p = end;
		if (!end)
			break;
	}
	mem_free(copy);
	return sys ? err_sys(err, sys, "creating the folder '%s'", path) : 0;
}

static int copy_file(const char *from, const char *to, struct err *err)
{
	char buf[1 << 16];
	const int in = open(from, O_RDONLY | O_CLOEXEC);
	const int out =
		in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0755);
	int sys = out < 0 ? errno : 0;
	ssize_t n;

	while (!sys && (n = fd_read(in, buf, sizeof(buf))) != 0)
		sys = n < 0 ? errno : fd_write(out, buf, (size_t)n);
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) && !sys)
		sys = errno;
	if (sys && out >= 0)
		unlink(to);
	return sys ? err_sys(err, sys, "copying '%s' to '%s'", from, to) : 0;
}

int filecache_id(const char *path, struct str *ret_id, struct err *err)
{
	u8 id[BUILD_ID_MAX];
	struct elf elf;
	u8 n;

	if (access(path, R_OK))
		return err_sys(err, errno, "'%s'", path);
	if (elf_open(&elf, path, err))
		return err->code;
	n = elf_build_id(&elf, id);
	elf_close(&elf);
	for (u8 i = 0; i < n; i++)
		str_addf(ret_id, "%02x", id[i]);
	return n >= 2 ? 0 : err_set(err, ERR_FORMAT, "'%s' has no build-id", path);
}

static int store(const struct filecache *c, const char *file, const struct filecache_entry *e,
	struct err *err)
{
	struct str link_name = {0}, folder = {0}, path = {0}, target = {0};
	int r, fd;

	filecache_add_names(e, &link_name, &folder);
	str_addf(&target, "../../%s", folder.at);
	str_addf(&path, "%s/%s", c->folder.at, folder.at);
	r = make_folders(path.at, err);
	str_add(&path, "/elf");
	if (!r && link(file, path.at) && errno != EEXIST)
		r = copy_file(file, path.at, err);
	str_cut(&path, path.n - 3);
	str_add(&path, "probes");
	fd = r ? -1 : open(path.at, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd >= 0)
		close(fd);
	str_clear(&path);
	str_addf(&path, "%s/.build-id/%.2s", c->folder.at, e->id);
	if (!r)
		r = make_folders(path.at, err);
	str_addf(&path, "/%s", e->id + 2);
	if (!r && symlink(target.at, path.at) && errno != EEXIST)
		r = err_sys(err, errno, "creating '%s'", path.at);
	str_fini(&link_name);
	str_fini(&folder);
	str_fini(&path);
	str_fini(&target);
	return r;
}

int filecache_add(const struct filecache *c, const char *root, const char *path, struct str *ret_id,
	struct err *err)
{
	struct str file = {0};
	char *real;
	int r;

	str_addf(&file, "%s%s", root, path);
	/* The name by which maps have it, without links. */
	real = realpath(file.at, NULL);
	if (!real) {
		r = err_sys(err, errno, "'%s'", path);
	} else {
		const char *name = *root ? path : real;

		r = filecache_id(real, ret_id, err);
		if (!r)
			r = store(c, real, &(struct filecache_entry){ret_id->at, name}, err);
	}
	free(real);
	str_fini(&file);
	return r;
}

struct clearing {
	const char *folder;
	int sys;
};

static bool remove_file(void *ctx, const struct dirent *entry)
{
	struct clearing *c = ctx;
	struct str path = {0};

	str_addf(&path, "%s/%s", c->folder, entry->d_name);
	if (unlink(path.at))
		c->sys = errno;
	str_fini(&path);
	return true;
}

int filecache_remove(const struct filecache *c, const struct filecache_entry *e, struct err *err)
{
	struct str link_name = {0}, folder = {0}, path = {0};
	struct clearing clearing = {0};
	struct stat st;

	filecache_add_names(e, &link_name, &folder);
	str_addf(&path, "%s/%s", c->folder.at, folder.at);
	clearing.folder = path.at;
	/* A link in its place is removed, and not what it leads to. */
	if (!lstat(path.at, &st) && !S_ISDIR(st.st_mode)) {
		clearing.sys = unlink(path.at) ? errno : 0;
	} else {
		folder_each(path.at, remove_file, &clearing);
		if (rmdir(path.at) && errno != ENOENT && !clearing.sys)
			clearing.sys = errno;
	}
	str_clear(&path);
	str_addf(&path, "%s/%s", c->folder.at, link_name.at);
	if (!clearing.sys && unlink(path.at))
		clearing.sys = errno;
	if (clearing.sys)
		err_sys(err, clearing.sys, "removing '%s'", path.at);
	str_fini(&link_name);
	str_fini(&folder);
	str_fini(&path);
	return clearing.sys ? err->code : 0;
}
