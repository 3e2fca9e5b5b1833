#include "base/out.h"

#include <errno.h>
#include <unistd.h>

#include "base/fd.h"

enum { FLUSH_BYTES = 64 << 10 };

static int (*route)(const char *text, size_t n);

void out_route(int (*write)(const char *text, size_t n))
{
	route = write;
}

static bool is_routed(const struct out *o)
{
	return route && o->fd == STDOUT_FILENO;
}

void out_flush(struct out *o)
{
	if (!o->sys && is_routed(o))
		o->sys = route(o->text.at, o->text.n);
	else if (!o->sys)
		o->sys = fd_write(o->fd, o->text.at, o->text.n);
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
	if (o->sys == EPIPE && is_routed(o))
		return 0;
	if (!o->sys)
		return 0;
	return o->name ? err_sys(err, o->sys, "writing '%s'", o->name)
		       : err_sys(err, o->sys, "writing the output");
}
