#include "view/forms/filelayout.h"

#include "base/hash.h"

enum {
	PAGE = 4096,
};

#define FIRST_MAPPING ((u64)1 << 32) /* where the first file is put */

static u32 file_of(struct filelayout *l, const struct rowset_place *place)
{
	const u64 hash = hash_mix((u64)(uintptr_t)place->dso, (u64)(uintptr_t)place->build);
	struct table_probe probe = table_probe(&l->index, hash);
	u32 i;

	while ((i = table_next(&l->index, &probe)) != TABLE_NONE)
		if (l->files.at[i].dso == place->dso && l->files.at[i].build == place->build)
			return i;
	table_add(&l->index, hash, (u32)l->files.n);
	vec_add(&l->files,
		((struct filelayout_file){.dso = place->dso,
			.build = place->build,
			.name = place->dso_name,
			.low = UINT64_MAX}));
	return (u32)l->files.n - 1;
}

void filelayout_init(struct filelayout *l, const struct rowset *r)
{
	u64 next = FIRST_MAPPING;

	*l = (struct filelayout){.rows = r, .file_of = mem_zalloc((r->n_places + 1) * sizeof(u32))};
	for (size_t i = 0; i < r->n_places; i++) {
		const struct rowset_place *place = &r->places[i];
		struct filelayout_file *file;

		if (place->is_thread)
			continue;
		l->file_of[i] = file_of(l, place);
		/* What stands for callers that were not found is nowhere: its address means nothing. */
		if (place->kind == CODEKIND_CUT)
			continue;
		file = &l->files.at[l->file_of[i]];
		file->low = MIN(file->low, place->address & -(u64)PAGE);
		file->high = MAX(file->high, place->address | (PAGE - 1));
	}
	vec_each(file, &l->files) {
		const bool is_offset = filelayout_has_offsets(file);

		if (file->low > file->high) {
			file->low = 0;
			file->high = PAGE - 1;
		}
		file->start = is_offset ? next : file->low;
		if (is_offset && file->high - file->low < FIRST_MAPPING)
			next += file->high - file->low + 1 + PAGE;
	}
}

void filelayout_fini(struct filelayout *l)
{
	vec_fini(&l->files);
	table_fini(&l->index);
	mem_free(l->file_of);
}
