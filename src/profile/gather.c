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

enum { THREADS_REMEMBERED = 256 };

static const u64 TIME_QUANTUM = 100000000; /* ns */

/* What is known of a thread for a while: nearly every sample finds its own here. */
struct remembered_thread {
	u32 pid, tid;
	u64 from, until; /* from > until: empty */
	const struct space *user, *kernel, *guest;
	const char *comm;
};

/* A dump that is enough for so many is asked for: the deepest recursions may be endless. */
#define ENOUGH_FOR 0.95

enum { EVENTS_MAX = UINT16_MAX + 1 };

struct worker {
	const struct session *session;
	const struct machine *machine;
	bool has_stacks, has_callers;
	const struct cpus *cpus;   /* NULL: all */
	const struct spans *spans; /* the same */
	const struct switching *switching;
	const struct wall *wall; /* NULL: samples count for themselves */
	VEC(u8) wall_roles;      /* by event: enum wall_role */
	u32 max_stack;
	bool is_weighed, has_branches, has_blocks; /* as in struct gather_options */
	struct label_maker maker;
	struct callers_walk callers; /* out of stack dumps */
	struct depths depths;
	struct history *history; /* room for one; NULL: not wanted */
	struct intern strings;   /* for names like ":123" */
	struct remembered_thread threads[THREADS_REMEMBERED];
	struct sights sights;
	u64 n_passed_over, n_walked;
	struct profile profile; /* made of them afterwards */
	bool is_full;           /* which would be too large */
};

/* per sample */
static const struct remembered_thread *thread_of(struct worker *w, u32 pid, u32 tid, u64 time)
{
	struct remembered_thread *t = &w->threads[(tid ^ tid >> 8) % THREADS_REMEMBERED];
	struct thread_state state;

	if (LIKELY(t->tid == tid && t->pid == pid && time >= t->from && time < t->until))
		return t;
	machine_state_at(w->machine, pid, tid, time, &w->strings, &state);
	*t = (struct remembered_thread){pid, tid, state.from, state.until, state.user, state.kernel,
		state.guest, state.comm};
	return t;
}

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

/* The file that the outermost frame of a chain is in: 0 if none is known. */
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

/* per sample: of a stack that was walked while recording, how it ended */
static bool take_ending(const struct space *user, struct sample_words *chain,
	struct stack_end *ret_end)
{
	if (!ending_take(chain, &ret_end->ending))
		return false;
	if (ending_is_of_file(ret_end->ending))
		ret_end->dso = dso_of_last(user, chain);
	return true;
}

/* per sample */
static bool is_wanted(const struct worker *w, const struct session_sample *in)
{
	return (!w->cpus || cpus_has(w->cpus, in->sample->cpu)) &&
		(!w->spans || spans_have(w->spans, in->time)) &&
		(!w->switching || switching_has(w->switching, in->time)) &&
		/* What a record of a moment reads beside it tells nothing more of the time. */
		(!w->wall ||
			(in->event == in->taken_by &&
				w->wall_roles.at[in->event] != WALL_ROLE_NONE &&
				w->wall_roles.at[in->event] != WALL_ROLE_WAKE));
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
static void count_shares(struct worker *w, const struct session_sample *in)
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
static void take_labels(struct worker *w, const struct session_sample *in,
	const struct remembered_thread *t, const u8 *branch, const u8 *before)
{
	const struct label_sample sample = {in, t->comm, t->user, t->kernel, branch, before};

	for (unsigned k = 0; k < w->profile.n_labels; k++)
		w->sights.next->labels[k] = label_of(&w->maker, w->profile.label_at[k], &sample);
}

/* per sample: what it cost; what costs nothing still is a sample */
static u64 weight_of(struct worker *w, const struct session_sample *in)
{
	const struct label_sample sample = {.in = in};

	return MAX(label_of(&w->maker, LABEL_WEIGHT, &sample), (u64)1);
}

/* per sample: one of its branches, as a sample of its own; `before`: the entry of the one that was taken before it */
static void count_branch(struct worker *w, const struct session_sample *in,
	const struct remembered_thread *t, struct sights_place at, u64 period, const u8 *entry,
	const u8 *before)
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
static void count_branches(struct worker *w, const struct session_sample *in)
{
	enum { ENTRY = 24, TO = 8 };
	const struct sample *sample = in->sample;
	const struct remembered_thread *t = thread_of(w, sample->pid, sample->tid, in->time);
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
static void count_blocks(struct worker *w, const struct session_sample *in)
{
	enum { ENTRY = 24, FLAGS = 16, CYCLES_SHIFT = 4, CYCLES_MASK = 0xffff };
	const struct sample_branches *branches = &in->sample->branches;
	const struct remembered_thread *t =
		thread_of(w, in->sample->pid, in->sample->tid, in->time);
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
static void count_sample(struct worker *w, const struct session_sample *in)
{
	const struct sample *sample = in->sample;
	const struct remembered_thread *t = thread_of(w, sample->pid, sample->tid, in->time);
	struct sight *sight = w->sights.next;
	struct sample_words chain = sample->chain;
	struct stack_end end = {.ending = STACK_ENDINGS};

	sight->ip = sample->ip;
	sight->mode = in->rec->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	sight->space = sight->mode == PERF_RECORD_MISC_KERNEL  ? t->kernel
		: sight->mode == PERF_RECORD_MISC_GUEST_KERNEL ? t->guest
							       : t->user;
	sight->chain = TABLE_NONE;
	sight->event = in->event;
	sight->n_samples = 1;
	sight->period = w->is_weighed ? weight_of(w, in) : sample->period;
	take_labels(w, in, t, NULL, NULL);
	if (w->has_stacks &&
		(take_ending(t->user, &chain, &end) ||
			(w->has_callers &&
				callers_of_sample(&w->callers, t->user,
					&w->session->reader.formats.at[in->taken_by], sample,
					sight->mode, &chain, &end)))) {
		note_depth(w, sample, &end);
		sights_add_ending(&w->sights, &end);
	}
	if (w->history)
		history_take(w->history, sample->branches.entries, sample->branches.n,
			w->max_stack);
	if (w->has_stacks && (chain.n || has_history(w))) {
		u8 mode;
		struct sample_words callers = callers_of(&chain, sight->mode, &mode);

		if (callers.n || has_history(w) || (callers.at && ending_is_cut(end.ending)))
			sight->chain = sights_chain(&w->sights,
				&(struct sights_chain){.user = t->user,
					.kernel = t->kernel,
					.guest = t->guest,
					.words = callers,
					.history = has_history(w) ? w->history->words : NULL,
					.n_history =
						has_history(w) ? w->history->n * HISTORY_WORDS : 0,
					.mode = mode,
					.end = end});
	}
	if (UNLIKELY(w->wall != NULL))
		count_shares(w, in);
	else if (UNLIKELY(w->history != NULL))
		sights_count_history(&w->sights, w->history);
	else
		sights_count(&w->sights);
}

/* per sample */
static void take_sample(void *ctx, const struct session_sample *in)
{
	struct worker *w = ctx;

	if (!is_wanted(w, in))
		w->n_passed_over++;
	else if (w->has_blocks)
		count_blocks(w, in);
	else if (w->has_branches)
		count_branches(w, in);
	else
		count_sample(w, in);
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

static struct worker *worker_new(const struct session *s, const struct machine *m,
	const struct gather_options *options, struct label_facts *facts)
{
	struct worker *w = mem_zalloc(sizeof(*w));

	w->session = s;
	w->machine = m;
	w->has_stacks = options->has_stacks;
	w->is_weighed = options->is_weighed;
	w->has_branches = options->has_branches;
	w->has_blocks = options->has_blocks;
	w->maker = (struct label_maker){facts, &w->sights, &w->strings, {0}};
	w->cpus = options->cpus && options->cpus->n ? options->cpus : NULL;
	w->spans = options->spans && options->spans->n ? options->spans : NULL;
	w->switching = options->switching;
	w->wall = options->wall;
	for (u32 i = 0; w->wall && i < s->reader.events.n; i++)
		vec_add(&w->wall_roles, (u8)wallmarks_role(s, i));
	w->max_stack = options->max_stack ? options->max_stack : UINT32_MAX;
	profile_init(&w->profile, options->labels);
	sights_init(&w->sights, w->profile.n_labels, options->has_stacks, options->has_history);
	w->has_callers = options->has_stacks && options->callers;
	if (options->has_history)
		w->history = mem_alloc(sizeof(*w->history));
	if (w->has_callers)
		callers_walk_init(&w->callers, options->callers);
	for (size_t i = 0; i < THREADS_REMEMBERED; i++)
		w->threads[i].from = 1;
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
	if (w->has_callers)
		callers_walk_fini(&w->callers);
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
	if (options->cpus && options->cpus->n)
		wanted |= PERF_SAMPLE_CPU;
	if (options->spans && options->spans->n)
		wanted |= PERF_SAMPLE_TIME;
	if (options->has_stacks)
		wanted |= PERF_SAMPLE_CALLCHAIN;
	if (options->callers)
		wanted |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_BRANCH_STACK;
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

int gather(struct session *s, const struct machine *m, const struct gather_options *options,
	struct profile *ret_profile, struct err *err)
{
	unsigned n = options->n_workers ? MIN(options->n_workers, (unsigned)WORKERS_MAX)
					: workers_available();
	struct worker *workers[WORKERS_MAX];
	struct label_facts facts;
	struct session_sink sink = {fields_for(options), take_sample, (void **)workers, held};
	int r;

	if (s->reader.events.n > EVENTS_MAX)
		return err_set(err, ERR_LIMIT, "%zu events are more than one report can hold (%d)",
			s->reader.events.n, EVENTS_MAX);
	if (label_facts_init(&facts, s, m, options->labels, err)) {
		label_facts_fini(&facts);
		return err->code;
	}
	facts.time_quantum = options->time_quantum ? options->time_quantum : TIME_QUANTUM;
	facts.moments = options->moments;
	facts.has_raw_fields = options->has_raw_fields;
	memcpy(facts.fields, options->fields, sizeof(facts.fields));
	n = MIN((size_t)n, MAX(s->pieces.n, (size_t)1));
	for (unsigned i = 0; i < n; i++)
		workers[i] = worker_new(s, m, options, &facts);
	r = session_samples(s, n, &sink, err);
	if (!r) {
		workers_run(n, n, make_profile, workers);
		r = check_size(s, workers, n, err);
	}
	if (!r) {
		/* The first one's profile takes in the others'. */
		*ret_profile = workers[0]->profile;
		memset(&workers[0]->profile, 0, sizeof(workers[0]->profile));
		ret_profile->has_branches = options->has_branches;
		ret_profile->has_blocks = options->has_blocks;
		for (unsigned i = 0; i < n; i++) {
			ret_profile->n_passed_over += workers[i]->n_passed_over;
			ret_profile->n_walked += workers[i]->n_walked;
		}
		for (unsigned i = 1; i < n; i++) {
			profile_merge(ret_profile, &workers[i]->profile);
			depths_merge(&workers[0]->depths, &workers[i]->depths);
		}
		ret_profile->enough_dump = depths_enough(&workers[0]->depths, ENOUGH_FOR);
		add_tasks(m, ret_profile);
	}
	for (unsigned i = 0; i < n; i++)
		worker_free(workers[i]);
	label_facts_fini(&facts);
	return r;
}
