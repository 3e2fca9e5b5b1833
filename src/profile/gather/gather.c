#include "profile/gather/gather.h"

#include <stdlib.h>

#include "base/sort.h"
#include "base/workers.h"

static const u64 TIME_QUANTUM = 100000000; /* ns */

/* Share of the stacks that the suggested dump size covers: the deepest recursions may be endless. */
#define ENOUGH_FOR 0.95

struct worker {
	struct aggregate counted;
	bool is_full; /* its profile reached the size limit */
};

/* State that all workers share. */
struct gathering {
	const struct trace *trace;
	const struct gather_options *options;
	struct label_facts facts;
	VEC(struct worker *) workers;
};

static void *join(void *gathering)
{
	struct gathering *g = gathering;
	struct worker *w = mem_alloc(sizeof(*w));

	w->is_full = false;
	aggregate_init(&w->counted, g->trace, &g->options->count, &g->facts);
	vec_add(&g->workers, w);
	return &w->counted;
}

static u64 held(const void *counted)
{
	return aggregate_bytes(counted);
}

/* Does nothing: the counts become profiles when the pass is over, in parallel. */
static void leave(void *gathering, void *counted)
{
	(void)gathering;
	(void)counted;
}

/* The bytes left for a profile. */
static u64 allowed_for(const struct aggregate *a)
{
	const struct session *s = &a->trace->session;
	u64 allowed = reader_allows(&s->reader, s->reader.data_end),
	    taken = s->n_held + aggregate_bytes(a);

	return allowed - MIN(allowed, taken);
}

static void make_profile(void *ctx, size_t i, unsigned worker)
{
	struct worker *w = *((struct worker **)ctx + i);

	(void)worker;
	w->is_full = !aggregate_flush(&w->counted, allowed_for(&w->counted));
}

SORT_BY(by_tid, struct profile_task, tid)

/*
 * Adds the threads' names for reports by thread: the last name of the last thread with each tid.
 */
static void add_tasks(const struct machine *m, struct profile *p)
{
	if (!(p->labels & (LABEL_BIT(LABEL_TID) | LABEL_BIT(LABEL_PID))))
		return;
	vec_each(t, &m->newest_threads) {
		const struct thread *thread = *t;
		const char *comm =
			thread->comms.n ? thread->comms.at[thread->comms.n - 1].text : "";

		vec_add(&p->tasks,
			((struct profile_task){thread->pid, thread->tid,
				intern_str(&p->strings, comm)}));
	}
	if (p->tasks.n)
		qsort(p->tasks.at, p->tasks.n, sizeof(*p->tasks.at), by_tid);
}

static int check_size(const struct session *s, struct worker **workers, unsigned n, struct err *err)
{
	u64 end = s->reader.data_end;

	for (unsigned i = 0; i < n; i++)
		if (workers[i]->is_full)
			return allowance_exceeded(&s->reader.allowance,
				reader_allows(&s->reader, end), end,
				"the distinct addresses and callers in its samples", err);
	return 0;
}

static int set_up(struct gathering *g, struct err *err)
{
	const struct gather_options *o = g->options;
	struct label_facts *facts = &g->facts;

	if (label_facts_init(facts, &g->trace->session, &g->trace->machine, o->count.labels, err))
		return err->code;
	facts->time_quantum = o->time_quantum ? o->time_quantum : TIME_QUANTUM;
	facts->sideband = o->sideband;
	facts->has_raw_fields = o->has_raw_fields;
	memcpy(facts->fields, o->fields, sizeof(facts->fields));
	return 0;
}

static u32 event_of(const void *profile, u32 row)
{
	return ((const struct profile *)profile)->rows.at[row].event;
}

/* Merges all workers' profiles into the first one's. */
static void merge(struct gathering *g, u64 n_passed_over, struct profile *ret)
{
	struct aggregate *first = &g->workers.at[0]->counted;

	*ret = first->profile;
	memset(&first->profile, 0, sizeof(first->profile));
	ret->n_passed_over += n_passed_over;
	for (size_t i = 1; i < g->workers.n; i++) {
		profile_merge(ret, &g->workers.at[i]->counted.profile);
		depths_merge(&first->depths, &g->workers.at[i]->counted.depths);
	}
	if (ret->timeline)
		timeline_sort(ret->timeline, event_of, ret);
	ret->enough_dump = depths_enough(&first->depths, ENOUGH_FOR);
	add_tasks(&g->trace->machine, ret);
}

int gather(struct trace *t, const struct gather_options *options, struct profile *ret_profile,
	struct err *err)
{
	struct gathering g = {.trace = t, .options = options};
	const struct visitor mine = {.wanted = aggregate_needs(&options->count),
		.has_callers = options->count.has_stacks,
		.ctx = &g,
		.join = join,
		.sample = aggregate_adder(&options->count),
		.held = held,
		.leave = leave};
	const struct visitor *visitors[1 + GATHER_VISITORS] = {&mine};
	struct pass_options pass = {.where = &options->where, .n_workers = options->n_workers};
	int r;

	if (aggregate_check(t, err))
		return err->code;
	for (size_t i = 0; i < options->n_visitors; i++)
		visitors[1 + i] = options->visitors[i];
	r = set_up(&g, err);
	if (!r)
		r = pass_run(t, &pass, visitors, 1 + options->n_visitors, err);
	if (!r) {
		workers_run((unsigned)g.workers.n, g.workers.n, make_profile, g.workers.at);
		r = check_size(&t->session, g.workers.at, (unsigned)g.workers.n, err);
	}
	if (!r)
		merge(&g, pass.n_passed_over, ret_profile);
	vec_each(w, &g.workers) {
		aggregate_fini(&(*w)->counted);
		mem_free(*w);
	}
	vec_fini(&g.workers);
	label_facts_fini(&g.facts);
	return r;
}
