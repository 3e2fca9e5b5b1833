#include "profile/memory/sharers.h"

#include "base/workers.h"
#include "profile/gather/naming.h"
#include "record/datasrc.h"
#include "unwind/chain.h"

/* The kinds of access that belong to each event. */
static const struct {
	const char *name;
	u32 kinds;
} events[SHARERS_EVENTS] = {
	[SHARERS_HITM] = {"hitm", 1u << DATASRC_LOCAL_HITM | 1u << DATASRC_REMOTE_HITM},
	[SHARERS_PEER] = {"peer", 1u << DATASRC_LOCAL_PEER | 1u << DATASRC_REMOTE_PEER},
	[SHARERS_STORE] = {"store", 1u << DATASRC_STORE},
};

void sharers_init(struct sharers *s, const struct machine *m)
{
	*s = (struct sharers){.machine = m};
	profile_init(&s->profile, LABEL_BIT(LABEL_USE));
	for (size_t i = 0; i < SHARERS_EVENTS; i++)
		vec_add(&s->profile.events, ((struct profile_event){.name = events[i].name}));
}

void sharers_fini(struct sharers *s)
{
	if (s->has_calls)
		calls_fini(&s->calls);
	profile_fini(&s->profile);
	mem_free(s->dsos);
}

static u32 dso_of(struct sharers *s, const struct dso *dso)
{
	if (!s->dsos[dso->id]) {
		vec_add(&s->profile.dsos,
			((struct profile_dso){dso->path, dso->name, dso->kind, dso->id, NULL}));
		s->dsos[dso->id] = s->profile.dsos.n;
	}
	return s->dsos[dso->id] - 1;
}

static u32 frame_of(struct sharers *s, const struct thread_state *state, u64 ip, u8 mode,
	bool is_return)
{
	const struct space *space = machine_space(state, mode);
	const struct map *map = space ? machine_find(space, ip) : NULL;
	const struct profile_frame frame = {
		.dso = dso_of(s, map ? map->dso : s->machine->dsos.at.at[0]),
		.address = map ? map_offset(map, ip) : ip,
		.mode = mode,
		.is_return = is_return};

	return profile_frame(&s->profile, &frame);
}

/* The callers, outermost first; the chain's first address of the sample's mode is the sample's own. */
static u32 stack_of(struct sharers *s, const struct thread_state *state,
	const struct sample_words *chain, u8 mode)
{
	struct chain_walk walk = chain_walk(chain, mode);
	VEC(u32) path = {0};
	struct chain_step step;
	bool is_first = true;
	u32 stack = 0;

	for (; chain_next(&walk, &step); is_first = false)
		if (!is_first || step.mode != mode)
			vec_add(&path, frame_of(s, state, step.ip, step.mode, step.is_return));
	while (path.n)
		stack = profile_stack(&s->profile, stack, path.at[--path.n]);
	vec_fini(&path);
	return stack;
}

void sharers_add(struct sharers *s, struct visit *v, u32 use, u32 kinds)
{
	const u64 label = use;
	const struct thread_state *state = visit_state(v);
	struct profile_row row = {.n_samples = 1, .period = 1};

	if (!s->dsos)
		s->dsos = mem_zalloc((s->machine->dsos.at.n + 1) * sizeof(*s->dsos));
	visit_callers(v);
	row.frame = frame_of(s, state, v->sample->ip, v->mode, false);
	row.callers = stack_of(s, state, &v->chain, v->mode);
	for (row.event = 0; row.event < SHARERS_EVENTS; row.event++) {
		struct profile_event *event = &s->profile.events.at[row.event];

		if (!(kinds & events[row.event].kinds))
			continue;
		profile_add_row(&s->profile, &row, &label);
		event->n_samples++;
		event->period++;
	}
}

void sharers_name(struct sharers *s, struct resolver *resolver, unsigned style)
{
	const struct naming_options options = {.n_workers = workers_available(), .style = style};

	naming_resolve(&s->profile, resolver, &options);
	calls_init(&s->calls, &s->profile);
	s->has_calls = true;
}
