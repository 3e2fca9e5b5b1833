#include "unit/outside.h"

#include <stdarg.h>
#include <stdio.h>

#include "test.h"

int outside_run(struct str *ret_text, const char *fmt, ...)
{
	struct str command = {0};
	char buf[65536];
	va_list ap;
	size_t n;
	FILE *pipe;

	va_start(ap, fmt);
	str_vaddf(&command, fmt, ap);
	va_end(ap);
	fflush(stdout);
	pipe = popen(str_text(&command), "r");
	str_fini(&command);
	if (!pipe)
		return -1;
	while ((n = fread(buf, 1, sizeof(buf), pipe)) > 0)
		str_addn(ret_text, buf, n);
	return pclose(pipe);
}

void outside_need(const char *program)
{
	struct str text = {0};
	int status = outside_run(&text, "command -v %s", program);

	str_fini(&text);
	if (status)
		SKIP("%s is not installed", program);
}

bool outside_compile(const char *text, const char *name, const char *flags)
{
	const char *source = test_path("source.c");
	struct str out = {0};
	int status;

	outside_need("cc");
	test_write(source, text, strlen(text));
	status = outside_run(&out, "cc %s -o %s -x c %s 2>&1", flags, test_path(name), source);
	str_fini(&out);
	return status == 0;
}
