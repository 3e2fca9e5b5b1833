/*
 * api.c - the version, and errors in their public form.
 */
#include "api.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

_Static_assert((int)PACE_ERROR_LIMIT == (int)ERR_LIMIT,
	"public and internal error codes are the same numbers");
_Static_assert(sizeof(((struct pace_error *)0)->message) >= sizeof(((struct err *)0)->msg),
	"messages fit");

int api_give_error(const struct err *from, struct pace_error *to)
{
	to->code = from->code;
	to->system = from->sys;
	memcpy(to->message, from->msg, sizeof(from->msg));
	return from->code;
}

int api_exhausted(size_t size, struct err *err, const char *fmt, ...)
{
	char doing[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(doing, sizeof(doing), fmt, ap);
	va_end(ap);
	if (size)
		return err_sys(err, ENOMEM, "%s: %zu bytes more were needed", doing, size);
	return err_sys(err, ENOMEM, "%s", doing);
}

PUBLIC const char *pace_version(void)
{
	return PACE_VERSION;
}
