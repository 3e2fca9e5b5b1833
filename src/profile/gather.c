#include "profile/gather.h"

#include <stdlib.h>

#include "base/workers.h"
#include "event/abi.h"
#include "profile/depths.h"
#include "profile/history.h"
#include "profile/label.h"
#include "profile/placing.h"
#include "profile/sights.h"
#include "profile/wallmarks.h"
#include "unwind/chain.h"
#include "unwind/ending.h"

static const u64 TIME_QUANTUM = 100000000; /* ns */

/* A dump that is enough for so many is asked for: the deepest recursions may be endless. */
#define ENOUGH_FOR 0.95

enum { EVENTS_MAX = UINT16_MAX + 1 };

struct worker {
	const struct session *session;
	const struct machine *machine;
	bool has_stacks;
	const struct wall *wall; /* NULL: samples count for themselves */
	VEC(u8) wall_roles;      /* by event: enum wall_role */
	u32 max_stack;
	bool is_weighed; /* as in struct gather_options */
	struct label_maker maker;
	struct depths depths;
	struct history *history; /* room for one; NULL: not wanted */
	struct intern strings;   /* of labels */
	struct sights sights;
	u64 n_passed_over, n_walked;
	struct profile profile; /* made of them afterwards */
	bool is_full;           /* which would be too large */
};

/*
 * The callers' part of a chain: without the innermost address, which is the sample's own ip and
 * differs from sample to sample where the callers are the same. The markers before it stay, as
 * *ret_mode.
 */
static struct sample_words callers_of(const struct sample_words *chain, u8 mode, u8 *ret_mode)
{
	struct sample_words rest = *chain;
	struct chain_walk walk = chain_walk(chain, mode);
	struct chain_step first;

	*ret_mode = mode;
	if (!chain_next(&walk, &first))
		return (struct sample_words){0};
	/*
	 * A chain that begins in another mode (kernel sample, user chain only) has no address of
	 * ours in it.
	 */
	if (first.mode != mode)
		return rest;
	rest.at = walk.at;
	rest.n = (walk.end - walk.at) / 8;
	return rest;
}

/* per sample: how far it is to the top of the stack */
static void note_depth(struct worker *w, const struct sample *sample, const struct stack_end *end)
{
	if (!end->sp)
		return;
	if (end->ending == STACK_DUMP_TOO_SMALL)
		depths_add_cut(&w->depths, sample->pid, sample->tid, end->sp);
	else if (end->ending == STACK_COMPLETE)
		depths_add_top(&w->depths, sample->pid, sample->tid, end->top);
}

/* per sample: so much of its thread's time, in that event */
static void count_time(struct worker *w, enum gather_wall event, u64 ns)
{
	w->sights.next->event = (u16)event;
	w->sights.next->period = ns;
	if (ns)
		sights_count(&w->sights);
}

/* per sample: it counts for the pieces of its thread's time that it speaks for */
static void count_shares(struct worker *w, const struct visit *in)
{
	enum wall_role role = w->wall_roles.at[in->event];
	const struct wall_share *share;
	u64 ns = 0, latency = 0;
	size_t n;

	share = wall_find(w->wall, in->sample->tid, in->time, role != WALL_ROLE_CPU, &n);
	for (; n--; share++) {
		count_time(w, GATHER_BY_STATE + share->state, share->ns);
		ns += share->ns;
		latency += share->latency;
	}
	count_time(w, GATHER_WALL, ns);
	count_time(w, GATHER_LATENCY, latency);
}

/* per sample */
static void take_labels(struct worker *w, const struct visit *in, const struct thread_state *t,
	const u8 *branch, const u8 *before)
{
	const struct label_sample sample = {in, t->comm, t->user, t->kernel, branch, before};

	for (unsigned k = 0; k < w->profile.n_labels; k++)
		w->sights.next->labels[k] = label_of(&w->maker, w->profile.label_at[k], &sample);
}

/* per sample: what it cost; what costs nothing still is a sample */
static u64 weight_of(struct worker *w, const struct visit *in)
{
	const struct label_sample sample = {.in = in};

	return MAX(label_of(&w->maker, LABEL_WEIGHT, &sample), (u64)1);
}

/* per sample: one of its branches, as a sample of its own; `before`: the entry of the one that was taken before it */
static void count_branch(struct worker *w, const struct visit *in, const struct thread_state *t,
	struct sights_place at, u64 period, const u8 *entry, const u8 *before)
{
	struct sight *sight = w->sights.next;

	sight->ip = at.address;
	sight->space = at.space;
	sight->mode = at.mode;
	sight->chain = TABLE_NONE;
	sight->event = in->event;
	sight->n_samples = 1;
	sight->period = period;
	take_labels(w, in, t, entry, before);
	sights_count(&w->sights);
}

/* per sample: each of its branches is a sample of its own, taken where the branch went */
static void count_branches(void *ctx, struct visit *in)
{
	struct worker *w = ctx;
	enum { ENTRY = 24, TO = 8 };
	const struct sample *sample = in->sample;
	const struct thread_state *t = visit_state(in);
	const struct label_sample who = {.user = t->user, .kernel = t->kernel};

	w->n_walked++;
	for (u64 i = 0; i < sample->branches.n; i++) {
		const u8 *entry = sample->branches.entries + i * ENTRY;

		count_branch(w, in, t, label_place(&who, load_u64(entry + TO)), 1, entry, NULL);
	}
}

/*
 * per sample: each run of code that a branch ended is a sample of its own, taken at that branch; the newest
 * branch comes first, and each tells the cycles since the one before
 */
static void count_blocks(void *ctx, struct visit *in)
{
	struct worker *w = ctx;
	enum { ENTRY = 24, FLAGS = 16, CYCLES_SHIFT = 4, CYCLES_MASK = 0xffff };
	const struct sample_branches *branches = &in->sample->branches;
	const struct thread_state *t = visit_state(in);
	const struct label_sample who = {.user = t->user, .kernel = t->kernel};

	w->n_walked++;
	for (u64 i = 0; i < branches->n; i++) {
		const u8 *entry = branches->entries + i * ENTRY;
		u64 cycles = load_u64(entry + FLAGS) >> CYCLES_SHIFT & CYCLES_MASK;

		if (cycles)
			count_branch(w, in, t, label_place(&who, load_u64(entry)), cycles, entry,
				i + 1 < branches->n ? entry + ENTRY : NULL);
	}
}

/* per sample: whether branches were taken before the one that is looked at, and are wanted */
static bool has_history(const struct worker *w)
{
	return w->history && w->history->n;
}

/* per sample */
static void count_sample(void *ctx, struct visit *in)
{
	struct worker *w = ctx;
	const struct sample *sample = in->sample;
	const struct thread_state *t = visit_state(in);
	struct sight *sight = w->sights.next;

	sight->ip = sample->ip;
	sight->mode = in->mode;
	sight->space = sight->mode == PERF_RECORD_MISC_KERNEL  ? t->kernel
		: sight->mode == PERF_RECORD_MISC_GUEST_KERNEL ? t->guest
							       : t->user;
	sight->chain = TABLE_NONE;
	sight->event = in->event;
	sight->n_samples = 1;
	sight->period = w->is_weighed ? weight_of(w, in) : sample->period;
	take_labels(w, in, t, NULL, NULL);
	if (w->has_stacks && visit_callers(in)) {
		note_depth(w, sample, &in->end);
		sights_add_ending(&w->sights, &in->end);
	}
	if (w->history)
		history_take(w->history, sample->branches.entries, sample->branches.n,
			w->max_stack);
	if (w->has_stacks && (in->chain.n || has_history(w))) {
		u8 mode;
		struct sample_words callers = callers_of(&in->chain, sight->mode, &mode);

		if (callers.n || has_history(w) || (callers.at && ending_is_cut(in->end.ending)))
			sight->chain = sights_chain(&w->sights,
				&(struct sights_chain){.user = t->user,
					.kernel = t->kernel,
					.guest = t->guest,
					.words = callers,
					.history = has_history(w) ? w->history->words : NULL,
					.n_history =
						has_history(w) ? w->history->n * HISTORY_WORDS : 0,
					.mode = mode,
					.end = in->end});
	}
	if (UNLIKELY(w->wall != NULL))
		count_shares(w, in);
	else if (UNLIKELY(w->history != NULL))
		sights_count_history(&w->sights, w->history);
	else
		sights_count(&w->sights);
}

/* per sample of wall-clock time */
static void count_moment(void *ctx, struct visit *in)
{
	struct worker *w = ctx;
	u8 role = w->wall_roles.at[in->event];

	/* What a record of a moment reads beside it tells nothing more of the time. */
	if (in->event != in->taken_by || role == WALL_ROLE_NONE || role == WALL_ROLE_WAKE)
		w->n_passed_over++;
	else
		count_sample(ctx, in);
}

static void add_events(struct worker *w)
{
	static const char *const of_wall[GATHER_WALL_EVENTS] = {[GATHER_WALL] = "wall",
		[GATHER_BY_STATE + WALL_CPU] = "wall:cpu",
		[GATHER_BY_STATE + WALL_RUNNABLE] = "wall:runnable",
		[GATHER_BY_STATE + WALL_BLOCKED] = "wall:blocked",
		[GATHER_LATENCY] = "latency"};

	for (size_t i = 0; w->wall && i < GATHER_WALL_EVENTS; i++)
		vec_add(&w->profile.events,
			((struct profile_event){.name = of_wall[i],
				.is_repeated = i != GATHER_WALL}));
	if (w->wall)
		return;
	vec_each(e, &w->session->reader.events)
		vec_add(&w->profile.events,
			((struct profile_event){.name = e->name, .n_group = e->n_members}));
	/* Groups' names go by where they begin. */
	vec_each(g, &w->session->reader.info.groups)
		if (g->leader < w->profile.events.n && strcmp(g->name, FILE_GROUP_UNNAMED))
			w->profile.events.at[g->leader].group = g->name;
}

/* What is left for a profile. */
static u64 allowed_for(const struct worker *w)
{
	const struct session *s = w->session;
	u64 allowed = reader_allows(&s->reader, s->reader.data_end),
	    taken = s->n_held + sights_bytes(&w->sights);

	return allowed - MIN(allowed, taken);
}

static void make_profile(void *ctx, size_t i, unsigned worker)
{
	struct worker *w = *((struct worker **)ctx + i);

	(void)worker;
	add_events(w);
	w->is_full =
		!placing_add(&w->sights, w->machine, w->max_stack, allowed_for(w), &w->profile);
}

/* What all workers share. */
struct gathering {
	const struct trace *trace;
	const struct gather_options *options;
	struct label_facts facts;
	VEC(struct worker *) workers;
};

static void *join(void *gathering)
{
	struct gathering *g = gathering;
	const struct gather_options *options = g->options;
	const struct session *s = &g->trace->session;
	struct worker *w = mem_zalloc(sizeof(*w));

	vec_add(&g->workers, w);
	w->session = s;
	w->machine = &g->trace->machine;
	w->has_stacks = options->has_stacks;
	w->is_weighed = options->is_weighed;
	w->maker = (struct label_maker){&g->facts, &w->sights, &w->strings, {0}};
	w->wall = options->wall;
	for (u32 i = 0; w->wall && i < s->reader.events.n; i++)
		vec_add(&w->wall_roles, (u8)wallmarks_role(s, i));
	w->max_stack = options->max_stack ? options->max_stack : UINT32_MAX;
	profile_init(&w->profile, options->labels);
	sights_init(&w->sights, w->profile.n_labels, options->has_stacks, options->has_history);
	if (options->has_history)
		w->history = mem_alloc(sizeof(*w->history));
	return w;
}

static void worker_free(struct worker *w)
{
	profile_fini(&w->profile);
	intern_fini(&w->strings);
	sights_fini(&w->sights);
	vec_fini(&w->wall_roles);
	depths_fini(&w->depths);
	mem_free(w->history);
	str_fini(&w->maker.scratch);
	mem_free(w);
}

/* What the samples must carry for these labels. */
static u64 fields_for(const struct gather_options *options)
{
	u64 wanted = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;

	for (unsigned label = 0; label < LABEL_COUNT; label++)
		wanted |= options->labels & LABEL_BIT(label) ? label_needs(label) : 0;
	if (options->is_weighed)
		wanted |= label_needs(LABEL_WEIGHT);
	if (options->has_branches || options->has_history)
		wanted |= PERF_SAMPLE_BRANCH_STACK;
	return wanted;
}

static int by_tid(const void *a, const void *b)
{
	const struct profile_task *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/*
 * Who the tids are, for reports that tell threads apart: the last name that the last thread of each
 * had.
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

static u64 held(const void *worker)
{
	return sights_bytes(&((const struct worker *)worker)->sights);
}

/* They are made into profiles all at once, when the pass is over. */
static void leave(void *gathering, void *worker)
{
	(void)gathering;
	(void)worker;
}

static int set_up(struct gathering *g, struct err *err)
{
	const struct gather_options *o = g->options;
	struct label_facts *facts = &g->facts;

	if (label_facts_init(facts, &g->trace->session, &g->trace->machine, o->labels, err))
		return err->code;
	facts->time_quantum = o->time_quantum ? o->time_quantum : TIME_QUANTUM;
	facts->moments = o->moments;
	facts->has_raw_fields = o->has_raw_fields;
	memcpy(facts->fields, o->fields, sizeof(facts->fields));
	return 0;
}

/* The first one's profile takes in the others'. */
static void merge(struct gathering *g, u64 n_passed_over, struct profile *ret)
{
	struct worker *first = g->workers.at[0];

	*ret = first->profile;
	memset(&first->profile, 0, sizeof(first->profile));
	ret->has_branches = g->options->has_branches;
	ret->has_blocks = g->options->has_blocks;
	ret->n_passed_over = n_passed_over;
	vec_each(w, &g->workers) {
		ret->n_passed_over += (*w)->n_passed_over;
		ret->n_walked += (*w)->n_walked;
		if (*w == first)
			continue;
		profile_merge(ret, &(*w)->profile);
		depths_merge(&first->depths, &(*w)->depths);
	}
	ret->enough_dump = depths_enough(&first->depths, ENOUGH_FOR);
	add_tasks(&g->trace->machine, ret);
}

int gather(struct trace *t, const struct gather_options *options, struct profile *ret_profile,
	struct err *err)
{
	struct gathering g = {.trace = t, .options = options};
	const struct visitor mine = {.wanted = fields_for(options),
		.has_callers = options->has_stacks,
		.ctx = &g,
		.join = join,
		.sample = options->wall         ? count_moment
			: options->has_blocks   ? count_blocks
			: options->has_branches ? count_branches
						: count_sample,
		.held = held,
		.leave = leave};
	const struct visitor *visitors[1 + GATHER_BESIDE] = {&mine};
	struct pass_options pass = {.where = &options->where, .n_workers = options->n_workers};
	int r;

	if (t->session.reader.events.n > EVENTS_MAX)
		return err_set(err, ERR_LIMIT, "%zu events are more than one report can hold (%d)",
			t->session.reader.events.n, EVENTS_MAX);
	for (size_t i = 0; i < options->n_beside; i++)
		visitors[1 + i] = options->beside[i];
	r = set_up(&g, err);
	if (!r)
		r = pass_run(t, &pass, visitors, 1 + options->n_beside, err);
	if (!r) {
		workers_run((unsigned)g.workers.n, g.workers.n, make_profile, g.workers.at);
		r = check_size(&t->session, g.workers.at, (unsigned)g.workers.n, err);
	}
	if (!r)
		merge(&g, pass.n_passed_over, ret_profile);
	vec_each(w, &g.workers)
		worker_free(*w);
	vec_fini(&g.workers);
	label_facts_fini(&g.facts);
	return r;
}
