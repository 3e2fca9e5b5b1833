#include "base/out.h"

#include "base/fd.h"

enum { FLUSH_BYTES = 64 << 10 };

void out_flush(struct out *o)
{
	if (!o->sys)
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
	return o->sys ? err_sys(err, o->sys, "writing the output") : 0;
}
