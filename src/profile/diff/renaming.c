#include "profile/diff/renaming.h"

#include <string.h>

#include "base/hash.h"

/* A file of the rows, and the sides that have it. */
struct file_use {
	const char *name;
	bool is_in[DELTA_SIDES];
	size_t n;            /* for files that only B has: number of functions */
	const char *partner; /* for these: the file of A that has most functions in common */
	size_t n_common;
};

/* A function of a file that only A has; or two files, and how many functions they have in common. */
struct file_function {
	u32 file, other;
	const char *symbol, *build;
	size_t n;
};

struct search {
	const struct delta *delta;
	size_t file, symbol; /* columns */
	VEC(struct file_use) files;
	VEC(struct file_function) functions, pairs;
	struct table file_index, function_index, pair_index;
};

static u32 get_file(struct search *r, const char *name)
{
	u64 hash = hash_mix((u64)(uintptr_t)name, 1);
	struct table_probe probe = table_probe(&r->file_index, hash);
	u32 i;

	while ((i = table_next(&r->file_index, &probe)) != TABLE_NONE)
		if (r->files.at[i].name == name)
			return i;
	table_add(&r->file_index, hash, (u32)r->files.n);
	vec_add(&r->files, ((struct file_use){.name = name}));
	return (u32)r->files.n - 1;
}

static bool is_lonely(const struct file_use *use, int side)
{
	return use->is_in[side] && !use->is_in[!side];
}

static void add_function(struct search *r, u32 file, const char *symbol, const char *build)
{
	u64 hash = hash_mix((u64)(uintptr_t)symbol, (u64)(uintptr_t)build);
	struct table_probe probe = table_probe(&r->function_index, hash);
	u32 i;

	while ((i = table_next(&r->function_index, &probe)) != TABLE_NONE)
		if (r->functions.at[i].file == file && r->functions.at[i].symbol == symbol &&
			r->functions.at[i].build == build)
			return;
	table_add(&r->function_index, hash, (u32)r->functions.n);
	vec_add(&r->functions,
		((struct file_function){.file = file, .symbol = symbol, .build = build}));
}

/* Counts one more function that file a of A and file b of B have in common. */
static void add_common(struct search *r, u32 a, u32 b)
{
	u64 hash = hash_mix(a, b);
	struct table_probe probe = table_probe(&r->pair_index, hash);
	struct file_use *use = &r->files.at[b];
	u32 i;

	while ((i = table_next(&r->pair_index, &probe)) != TABLE_NONE)
		if (r->pairs.at[i].file == a && r->pairs.at[i].other == b)
			break;
	if (i == TABLE_NONE) {
		i = (u32)r->pairs.n;
		table_add(&r->pair_index, hash, i);
		vec_add(&r->pairs, ((struct file_function){.file = a, .other = b}));
	}
	if (++r->pairs.at[i].n > use->n_common) {
		use->n_common = r->pairs.at[i].n;
		use->partner = r->files.at[a].name;
	}
}

static void count_common(struct search *r, u32 file, const char *symbol, const char *build)
{
	struct table_probe probe = table_probe(&r->function_index,
		hash_mix((u64)(uintptr_t)symbol, (u64)(uintptr_t)build));
	u32 i;

	r->files.at[file].n++;
	while ((i = table_next(&r->function_index, &probe)) != TABLE_NONE)
		if (r->functions.at[i].symbol == symbol && r->functions.at[i].build == build)
			add_common(r, r->functions.at[i].file, file);
}

void renaming_find(struct renaming *ret, const struct delta *d)
{
	struct search r = {d, delta_column(d, KEY_DSO), delta_column(d, KEY_SYMBOL)};

	memset(ret, 0, sizeof(*ret));
	if (r.file == d->n_keys || r.symbol == d->n_keys)
		return;
	vec_each(row, &d->rows) {
		u32 file = get_file(&r, row->names[r.file]);

		r.files.at[file].is_in[DELTA_A] |= row->is_in[DELTA_A];
		r.files.at[file].is_in[DELTA_B] |= row->is_in[DELTA_B];
	}
	vec_each(row, &d->rows) {
		u32 file = get_file(&r, row->names[r.file]);

		if (is_lonely(&r.files.at[file], DELTA_A))
			add_function(&r, file, row->names[r.symbol], row->build);
	}
	vec_each(row, &d->rows) {
		u32 file = get_file(&r, row->names[r.file]);

		if (is_lonely(&r.files.at[file], DELTA_B))
			count_common(&r, file, row->names[r.symbol], row->build);
	}
	vec_each(use, &r.files) {
		if (!use->n_common || 2 * use->n_common < use->n)
			continue;
		table_add(&ret->index, hash_u64((uintptr_t)use->name), (u32)ret->b.n);
		vec_add(&ret->b, use->name);
		vec_add(&ret->a, use->partner);
	}
	vec_fini(&r.files);
	vec_fini(&r.functions);
	vec_fini(&r.pairs);
	table_fini(&r.file_index);
	table_fini(&r.function_index);
	table_fini(&r.pair_index);
}

void renaming_fini(struct renaming *r)
{
	vec_fini(&r->a);
	vec_fini(&r->b);
	table_fini(&r->index);
}

const char *renaming_of(const struct renaming *r, const char *b)
{
	struct table_probe probe = table_probe(&r->index, hash_u64((uintptr_t)b));
	u32 i;

	while ((i = table_next(&r->index, &probe)) != TABLE_NONE)
		if (r->b.at[i] == b)
			return r->a.at[i];
	return b;
}
