#include "view/screen/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"

static size_t n_lines(const struct str *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->n; i++)
		n += text->at[i] == '\n';
	return n;
}

static void write_to(int fd, const char *path, const struct str *text, struct str *message)
{
	struct out out = {.fd = fd};
	struct err err;

	str_addn(&out.text, str_text(text), text->n);
	if (out_close(&out, &err))
		str_addf(message, "'%s': %s", path, err.msg);
	else
		str_addf(message, "wrote %zu lines to '%s'", n_lines(text), path);
	close(fd);
}

void snapshot_write(const char *name, const struct str *text, struct str *message)
{
	enum { MOST = 1000 };
	struct str path = {0};
	int fd = -1, error = EEXIST;

	str_cut(message, 0);
	for (int i = 0; i < MOST && fd < 0 && error == EEXIST; i++) {
		str_cut(&path, 0);
		str_addf(&path, "%s.%d", name, i);
		fd = open(str_text(&path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		error = errno;
	}
	if (fd >= 0)
		write_to(fd, str_text(&path), text, message);
	else
		str_addf(message, "'%s': %s", str_text(&path), strerror(error));
	str_fini(&path);
}
