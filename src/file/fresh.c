#include "file/fresh.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"

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

int fresh_open(struct fresh *f, struct err *err)
{
	int fd = open(f->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

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
