#include "cmd/pagefile.h"

#include <unistd.h>

int pagefile_open(struct fresh *f, const char *path, struct out *out, struct err *err)
{
	const int is_bad = fresh_init(f, path, true, err);

	out->fd = is_bad ? -1 : fresh_open(f, err);
	return out->fd < 0 ? err->code : 0;
}

int pagefile_close(struct fresh *f, struct out *out, int result, struct err *err)
{
	struct err late;

	out_flush(out);
	if (!result && out->sys)
		result = err_sys(err, out->sys, "writing '%s'", f->path);
	close(out->fd);
	if (result) {
		fresh_abandon(f);
	} else if (fresh_commit(f, &late)) {
		*err = late;
		result = late.code;
	}
	*out = (struct out){.fd = STDOUT_FILENO, .text = out->text};
	return result;
}
