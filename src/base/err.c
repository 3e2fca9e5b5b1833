#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	err->code = code;
	err->sys = 0;
	return code;
}

static int code_of(int sys)
{
	switch (sys) {
	case EACCES:
	case EPERM:
		return ERR_PERM;
	case ENOENT:
	case ENOTDIR:
	case ENAMETOOLONG:
		return ERR_NOENT;
	default:
		return ERR_SYS;
	}
}

int err_sys(struct err *err, int sys, const char *fmt, ...)
{
	char reason[128];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(err->msg))
		snprintf(err->msg + n, sizeof(err->msg) - n, ": %s",
			strerror_r(sys, reason, sizeof(reason)));
	err->sys = sys;
	err->code = code_of(sys);
	return err->code;
}

int err_prefix(struct err *err, const char *fmt, ...)
{
	char old[sizeof(err->msg)];
	va_list ap;
	int n;

	memcpy(old, err->msg, sizeof(old));
	va_start(ap, fmt);
	n = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(err->msg))
		snprintf(err->msg + n, sizeof(err->msg) - n, ": %.*s", (int)(sizeof(err->msg) - n),
			old);
	return err->code;
}
