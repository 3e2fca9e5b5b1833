#include "profile/filter.h"

#include <string.h>

int profile_filter_set_percentage(struct profile_filter *f, const char *word, struct err *err)
{
	f->is_relative = !strcmp(word, "relative");
	return f->is_relative || !strcmp(word, "absolute")
		? 0
		: err_set(err, ERR_INVAL, "'%.60s' is neither relative nor absolute", word);
}

unsigned profile_filter_labels(const struct profile_filter *f)
{
	return (f->comms ? 1 << LABEL_COMM : 0) | (f->pids.n ? 1 << LABEL_PID : 0) |
		(f->tids.n ? 1 << LABEL_TID : 0);
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

static bool is_wanted(const struct profile *p, const struct profile_filter *f,
	const struct wanted *w, const struct profile_row *row)
{
	const struct profile_frame *frame = &p->frames.at[row->frame];

	if (!w->dsos[frame->dso] || !w->symbols[frame->symbol])
		return false;
	if (!num_list_has(&f->pids, (u32)row->labels[LABEL_PID]) ||
		!num_list_has(&f->tids, (u32)row->labels[LABEL_TID]))
		return false;
	return !f->comms || has_word(f->comms, (const char *)(uintptr_t)row->labels[LABEL_COMM]);
}

void profile_filter_apply(struct profile *p, const struct profile_filter *f)
{
	struct wanted w = wanted_of(p, f);
	size_t kept = 0;

	vec_each(row, &p->rows) {
		struct profile_event *event = &p->events.at[row->event];

		if (is_wanted(p, f, &w, row)) {
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

void profile_filter_fini(struct profile_filter *f)
{
	vec_fini(&f->pids);
	vec_fini(&f->tids);
}
