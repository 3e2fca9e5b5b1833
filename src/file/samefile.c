#include "file/samefile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "file/standin.h"

static void say_of(const char *a, const char *b, int sys, struct log *log)
{
	struct err err;

	err_sys(&err, sys, "cannot tell whether '%s' and '%s' are the same recording", a, b);
	log_untried(log, a, &err);
}

static bool has_same_bytes(int a, int b, u64 size, int *ret_sys)
{
	enum { EACH = 1 << 16 };
	u8 *bytes = mem_alloc(2 * EACH);
	bool is_same = true;
	int sys = 0;

	for (u64 at = 0; at < size && is_same && !sys; at += EACH) {
		size_t n = (size_t)MIN(size - at, (u64)EACH);

		sys = fd_read_at(a, bytes, n, at);
		if (!sys)
			sys = fd_read_at(b, bytes + EACH, n, at);
		is_same = !sys && !memcmp(bytes, bytes + EACH, n);
	}
	mem_free(bytes);
	*ret_sys = sys;
	return is_same;
}

static bool are_copies(const char *a, const char *b, u64 size, struct log *log)
{
	int fd_a = open(a, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
	    fd_b = fd_a < 0 ? -1 : open(b, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int sys = fd_b < 0 ? errno : 0;
	bool is_same = fd_b >= 0 && has_same_bytes(fd_a, fd_b, size, &sys);

	if (sys)
		say_of(a, b, sys, log);
	if (fd_a >= 0)
		close(fd_a);
	if (fd_b >= 0)
		close(fd_b);
	return is_same;
}

bool samefile_is(const char *a, const char *b, struct log *log)
{
	struct stat x, y;

	if (standin_is(a) || standin_is(b))
		return !strcmp(a, b);
	if (stat(a, &x) || stat(b, &y)) {
		say_of(a, b, errno, log);
		return false;
	}
	if (x.st_dev == y.st_dev && x.st_ino == y.st_ino)
		return true;
	return S_ISREG(x.st_mode) && S_ISREG(y.st_mode) && x.st_size == y.st_size &&
		are_copies(a, b, (u64)x.st_size, log);
}
