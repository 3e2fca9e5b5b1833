#include "profile/gather/filter.h"

#include <string.h>

int profile_filter_set_percentage(struct profile_filter *f, const char *word, struct err *err)
{
	f->is_relative = !strcmp(word, "relative");
	return f->is_relative || !strcmp(word, "absolute")
		? 0
		: err_set(err, ERR_INVAL, "'%.60s' is neither relative nor absolute", word);
}

u64 profile_filter_labels(const struct profile_filter *f)
{
	return (f->comms ? LABEL_BIT(LABEL_COMM) : 0) | (f->pids.n ? LABEL_BIT(LABEL_PID) : 0) |
		(f->tids.n ? LABEL_BIT(LABEL_TID) : 0) |
		(f->has_socket ? LABEL_BIT(LABEL_SOCKET) : 0) |
		(f->parallelisms.n ? LABEL_BIT(LABEL_PARALLELISM) : 0);
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

/* ---- names that match nothing ---- */

static bool is_same(const char *name, const char *word, size_t n)
{
	return name && strlen(name) == n && !memcmp(name, word, n);
}

static bool has_comm(const struct profile *p, const char *word, size_t n)
{
	const char *last = NULL;

	for (size_t row = 0; row < p->rows.n; row++) {
		const char *comm = profile_text(profile_label(p, row, LABEL_COMM));

		/* Texts are interned, and neighbouring rows mostly have the same one. */
		if (comm != last && is_same(comm, word, n))
			return true;
		last = comm;
	}
	return false;
}

static bool has_dso(const struct profile *p, const char *word, size_t n)
{
	vec_each(dso, &p->dsos)
		if (is_same(dso->name, word, n) || is_same(dso->path, word, n))
			return true;
	return false;
}

static bool has_symbol(const struct profile *p, const char *word, size_t n)
{
	vec_each(symbol, &p->symbols)
		if (is_same(symbol->name, word, n))
			return true;
	return false;
}

void profile_filter_tell(const struct profile_filter *f, const struct profile *p, struct log *log)
{
	const struct {
		const char *list, *what, *key;
		bool (*has)(const struct profile *p, const char *word, size_t n);
	} lists[] = {{f->comms, "thread", "comm", has_comm}, {f->dsos, "file", "dso", has_dso},
		{f->symbols, "function", "symbol", has_symbol}};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const char *word = lists[i].list ? lists[i].list : "";

		for (size_t n; *word; word += n + (word[n] == ',')) {
			n = strcspn(word, ",");
			if (n && p->rows.n && !lists[i].has(p, word, n))
				log_note(log,
					"no sampled %s is called '%.*s': 'pace report -s %s' lists those there are",
					lists[i].what, (int)MIN(n, (size_t)100), word,
					lists[i].key);
		}
	}
}

/* ---- rows ---- */

struct filtering {
	struct profile *profile;
	const struct profile_filter *filter;
	bool *dsos, *symbols; /* by number: whether it is wanted; each name is compared once */
};

static bool has_name(const struct filtering *w, size_t row)
{
	const struct profile *p = w->profile;

	return p->symbols.at[p->frames.at[p->rows.at[row].frame].symbol].name != NULL;
}

static void look_at_names(struct filtering *w)
{
	const struct profile *p = w->profile;
	const struct profile_filter *f = w->filter;

	w->dsos = mem_zalloc(p->dsos.n + 1);
	w->symbols = mem_zalloc(p->symbols.n + 1);
	for (size_t i = 0; i < p->dsos.n; i++)
		w->dsos[i] = !f->dsos || has_word(f->dsos, p->dsos.at[i].name) ||
			has_word(f->dsos, p->dsos.at[i].path);
	for (size_t i = 0; i < p->symbols.n; i++)
		w->symbols[i] = !f->symbols || has_word(f->symbols, p->symbols.at[i].name);
}

static bool is_wanted(const struct filtering *w, size_t row)
{
	const struct profile *p = w->profile;
	const struct profile_filter *f = w->filter;
	const struct profile_frame *frame = &p->frames.at[p->rows.at[row].frame];

	return w->dsos[frame->dso] && w->symbols[frame->symbol] &&
		num_list_has(&f->pids, (u32)profile_label(p, row, LABEL_PID)) &&
		num_list_has(&f->tids, (u32)profile_label(p, row, LABEL_TID)) &&
		(!f->has_socket || (u32)profile_label(p, row, LABEL_SOCKET) == f->socket) &&
		(!f->parallelisms.n ||
			cpus_has(&f->parallelisms,
				(u32)profile_label(p, row, LABEL_PARALLELISM))) &&
		(!f->comms || has_word(f->comms, profile_text(profile_label(p, row, LABEL_COMM))));
}

static bool take_row(void *ctx, size_t i)
{
	const struct filtering *w = ctx;
	const struct profile_row *row = &w->profile->rows.at[i];
	struct profile_event *event = &w->profile->events.at[row->event];

	bool is_unknown = w->filter->has_names && !has_name(w, i);

	if (!is_unknown && is_wanted(w, i))
		return true;
	if (w->filter->is_relative || is_unknown) {
		event->n_samples -= row->n_samples;
		event->period -= row->period;
	} else {
		profile_drop_latency(w->profile, i);
	}
	return false;
}

void profile_filter_apply(struct profile *p, const struct profile_filter *f)
{
	struct filtering w = {.profile = p, .filter = f};

	look_at_names(&w);
	profile_keep_rows(p, take_row, &w);
	mem_free(w.dsos);
	mem_free(w.symbols);
}

void profile_filter_fini(struct profile_filter *f)
{
	vec_fini(&f->pids);
	vec_fini(&f->tids);
	cpus_fini(&f->parallelisms);
}
