#include "cmd/pagefile.h"

#include <string.h>
#include <unistd.h>

static bool is_stdout(const char *path)
{
	return !strcmp(path, "-");
}

int pagefile_open(struct fresh *f, const char *path, struct out *out, struct err *err)
{
	int is_bad;

	*f = (struct fresh){.path = path};
	if (is_stdout(path))
		return 0;
	is_bad = fresh_init(f, path, true, err);
	out->fd = is_bad ? -1 : fresh_open(f, err);
	return out->fd < 0 ? err->code : 0;
}

int pagefile_close(struct fresh *f, struct out *out, int result, struct err *err)
{
	struct err late;

	out_flush(out);
	if (!result && out->sys)
		result = is_stdout(f->path) ? err_sys(err, out->sys, "writing the output")
					    : err_sys(err, out->sys, "writing '%s'", f->path);
	if (is_stdout(f->path)) {
		out->sys = 0;
		return result;
	}
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
