#include "base/term.h"

#include <sys/ioctl.h>
#include <unistd.h>

bool term_is_terminal(int fd)
{
	return isatty(fd) == 1;
}

unsigned term_columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}
