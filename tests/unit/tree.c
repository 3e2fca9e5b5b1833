#include "unit/tree.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "test.h"

/* Makes all folders of a path up to its last slash. */
static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			test_failed(__FILE__, __LINE__, "making '%s': %s", path, strerror(errno));
		*slash = '/';
	}
}

void tree_file(const char *root, const char *text, const char *path, ...)
{
	char full[4096];
	va_list ap;
	int n = snprintf(full, sizeof(full), "%s/", root);

	va_start(ap, path);
	vsnprintf(full + n, sizeof(full) - n, path, ap);
	va_end(ap);
	make_folders(full);
	test_write(full, text, strlen(text));
}

void tree_dir(const char *root, const char *path, ...)
{
	char full[4096];
	va_list ap;
	int n = snprintf(full, sizeof(full), "%s/", root);

	va_start(ap, path);
	n += vsnprintf(full + n, sizeof(full) - n - 1, path, ap);
	va_end(ap);
	strcpy(full + n, "/");
	make_folders(full);
}
