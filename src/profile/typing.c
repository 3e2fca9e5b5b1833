#include "profile/typing.h"

#include "base/hash.h"
#include "base/sort.h"
#include "base/workers.h"
#include "event/skid.h"
#include "symbol/datatype.h"

struct typing {
	struct profile *profile;
	struct resolver *resolver;
	struct sort_item *frames; /* of rows; key: address; grouped by DSO */
	size_t *starts; /* by DSO of the profile: its first in `frames`; one more at the end */
	struct datatypes **types;        /* by DSO of the profile; NULL: it has none */
	struct datatype_answer *answers; /* as `frames` */
	struct table index;              /* of profile.accesses */
};

/* Frames that rows are of, once each: sorted by DSO, then by address. */
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
	struct datatype_answer *answers = t->answers + t->starts[i];
	size_t n = t->starts[i + 1] - t->starts[i];
	const struct dso *dso = t->resolver->machine->dsos.at.at[t->profile->dsos.at[i].source];
	const struct elf *image = NULL, *debug;
	struct err err;
	u64 shift, *pcs;

	(void)worker;
	if (!n)
		return;
	for (size_t k = 0; k < n; k++)
		answers[k] = (struct datatype_answer){DATATYPE_NO_DEBUG, "", "", 0, 0};
	resolver_load_lines(t->resolver, dso);
	debug = resolver_dwarf(t->resolver, dso, &image, &shift);
	if (!debug || datatypes_open(&t->types[i], image, debug, &err))
		return;
	pcs = mem_alloc(n * sizeof(*pcs));
	for (size_t k = 0; k < n; k++)
		pcs[k] = t->frames[t->starts[i] + k].key + shift;
	datatypes_find(t->types[i], pcs, n, answers);
	mem_free(pcs);
}

/* The number of an access in the profile. */
static u32 access_of(struct typing *t, const struct datatype_answer *a)
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
	table_add(&t->index, hash, (u32)p->accesses.n);
	vec_add(&p->accesses, access);
	return (u32)p->accesses.n - 1;
}

static void fill_labels(struct typing *t)
{
	struct profile *p = t->profile;
	u32 *by_frame = mem_zalloc((p->frames.n + 1) * sizeof(*by_frame));
	u8 slot = p->slots[LABEL_ACCESS];

	for (size_t k = 0; k < t->starts[p->dsos.n]; k++)
		by_frame[t->frames[k].value] = access_of(t, &t->answers[k]);
	for (size_t i = 0; i < p->rows.n; i++)
		p->cells.at[i * p->n_labels + slot - 1] = by_frame[p->rows.at[i].frame];
	mem_free(by_frame);
}

void typing_resolve(struct profile *p, struct resolver *resolver, unsigned n_workers)
{
	struct typing t = {.profile = p, .resolver = resolver};

	group_frames(&t);
	t.types = mem_zalloc((p->dsos.n + 1) * sizeof(struct datatypes *));
	t.answers = mem_zalloc((t.starts[p->dsos.n] + 1) * sizeof(*t.answers));
	workers_run(n_workers, p->dsos.n, find_dso, &t);
	fill_labels(&t);
	for (size_t i = 0; i < p->dsos.n; i++)
		datatypes_close(t.types[i]);
	table_fini(&t.index);
	mem_free(t.types);
	mem_free(t.answers);
	mem_free(t.frames);
	mem_free(t.starts);
}

void typing_note_skid(const struct profile *p, const struct event_list *events, struct log *log)
{
	static const char *const texts[] = {
		[SKID_ONE] =
			"has a constant skid of 1: an access is counted where the instruction behind it is",
		[SKID_TIMER] =
			"is no precise event (skid): samples are of the instruction where the interrupt was taken, often the one behind the access that took the time",
		[SKID_DEBUGGER] =
			"stops behind the access: on x86 samples are of the instruction behind it",
		[SKID_SOME] =
			"is not precise (skid): samples are of an instruction some way behind the access; :pp makes them precise where the processor can",
	};
	u32 said = 0;

	for (size_t e = 0; e < events->n && e < p->events.n; e++) {
		enum skid_kind skid = skid_of(&events->at[e].attr);

		if (skid == SKID_NONE || !p->events.at[e].n_samples || said >> skid & 1)
			continue;
		said |= 1u << skid;
		log_note(log, "%s %s", p->events.at[e].name, texts[skid]);
	}
}
