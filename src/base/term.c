#include "base/term.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool term_is_terminal(int fd)
{
	return isatty(fd) == 1;
}

bool term_has_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *locale = getenv(variables[i]), *charset;

		if (!locale || !*locale)
			continue;
		charset = strchr(locale, '.');
		return charset &&
			(!strncasecmp(charset, ".utf-8", 6) || !strncasecmp(charset, ".utf8", 5));
	}
	return false;
}

unsigned term_columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

unsigned term_rows(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row ? size.ws_row : 24;
}

bool term_can_erase(int fd)
{
	const char *term = getenv("TERM");

	return term_is_terminal(fd) && term && *term && strcmp(term, "dumb") != 0;
}
