#include "profile/filter.h"

#include <string.h>

unsigned profile_filter_labels(const struct profile_filter *f)
{
	return f->comms ? 1 << LABEL_COMM : 0;
}

/* Whether the list has the word. */
static bool has_word(const char *list, const char *word)
{
	size_t n = word ? strlen(word) : 0;

	while (n && *list) {
		size_t length = strcspn(list, ",");

		if (length == n && !memcmp(list, word, n))
			return true;
		list += length;
		list += *list == ',';
	}
	return false;
}

/* By DSO, by symbol: whether it is wanted; so each name is compared once. */
struct wanted {
	bool *dsos, *symbols;
};

static struct wanted wanted_of(const struct profile *p, const struct profile_filter *f)
{
	struct wanted w = {mem_zalloc(p->dsos.n + 1), mem_zalloc(p->symbols.n + 1)};

	for (size_t i = 0; i < p->dsos.n; i++)
		w.dsos[i] = !f->dsos || has_word(f->dsos, p->dsos.at[i].name) ||
			has_word(f->dsos, p->dsos.at[i].path);
	for (size_t i = 0; i < p->symbols.n; i++)
		w.symbols[i] = !f->symbols || has_word(f->symbols, p->symbols.at[i].name);
	return w;
}

void profile_filter_apply(struct profile *p, const struct profile_filter *f)
{
	struct wanted w = wanted_of(p, f);
	size_t kept = 0;

	vec_each(row, &p->rows) {
		const struct profile_frame *frame = &p->frames.at[row->frame];
		struct profile_event *event = &p->events.at[row->event];

		if (w.dsos[frame->dso] && w.symbols[frame->symbol] &&
			(!f->comms ||
				has_word(f->comms,
					(const char *)(uintptr_t)row->labels[LABEL_COMM]))) {
			p->rows.at[kept++] = *row;
			continue;
		}
		if (!f->is_relative)
			continue;
		event->n_samples -= row->n_samples;
		event->period -= row->period;
	}
	p->rows.n = kept;
	mem_free(w.dsos);
	mem_free(w.symbols);
}
