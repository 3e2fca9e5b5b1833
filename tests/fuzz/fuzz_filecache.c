/* The links of a cache by build-id, as an archive from elsewhere may have them: texts that end in NUL are names and targets in turn. */
#include "fuzz/fuzz.h"

#include <sys/stat.h>
#include <unistd.h>

#include "symbol/find/filecache.h"

enum { LINKS = 8 };

static char folder[] = "/tmp/fuzz-filecache-XXXXXX";

static void tidy(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	if (system(command))
		perror(folder);
}

static void begin(void)
{
	char path[128];

	FUZZ_CHECK(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/.build-id", folder);
	FUZZ_CHECK(!mkdir(path, 0700));
	snprintf(path, sizeof(path), "%s/.build-id/ab", folder);
	FUZZ_CHECK(!mkdir(path, 0700));
	setenv("PERF_BUILDID_DIR", folder, 1);
	atexit(tidy);
}

/* Whether a path has a part "..". */
static bool climbs(const char *path)
{
	struct str padded = {0};
	bool result;

	str_addf(&padded, "/%s/", path);
	result = strstr(padded.at, "/../");
	str_fini(&padded);
	return result;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	char *text = calloc(1, n + 2), *at = text, path[4096], names[LINKS][256];
	struct filecache c;
	struct err err;
	size_t n_links = 0;

	if (folder[strlen(folder) - 1] == 'X')
		begin();
	memcpy(text, data, n);
	while (n_links < LINKS && at + strlen(at) < text + n) {
		const char *name = at, *target = at + strlen(at) + 1;

		at = (char *)target + (target < text + n ? strlen(target) + 1 : 0);
		snprintf(names[n_links], sizeof(names[0]), "%s", name);
		if (strchr(name, '/') || strlen(name) > 255 || target >= text + n)
			continue;
		snprintf(path, sizeof(path), "%s/.build-id/ab/%s", folder, names[n_links]);
		n_links += !symlink(target, path);
	}
	FUZZ_CHECK(!filecache_open(&c, &err));
	vec_each(e, &c.entries) {
		FUZZ_CHECK(!strncmp(e->id, "ab", 2) && !climbs(e->path));
		FUZZ_CHECK(e->path[0] == '/' || e->path[0] == '[');
		FUZZ_CHECK(filecache_find(&c, e->id));
	}
	filecache_close(&c);
	for (size_t i = 0; i < n_links; i++) {
		snprintf(path, sizeof(path), "%s/.build-id/ab/%s", folder, names[i]);
		unlink(path);
	}
	free(text);
	return 0;
}
