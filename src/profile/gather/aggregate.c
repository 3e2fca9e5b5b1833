#include "profile/gather/aggregate.h"

#include "event/abi.h"
#include "event/tsx.h"
#include "profile/gather/history.h"
#include "profile/gather/mapresolve.h"
#include "profile/gather/wallmarks.h"
#include "record/branch.h"
#include "unwind/chain.h"
#include "unwind/ending.h"

/* ---- samples ---- */

/* per sample: whether the event that took it counts aborts of transactions; in a pipe, events come one by one */
static bool is_of_aborts(struct aggregate *a, const struct visit *in)
{
	const struct event_list *events = &a->trace->session.reader.events;

	while (UNLIKELY(a->are_aborts.n < events->n)) {
		enum tsx_count count = tsx_count_of(&events->at[a->are_aborts.n]);

		vec_add(&a->are_aborts, (u8)(count == TSX_ABORTS || count == TSX_ELISION_ABORTS));
	}
	return a->are_aborts.at[in->taken_by];
}

/*
 * The callers' part of a chain, without the innermost address: that is the sample's own ip, which differs
 * between samples with the same callers. *ret_mode keeps what the markers before it say. *ret_has_gap: the chain is
 * of code that ran after a transaction was aborted, all of it.
 */
static struct sample_words callers_of(struct aggregate *a, const struct visit *in, u8 *ret_mode,
	bool *ret_has_gap)
{
	const u8 mode = in->mode;
	struct sample_words rest = in->chain;
	struct chain_walk walk = chain_walk(&rest, mode);
	struct chain_step first;

	*ret_mode = mode;
	*ret_has_gap = false;
	if (!chain_next(&walk, &first))
		return (struct sample_words){0};
	*ret_has_gap = first.ip != in->sample->ip && visit_is_abort(in, is_of_aborts(a, in));
	if (*ret_has_gap)
		return rest;
	/*
	 * A chain that begins in another mode (kernel sample, user chain only) does not contain
	 * the sample's ip.
	 */
	if (first.mode != mode)
		return rest;
	rest.at = walk.at;
	rest.n = (walk.end - walk.at) / 8;
	return rest;
}

/* per sample: notes how far it is to the top of the stack */
static void note_depth(struct aggregate *a, const struct sample *sample,
	const struct stack_end *end)
{
	if (!end->sp)
		return;
	if (end->ending == STACK_DUMP_TOO_SMALL)
		depths_add_cut(&a->depths, sample->pid, sample->tid, end->sp);
	else if (end->ending == STACK_COMPLETE)
		depths_add_top(&a->depths, sample->pid, sample->tid, end->top);
}

/* per sample: whether the timeline keeps it */
static inline bool is_kept(struct aggregate *a, const struct visit *in)
{
	struct timeline *t = a->profile.timeline;
	const bool has_time = in->format->type & PERF_SAMPLE_TIME;

	if (LIKELY(!t))
		return false;
	t->n_timeless += !has_time;
	return has_time && timeline_wants(t, in->sample->tid, in->sample->time);
}

/* per sample: adds uniques.next, which is about to be counted, to the timeline if that keeps it */
static inline void note(struct aggregate *a, const struct visit *in)
{
	const struct sample *sample = in->sample;

	if (UNLIKELY(a->uniques.is_noted))
		timeline_add(a->profile.timeline,
			&(struct timeline_thread){sample->pid, sample->tid, in->state->comm},
			&(struct timeline_sample){.time = sample->time,
				.period = a->uniques.next->period,
				.cpu = sample->cpu});
}

/* per sample: counts ns of its thread's time for that event */
static void count_time(struct aggregate *a, const struct visit *in, enum aggregate_wall event,
	u64 ns)
{
	a->uniques.next->event = (u16)event;
	a->uniques.next->period = ns;
	if (!ns)
		return;
	note(a, in);
	uniques_count(&a->uniques);
}

/* per sample: counts the pieces of its thread's time that it represents */
static void count_shares(struct aggregate *a, const struct visit *in,
	const struct wall_share *share, size_t n)
{
	u64 ns = 0, latency = 0;

	for (; n--; share++) {
		count_time(a, in, AGGREGATE_BY_STATE + share->state, share->ns);
		ns += share->ns;
		latency += share->latency;
	}
	count_time(a, in, AGGREGATE_WALL, ns);
	count_time(a, in, AGGREGATE_LATENCY, latency);
}

/* per sample */
static void take_labels(struct aggregate *a, const struct visit *in, const struct thread_state *t,
	const u8 *branch, const u8 *before)
{
	const struct label_sample sample = {in, t->comm, t->user, t->kernel, branch, before};

	for (unsigned k = 0; k < a->profile.n_labels; k++)
		a->uniques.next->labels[k] = label_of(&a->maker, a->profile.label_at[k], &sample);
}

/* per sample: its weight, at least 1 so that every sample counts */
static u64 weight_of(struct aggregate *a, const struct visit *in)
{
	const struct label_sample sample = {.in = in};

	return MAX(label_of(&a->maker, LABEL_WEIGHT, &sample), (u64)1);
}

/* per sample: counts one of its branches as a sample; `before`: the entry of the branch taken before it */
static void count_branch(struct aggregate *a, const struct visit *in, const struct thread_state *t,
	struct uniques_place at, u64 period, const u8 *entry, const u8 *before)
{
	struct unique *unique = a->uniques.next;

	unique->ip = at.address;
	unique->space = at.space;
	unique->mode = at.mode;
	unique->chain = TABLE_NONE;
	unique->event = in->event;
	unique->n_samples = 1;
	unique->period = period;
	take_labels(a, in, t, entry, before);
	note(a, in);
	uniques_count(&a->uniques);
}

/* per sample: counts each of its branches as a sample at the branch's target */
static void count_branches(void *ctx, struct visit *in)
{
	struct aggregate *a = ctx;
	const struct sample_branches *branches = &in->sample->branches;
	const struct thread_state *t = visit_state(in);
	const struct label_sample who = {.user = t->user, .kernel = t->kernel};

	a->profile.n_walked++;
	a->uniques.is_noted = is_kept(a, in);
	for (u64 i = 0; i < branches->n; i++)
		count_branch(a, in, t, label_place(&who, branch_at(branches->entries, i).to), 1,
			branches->entries + i * BRANCH_SIZE, NULL);
}

/*
 * per sample: counts each run of code as a sample at the branch that ended it. The newest branch comes
 * first, and each tells the cycles since the previous one.
 */
static void count_blocks(void *ctx, struct visit *in)
{
	struct aggregate *a = ctx;
	const struct sample_branches *branches = &in->sample->branches;
	const struct thread_state *t = visit_state(in);
	const struct label_sample who = {.user = t->user, .kernel = t->kernel};

	a->profile.n_walked++;
	a->uniques.is_noted = is_kept(a, in);
	for (u64 i = 0; i < branches->n; i++) {
		const u8 *entry = branches->entries + i * BRANCH_SIZE;
		const struct branch b = branch_at(entry, 0);

		if (branch_cycles(b.flags))
			count_branch(a, in, t, label_place(&who, b.from), branch_cycles(b.flags),
				entry, i + 1 < branches->n ? entry + BRANCH_SIZE : NULL);
	}
}

/* per sample: whether the current sample has branches before it, and they are wanted */
static bool has_history(const struct aggregate *a)
{
	return a->history && a->history->n;
}

/* per sample: makes it the one to count next */
static void make_next(struct aggregate *a, struct visit *in)
{
	const struct sample *sample = in->sample;
	const struct thread_state *t = visit_state(in);
	struct unique *unique = a->uniques.next;

	a->uniques.is_noted = is_kept(a, in);
	unique->ip = sample->ip;
	unique->mode = in->mode;
	unique->space = machine_space(t, unique->mode);
	unique->chain = TABLE_NONE;
	unique->event = in->event;
	unique->n_samples = 1;
	unique->period = a->options.is_weighed ? weight_of(a, in) : sample->period;
	take_labels(a, in, t, NULL, NULL);
	if (a->options.has_stacks && visit_callers(in)) {
		note_depth(a, sample, &in->end);
		uniques_add_ending(&a->uniques, &in->end);
	}
	if (a->history)
		history_take(a->history, sample->branches.entries, sample->branches.n,
			a->options.max_stack);
	if (a->options.has_stacks && (in->chain.n || has_history(a))) {
		bool has_gap;
		u8 mode;
		struct sample_words callers = callers_of(a, in, &mode, &has_gap);

		if (callers.n || has_history(a) || (callers.at && ending_is_cut(in->end.ending)))
			unique->chain = uniques_chain(&a->uniques,
				&(struct uniques_chain){.user = t->user,
					.kernel = t->kernel,
					.guest = t->guest,
					.words = callers,
					.history = has_history(a) ? a->history->words : NULL,
					.n_history =
						has_history(a) ? a->history->n * HISTORY_WORDS : 0,
					.mode = mode,
					.has_gap = has_gap,
					.end = in->end});
	}
}

/* per sample */
static void count_sample(void *ctx, struct visit *in)
{
	struct aggregate *a = ctx;

	make_next(a, in);
	note(a, in);
	if (UNLIKELY(a->history != NULL))
		uniques_count_history(&a->uniques, a->history);
	else
		uniques_count(&a->uniques);
}

/* per sample of wall-clock time */
static void count_moment(void *ctx, struct visit *in)
{
	struct aggregate *a = ctx;
	const u8 role = a->wall_roles.at[in->event];
	const struct wall_share *shares;
	size_t n;

	/* Other events read by the same record add nothing about the time. */
	if (in->event != in->taken_by || role == WALL_ROLE_NONE || role == WALL_ROLE_WAKE) {
		a->profile.n_passed_over++;
		return;
	}
	make_next(a, in);
	shares = wall_find(a->options.wall, in->sample->tid, in->time, role != WALL_ROLE_CPU, &n);
	count_shares(a, in, shares, n);
}

void aggregate_add_time(struct aggregate *a, struct visit *v, const struct wall_share *piece)
{
	make_next(a, v);
	count_shares(a, v, piece, 1);
}

void (*aggregate_adder(const struct aggregate_options *options))(void *aggregate, struct visit *v)
{
	return options->wall            ? count_moment
		: options->has_blocks   ? count_blocks
		: options->has_branches ? count_branches
					: count_sample;
}

int aggregate_check(const struct trace *t, struct err *err)
{
	enum { EVENTS_MAX = UINT16_MAX + 1 };
	const size_t n = t->session.reader.events.n;

	return n <= EVENTS_MAX
		? 0
		: err_set(err, ERR_LIMIT, "%zu events are more than one report can hold (%d)", n,
			  EVENTS_MAX);
}

u64 aggregate_needs(const struct aggregate_options *options)
{
	u64 wanted = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;

	for (unsigned label = 0; label < LABEL_COUNT; label++)
		wanted |= options->labels & LABEL_BIT(label) ? label_needs(label) : 0;
	if (options->has_stacks)
		wanted |= PERF_SAMPLE_TRANSACTION;
	if (options->is_weighed)
		wanted |= label_needs(LABEL_WEIGHT);
	if (options->has_branches || options->has_history)
		wanted |= PERF_SAMPLE_BRANCH_STACK;
	return wanted;
}

/* ---- the profile ---- */

/* Adds the recording's events that the profile does not have yet: in a pipe, events come one by one. */
static void add_events(struct aggregate *a)
{
	static const char *const of_wall[AGGREGATE_WALL_EVENTS] = {[AGGREGATE_WALL] = "wall",
		[AGGREGATE_BY_STATE + WALL_CPU] = "wall:cpu",
		[AGGREGATE_BY_STATE + WALL_RUNNABLE] = "wall:runnable",
		[AGGREGATE_BY_STATE + WALL_BLOCKED] = "wall:blocked",
		[AGGREGATE_LATENCY] = "latency"};
	const struct event_list *events = &a->trace->session.reader.events;
	struct profile *p = &a->profile;

	for (size_t i = p->events.n; a->options.wall && i < AGGREGATE_WALL_EVENTS; i++)
		vec_add(&p->events,
			((struct profile_event){.name = of_wall[i],
				.is_repeated = i != AGGREGATE_WALL}));
	if (a->options.wall)
		return;
	for (size_t i = p->events.n; i < events->n; i++)
		vec_add(&p->events,
			((struct profile_event){.name = events->at[i].name,
				.n_group = events->at[i].n_members}));
	/* A group is named by its leader's event. */
	vec_each(g, &a->trace->session.reader.info.groups)
		if (g->leader < p->events.n && strcmp(g->name, FILE_GROUP_UNNAMED))
			p->events.at[g->leader].group = g->name;
}

/* Tells the samples noted since the last flush which rows they are counted in. */
static void place_noted(struct aggregate *a)
{
	struct uniques *s = &a->uniques;
	struct timeline *t = a->profile.timeline;
	const size_t first = t->at.n - s->noted.n;

	for (size_t i = 0; i < s->noted.n; i++)
		t->at.at[first + i].row = (u32)s->first_row + s->noted.at[i];
	s->noted.n = 0;
}

bool aggregate_flush(struct aggregate *a, u64 allowed)
{
	bool fits;

	add_events(a);
	fits = mapresolve_add(&a->uniques, &a->trace->machine, a->options.max_stack, allowed,
		&a->profile);
	if (a->profile.timeline)
		place_noted(a);
	return fits;
}

void aggregate_decay(struct aggregate *a, double factor)
{
	aggregate_flush(a, UINT64_MAX);
	profile_scale(&a->profile, factor);
}

void aggregate_fade(struct aggregate *a, u32 n, u32 of, u64 *rest)
{
	aggregate_flush(a, UINT64_MAX);
	profile_fade(&a->profile, n, of, rest);
}

void aggregate_forget(struct aggregate *a)
{
	aggregate_flush(a, UINT64_MAX);
	profile_compact(&a->profile);
	uniques_clear(&a->uniques);
	intern_fini(&a->strings);
	depths_fini(&a->depths);
}

u64 aggregate_bytes(const struct aggregate *a)
{
	return uniques_bytes(&a->uniques) + timeline_bytes(a->profile.timeline);
}

/* ---- beginning and end ---- */

void aggregate_init(struct aggregate *a, const struct trace *t,
	const struct aggregate_options *options, struct label_facts *facts)
{
	const struct session *s = &t->session;

	memset(a, 0, sizeof(*a));
	a->trace = t;
	a->options = *options;
	a->options.max_stack = options->max_stack ? options->max_stack : UINT32_MAX;
	a->add = aggregate_adder(options);
	a->maker = (struct label_maker){facts, &a->uniques, &a->strings, {0}};
	for (u32 i = 0; options->wall && i < s->reader.events.n; i++)
		vec_add(&a->wall_roles, (u8)wallmarks_role(s, i));
	profile_init(&a->profile, options->labels);
	a->profile.has_branches = options->has_branches;
	a->profile.has_blocks = options->has_blocks;
	uniques_init(&a->uniques, a->profile.n_labels, options->has_stacks, options->has_history);
	/* Of wall-clock time a sample may become one of each event. */
	if (options->timeline_most)
		a->profile.timeline = timeline_new(timeline_every(s->tally.n_samples *
				(options->wall ? AGGREGATE_WALL_EVENTS : 1),
			options->timeline_most));
	if (options->has_history)
		a->history = mem_alloc(sizeof(*a->history));
}

void aggregate_fini(struct aggregate *a)
{
	profile_fini(&a->profile);
	intern_fini(&a->strings);
	uniques_fini(&a->uniques);
	vec_fini(&a->wall_roles);
	vec_fini(&a->are_aborts);
	depths_fini(&a->depths);
	mem_free(a->history);
	str_fini(&a->maker.scratch);
}
