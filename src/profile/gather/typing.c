#include "profile/gather/typing.h"

#include "base/hash.h"
#include "base/sort.h"
#include "base/workers.h"
#include "event/skid.h"
#include "symbol/types/datatype.h"

struct typing {
	struct profile *profile;
	struct resolver *resolver;
	struct sort_item *frames; /* of rows; key: address; grouped by DSO */
	size_t *starts; /* by DSO of the profile: its first in `frames`; one more at the end */
	struct datatypes **types;                  /* by DSO of the profile; NULL: it has none */
	struct datatype_answer *answers, *befores; /* as `frames` */
	struct table index;                        /* of profile.accesses */
	struct table lines; /* of the first of these for each cache line of a type */
};

/* Collects the distinct innermost frames of all rows, sorted by DSO, then by address. */
static void group_frames(struct typing *t)
{
	struct profile *p = t->profile;
	size_t *at = mem_zalloc((p->dsos.n + 1) * sizeof(*at)), n = 0;
	bool *is_there = mem_zalloc(p->frames.n + 1);

	t->starts = mem_zalloc((p->dsos.n + 2) * sizeof(*t->starts));
	vec_each(row, &p->rows) {
		if (!is_there[row->frame])
			t->starts[p->frames.at[row->frame].dso + 1]++;
		n += !is_there[row->frame];
		is_there[row->frame] = true;
	}
	t->frames = mem_alloc((n + 1) * sizeof(*t->frames));
	for (size_t i = 0; i < p->dsos.n; i++) {
		t->starts[i + 1] += t->starts[i];
		at[i] = t->starts[i];
	}
	for (size_t i = 0; i < p->frames.n; i++)
		if (is_there[i])
			t->frames[at[p->frames.at[i].dso]++] =
				(struct sort_item){p->frames.at[i].at, i};
	for (size_t i = 0; i < p->dsos.n; i++)
		sort_by_key(t->frames + t->starts[i], t->starts[i + 1] - t->starts[i]);
	mem_free(at);
	mem_free(is_there);
}

static void find_dso(void *ctx, size_t i, unsigned worker)
{
	struct typing *t = ctx;
	struct datatype_answer *answers = t->answers + t->starts[i],
			       *befores = t->befores + t->starts[i];
	size_t n = t->starts[i + 1] - t->starts[i];
	const struct dso *dso = t->resolver->machine->dsos.at.at[t->profile->dsos.at[i].source];
	const struct elf *image = NULL, *debug;
	struct err err;
	u64 shift, *pcs;

	(void)worker;
	if (!n)
		return;
	for (size_t k = 0; k < n; k++)
		answers[k] = befores[k] =
			(struct datatype_answer){DATATYPE_NO_DEBUG, "", "", 0, 0, 0, 0};
	resolver_load_lines(t->resolver, dso);
	debug = resolver_dwarf(t->resolver, dso, &image, &shift);
	if (!debug || datatypes_open(&t->types[i], image, debug, &err))
		return;
	pcs = mem_alloc(n * sizeof(*pcs));
	for (size_t k = 0; k < n; k++)
		pcs[k] = t->frames[t->starts[i] + k].key + shift;
	datatypes_find(t->types[i], pcs, n, answers, befores);
	mem_free(pcs);
}

/* The type in profile.types, + 1; created if new. Types with the same name and size are one, in whatever file. */
static u32 whole_of(struct typing *t, const struct typelayout *layouts,
	const struct datatype_answer *a)
{
	struct profile *p = t->profile;
	const struct typelayout_line *line = &layouts->lines.at[a->layout - 1];
	struct profile_type type = {.name = intern_str(&p->strings, a->type),
		.size = a->size,
		.first = (u32)p->members.n};

	vec_each(known, &p->types)
		if (known->name == type.name && known->size == type.size)
			return (u32)(known - p->types.at) + 1;
	do {
		vec_add(&p->members,
			((struct profile_member){line->kind, line->depth, line->offset, line->size,
				line->element, intern_str(&p->strings, line->type),
				intern_str(&p->strings, line->name)}));
		type.n++;
		line++;
	} while (line < layouts->lines.at + layouts->lines.n && line->depth);
	vec_add(&p->types, type);
	return (u32)p->types.n;
}

/* `number`: what the access is going to be. */
static u32 first_of_line(struct typing *t, const struct profile_access *a, u32 number)
{
	const u64 line = a->offset / PROFILE_CACHE_LINE;
	const u64 hash = hash_mix((u64)(uintptr_t)a->type, line);
	struct table_probe probe = table_probe(&t->lines, hash);
	u32 i;

	while ((i = table_next(&t->lines, &probe)) != TABLE_NONE) {
		const struct profile_access *known = &t->profile->accesses.at[i];

		if (known->type == a->type && known->offset / PROFILE_CACHE_LINE == line)
			return i;
	}
	table_add(&t->lines, hash, number);
	return number;
}

/* The number of an access in the profile. */
static u32 access_of(struct typing *t, const struct datatypes *types,
	const struct datatype_answer *a)
{
	struct profile *p = t->profile;
	const char *instead = datatype_outcome_name(a->outcome);
	struct profile_access access = {.outcome = a->outcome,
		.type = intern_str(&p->strings, *instead ? instead : a->type),
		.member = intern_str(&p->strings, a->member),
		.offset = a->offset,
		.size = a->size};
	u64 hash = hash_mix((u64)(uintptr_t)access.type,
		hash_mix((u64)(uintptr_t)access.member, a->offset << 8 | a->outcome));
	struct table_probe probe = table_probe(&t->index, hash);
	u32 i;

	while ((i = table_next(&t->index, &probe)) != TABLE_NONE) {
		const struct profile_access *known = &p->accesses.at[i];

		if (known->type == access.type && known->member == access.member &&
			known->offset == access.offset && known->outcome == access.outcome &&
			known->size == access.size)
			return i;
	}
	if (a->layout)
		access.whole = whole_of(t, datatypes_layouts(types), a);
	access.first_of_line = first_of_line(t, &access, (u32)p->accesses.n);
	table_add(&t->index, hash, (u32)p->accesses.n);
	vec_add(&p->accesses, access);
	return (u32)p->accesses.n - 1;
}

/*
 * Whether an event's samples name the instruction after the one that caused them. An interrupt is taken when
 * an instruction ends, so the one that took long has just ended: in a loop over a list, nearly all samples of
 * a timer name the comparison after the load.
 */
static bool is_one_behind(enum skid_kind skid)
{
	return skid == SKID_ONE || skid == SKID_TIMER || skid == SKID_DEBUGGER;
}

/* The skid of the samples that count for an event of the profile. */
static enum skid_kind skid_in(const struct typing_events *e, u32 event)
{
	const u32 recorded = e->is_wall ? e->clock : event;

	return recorded < e->events->n ? skid_of(&e->events->at[recorded].attr) : SKID_NONE;
}

static bool counts_before(const struct typing_events *e, u32 event)
{
	if (e->skid != TYPING_AS_EVENTS_ARE)
		return e->skid == TYPING_BEFORE;
	return is_one_behind(skid_in(e, event));
}

enum typing_distance typing_distance(const struct typing_events *e, u32 event)
{
	if (counts_before(e, event))
		return TYPING_ONE_BEFORE;
	return skid_in(e, event) == SKID_SOME ? TYPING_SOME_BEFORE : TYPING_EXACT;
}

static void fill_labels(struct typing *t, const struct typing_events *events)
{
	struct profile *p = t->profile;
	struct {
		u32 own, before; /* numbers of accesses */
	} *by_frame = mem_zalloc((p->frames.n + 1) * sizeof(*by_frame));
	u8 slot = p->slots[LABEL_ACCESS];

	for (size_t i = 0; i < p->dsos.n; i++)
		for (size_t k = t->starts[i]; k < t->starts[i + 1]; k++) {
			u64 frame = t->frames[k].value;

			by_frame[frame].own = access_of(t, t->types[i], &t->answers[k]);
			by_frame[frame].before = access_of(t, t->types[i], &t->befores[k]);
		}
	for (size_t i = 0; i < p->rows.n; i++) {
		const struct profile_row *row = &p->rows.at[i];

		p->cells.at[i * p->n_labels + slot - 1] = counts_before(events, row->event)
			? by_frame[row->frame].before
			: by_frame[row->frame].own;
	}
	mem_free(by_frame);
}

void typing_resolve(struct profile *p, struct resolver *resolver,
	const struct typing_events *events, unsigned n_workers)
{
	struct typing t = {.profile = p, .resolver = resolver};

	/* Number 0 is for rows added later, for time without samples. */
	access_of(&t, NULL, &(struct datatype_answer){DATATYPE_NO_CODE, "", "", 0, 0, 0, 0});
	group_frames(&t);
	t.types = mem_zalloc((p->dsos.n + 1) * sizeof(struct datatypes *));
	t.answers = mem_zalloc((t.starts[p->dsos.n] + 1) * sizeof(*t.answers));
	t.befores = mem_zalloc((t.starts[p->dsos.n] + 1) * sizeof(*t.befores));
	workers_run(n_workers, p->dsos.n, find_dso, &t);
	fill_labels(&t, events);
	for (size_t i = 0; i < p->dsos.n; i++)
		datatypes_close(t.types[i]);
	table_fini(&t.index);
	table_fini(&t.lines);
	mem_free(t.types);
	mem_free(t.answers);
	mem_free(t.befores);
	mem_free(t.frames);
	mem_free(t.starts);
}

static void note(const char *event, enum skid_kind skid, bool is_before, struct log *log)
{
	static const char *const whys[] = {
		[SKID_ONE] = "has a constant skid of 1",
		[SKID_TIMER] = "is not a precise event (skid)",
		[SKID_DEBUGGER] = "stops after the access",
		[SKID_SOME] =
			"is not precise (skid): samples name an instruction some way after the access; :pp makes them precise if the processor supports it",
	};

	if (!is_one_behind(skid))
		log_note(log, "%s %s", event, whys[skid]);
	else
		log_note(log, "%s %s: types are of %s", event, whys[skid],
			is_before
				? "the instruction that ran before the sampled one, and that took the time (--skid 0: of the sampled one)"
				: "the sampled instruction, which follows the one that took the time (--skid 1: of that one)");
}

void typing_note_skid(const struct profile *p, const struct typing_events *events, struct log *log)
{
	u32 said = 0;

	for (u32 e = 0; e < p->events.n; e++) {
		enum skid_kind skid = skid_in(events, e);

		if (skid == SKID_NONE || !p->events.at[e].n_samples || said >> skid & 1)
			continue;
		said |= 1u << skid;
		note(events->is_wall ? events->events->at[events->clock].name
				     : p->events.at[e].name,
			skid, counts_before(events, e), log);
	}
}
