#include <string.h>

#include "cmd/record/recording.h"
#include "symbol/find/filecache.h"

/* Whether the file is still the build that ran. */
static bool is_that_build(const struct file_build_id *b)
{
	struct str now = {0}, then = {0};
	struct err err;
	bool is_same;

	for (u8 i = 0; i < b->id_size; i++)
		str_addf(&then, "%02x", b->id[i]);
	is_same = !filecache_id(b->path, &now, &err) && !strcmp(str_text(&now), str_text(&then));
	str_fini(&now);
	str_fini(&then);
	return is_same;
}

void record_fill_cache(struct recording *rec, const struct file_info *info)
{
	struct filecache cache;
	struct err err;
	size_t n_failed = 0;

	if (filecache_open(&cache, &err)) {
		log_warn(&rec->log, "--buildid-cache: %s", err.msg);
		return;
	}
	vec_each(b, &info->build_ids) {
		struct str id = {0};
		struct err why;

		/* Of this machine's files, not a guest's; names like [vdso] are no files. */
		if (b->path[0] != '/' || b->pid >= 0 || !is_that_build(b))
			continue;
		if (filecache_add(&cache, "", b->path, &id, &why) && !n_failed++)
			err = why;
		str_fini(&id);
	}
	if (n_failed)
		log_warn(&rec->log, "--buildid-cache: %zu file%s could not be kept: %s", n_failed,
			n_failed == 1 ? "" : "s", err.msg);
	filecache_close(&cache);
}
