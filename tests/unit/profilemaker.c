#include "unit/profilemaker.h"

#include "event/abi.h"
#include "machine/dso.h"
#include "symbol/resolve/resolver.h"
#include "test.h"
#include "view/text/celltext.h"

enum { FUNCTION_BYTES = 0x100 };

void profilemaker_init(struct profilemaker *m, u64 labels)
{
	memset(m, 0, sizeof(*m));
	profile_init(&m->profile, labels);
}

void profilemaker_fini(struct profilemaker *m)
{
	profile_fini(&m->profile);
	vec_fini(&m->taken);
	arena_fini(&m->arena);
}

void profilemaker_event(struct profilemaker *m, const char *name)
{
	vec_add(&m->profile.events,
		((struct profile_event){.name = intern_str(&m->profile.strings, name)}));
}

/* DSOs are told apart by their whole path; their name is its last part. */
static u32 dso_of(struct profile *p, const char *path, size_t n)
{
	const char *kept = intern_add(&p->strings, path, n), *slash = strrchr(kept, '/');
	u32 i = p->dsos.n;

	vec_each(dso, &p->dsos)
		if (dso->path == kept)
			return dso - p->dsos.at;
	vec_add(&p->dsos,
		((struct profile_dso){.path = kept,
			.name = slash ? intern_str(&p->strings, slash + 1) : kept,
			.kind = DSO_FILE,
			.source = i}));
	return i;
}

/* The symbol that a word of a stack names, created if new. */
static u32 symbol_of(struct profile *p, const char *word, size_t n)
{
	bool is_kernel = n > 2 && !memcmp(word, "k:", 2);
	const char *at;
	struct profile_symbol s = {
		.mode = is_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER};

	word += is_kernel ? 2 : 0;
	n -= is_kernel ? 2 : 0;
	at = memchr(word, '@', n);
	if (at)
		s.dso = dso_of(p, at + 1, n - (at + 1 - word));
	else
		s.dso = is_kernel ? dso_of(p, "[kernel]", 8) : dso_of(p, "prog", 4);
	if (at)
		n = at - word;
	if (n > 2 && !memcmp(word, "0x", 2)) {
		s.start = s.end = strtoull(word, NULL, 16);
		s.outcome = RESOLVER_NO_SYMBOL;
	} else {
		s.name = intern_add(&p->strings, word, n);
	}
	for (u32 i = 1; i < p->symbols.n; i++) {
		const struct profile_symbol *known = &p->symbols.at[i];

		if (known->name == s.name && known->dso == s.dso && known->mode == s.mode &&
			(s.name || known->start == s.start))
			return i;
	}
	if (s.name) {
		s.start = p->symbols.n * FUNCTION_BYTES;
		s.end = s.start + FUNCTION_BYTES;
	}
	vec_add(&p->symbols, s);
	return p->symbols.n - 1;
}

/* Some address in a function, a different one each time. */
static u32 frame_of(struct profilemaker *m, u32 symbol, bool is_return)
{
	const struct profile_symbol *s = &m->profile.symbols.at[symbol];
	struct profile_frame frame = {.dso = s->dso,
		.symbol = symbol,
		.address = s->start + (s->name ? m->n_frames++ % 3 * 8 : 0),
		.mode = s->mode,
		.is_return = is_return};

	return profile_frame(&m->profile, &frame);
}

static void take_labels(struct profile *p, const struct profilemaker_sample *sample,
	u64 labels[LABEL_COUNT])
{
	const u64 all[LABEL_COUNT] = {
		[LABEL_COMM] =
			(u64)(uintptr_t)intern_str(&p->strings, sample->comm ? sample->comm : ""),
		[LABEL_PID] = sample->pid,
		[LABEL_TID] = sample->tid,
		[LABEL_CPU] = sample->cpu,
		[LABEL_TIME] = sample->time,
	};

	for (unsigned i = 0; i < LABEL_COUNT; i++)
		labels[i] = p->labels >> i & 1 ? all[i] : 0;
}

void profilemaker_add(struct profilemaker *m, const struct profilemaker_sample *sample)
{
	struct profile *p = &m->profile;
	struct profilemaker_taken *taken = vec_push(&m->taken);
	u64 cells[LABEL_COUNT];
	struct profile_row row = {.event = sample->event,
		.n_samples = MAX(sample->n_samples, (u64)1),
		.period = sample->period};

	if (sample->event >= p->events.n)
		test_failed(__FILE__, __LINE__, "there is no event %u", sample->event);
	*taken = (struct profilemaker_taken){.event = sample->event,
		.n_samples = row.n_samples,
		.period = row.period};
	taken->symbols = arena_alloc(&m->arena, (strlen(sample->stack) + 1) * sizeof(u32));
	for (const char *word = sample->stack; *word;) {
		size_t n = strcspn(word, ";");

		taken->symbols[taken->n++] = symbol_of(p, word, n);
		word += n + (word[n] == ';');
	}
	take_labels(p, sample, taken->labels);
	for (size_t i = 0; i + 1 < taken->n; i++)
		row.callers = profile_stack(p, row.callers, frame_of(m, taken->symbols[i], true));
	row.frame = frame_of(m, taken->symbols[taken->n - 1], false);
	p->has_stacks |= row.callers != 0;
	for (unsigned i = 0; i < p->n_labels; i++)
		cells[i] = taken->labels[p->label_at[i]];
	profile_add_row(p, &row, cells);
	p->events.at[sample->event].n_samples += row.n_samples;
	p->events.at[sample->event].period += row.period;
}

void profilemaker_add_cell(const struct key *key, const struct hist *h, const struct hist_entry *e,
	struct str *text)
{
	const struct celltext l = celltext_of(key);
	struct str room = {0};
	const u32 n_parts = key->figure ? hist_n_parts(h) : 1;
	struct cell cell;

	for (u32 k = 0; k < n_parts; k++) {
		const size_t start = text->n;

		key_cell(key, h, e, k, &room, &cell);
		celltext_add(&l, &cell, text);
		if (n_parts > 1)
			str_pad_left(text, start, l.width);
	}
	str_fini(&room);
}
