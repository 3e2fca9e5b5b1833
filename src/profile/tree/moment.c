#include "profile/tree/moment.h"

#include <string.h>

#include "base/hash.h"
#include "event/abi.h"
#include "profile/gather/argc.h"
#include "profile/gather/idle.h"
#include "profile/gather/wallprofile.h"
#include "profile/tree/ignore.h"

static void count(struct moment *s)
{
	const struct profile *p = &s->profile;

	s->n_samples = s->n_idle;
	s->n_kernel = 0;
	vec_each(row, &p->rows) {
		const u8 mode = p->frames.at[row->frame].mode;

		s->n_samples += row->n_samples;
		if (mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_GUEST_KERNEL)
			s->n_kernel += row->n_samples;
	}
}

/* ---- what nobody reads ---- */

/* Rows are merged where only addresses tell them apart: not if there are callers, or labels that are frames. */
static bool can_merge(const struct profile *p)
{
	for (unsigned i = 0; i < p->n_labels; i++)
		if (profile_kind(p->label_at[i]) == PROFILE_FRAME ||
			profile_kind(p->label_at[i]) == PROFILE_FRAMES)
			return false;
	return !p->has_stacks && !p->branches.n;
}

static bool is_same(const struct profile *p, size_t a, size_t b)
{
	const struct profile_row *x = &p->rows.at[a], *y = &p->rows.at[b];
	const struct profile_frame *f = &p->frames.at[x->frame], *g = &p->frames.at[y->frame];

	return x->event == y->event && f->symbol == g->symbol && f->dso == g->dso &&
		f->mode == g->mode &&
		(!p->n_labels ||
			!memcmp(p->cells.at + a * p->n_labels, p->cells.at + b * p->n_labels,
				p->n_labels * sizeof(*p->cells.at)));
}

/* The row before `kept` that has the same function and labels; TABLE_NONE: there is none, and this one is noted. */
static u32 find(const struct profile *p, struct table *index, size_t row)
{
	const struct profile_row *r = &p->rows.at[row];
	u64 hash = hash_mix(p->frames.at[r->frame].symbol, r->event);
	struct table_probe probe;
	u32 i;

	for (unsigned k = 0; k < p->n_labels; k++)
		hash = hash_mix(hash, p->cells.at[row * p->n_labels + k]);
	probe = table_probe(index, hash);
	while ((i = table_next(index, &probe)) != TABLE_NONE)
		if (is_same(p, i, row))
			return i;
	table_add(index, hash, (u32)row);
	return TABLE_NONE;
}

static bool is_kept(void *ctx, size_t row)
{
	return ((const bool *)ctx)[row];
}

/* Keeps a row for each function, with the frame of its first address. */
static void merge_rows(struct profile *p)
{
	bool *kept = mem_zalloc(p->rows.n + 1);
	VEC(struct profile_frame) frames = {0};
	struct table index = {0};

	for (size_t row = 0; row < p->rows.n; row++) {
		const u32 first = find(p, &index, row);

		kept[row] = first == TABLE_NONE;
		if (kept[row])
			continue;
		p->rows.at[first].n_samples += p->rows.at[row].n_samples;
		p->rows.at[first].period += p->rows.at[row].period;
	}
	table_fini(&index);
	profile_keep_rows(p, is_kept, kept);
	vec_each(row, &p->rows) {
		vec_add(&frames, p->frames.at[row->frame]);
		row->frame = (u32)frames.n - 1;
	}
	vec_fini(&p->frames);
	memcpy(&p->frames, &frames, sizeof(p->frames));
	mem_free(kept);
}

/* Nothing is added to it any more, and it may be looked at for long. */
static void make_small(struct profile *p, bool has_places)
{
	table_fini(&p->frame_index);
	table_fini(&p->stack_index);
	if (!has_places && can_merge(p))
		merge_rows(p);
}

/* The profile has names. */
static void settle(struct moment *s, const struct moment_options *options)
{
	struct profile *p = &s->profile;

	s->n_idle = options->has_idle ? 0 : idle_remove(p);
	count(s);
	if (options->ignored_callees)
		ignore_callees(p, options->ignored_callees);
	if (options->filter)
		profile_filter_apply(p, options->filter);
	make_small(p, options->has_places);
	calls_init(&s->calls, p);
}

void moment_init(struct moment *s, const struct aggregate *a, struct resolver *resolver,
	const struct moment_options *options)
{
	struct profile *p = &s->profile;

	profile_init(p, a->profile.labels);
	profile_merge(p, &a->profile);
	resolver_settle(resolver);
	naming_resolve(p, resolver, &options->naming);
	argc_remove(p);
	if (options->has_wall)
		wallprofile_trim(p);
	settle(s, options);
}

void moment_of(struct moment *s, struct profile *p, const struct moment_options *options)
{
	s->profile = *p;
	*p = (struct profile){0};
	settle(s, options);
}

void moment_fini(struct moment *s)
{
	calls_fini(&s->calls);
	profile_fini(&s->profile);
}
