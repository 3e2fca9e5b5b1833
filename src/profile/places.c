#include "profile/places.h"

#include "base/hash.h"

void places_init(struct places *p)
{
	memset(p, 0, sizeof(*p));
	profile_init(&p->profile, 0);
}

void places_fini(struct places *p)
{
	profile_fini(&p->profile);
	table_fini(&p->index);
	vec_fini(&p->dsos);
}

void places_add_event(struct places *p, const char *name)
{
	vec_add(&p->profile.events,
		((struct profile_event){.name = intern_str(&p->profile.strings, name)}));
}

static u32 dso_of(struct places *p, const struct dso *dso)
{
	while (p->dsos.n <= dso->id)
		vec_add(&p->dsos, 0);
	if (!p->dsos.at[dso->id]) {
		vec_add(&p->profile.dsos,
			((struct profile_dso){intern_str(&p->profile.strings, dso->path),
				intern_str(&p->profile.strings, dso->name), dso->kind, dso->id}));
		p->dsos.at[dso->id] = p->profile.dsos.n;
	}
	return p->dsos.at[dso->id] - 1;
}

/* per sample */
static struct profile_row *row_of(struct places *p, u32 event, u32 frame)
{
	u64 hash = hash_u64((u64)event << 32 | frame);
	struct table_probe probe = table_probe(&p->index, hash);
	struct profile_row *row;
	u32 i;

	while ((i = table_next(&p->index, &probe)) != TABLE_NONE) {
		row = &p->profile.rows.at[i];
		if (row->event == event && row->frame == frame)
			return row;
	}
	table_add(&p->index, hash, p->profile.rows.n);
	row = vec_push(&p->profile.rows);
	*row = (struct profile_row){.event = event, .frame = frame};
	return row;
}

/* per sample */
void places_add(struct places *p, u32 event, const struct dso *dso, u64 address, u8 mode,
	u64 period)
{
	struct profile_frame frame = {.dso = dso_of(p, dso), .address = address, .mode = mode};
	struct profile_row *row = row_of(p, event, profile_frame(&p->profile, &frame));
	struct profile_event *e = &p->profile.events.at[event];

	row->n_samples++;
	row->period += period;
	e->n_samples++;
	e->period += period;
}
