#include "file/newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

static int move_aside(struct newfile *f, const struct stat *st, struct err *err)
{
	if (S_ISREG(st->st_mode) && st->st_size == 0) {
		/*
		 * An empty file is not worth keeping, but whoever created it may have it open or
		 * own it, so it is replaced, not reused.
		 */
		if (unlink(f->path))
			return err_sys(err, errno, "removing the empty file '%s'", f->path);
		return 0;
	}
	if ((size_t)snprintf(f->old_path, sizeof(f->old_path), "%s.old", f->path) >=
		sizeof(f->old_path))
		return err_set(err, ERR_INVAL, "the name '%.80s...' is too long", f->path);
	if (rename(f->path, f->old_path)) {
		int sys = errno;

		err_sys(err, sys, "moving '%s' to '%s'", f->path, f->old_path);
		f->old_path[0] = '\0';
		return err->code;
	}
	return 0;
}

/*
 * Creates a file at the path, unless another one has appeared there. Returns 0, EEXIST or another
 * errno. The file gets its name only when its first bytes are written: then a killed recorder
 * leaves a readable file, and a recorder started meanwhile does not find an empty one, which it
 * would remove.
 */
static int create_named(struct newfile *f, const void *front, size_t n)
{
	char temporary[sizeof(f->old_path)];
	int sys;

	if ((size_t)snprintf(temporary, sizeof(temporary), "%s.%d", f->path, (int)getpid()) >=
		sizeof(temporary))
		return ENAMETOOLONG;
	f->fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (f->fd < 0)
		return errno;
	sys = fd_write_at(f->fd, front, n, 0);
	if (!sys && renameat2(AT_FDCWD, temporary, AT_FDCWD, f->path, RENAME_NOREPLACE)) {
		sys = errno;
		/* Not every file system supports RENAME_NOREPLACE; more of them support links. */
		if (sys == EINVAL || sys == ENOSYS)
			sys = link(temporary, f->path) ? errno : 0;
		unlink(temporary);
	} else if (sys) {
		unlink(temporary);
	}
	if (sys) {
		close(f->fd);
		f->fd = -1;
	}
	/* Without links too, the file is empty for a moment. */
	if (sys == EPERM || sys == EOPNOTSUPP) {
		f->fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		sys = f->fd < 0 ? errno : 0;
	}
	return sys;
}

/* Makes the path free for a new file. Opens a device (*ret_is_open), refuses other kinds of files. */
static int make_room(struct newfile *f, bool *ret_is_open, struct err *err)
{
	struct stat st;

	*ret_is_open = false;
	if (lstat(f->path, &st))
		return errno == ENOENT ? 0 : err_sys(err, errno, "looking at '%s'", f->path);
	if (S_ISCHR(st.st_mode)) {
		f->fd = open(f->path, O_WRONLY | O_CLOEXEC);
		*ret_is_open = f->fd >= 0;
		return f->fd < 0 ? err_sys(err, errno, "opening '%s'", f->path) : 0;
	}
	if (S_ISLNK(st.st_mode) ? fd_link_leads_to_stream(f->path) : !S_ISREG(st.st_mode))
		return err_set(err, ERR_INVAL, "'%s' is %s: choose another name with -o", f->path,
			S_ISDIR(st.st_mode)            ? "a directory"
				: S_ISFIFO(st.st_mode) ? "a FIFO"
						       : "not a regular file");
	return move_aside(f, &st, err);
}

int newfile_create(struct newfile *f, const char *path, const void *front, size_t n,
	struct err *err)
{
	enum { TRIES = 16 }; /* one for each recorder that was faster than we */
	bool is_open;
	int sys = EEXIST;

	*f = (struct newfile){.path = path, .fd = -1};
	for (int i = 0; i < TRIES && sys == EEXIST; i++) {
		if (make_room(f, &is_open, err)) {
			newfile_bring_back(f);
			return err->code;
		}
		if (is_open)
			return 0;
		sys = create_named(f, front, n);
	}
	f->is_file = !sys;
	if (!sys)
		return 0;
	newfile_bring_back(f);
	return err_sys(err, sys, "creating '%s'", f->path);
}

void newfile_bring_back(const struct newfile *f)
{
	if (f->old_path[0])
		(void)!rename(f->old_path, f->path);
}
