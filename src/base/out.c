#include "base/out.h"

#include <errno.h>
#include <unistd.h>

enum { FLUSH_BYTES = 64 << 10 };

void out_flush(struct out *o)
{
	size_t done = 0;

	while (!o->sys && done < o->text.n) {
		ssize_t n = write(o->fd, o->text.at + done, o->text.n - done);

		if (n >= 0)
			done += n;
		else if (errno != EINTR)
			o->sys = errno;
	}
	str_clear(&o->text);
}

void out_flush_some(struct out *o)
{
	if (o->text.n >= FLUSH_BYTES)
		out_flush(o);
}

int out_close(struct out *o, struct err *err)
{
	out_flush(o);
	str_fini(&o->text);
	return o->sys ? err_sys(err, o->sys, "writing the output") : 0;
}
