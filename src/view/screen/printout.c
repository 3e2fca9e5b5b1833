#include "view/screen/printout.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool printout_open(struct printout *s, const char *name, struct str *message)
{
	enum { MOST = 1000 };
	int error = EEXIST;

	*s = (struct printout){.out.fd = -1};
	for (int i = 0; i < MOST && s->out.fd < 0 && error == EEXIST; i++) {
		str_cut(&s->path, 0);
		str_addf(&s->path, "%s.%d", name, i);
		s->out.fd = open(str_text(&s->path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		error = errno;
	}
	if (s->out.fd >= 0)
		return true;
	str_cut(message, 0);
	str_addf(message, "'%s': %s", str_text(&s->path), strerror(error));
	str_fini(&s->path);
	return false;
}

void printout_close(struct printout *s, size_t n, struct str *message)
{
	struct err err;

	str_cut(message, 0);
	if (out_close(&s->out, &err))
		str_addf(message, "'%s': %s", str_text(&s->path), err.msg);
	else
		str_addf(message, "wrote %zu lines to '%s'", n, str_text(&s->path));
	close(s->out.fd);
	str_fini(&s->path);
}
