#include "profile/tree/batching.h"

#include "base/str.h"
#include "machine/dso.h"

/* The function of a symbol, as a frame. */
static struct batch_frame frame_of(struct batch *b, const struct profile *p, u32 symbol)
{
	const struct profile_symbol *s = &p->symbols.at[profile_function(p, symbol)];
	const struct profile_dso *dso = &p->dsos.at[s->dso];
	struct batch_frame f = {.file = batch_add_string(b, dso->name),
		.mode = s->mode,
		.is_inlined = s->is_inlined};
	struct str text = {0};

	if (profile_is_named(s)) {
		str_add(&text, s->name);
		f.is_named = true;
	} else if (dso->kind == DSO_UNKNOWN || dso->kind == DSO_JIT) {
		/* Addresses mean nothing elsewhere, nor a minute later. */
		str_add(&text, "[unknown]");
	} else {
		str_addf(&text, "[%s+0x%llx]", dso->name, (unsigned long long)s->start);
		f.build = batch_add_string(b, dso->build);
	}
	f.name = batch_text(b, str_text(&text), text.n);
	str_fini(&text);
	return f;
}

void batch_add_profile(struct batch *b, const struct profile *p, const struct calls *calls,
	const struct batch_labelling *labelling)
{
	u32 *stack_of = mem_zalloc(calls->nodes.n * sizeof(*stack_of));
	u32 *frames = mem_zalloc((p->symbols.n + 1) * sizeof(*frames)); /* by symbol, + 1 */
	u32 *events = mem_zalloc((p->events.n + 1) * sizeof(*events));
	u32 cells[BATCH_COLUMNS] = {0};

	for (size_t i = 1; i < calls->nodes.n; i++) {
		const struct calls_node *node = &calls->nodes.at[i];

		if (!frames[node->symbol]) {
			const struct batch_frame f = frame_of(b, p, node->symbol);

			frames[node->symbol] = batch_frame(b, &f) + 1;
		}
		stack_of[i] = batch_stack(b, stack_of[node->parent], frames[node->symbol] - 1);
	}
	for (size_t i = 0; i < p->events.n; i++) {
		events[i] = batch_event(b, p->events.at[i].name);
		b->events.at[events[i]].n_lost += p->events.at[i].n_lost;
	}
	for (size_t i = 0; i < p->rows.n; i++) {
		const struct profile_row *row = &p->rows.at[i];
		const struct profile_dso *dso = &p->dsos.at[p->frames.at[row->frame].dso];

		if (labelling)
			labelling->label(labelling->ctx, b, p, i, cells);
		batch_count(b,
			&(struct batch_row){events[row->event], stack_of[calls->of_row[i]],
				batch_add_string(b, dso->build), row->n_samples, row->period},
			cells);
	}
	mem_free(stack_of);
	mem_free(frames);
	mem_free(events);
}
