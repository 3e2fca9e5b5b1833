#include "collect/open/program.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

static bool is_program(const char *folder, size_t n, const char *command, char path[PATH_MAX])
{
	/* An empty entry of PATH is the current directory. */
	int length = snprintf(path, PATH_MAX, "%.*s%s%s", (int)n, folder, n ? "/" : "", command);
	struct stat st;

	return length < PATH_MAX && !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

bool program_find(const char *command, char path[PATH_MAX])
{
	const char *folders = getenv("PATH"), *p = folders ? folders : "/bin:/usr/bin";

	if (strchr(command, '/'))
		return is_program("", 0, command, path);
	for (;; p++) {
		size_t n = strcspn(p, ":");

		if (is_program(p, n, command, path))
			return true;
		p += n;
		if (!*p)
			return false;
	}
}

bool program_interpreter(const char *path, char interpreter[PATH_MAX])
{
	char line[PATH_MAX] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 ? fd_read(fd, line, sizeof(line) - 1) : 0;
	size_t start;

	if (fd >= 0)
		close(fd);
	if (n < 3 || memcmp(line, "#!", 2))
		return false;
	start = 2 + strspn(line + 2, " \t");
	line[start + strcspn(line + start, " \t\n")] = '\0';
	strcpy(interpreter, line + start);
	return interpreter[0] != '\0';
}
