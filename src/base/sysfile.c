#include "base/sysfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

struct growth {
	struct str *text;
	size_t more;
};

static void grow(void *growth)
{
	struct growth *g = growth;

	str_reserve(g->text, g->more);
}

/* Closes fd if memory runs out: inside mem_try() nothing else would. */
static void make_room(struct str *text, size_t more, int fd)
{
	struct growth g = {text, more};
	size_t size;

	if (mem_try(grow, &g, &size))
		return;
	close(fd);
	mem_exhausted(size);
}

int sysfile_read(const char *path, size_t limit, struct str *text, struct err *err)
{
	size_t start = text->n, room = 4096;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), sys = 0;
	ssize_t n = 0;

	if (fd < 0)
		return err_sys(err, errno, "opening '%s'", path);
	do {
		make_room(text, room, fd);
		n = read(fd, text->at + text->n, room);
		sys = n < 0 ? errno : 0;
		if (n > 0) {
			text->n += n;
			room = MAX(room, text->n - start);
		}
	} while ((n > 0 || sys == EINTR) && text->n - start <= limit);
	text->at[text->n] = '\0';
	close(fd);
	if (n < 0)
		return err_sys(err, sys, "reading '%s'", path);
	if (text->n - start > limit)
		return err_set(err, ERR_LIMIT, "reading '%s': it is larger than %zu bytes", path,
			limit);
	return 0;
}

bool sysfile_start(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t have = 0;
	ssize_t n;

	if (fd < 0)
		return false;
	while ((n = fd_read(fd, buf + have, size - 1 - have)) > 0)
		have += n;
	close(fd);
	buf[have] = '\0';
	return have > 0;
}

bool sysfile_line(const char *path, char *buf, size_t size)
{
	bool is_read = sysfile_start(path, buf, size);

	if (is_read)
		buf[strcspn(buf, "\n")] = '\0';
	return is_read;
}

bool sysfile_entries(const char *path, struct intern *names)
{
	struct dirent **entries;
	int n = scandir(path, &entries, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.')
			intern_str(names, entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return n >= 0;
}

bool sysfile_s64(const char *path, s64 *ret_v)
{
	char line[64], *end;
	s64 v;

	if (!sysfile_line(path, line, sizeof(line)))
		return false;
	errno = 0;
	v = strtoll(line, &end, 10);
	if (end == line || errno)
		return false;
	*ret_v = v;
	return true;
}
