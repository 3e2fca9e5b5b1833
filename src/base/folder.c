#include "base/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct looking {
	DIR *dir;
	bool (*see)(void *ctx, const struct dirent *entry);
	void *ctx;
};

static void look(void *looking)
{
	struct looking *l = looking;
	struct dirent *entry;

	while ((entry = readdir(l->dir)) != NULL)
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
			!l->see(l->ctx, entry))
			return;
}

int folder_each(const char *path, bool (*see)(void *ctx, const struct dirent *entry), void *ctx)
{
	struct looking l = {opendir(path), see, ctx};
	bool is_done = true;
	size_t size = 0;

	if (!l.dir)
		return errno;
	if (mem_is_trying())
		is_done = mem_try(look, &l, &size);
	else
		look(&l);
	closedir(l.dir);
	if (!is_done)
		mem_exhausted(size);
	return 0;
}

const char *folder_of_temporaries(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}
