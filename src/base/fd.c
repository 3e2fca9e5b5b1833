#include "base/fd.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t fd_read(int fd, void *p, size_t n)
{
	ssize_t got;

	do {
		got = read(fd, p, n);
	} while (got < 0 && errno == EINTR);
	return got;
}

ssize_t fd_read_some_at(int fd, void *p, size_t n, u64 offset)
{
	ssize_t got;

	do {
		got = pread(fd, p, n, (off_t)offset);
	} while (got < 0 && errno == EINTR);
	return got;
}

int fd_read_at(int fd, void *p, size_t n, u64 offset)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = fd_read_some_at(fd, (u8 *)p + done, n - done, offset + done);

		if (got <= 0)
			return got ? errno : EIO;
		done += (size_t)got;
	}
	return 0;
}

int fd_write(int fd, const void *p, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t put = write(fd, (const u8 *)p + done, n - done);

		if (put > 0)
			done += (size_t)put;
		else if (!put || errno != EINTR)
			return put ? errno : ENOSPC;
	}
	return 0;
}

int fd_write_at(int fd, const void *p, size_t n, u64 offset)
{
	for (size_t done = 0; done < n;) {
		ssize_t put = pwrite(fd, (const u8 *)p + done, n - done, (off_t)(offset + done));

		if (put > 0)
			done += (size_t)put;
		else if (!put || errno != EINTR)
			return put ? errno : ENOSPC;
	}
	return 0;
}

bool fd_link_leads_to_stream(const char *link)
{
	struct stat target, own;

	if (stat(link, &target))
		return false;
	if (!S_ISREG(target.st_mode))
		return true;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (!fstat(fd, &own) && own.st_dev == target.st_dev && own.st_ino == target.st_ino)
			return true;
	return false;
}
