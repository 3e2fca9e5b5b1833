#include "view/forms/tracks.h"

#include "base/hash.h"
#include "view/forms/stackpath.h"

static const char *safe_name(struct tracks *l, const char *name)
{
	struct str text = {0};
	const char *kept;

	str_add_safe(&text, name, strlen(name));
	kept = intern_add(&l->names, str_text(&text), text.n);
	str_fini(&text);
	return kept;
}

/* The track of that thread and part, which is new if there is none. Without a tid, the name tells threads apart. */
static struct track *track_of(struct tracks *l, const struct track *wanted)
{
	const u64 hash = hash_mix((u64)wanted->pid << 32 | wanted->tid,
		(u64)wanted->part ^ (wanted->tid ? 0 : (u64)(uintptr_t)wanted->name));
	struct table_probe probe = table_probe(&l->index, hash);
	u32 i;

	while ((i = table_next(&l->index, &probe)) != TABLE_NONE) {
		const struct track *track = &l->at.at[i];

		if (track->pid == wanted->pid && track->tid == wanted->tid &&
			track->part == wanted->part && (track->tid || track->name == wanted->name))
			return &l->at.at[i];
	}
	table_add(&l->index, hash, (u32)l->at.n);
	vec_add(&l->at, *wanted);
	return &l->at.at[l->at.n - 1];
}

/* Gives each track its place in the items, and forgets their numbers, for filling them in. */
static void lay_out(struct tracks *l)
{
	vec_each(track, &l->at) {
		track->first = l->n_items;
		l->n_items += track->n;
		track->n = 0;
	}
	l->items = mem_alloc((l->n_items + 1) * sizeof(*l->items));
}

/* ---- with times ---- */

static struct track *track_of_sample(struct tracks *l, const struct rowset_times *t,
	const char *const *names, const struct timeline_sample *sample)
{
	const struct timeline_thread *thread = &t->timeline->threads.at[sample->thread];

	return track_of(l,
		&(struct track){.name = names[sample->thread],
			.pid = thread->pid,
			.tid = thread->tid,
			.part = t->spots[sample->row].part});
}

static void add_samples(struct tracks *l, const struct rowset_times *t)
{
	const struct timeline *timeline = t->timeline;
	const char **names = mem_alloc((timeline->threads.n + 1) * sizeof(*names));

	for (size_t i = 0; i < timeline->threads.n; i++)
		names[i] = safe_name(l, timeline->threads.at[i].comm);
	vec_each(sample, &timeline->at)
		if (t->spots[sample->row].node)
			track_of_sample(l, t, names, sample)->n++;
	lay_out(l);
	vec_each(sample, &timeline->at) {
		struct track *track;

		if (!t->spots[sample->row].node)
			continue;
		track = track_of_sample(l, t, names, sample);
		track->name = names[sample->thread];
		l->items[track->first + track->n++] = (struct track_item){.time = sample->time,
			.value = sample->period,
			.node = t->spots[sample->row].node,
			.cpu = sample->cpu};
		l->first_time = MIN(l->first_time, sample->time);
		l->last_time = MAX(l->last_time, sample->time);
	}
	mem_free(names);
}

/* ---- without ---- */

static struct track *track_of_stack(struct tracks *l, const struct rowset *r, size_t node, u32 part)
{
	size_t top = node;

	while (r->nodes[top].parent)
		top = r->nodes[top].parent;
	return track_of(l,
		&(struct track){.name = stackpath_place(r, top)->is_thread
				? safe_name(l, stackpath_place(r, top)->name)
				: safe_name(l, ""),
			.part = part});
}

static void add_stacks(struct tracks *l, const struct rowset *r)
{
	for (u32 part = 0; part < r->n_parts; part++)
		for (size_t row = 1; row < r->n; row++)
			if (stackpath_value(r, row, part, STACKPATH_PERIOD))
				track_of_stack(l, r, row, part)->n++;
	lay_out(l);
	l->first_time = 0;
	for (u32 part = 0; part < r->n_parts; part++)
		for (size_t row = 1; row < r->n; row++) {
			const u64 value = stackpath_value(r, row, part, STACKPATH_PERIOD);
			struct track *track;
			struct track_item *item;

			if (!value)
				continue;
			track = track_of_stack(l, r, row, part);
			item = &l->items[track->first + track->n];
			*item = (struct track_item){.value = value,
				.node = (u32)row,
				.cpu = (u32)-1};
			if (track->n)
				item->time = item[-1].time + item[-1].value;
			track->n++;
			l->last_time = MAX(l->last_time, item->time + value);
		}
}

void tracks_init(struct tracks *l, const struct rowset *r)
{
	const struct timeline *t = r->times ? r->times->timeline : NULL;

	*l = (struct tracks){.has_times = t && t->at.n && !t->n_timeless, .first_time = UINT64_MAX};
	if (l->has_times)
		add_samples(l, r->times);
	else
		add_stacks(l, r);
	l->first_time = MIN(l->first_time, l->last_time);
}

void tracks_fini(struct tracks *l)
{
	vec_fini(&l->at);
	mem_free(l->items);
	table_fini(&l->index);
	intern_fini(&l->names);
}
