#include "symbol/resolve/location.h"

void locator_init(struct locator *l, const struct machine *machine, struct resolver *resolver)
{
	*l = (struct locator){.machine = machine, .resolver = resolver};
}

void locator_find(const struct locator *l, const struct thread_state *state,
	const struct chain_step *step, struct location *ret)
{
	const struct space *space = machine_space(state, step->mode);
	const struct map *map = machine_find(space, step->ip);

	*ret = (struct location){.map = map,
		.dso = map ? map->dso : l->machine->dsos.at.at[0],
		.address = map ? map_offset(map, step->ip) : step->ip,
		.is_return = step->is_return,
		.is_lasting = map &&
			(map->dso->kind == DSO_JITDUMP ||
				(maps_find(space->maps, step->ip) &&
					(!space->code || !map_may_be_code(map))))};
}

struct resolver_answer locator_name(struct locator *l, const struct location *location)
{
	const struct dso *dso = location->dso;
	struct resolver_answer a;

	resolver_load(l->resolver, dso);
	a = location->is_return ? resolver_find_caller(l->resolver, dso, location->address)
				: resolver_find(l->resolver, dso, location->address);
	/* A BPF program has one symbol: the program. */
	if (dso->kind == DSO_BPF && location->map) {
		a.at = location->address;
		a.start = location->map->start;
		a.end = location->map->end;
	}
	return a;
}
