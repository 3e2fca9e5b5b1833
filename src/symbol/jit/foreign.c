#include "symbol/jit/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "base/sysfile.h"

/* The user that a process runs as. Returns false if it is gone. */
static bool user_of(const struct foreign *f, uid_t *ret_uid)
{
	char path[PATH_MAX];
	struct stat st;

	if (!*f->proc || *f->symfs)
		return false;
	snprintf(path, sizeof(path), "%s/%u", f->proc, f->pid);
	if (stat(path, &st))
		return false;
	*ret_uid = st.st_uid;
	return true;
}

u32 foreign_own_pid(const struct foreign *f)
{
	enum { LIMIT = 64 << 10 };
	struct str text = {0};
	char path[PATH_MAX];
	u64 pid = f->pid, v;
	struct err ignored;
	const char *at;

	snprintf(path, sizeof(path), "%s/%u/status", f->proc, f->pid);
	if (*f->proc && !*f->symfs && !sysfile_read(path, LIMIT, &text, &ignored)) {
		at = strstr(str_text(&text), "\nNSpid:");
		at = at ? at + strlen("\nNSpid:") : "";
		/* One pid per namespace, the innermost last. */
		while (at += strspn(at, " \t"), num_scan(&at, 10, &v))
			pid = v;
	}
	str_fini(&text);
	return (u32)pid;
}

static int check(const struct foreign *f, int fd, const char *path, struct err *err)
{
	struct stat st;
	uid_t uid;

	if (fstat(fd, &st))
		return err_set(err, ERR_SYS, "'%s': %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_PERM, "'%s' is not read: it is not a regular file", path);
	if (!st.st_uid || st.st_uid == geteuid() || (user_of(f, &uid) && uid == st.st_uid))
		return 0;
	return err_set(err, ERR_PERM,
		"'%s' is not read: it belongs to user %u, not to user %u or root; if you trust it, make it readable by 'chown %u'",
		path, st.st_uid, geteuid(), geteuid());
}

static int try_at(const struct foreign *f, int dir, const char *name, const char *path, int *ret_fd,
	struct err *err)
{
	/* Non-blocking: a pipe in this place is not ours, and may never have a writer. */
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 && errno == ELOOP)
		return err_set(err, ERR_PERM, "'%s' is not read: it is a symbolic link", path);
	if (fd < 0)
		return err_set(err, errno == ENOENT || errno == ENOTDIR ? ERR_NOENT : ERR_SYS,
			"'%s': %s", path, strerror(errno));
	if (check(f, fd, path, err)) {
		close(fd);
		return err->code;
	}
	*ret_fd = fd;
	return 0;
}

/*
 * Opens the file below the root of the process, folder by folder: an absolute link there would lead to a
 * file of ours.
 */
static int try_own(const struct foreign *f, const char *own_path, int *ret_fd, struct err *err)
{
	char path[PATH_MAX], part[NAME_MAX + 1];
	const char *at = own_path;
	struct str whole = {0};
	int dir, next, r;

	snprintf(path, sizeof(path), "%s/%u/root", f->proc, f->pid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	while (dir >= 0) {
		size_t n;

		at += strspn(at, "/");
		n = strcspn(at, "/");
		if (!at[n])
			break;
		snprintf(part, sizeof(part), "%.*s", (int)n, at);
		next = n < sizeof(part) && strcmp(part, "..")
			? openat(dir, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
			: -1;
		close(dir);
		dir = next;
		at += n;
	}
	if (dir < 0)
		return err_set(err, ERR_NOENT, "'%s%s' is not there", path, own_path);
	str_addf(&whole, "%s%s", path, own_path);
	r = try_at(f, dir, at, str_text(&whole), ret_fd, err);
	str_fini(&whole);
	close(dir);
	return r;
}

static bool is_other(const char *own_path, const char *our_path)
{
	struct stat own, ours;

	return !stat(own_path, &own) && !stat(our_path, &ours) &&
		(own.st_dev != ours.st_dev || own.st_ino != ours.st_ino);
}

/*
 * Whether a process may see other files than we do: another root, or other mounts. If that cannot be read,
 * they are assumed to be the same.
 */
static bool has_other_files(const struct foreign *f)
{
	char own[PATH_MAX], ours[PATH_MAX];

	if (!*f->proc || *f->symfs)
		return false;
	snprintf(own, sizeof(own), "%s/%u/root/.", f->proc, f->pid);
	if (is_other(own, "/"))
		return true;
	snprintf(own, sizeof(own), "%s/%u/ns/mnt", f->proc, f->pid);
	snprintf(ours, sizeof(ours), "%s/self/ns/mnt", f->proc);
	return is_other(own, ours);
}

int foreign_open(const struct foreign *f, const char *path, const char *own_path, int *ret_fd,
	struct err *err)
{
	struct str whole = {0};
	struct err ignored;
	int r;

	if (has_other_files(f)) {
		r = try_own(f, own_path, ret_fd, err);
		if (r != ERR_NOENT)
			return r;
	}
	str_addf(&whole, "%s%s", f->symfs, path);
	r = try_at(f, AT_FDCWD, str_text(&whole), str_text(&whole), ret_fd, err);
	str_fini(&whole);
	/* Another pid among the same files: the process is in a pid namespace only. */
	if (r == ERR_NOENT && !*f->symfs && strcmp(path, own_path))
		r = try_at(f, AT_FDCWD, own_path, own_path, ret_fd, &ignored) ? r : 0;
	return r;
}
