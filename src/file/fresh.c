#include "file/fresh.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/folder.h"
#include "base/str.h"

int fresh_init(struct fresh *f, const char *path, bool replaces, struct err *err)
{
	struct stat st;
	struct timespec t;

	*f = (struct fresh){.path = path, .replaces = replaces};
	if (!lstat(path, &st) &&
		(S_ISLNK(st.st_mode) ? fd_link_leads_to_stream(path) : !S_ISREG(st.st_mode)))
		return err_set(err, ERR_INVAL,
			"'%s' exists and is not a regular file: choose another name", path);
	clock_gettime(CLOCK_MONOTONIC, &t);
	if ((size_t)snprintf(f->temporary, sizeof(f->temporary), "%s.%d-%lx", path, (int)getpid(),
		    (unsigned long)t.tv_nsec) >= sizeof(f->temporary))
		return err_set(err, ERR_INVAL, "the name '%.80s...' is too long", path);
	return 0;
}

/* ---- what killed writers left ---- */

struct leftovers {
	const char *folder, *name; /* of the file to be written */
};

/* Whether it is NAME.PID-HEX, as fresh_init() makes it, and no process has this number. */
static bool is_of_dead(const char *entry, const char *name)
{
	static const char hex[] = "0123456789abcdef", digits[] = "0123456789";
	const size_t n = strlen(name);
	size_t n_digits, n_hex;
	int pid;

	if (strncmp(entry, name, n) || entry[n] != '.')
		return false;
	entry += n + 1;
	n_digits = strspn(entry, digits);
	if (!n_digits || n_digits > 9 || entry[n_digits] != '-')
		return false;
	pid = atoi(entry);
	entry += n_digits + 1;
	n_hex = strspn(entry, hex);
	return n_hex && !entry[n_hex] && pid > 0 && kill(pid, 0) && errno == ESRCH;
}

static bool remove_leftover(void *ctx, const struct dirent *entry)
{
	const struct leftovers *l = ctx;
	struct str path = {0};
	struct stat st;

	if (!is_of_dead(entry->d_name, l->name))
		return true;
	str_addf(&path, "%s/%s", l->folder, entry->d_name);
	if (!lstat(str_text(&path), &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		time(NULL) - st.st_mtime > FRESH_STALE_S)
		unlink(str_text(&path));
	str_fini(&path);
	return true;
}

static void remove_leftovers(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct str folder = {0};

	if (slash)
		str_addn(&folder, path, slash == path ? 1 : (size_t)(slash - path));
	else
		str_addc(&folder, '.');
	folder_each(str_text(&folder), remove_leftover,
		&(struct leftovers){str_text(&folder), slash ? slash + 1 : path});
	str_fini(&folder);
}

int fresh_open(struct fresh *f, struct err *err)
{
	int fd;

	remove_leftovers(f->path);
	fd = open(f->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? err_sys(err, errno, "creating '%s'", f->temporary) : fd;
}

int fresh_commit(struct fresh *f, struct err *err)
{
	char old[sizeof(f->temporary)] = "";
	struct stat st;

	if (!f->replaces && !lstat(f->path, &st)) {
		if ((size_t)snprintf(old, sizeof(old), "%s.old", f->path) >= sizeof(old))
			return err_set(err, ERR_INVAL, "the name '%.80s...' is too long", f->path);
		if (rename(f->path, old))
			return err_sys(err, errno, "moving '%s' to '%s'", f->path, old);
	}
	if (rename(f->temporary, f->path)) {
		err_sys(err, errno, "giving '%s' its name", f->path);
		if (*old)
			(void)!rename(old, f->path);
		return err->code;
	}
	return 0;
}

void fresh_abandon(struct fresh *f)
{
	unlink(f->temporary);
}
