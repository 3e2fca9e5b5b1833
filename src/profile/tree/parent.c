#include "profile/tree/parent.h"

#include "profile/gather/matching.h"

void parent_find(struct profile *p, const regex_t *expression)
{
	bool *matches = matching_symbols(p, expression);
	u32 *of_stack = mem_zalloc((p->stacks.n + 1) * sizeof(*of_stack));
	u8 slot = p->slots[LABEL_PARENT];

	/* Parents come before their children. */
	for (size_t i = 1; i < p->stacks.n; i++) {
		u32 function = profile_frame_function(p, p->stacks.at[i].frame);

		of_stack[i] = matches[function] ? function : of_stack[p->stacks.at[i].parent];
	}
	for (size_t i = 0; slot && i < p->rows.n; i++) {
		u32 function = profile_frame_function(p, p->rows.at[i].frame);

		p->cells.at[i * p->n_labels + slot - 1] =
			matches[function] ? function : of_stack[p->rows.at[i].callers];
	}
	mem_free(matches);
	mem_free(of_stack);
}

struct dropping {
	struct profile *profile;
	bool is_relative;
};

static bool has_parent(void *ctx, size_t i)
{
	const struct dropping *d = ctx;
	const struct profile_row *row = &d->profile->rows.at[i];
	struct profile_event *event = &d->profile->events.at[row->event];

	if (profile_label(d->profile, i, LABEL_PARENT))
		return true;
	if (d->is_relative) {
		event->n_samples -= row->n_samples;
		event->period -= row->period;
	} else {
		profile_drop_latency(d->profile, i);
	}
	return false;
}

void parent_drop_others(struct profile *p, bool is_relative)
{
	struct dropping d = {p, is_relative};

	profile_keep_rows(p, has_parent, &d);
}
