#include "profile/tree/part.h"

/* A row that is left out; shares that are relative are of the others. */
static void leave_out(struct part *part, const struct profile_row *row, bool is_relative)
{
	struct profile_event *event = &part->profile.events.at[row->event];

	if (!is_relative)
		return;
	event->n_samples -= row->n_samples;
	event->period -= row->period;
}

void part_init(struct part *part, const struct profile *p, const struct calls *c, bool is_relative,
	bool (*is_kept)(void *ctx, size_t row), void *ctx)
{
	VEC(u32) kept = {0};

	*part = (struct part){.profile = *p, .calls = *c};
	memset(&part->profile.rows, 0, sizeof(part->profile.rows));
	memset(&part->profile.cells, 0, sizeof(part->profile.cells));
	memset(&part->profile.events, 0, sizeof(part->profile.events));
	part->profile.timeline = NULL;
	vec_each(event, &p->events)
		vec_add(&part->profile.events, *event);
	/* Room that is not needed is never touched: it costs nothing. */
	vec_reserve(&kept, p->rows.n);
	vec_reserve(&part->profile.rows, p->rows.n);
	vec_reserve(&part->profile.cells, p->rows.n * p->n_labels);
	for (size_t row = 0; row < p->rows.n; row++) {
		if (!is_kept(ctx, row)) {
			leave_out(part, &p->rows.at[row], is_relative);
			continue;
		}
		vec_add(&kept, (u32)row);
		profile_add_row(&part->profile, &p->rows.at[row], &p->cells.at[row * p->n_labels]);
	}
	calls_init_part(&part->calls, c, &part->profile, kept.at);
	vec_fini(&kept);
}

void part_fini(struct part *part)
{
	vec_fini(&part->profile.rows);
	vec_fini(&part->profile.cells);
	vec_fini(&part->profile.events);
	calls_fini_part(&part->calls);
}
