#include "file/samefile.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

static bool has_same_bytes(int a, int b, u64 size)
{
	enum { EACH = 1 << 16 };
	u8 *bytes = mem_alloc(2 * EACH);
	bool is_same = true;

	for (u64 at = 0; at < size && is_same; at += EACH) {
		size_t n = (size_t)MIN(size - at, (u64)EACH);

		is_same = !fd_read_at(a, bytes, n, at) && !fd_read_at(b, bytes + EACH, n, at) &&
			!memcmp(bytes, bytes + EACH, n);
	}
	mem_free(bytes);
	return is_same;
}

static bool are_copies(const char *a, const char *b, u64 size)
{
	int fd_a = open(a, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
	    fd_b = open(b, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is_same = fd_a >= 0 && fd_b >= 0 && has_same_bytes(fd_a, fd_b, size);

	if (fd_a >= 0)
		close(fd_a);
	if (fd_b >= 0)
		close(fd_b);
	return is_same;
}

bool samefile_is(const char *a, const char *b)
{
	struct stat x, y;

	if (stat(a, &x) || stat(b, &y))
		return false;
	if (x.st_dev == y.st_dev && x.st_ino == y.st_ino)
		return true;
	return S_ISREG(x.st_mode) && S_ISREG(y.st_mode) && x.st_size == y.st_size &&
		are_copies(a, b, (u64)x.st_size);
}
