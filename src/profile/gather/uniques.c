#include "profile/gather/uniques.h"

#include "base/hash.h"
#include "unwind/ending.h"

enum {
	TABLE_AT_FIRST = 1 << 12,
	INDEX_EACH = 16, /* bytes that a table takes for each entry */
};

static u64 space_key(const struct uniques_chain *c)
{
	return (u64)(c->user ? c->user->id : UINT32_MAX) << 32 | c->kernel->id;
}

/* per sample */
static bool is_same_chain(const struct uniques_chain *a, const struct uniques_chain *b)
{
	return a->words.n == b->words.n && a->mode == b->mode && a->end.ending == b->end.ending &&
		a->end.dso == b->end.dso && a->has_gap == b->has_gap &&
		space_key(a) == space_key(b) && a->guest == b->guest &&
		(!b->words.n || !memcmp(a->words.at, b->words.at, b->words.n * 8)) &&
		a->n_history == b->n_history &&
		(!a->n_history || !memcmp(a->history, b->history, b->n_history * 8));
}

u32 uniques_chain(struct uniques *s, const struct uniques_chain *chain)
{
	u64 hash = hash_words(chain->words.at, chain->words.n,
		space_key(chain) ^ chain->mode ^ (u64)chain->end.ending << 24 ^
			(u64)chain->end.dso << 8);
	struct table_probe probe;
	struct uniques_chain *added;
	u32 i;

	if (UNLIKELY(chain->n_history))
		hash = hash_words(chain->history, chain->n_history, hash);
	probe = table_probe(&s->chain_index, hash);
	while ((i = table_next(&s->chain_index, &probe)) != TABLE_NONE)
		if (is_same_chain(&s->chains.at[i], chain))
			return i;
	table_add(&s->chain_index, hash, s->chains.n);
	added = vec_push(&s->chains);
	*added = *chain;
	added->words.at = arena_copy(&s->words, chain->words.at, chain->words.n * 8);
	if (chain->n_history)
		added->history = arena_copy(&s->words, chain->history, chain->n_history * 8);
	return s->chains.n - 1;
}

u32 uniques_place(struct uniques *s, const struct uniques_place *place)
{
	u64 hash = hash_mix(place->address, (u64)(uintptr_t)place->space ^ place->mode);
	struct table_probe probe = table_probe(&s->place_index, hash);
	u32 i;

	while ((i = table_next(&s->place_index, &probe)) != TABLE_NONE) {
		const struct uniques_place *known = &s->places.at[i];

		if (known->address == place->address && known->space == place->space &&
			known->mode == place->mode)
			return i;
	}
	table_add(&s->place_index, hash, s->places.n);
	vec_add(&s->places, *place);
	return s->places.n - 1;
}

u64 uniques_bytes(const struct uniques *s)
{
	return s->words.total + s->chains.cap * (sizeof(*s->chains.at) + INDEX_EACH) + s->at.cap +
		(u64)s->n * INDEX_EACH + s->branches.cap * sizeof(*s->branches.at) +
		s->places.cap * sizeof(*s->places.at) + s->noted.cap * sizeof(*s->noted.at);
}

struct unique *uniques_at(const struct uniques *s, u32 i)
{
	return (struct unique *)(void *)(s->at.at + i * s->size);
}

static bool has_same_labels(const struct uniques *s, const struct unique *a, const struct unique *b)
{
	for (unsigned k = 0; k < s->n_labels; k++)
		if (a->labels[k] != b->labels[k])
			return false;
	return true;
}

static u64 hash_of(const struct uniques *s, const struct unique *unique)
{
	u64 hash = hash_mix(unique->ip ^ (u64)unique->mode << 56 ^ (u64)unique->event << 40,
		(u64)(uintptr_t)unique->space ^ (u64)unique->chain << 32);

	for (unsigned k = 0; k < s->n_labels; k++)
		hash = hash_mix(hash, unique->labels[k]);
	return hash;
}

/* per sample: counts it; returns the number of the entry that it was added to */
static u32 count(struct uniques *s, const struct unique *unique, u64 hash)
{
	struct table_probe probe = table_probe(&s->index, hash);
	u32 i;

	while ((i = table_next(&s->index, &probe)) != TABLE_NONE) {
		struct unique *known = uniques_at(s, i);

		if (known->ip != unique->ip || known->space != unique->space ||
			known->chain != unique->chain || known->event != unique->event ||
			known->mode != unique->mode || !has_same_labels(s, known, unique))
			continue;
		known->n_samples += unique->n_samples;
		known->period += unique->period;
		return i;
	}
	table_add(&s->index, hash, s->n++);
	vec_reserve(&s->at, s->at.n + s->size);
	memcpy(s->at.at + s->at.n, unique, s->size);
	s->at.n += s->size;
	return s->n - 1;
}

/* per sample: counts one of the queue */
static void settle(struct uniques *s, unsigned at)
{
	const u32 i = count(s, (const struct unique *)(const void *)s->queue[at], s->hashes[at]);

	if (UNLIKELY(s->notes[at]))
		vec_add(&s->noted, i);
}

/* per sample: prefetches the entry that one of the queue will be compared with; its table slot was prefetched before */
static void fetch(const struct uniques *s, unsigned at)
{
	struct table_probe probe = table_probe(&s->index, s->hashes[at]);
	u32 i = table_next(&s->index, &probe);

	if (i != TABLE_NONE)
		__builtin_prefetch(uniques_at(s, i), 1);
}

void uniques_count(struct uniques *s)
{
	unsigned at = s->n_queued % UNIQUES_QUEUED;

	if (LIKELY(s->n_queued >= UNIQUES_QUEUED))
		settle(s, at);
	memcpy(s->queue[at], s->next, s->size);
	s->hashes[at] = hash_of(s, s->next);
	s->notes[at] = s->is_noted;
	__builtin_prefetch(&s->index.slots[table_probe(&s->index, s->hashes[at]).slot]);
	s->n_queued++;
	if (LIKELY(s->n_queued > UNIQUES_QUEUED / 2))
		fetch(s, (at + UNIQUES_QUEUED / 2) % UNIQUES_QUEUED);
}

void uniques_count_history(struct uniques *s, const struct history *h)
{
	const u64 n_before = s->n;
	struct unique *unique;
	u32 number;

	*uniques_branches(s, s->next) = s->n_branches;
	number = count(s, s->next, hash_of(s, s->next));
	unique = uniques_at(s, number);
	if (s->is_noted)
		vec_add(&s->noted, number);
	if (s->n > n_before)
		s->n_branches += h->n;
	vec_reserve(&s->branches, s->n_branches);
	while (s->branches.n < s->n_branches)
		s->branches.at[s->branches.n++] = (struct profile_branch){0};
	for (u64 i = 0; i < h->n; i++) {
		struct profile_branch *branch = &s->branches.at[*uniques_branches(s, unique) + i];
		const struct history_note *note = &h->notes[i];

		branch->n_told += note->is_told;
		branch->n_predicted += note->is_predicted;
		branch->n_aborts += note->is_abort;
		branch->cycles += note->cycles;
		branch->n_iterations += note->n_iterations;
		branch->loop_cycles += note->loop_cycles;
	}
}

void uniques_settle(struct uniques *s)
{
	u64 first = s->n_queued - MIN(s->n_queued, (u64)UNIQUES_QUEUED);

	for (; first < s->n_queued; first++)
		settle(s, first % UNIQUES_QUEUED);
	s->n_queued = 0;
}

void uniques_add_ending(struct uniques *s, struct stack_end *end)
{
	if (!ending_is_of_file(end->ending))
		end->dso = 0;
	vec_each(known, &s->endings) {
		if (known->ending != end->ending || known->dso != end->dso)
			continue;
		known->n_samples++;
		return;
	}
	vec_add(&s->endings, ((struct profile_ending){end->ending, end->dso, 1}));
}

void uniques_init(struct uniques *s, u8 n_labels, bool has_chains, bool has_history)
{
	memset(s, 0, sizeof(*s));
	s->n_labels = n_labels;
	s->has_history = has_history;
	s->size = sizeof(struct unique) + (s->n_labels + has_history) * sizeof(u64);
	s->next = (struct unique *)(void *)s->next_room;
	table_reserve(&s->index, TABLE_AT_FIRST);
	if (has_chains)
		table_reserve(&s->chain_index, TABLE_AT_FIRST);
}

void uniques_clear(struct uniques *s)
{
	table_clear(&s->chain_index);
	table_clear(&s->index);
	table_clear(&s->place_index);
	arena_fini(&s->words);
	s->chains.n = s->endings.n = s->at.n = s->branches.n = s->places.n = s->noted.n = 0;
	s->n = s->n_placed = s->n_placed_chains = 0;
	s->n_branches = s->n_queued = 0;
}

void uniques_fini(struct uniques *s)
{
	vec_fini(&s->chains);
	table_fini(&s->chain_index);
	arena_fini(&s->words);
	vec_fini(&s->endings);
	vec_fini(&s->branches);
	vec_fini(&s->noted);
	vec_fini(&s->places);
	table_fini(&s->place_index);
	vec_fini(&s->at);
	table_fini(&s->index);
}
