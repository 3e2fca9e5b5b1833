#include "profile/gather.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/workers.h"
#include "event/abi.h"
#include "profile/depths.h"
#include "unwind/chain.h"
#include "unwind/ending.h"

enum { THREADS_REMEMBERED = 256, FRAMES_REMEMBERED = 1 << 14, TABLE_AT_FIRST = 1 << 12 };

static const u64 TIME_QUANTUM = 100000000; /* ns */

/* What is known of a thread for a while: nearly every sample finds its own here. */
struct remembered_thread {
	u32 pid, tid;
	u64 from, until; /* from > until: empty */
	const struct space *user, *kernel, *guest;
	const char *comm;
};

/* One distinct list of callers' addresses. */
struct chain {
	const struct space *user, *kernel, *guest;
	struct sample_words words; /* a copy */
	u32 mode;                  /* in which its first address ran if no marker tells */
	/* how it ended: STACK_ENDINGS if nothing tells it before its addresses are looked up */
	struct stack_end end;
	bool is_untold;
};

/*
 * One distinct sample: the same in all that is counted apart. The labels that are asked for stand
 * behind it.
 */
struct sight {
	u64 ip;
	const struct space *space; /* in which ip is looked up */
	u32 chain;                 /* TABLE_NONE: no callers */
	u16 event;
	u8 mode;
	u64 n_samples, period;
	u64 labels[];
};

/* A dump that is enough for so many is asked for: the deepest recursions may be endless. */
#define ENOUGH_FOR 0.95

enum { EVENTS_MAX = UINT16_MAX + 1 };

/* A resolved address, so that maps are asked once. */
struct remembered_frame {
	u64 ip;
	const struct space *space;
	u32 frame; /* + 1; 0: empty */
	u8 mode;
	bool is_return;
};

struct worker {
	const struct session *session;
	const struct machine *machine;
	bool has_stacks, has_callers;
	const struct cpus *cpus;   /* NULL: all */
	const struct spans *spans; /* the same */
	u64 time_quantum;
	struct callers_walk callers;        /* out of stack dumps */
	VEC(struct profile_ending) endings; /* how they ended; DSOs by their ids */
	struct depths depths;
	size_t sight_size;       /* bytes, labels included */
	struct sight *new_sight; /* the one being looked for, in the room below */
	/* In here, not in an allocation of its own: no other worker's data may be that near. */
	u64 new_sight_room[sizeof(struct sight) / 8 + LABEL_COUNT];
	struct intern strings; /* for names like ":123" */
	struct remembered_thread threads[THREADS_REMEMBERED];
	VEC(struct chain) chains;
	struct table chain_index;
	struct arena words;
	VEC(u8) sights; /* sight_size each */
	u32 n_sights;
	struct table sight_index;
	/* the second step */
	struct profile profile;
	u32 *dsos; /* by dso->id: position in the profile + 1 */
	struct remembered_frame *frames;
	VEC(u32) path; /* the frames of one chain */
	u32 max_stack;
	u64 last_comm;
	const char *last_own_comm;
};

/* ---- first step ---- */

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

static u64 space_key(const struct space *user, const struct space *kernel)
{
	return (u64)(user ? user->id : UINT32_MAX) << 32 | kernel->id;
}

/* per sample: the number of these callers */
static u32 chain_of(struct worker *w, const struct remembered_thread *t,
	const struct sample_words *words, u8 mode, const struct stack_end *end)
{
	u64 key = space_key(t->user, t->kernel), hash;
	struct table_probe probe;
	struct chain chain;
	u32 i;

	hash = hash_words(words->at, words->n,
		key ^ mode ^ (u64)end->ending << 24 ^ (u64)end->dso << 8);
	probe = table_probe(&w->chain_index, hash);
	while ((i = table_next(&w->chain_index, &probe)) != TABLE_NONE) {
		const struct chain *c = &w->chains.at[i];

		if (c->words.n == words->n && c->mode == mode && c->end.ending == end->ending &&
			c->end.dso == end->dso && space_key(c->user, c->kernel) == key &&
			c->guest == t->guest && !memcmp(c->words.at, words->at, words->n * 8))
			return i;
	}
	chain = (struct chain){.user = t->user,
		.kernel = t->kernel,
		.guest = t->guest,
		.mode = mode,
		.end = *end};
	chain.words.n = words->n;
	chain.words.at = arena_copy(&w->words, words->at, words->n * 8);
	table_add(&w->chain_index, hash, w->chains.n);
	vec_add(&w->chains, chain);
	return w->chains.n - 1;
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

static struct sight *sight_at(const struct worker *w, u32 i)
{
	return (struct sight *)(void *)(w->sights.at + i * w->sight_size);
}

static bool has_same_labels(const struct worker *w, const struct sight *a, const struct sight *b)
{
	for (unsigned k = 0; k < w->profile.n_labels; k++)
		if (a->labels[k] != b->labels[k])
			return false;
	return true;
}

/* per sample */
static void count_sight(struct worker *w, const struct sight *sight)
{
	u64 hash = hash_mix(sight->ip ^ (u64)sight->mode << 56 ^ (u64)sight->event << 40,
		(u64)(uintptr_t)sight->space ^ (u64)sight->chain << 32);
	struct table_probe probe;
	u32 i;

	for (unsigned k = 0; k < w->profile.n_labels; k++)
		hash = hash_mix(hash, sight->labels[k]);
	probe = table_probe(&w->sight_index, hash);
	while ((i = table_next(&w->sight_index, &probe)) != TABLE_NONE) {
		struct sight *known = sight_at(w, i);

		if (known->ip != sight->ip || known->space != sight->space ||
			known->chain != sight->chain || known->event != sight->event ||
			known->mode != sight->mode || !has_same_labels(w, known, sight))
			continue;
		known->n_samples++;
		known->period += sight->period;
		return;
	}
	table_add(&w->sight_index, hash, w->n_sights++);
	vec_reserve(&w->sights, w->sights.n + w->sight_size);
	memcpy(w->sights.at + w->sights.n, sight, w->sight_size);
	w->sights.n += w->sight_size;
}

/* per sample: the first of the three parts, where there are three */
static u64 weight_of(const struct worker *w, const struct session_sample *in)
{
	const struct sample_format *f = &w->session->reader.formats.at[in->event];

	return f->type & PERF_SAMPLE_WEIGHT_STRUCT ? (u32)in->sample->weight : in->sample->weight;
}

static u64 label_of(const struct worker *w, enum profile_label label,
	const struct session_sample *in, const struct remembered_thread *t)
{
	const struct sample *sample = in->sample;

	switch (label) {
	case LABEL_COMM:
		return (u64)(uintptr_t)t->comm;
	case LABEL_PID:
		return sample->pid;
	case LABEL_TID:
		return sample->tid;
	case LABEL_CPU:
		return sample->cpu;
	case LABEL_TIME:
		return in->time - in->time % w->time_quantum;
	case LABEL_WEIGHT:
		return weight_of(w, in);
	case LABEL_CODE_PAGE:
		return sample->code_page_size;
	case LABEL_DATA_PAGE:
		return sample->data_page_size;
	case LABEL_NONE:
	case LABEL_COUNT:
		break;
	}
	return 0;
}

/* Whether it is known to have ended before its root. */
static bool is_cut(enum stack_ending ending)
{
	return ending != STACK_COMPLETE && ending != STACK_ENDINGS;
}

/* Whether a file is to blame. */
static bool is_of_file(enum stack_ending ending)
{
	return ending == STACK_NO_CFI || ending == STACK_NO_FILE || ending == STACK_NO_CODE_FILE;
}

/* per sample: the DSO stays only where it is to blame */
static void count_ending(struct worker *w, struct stack_end *end)
{
	if (!is_of_file(end->ending))
		end->dso = 0;
	vec_each(known, &w->endings) {
		if (known->ending != end->ending || known->dso != end->dso)
			continue;
		known->n_samples++;
		return;
	}
	vec_add(&w->endings, ((struct profile_ending){end->ending, end->dso, 1}));
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
	if (is_of_file(ret_end->ending))
		ret_end->dso = dso_of_last(user, chain);
	return true;
}

/* per sample */
static bool is_wanted(const struct worker *w, const struct session_sample *in)
{
	return (!w->cpus || cpus_has(w->cpus, in->sample->cpu)) &&
		(!w->spans || spans_have(w->spans, in->time));
}

/* per sample */
static void count_sample(struct worker *w, const struct session_sample *in)
{
	const struct sample *sample = in->sample;
	const struct remembered_thread *t = thread_of(w, sample->pid, sample->tid, in->time);
	struct sight *sight = w->new_sight;
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
	sight->period = sample->period;
	for (unsigned k = 0; k < w->profile.n_labels; k++)
		sight->labels[k] = label_of(w, w->profile.label_at[k], in, t);
	if (w->has_stacks &&
		(take_ending(t->user, &chain, &end) ||
			(w->has_callers &&
				callers_of_sample(&w->callers, t->user,
					&w->session->reader.formats.at[in->event], sample,
					sight->mode, &chain, &end)))) {
		note_depth(w, sample, &end);
		count_ending(w, &end);
	}
	if (w->has_stacks && chain.n) {
		u8 mode;
		struct sample_words callers = callers_of(&chain, sight->mode, &mode);

		if (callers.n || (callers.at && is_cut(end.ending)))
			sight->chain = chain_of(w, t, &callers, mode, &end);
	}
	count_sight(w, sight);
}

/* per sample */
static void take_sample(void *ctx, const struct session_sample *in)
{
	if (is_wanted(ctx, in))
		count_sample(ctx, in);
}

/* ---- second step ---- */

static u32 dso_of(struct worker *w, const struct dso *dso)
{
	if (!w->dsos[dso->id]) {
		vec_add(&w->profile.dsos,
			((struct profile_dso){dso->path, dso->name, dso->kind, dso->id}));
		w->dsos[dso->id] = w->profile.dsos.n;
	}
	return w->dsos[dso->id] - 1;
}

static u32 frame_of(struct worker *w, const struct space *space, u64 ip, u8 mode, bool is_return)
{
	struct remembered_frame *known =
		&w->frames[hash_mix(ip, (u64)(uintptr_t)space) % FRAMES_REMEMBERED];
	struct profile_frame frame = {.mode = mode, .is_return = is_return, .address = ip};
	const struct map *map = NULL;

	if (known->frame && known->ip == ip && known->space == space && known->mode == mode &&
		known->is_return == is_return)
		return known->frame - 1;
	/* Programs of guests and hypervisors have maps of their own, which are not the host's. */
	if (mode != PERF_RECORD_MISC_GUEST_USER && mode != PERF_RECORD_MISC_HYPERVISOR)
		map = machine_find(space, ip);
	if (map)
		frame.address = map_offset(map, ip);
	frame.dso = dso_of(w, map ? map->dso : w->machine->dsos.at.at[0]);
	*known = (struct remembered_frame){ip, space, profile_frame(&w->profile, &frame) + 1, mode,
		is_return};
	return known->frame - 1;
}

/* The profile's copy of a thread's name; neighbours mostly have the same. */
static u64 own_comm(struct worker *w, u64 comm)
{
	if (comm != w->last_comm) {
		w->last_comm = comm;
		w->last_own_comm = intern_str(&w->profile.strings, (const char *)(uintptr_t)comm);
	}
	return (u64)(uintptr_t)w->last_own_comm;
}

/* What stands at the root of a stack that was not found to its end. */
static u32 ending_frame(struct worker *w, const struct stack_end *end)
{
	/* Who keeps no frame pointers is not sure: the ledger has a suspicion. */
	u32 blamed = end->ending == STACK_NO_FRAME_POINTER ? 0 : end->dso;
	struct profile_frame frame = {.dso = dso_of(w, w->machine->dsos.at.at[blamed]),
		.address = UINT64_MAX - end->ending,
		.mode = PERF_RECORD_MISC_USER,
		.ending = end->ending};

	return profile_frame(&w->profile, &frame);
}

/*
 * Whether a caller is none: the kernel takes for a return address whatever lies where a frame pointer
 * seems to point. Where code is, is known of every process that has a map.
 */
static bool is_no_code(const struct worker *w, const struct chain *c, const struct chain_step *step,
	u32 frame)
{
	const struct profile_dso *dso = &w->profile.dsos.at[w->profile.frames.at[frame].dso];

	return step->is_return && step->mode == PERF_RECORD_MISC_USER && !dso->source && c->user &&
		c->user->maps;
}

/* The file of the last frame so far that is user code: the machine's number, 0 for none. */
static u32 last_user_dso(const struct worker *w)
{
	const struct profile_frame *f =
		w->path.n ? &w->profile.frames.at[w->path.at[w->path.n - 1]] : NULL;

	return f && f->mode == PERF_RECORD_MISC_USER ? w->profile.dsos.at[f->dso].source : 0;
}

/* The stack node of a list of callers, outermost frame first; how they ended, into c->end. */
static u32 stack_of(struct worker *w, struct chain *c)
{
	struct chain_walk walk = chain_walk(&c->words, c->mode);
	struct chain_step step;
	u32 stack = 0;

	/* The innermost address was taken off: what comes first now is a caller. */
	walk.is_after_marker = false;
	w->path.n = 0;
	c->is_untold = c->end.ending == STACK_ENDINGS;
	c->end.ending = c->is_untold ? STACK_COMPLETE : c->end.ending;
	while (w->path.n < w->max_stack && chain_next(&walk, &step)) {
		const struct space *space = step.mode == PERF_RECORD_MISC_KERNEL ? c->kernel
			: step.mode == PERF_RECORD_MISC_GUEST_KERNEL             ? c->guest
										 : c->user;
		u32 frame = frame_of(w, space, step.ip, step.mode, step.is_return);

		if (c->is_untold && is_no_code(w, c, &step, frame)) {
			c->end = (struct stack_end){STACK_NO_FRAME_POINTER, last_user_dso(w)};
			break;
		}
		vec_add(&w->path, frame);
	}
	if (w->path.n == w->max_stack && chain_next(&walk, &step)) {
		w->profile.n_cut++;
		vec_add(&w->path, ending_frame(w, &(struct stack_end){STACK_TOO_DEEP, 0}));
	} else if (c->end.ending != STACK_COMPLETE) {
		vec_add(&w->path, ending_frame(w, &c->end));
	}
	while (w->path.n)
		stack = profile_stack(&w->profile, stack, w->path.at[--w->path.n]);
	return stack;
}

/*
 * How a chain ended that no stack dump gave: those were counted sample by sample. Without a single
 * caller it is the sample's own file that is to blame.
 */
static void add_ending(struct worker *w, const struct profile_row *row, const struct chain *c)
{
	u32 dso = is_cut(c->end.ending) && !c->end.dso
		? w->profile.frames.at[row->frame].dso
		: dso_of(w, w->machine->dsos.at.at[c->end.dso]);

	profile_add_ending(&w->profile, c->end.ending, dso, row->n_samples);
}

/* A profile owns its strings; until now they are the machine's and the worker's. */
static void own_strings(struct profile *p)
{
	vec_each(dso, &p->dsos) {
		dso->path = intern_str(&p->strings, dso->path);
		dso->name = intern_str(&p->strings, dso->name);
	}
	vec_each(e, &p->events)
		e->name = intern_str(&p->strings, e->name);
}

static void make_profile(void *ctx, size_t i, unsigned worker)
{
	struct worker *w = *((struct worker **)ctx + i);
	const struct event_list *events = &w->session->reader.events;
	u8 comm = w->profile.slots[LABEL_COMM];
	u32 *stacks;

	(void)worker;
	w->profile.has_stacks = w->chains.n > 0;
	vec_each(e, events)
		vec_add(&w->profile.events, ((struct profile_event){.name = e->name}));
	w->dsos = mem_zalloc(w->machine->dsos.at.n * sizeof(*w->dsos));
	w->frames = mem_zalloc(FRAMES_REMEMBERED * sizeof(*w->frames));
	vec_each(end, &w->endings)
		profile_add_ending(&w->profile, end->ending,
			dso_of(w, w->machine->dsos.at.at[end->dso]), end->n_samples);
	stacks = mem_alloc((w->chains.n + 1) * sizeof(*stacks));
	table_reserve(&w->profile.stack_index, w->chains.n);
	vec_reserve(&w->profile.rows, w->n_sights);
	vec_reserve(&w->profile.cells, (size_t)w->n_sights * w->profile.n_labels);
	for (size_t k = 0; k < w->chains.n; k++)
		stacks[k] = stack_of(w, &w->chains.at[k]);
	for (u32 k = 0; k < w->n_sights; k++) {
		struct sight *s = sight_at(w, k);
		struct profile_row row = {.event = s->event,
			.n_samples = s->n_samples,
			.period = s->period};

		row.frame = frame_of(w, s->space, s->ip, s->mode, false);
		row.callers = s->chain == TABLE_NONE ? 0 : stacks[s->chain];
		if (s->chain != TABLE_NONE && w->chains.at[s->chain].is_untold)
			add_ending(w, &row, &w->chains.at[s->chain]);
		if (comm)
			s->labels[comm - 1] = own_comm(w, s->labels[comm - 1]);
		profile_add_row(&w->profile, &row, s->labels);
		w->profile.events.at[s->event].n_samples += s->n_samples;
		w->profile.events.at[s->event].period += s->period;
	}
	own_strings(&w->profile);
	mem_free(stacks);
	mem_free(w->dsos);
	mem_free(w->frames);
}

static struct worker *worker_new(const struct session *s, const struct machine *m,
	const struct gather_options *options)
{
	struct worker *w = mem_zalloc(sizeof(*w));

	w->session = s;
	w->machine = m;
	w->has_stacks = options->has_stacks;
	w->time_quantum = options->time_quantum ? options->time_quantum : TIME_QUANTUM;
	w->cpus = options->cpus && options->cpus->n ? options->cpus : NULL;
	w->spans = options->spans && options->spans->n ? options->spans : NULL;
	w->max_stack = options->max_stack ? options->max_stack : UINT32_MAX;
	profile_init(&w->profile, options->labels);
	w->sight_size = sizeof(struct sight) + w->profile.n_labels * sizeof(u64);
	w->new_sight = (struct sight *)(void *)w->new_sight_room;
	table_reserve(&w->sight_index, TABLE_AT_FIRST);
	w->has_callers = options->has_stacks && options->callers;
	if (w->has_callers)
		callers_walk_init(&w->callers, options->callers);
	if (options->has_stacks)
		table_reserve(&w->chain_index, TABLE_AT_FIRST);
	for (size_t i = 0; i < THREADS_REMEMBERED; i++)
		w->threads[i].from = 1;
	return w;
}

static void worker_free(struct worker *w)
{
	profile_fini(&w->profile);
	intern_fini(&w->strings);
	vec_fini(&w->chains);
	table_fini(&w->chain_index);
	arena_fini(&w->words);
	vec_fini(&w->sights);
	vec_fini(&w->path);
	table_fini(&w->sight_index);
	vec_fini(&w->endings);
	depths_fini(&w->depths);
	if (w->has_callers)
		callers_walk_fini(&w->callers);
	mem_free(w);
}

/* What the samples must carry for these labels. */
static u64 fields_for(const struct gather_options *options)
{
	static const u64 fields[LABEL_COUNT] = {
		[LABEL_CPU] = PERF_SAMPLE_CPU,
		[LABEL_TIME] = PERF_SAMPLE_TIME,
		[LABEL_WEIGHT] = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT,
		[LABEL_CODE_PAGE] = PERF_SAMPLE_CODE_PAGE_SIZE,
		[LABEL_DATA_PAGE] = PERF_SAMPLE_DATA_PAGE_SIZE,
	};
	u64 wanted = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;

	for (unsigned label = 0; label < LABEL_COUNT; label++)
		wanted |= options->labels & LABEL_BIT(label) ? fields[label] : 0;
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

int gather(struct session *s, const struct machine *m, const struct gather_options *options,
	struct profile *ret_profile, struct err *err)
{
	unsigned n = options->n_workers ? MIN(options->n_workers, (unsigned)WORKERS_MAX)
					: workers_available();
	struct worker *workers[WORKERS_MAX];
	struct session_sink sink = {fields_for(options), take_sample, (void **)workers};
	int r;

	if (s->reader.events.n > EVENTS_MAX)
		return err_set(err, ERR_LIMIT, "%zu events are more than one report can hold (%d)",
			s->reader.events.n, EVENTS_MAX);
	n = MIN((size_t)n, MAX(s->pieces.n, (size_t)1));
	for (unsigned i = 0; i < n; i++)
		workers[i] = worker_new(s, m, options);
	r = session_samples(s, n, &sink, err);
	if (!r) {
		workers_run(n, n, make_profile, workers);
		/* The first one's profile takes in the others'. */
		*ret_profile = workers[0]->profile;
		memset(&workers[0]->profile, 0, sizeof(workers[0]->profile));
		for (unsigned i = 1; i < n; i++) {
			profile_merge(ret_profile, &workers[i]->profile);
			depths_merge(&workers[0]->depths, &workers[i]->depths);
		}
		ret_profile->enough_dump = depths_enough(&workers[0]->depths, ENOUGH_FOR);
		add_tasks(m, ret_profile);
	}
	for (unsigned i = 0; i < n; i++)
		worker_free(workers[i]);
	return r;
}
