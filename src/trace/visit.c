#include "trace/visit.h"

#include "unwind/chain.h"

void visits_init(struct visits *v, struct trace *t)
{
	/* visits_fini() must not allocate. */
	vec_reserve(&t->names, t->names.n + t->n_visits + 1);
	t->n_visits++;
	v->trace = t;
}

void visits_fini(struct visits *v)
{
	if (!v->trace)
		return;
	if (v->has_walk)
		callers_walk_fini(&v->walk);
	v->trace->n_visits--;
	vec_add(&v->trace->names, v->strings);
	v->trace = NULL;
}

const struct thread_state *visit_find_state(struct visit *v)
{
	struct visits *all = v->visits;
	const struct sample *s = v->sample;
	struct visited_thread *t = visit_remembered(v);

	if (!t->state.until)
		all->used[all->n_used++] = (u8)(t - all->threads);
	t->pid = s->pid;
	t->tid = s->tid;
	machine_state_at(&all->trace->machine, s->pid, s->tid, v->time, &all->strings, &t->state);
	return v->state = &t->state;
}

u64 visits_need_for_callers(const struct trace *t)
{
	return PERF_SAMPLE_CALLCHAIN |
		(trace_has_dumps(t) ? PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
					PERF_SAMPLE_BRANCH_STACK
				    : 0);
}

void visits_follow(struct visits *v)
{
	if (LIKELY(v->n_changes == v->trace->machine.n_changes))
		return;
	v->n_changes = v->trace->machine.n_changes;
	while (v->n_used)
		v->threads[v->used[--v->n_used]].state.until = 0;
}

/* The DSO of the outermost frame of a chain; 0 if it is unknown. */
static u32 dso_of_last(const struct space *user, const struct sample_words *chain)
{
	struct chain_walk walk = chain_walk(chain, PERF_RECORD_MISC_USER);
	struct chain_step step, last = {0};
	const struct map *map;

	while (chain_next(&walk, &step))
		last = step;
	map = machine_find(user, last.ip - last.is_return);
	return map ? map->dso->id : 0;
}

struct callers_walk *visits_walk(struct visits *v)
{
	if (!v->has_walk)
		callers_walk_init(&v->walk, &v->trace->callers);
	v->has_walk = true;
	return &v->walk;
}

void visit_find_callers(struct visit *v)
{
	/* The stack was unwound while recording. */
	if (ending_take(&v->chain, &v->end.ending)) {
		if (ending_is_of_file(v->end.ending))
			v->end.dso = dso_of_last(visit_state(v)->user, &v->chain);
		v->has_end = true;
		return;
	}
	if (!callers_has_source(v->format))
		return;
	v->has_end = callers_of_sample(visits_walk(v->visits), visit_state(v)->user, v->format,
		v->sample, v->mode, &v->chain, &v->end);
}
