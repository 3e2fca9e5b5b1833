#include "profile/gather/mapresolve.h"
#include "profile/gather/argc.h"

#include "base/hash.h"
#include "base/memo.h"
#include "event/abi.h"
#include "profile/gather/history.h"
#include "unwind/chain.h"
#include "unwind/ending.h"

enum { FRAMES_REMEMBERED = 1 << 14 };

/* A resolved address, so that maps are searched once. */
struct remembered_frame {
	u64 ip;
	const struct space *space;
	u32 frame;
	u8 mode;
	bool is_return;
};

struct mapresolve {
	const struct machine *machine;
	struct profile *profile;
	u32 max_stack;
	u32 *dsos;        /* by dso->id: position in the profile + 1 */
	struct memo memo; /* over `frames` */
	VEC(struct remembered_frame) frames;
	VEC(u32) path; /* the frames of one chain */
	u64 last_comm;
	const char *last_own_comm;
};

/* The build of a DSO, interned; for a kernel image with its address, which changes at each boot. */
static const char *build_of(struct mapresolve *p, const struct dso *dso)
{
	struct str text = {0};
	const char *build = NULL;

	dso_add_build(dso, &text);
	if (text.n && dso->kind == DSO_KERNEL)
		str_addf(&text, "@%llx", (unsigned long long)p->machine->kernel_text);
	if (text.n)
		build = intern_add(&p->profile->strings, str_text(&text), text.n);
	str_fini(&text);
	return build;
}

static u32 dso_of(struct mapresolve *p, const struct dso *dso)
{
	if (!p->dsos[dso->id]) {
		vec_add(&p->profile->dsos,
			((struct profile_dso){dso->path, dso->name, dso->kind, dso->id,
				build_of(p, dso)}));
		p->dsos[dso->id] = p->profile->dsos.n;
	}
	return p->dsos[dso->id] - 1;
}

/* Sets the frame's DSO and its address there. */
static void place(struct mapresolve *p, const struct space *space, u64 ip, u8 mode,
	struct profile_frame *frame)
{
	const struct map *map = machine_find(space, ip);

	frame->mode = mode;
	frame->address = map ? map_offset(map, ip) : ip;
	frame->dso = dso_of(p, map ? map->dso : p->machine->dsos.at.at[0]);
}

static u32 branch_frame(struct mapresolve *p, const struct uniques_chain *c, u64 address,
	enum profile_end end)
{
	bool is_kernel = address >> 63;
	struct profile_frame frame = {.branch = (u8)end};

	place(p, is_kernel ? c->kernel : c->user, address,
		is_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, &frame);
	return profile_frame(p->profile, &frame);
}

/* Adds the branches before a sample, innermost first: the target of each, then its source. */
static void add_history(struct mapresolve *p, const struct uniques_chain *c)
{
	for (u64 i = 0; i < c->n_history; i += HISTORY_WORDS) {
		const u64 *words = c->history + i;

		vec_add(&p->path, branch_frame(p, c, words[HISTORY_TO], PROFILE_BRANCH_TO));
		vec_add(&p->path, branch_frame(p, c, words[HISTORY_FROM], PROFILE_BRANCH_FROM));
	}
}

static u32 frame_of(struct mapresolve *p, const struct space *space, u64 ip, u8 mode,
	bool is_return)
{
	u32 *slot = memo_slot(&p->memo, hash_mix(ip, (u64)(uintptr_t)space));
	const struct remembered_frame *known = *slot ? &p->frames.at[*slot - 1] : NULL;
	struct profile_frame frame = {.is_return = is_return};
	u32 found;

	if (known && known->ip == ip && known->space == space && known->mode == mode &&
		known->is_return == is_return)
		return known->frame;
	place(p, space, ip, mode, &frame);
	found = profile_frame(p->profile, &frame);
	memo_keep(&p->frames, slot, ((struct remembered_frame){ip, space, found, mode, is_return}));
	return found;
}

/* The profile's copy of a thread's name; consecutive samples mostly have the same one. */
static u64 own_comm(struct mapresolve *p, u64 comm)
{
	if (comm != p->last_comm) {
		p->last_comm = comm;
		p->last_own_comm = intern_str(&p->profile->strings, (const char *)(uintptr_t)comm);
	}
	return (u64)(uintptr_t)p->last_own_comm;
}

/* Does without the memo: struct uniques holds each data address once. */
static u32 data_frame(struct mapresolve *p, const struct uniques_place *at)
{
	struct profile_frame frame = {.is_data = true};

	place(p, at->space, at->address, at->mode, &frame);
	return profile_frame(p->profile, &frame);
}

/* The frame at the root of an incomplete stack, or in a gap. */
static u32 ending_frame(struct mapresolve *p, enum stack_ending ending, u32 dso)
{
	/* Which file keeps no frame pointers is only a guess: the ledger tells it, the frame does not. */
	u32 blamed = ending == STACK_NO_FRAME_POINTER ? 0 : dso;
	struct profile_frame frame = {.dso = dso_of(p, p->machine->dsos.at.at[blamed]),
		.address = UINT64_MAX - ending,
		.mode = PERF_RECORD_MISC_USER,
		.ending = (u8)ending};

	return profile_frame(p->profile, &frame);
}

/*
 * Whether a caller's address is no code: without frame pointers, the kernel reads return addresses from arbitrary
 * memory. If a process has any map, all its code is in maps.
 */
static bool is_no_code(const struct mapresolve *p, const struct uniques_chain *c,
	const struct chain_step *step, u32 frame)
{
	const struct profile_dso *dso = &p->profile->dsos.at[p->profile->frames.at[frame].dso];

	return step->is_return && step->mode == PERF_RECORD_MISC_USER && !dso->source && c->user &&
		c->user->maps;
}

/* The machine's number of the last frame's DSO if that frame is user code; else 0. */
static u32 last_user_dso(const struct mapresolve *p)
{
	const struct profile_frame *f =
		p->path.n ? &p->profile->frames.at[p->path.at[p->path.n - 1]] : NULL;

	return f && f->mode == PERF_RECORD_MISC_USER ? p->profile->dsos.at[f->dso].source : 0;
}

/* Whether it is unknown how the chain ended. A chain that has only branches is complete. */
static bool is_untold(const struct uniques_chain *c)
{
	return c->end.ending == STACK_ENDINGS && (!c->n_history || c->words.n);
}

/* Sets c->stack to the stack node of the callers, and c->ending and c->end_dso to how they ended. */
static void place_stack(struct mapresolve *p, struct uniques_chain *c)
{
	struct chain_walk walk = chain_walk(&c->words, c->mode);
	struct chain_step step;
	u64 older = 0;
	u32 room = p->max_stack - 1; /* max_stack includes the sampled address */

	/* The innermost address was removed, so the first one here is a caller; behind a gap it is not. */
	walk.is_after_marker = c->has_gap;
	p->path.n = 0;
	add_history(p, c);
	if (c->has_gap)
		vec_add(&p->path, ending_frame(p, STACK_GAP_ABORT, 0));
	c->ending = c->end.ending == STACK_ENDINGS ? STACK_COMPLETE : c->end.ending;
	c->end_dso = c->end.dso;
	for (; room && chain_next(&walk, &step); room--) {
		const struct space *space =
			machine_space_of(c->user, c->kernel, c->guest, step.mode);
		u32 frame = frame_of(p, space, step.ip, step.mode, step.is_return);

		if (is_untold(c) && is_no_code(p, c, &step, frame)) {
			c->ending = STACK_NO_FRAME_POINTER;
			c->end_dso = last_user_dso(p);
			/* argc_remove() decides, by the name of the function below, whether this is argc. */
			if (step.ip && step.ip <= ARGC_MOST)
				vec_add(&p->path, frame);
			break;
		}
		/* Calls that the history contains are shown there. */
		if (!c->n_history || !step.is_return ||
			!history_has_call(c->history, c->n_history / HISTORY_WORDS, step.ip,
				&older))
			vec_add(&p->path, frame);
	}
	if (!room && chain_next(&walk, &step)) {
		p->profile->n_cut++;
		vec_add(&p->path, ending_frame(p, STACK_TOO_DEEP, 0));
	} else if (c->ending != STACK_COMPLETE) {
		vec_add(&p->path, ending_frame(p, c->ending, c->end_dso));
	}
	c->stack = 0;
	while (p->path.n)
		c->stack = profile_stack(p->profile, c->stack, p->path.at[--p->path.n]);
}

/*
 * Counts how a chain ended that did not come from a stack dump (those were counted sample by sample). Without
 * any caller, the sample's own file is the cause.
 */
static void add_ending(struct mapresolve *p, u32 frame, const struct uniques_chain *c,
	u64 n_samples)
{
	u32 dso = ending_is_cut(c->ending) && !c->end_dso
		? p->profile->frames.at[frame].dso
		: dso_of(p, p->machine->dsos.at.at[c->end_dso]);

	profile_add_ending(p->profile, c->ending, dso, n_samples);
}

/* Copies the strings of new DSOs and of events, so far the machine's, into the profile. */
static void own_strings(struct profile *p, size_t first_dso)
{
	for (size_t i = first_dso; i < p->dsos.n; i++) {
		p->dsos.at[i].path = intern_str(&p->strings, p->dsos.at[i].path);
		p->dsos.at[i].name = intern_str(&p->strings, p->dsos.at[i].name);
	}
	vec_each(e, &p->events)
		e->name = intern_str(&p->strings, e->name);
}

static u32 place_frame(struct mapresolve *p, const struct uniques_place *at)
{
	return frame_of(p, at->space, at->address, at->mode, false);
}

/* The label of a run. Its start is unknown if it is in another file: a run never leaves its file. */
static u64 place_block(struct mapresolve *p, const struct uniques *uniques, u64 label)
{
	struct profile_block block = profile_block(label);

	block.end = place_frame(p, &uniques->places.at[block.end]);
	if (block.start == PROFILE_NO_FRAME)
		return profile_block_label(block);
	block.start = place_frame(p, &uniques->places.at[block.start]);
	if (p->profile->frames.at[block.start].dso != p->profile->frames.at[block.end].dso)
		block.start = PROFILE_NO_FRAME;
	return profile_block_label(block);
}

/* The value of the k-th label in the profile, for a unique sample whose row has its frame already. */
static u64 place_label(struct mapresolve *p, const struct uniques *uniques, const struct unique *s,
	const struct profile_row *row, unsigned k)
{
	enum profile_label label = p->profile->label_at[k];
	u64 value = s->labels[k];
	const struct map *map;

	switch (label) {
	case LABEL_COMM:
		return own_comm(p, value);
	case LABEL_IP:
		return s->ip;
	case LABEL_FRAME:
		return row->frame;
	case LABEL_MAP_BYTES:
		map = machine_find(s->space, s->ip);
		return map ? map->end - map->start : 0;
	default:
		break;
	}
	if (profile_kind(label) == PROFILE_TEXT)
		return value ? (u64)(uintptr_t)intern_str(&p->profile->strings, profile_text(value))
			     : 0;
	if (label == LABEL_DATA)
		return data_frame(p, &uniques->places.at[value]);
	if (profile_kind(label) == PROFILE_FRAME)
		return place_frame(p, &uniques->places.at[value]);
	return label == LABEL_BLOCK ? place_block(p, uniques, value) : value;
}

/* Moves the counts of a unique sample since the last flush to its row. */
static void move_counts(struct mapresolve *p, const struct uniques *uniques, struct unique *s,
	struct profile_row *row)
{
	struct profile_event *event = &p->profile->events.at[s->event];
	const struct uniques_chain *c =
		s->chain == TABLE_NONE ? NULL : &uniques->chains.at[s->chain];

	if (!s->n_samples)
		return;
	if (c && is_untold(c) && !event->is_repeated)
		add_ending(p, row->frame, c, s->n_samples);
	row->n_samples += s->n_samples;
	row->period += s->period;
	event->n_samples += s->n_samples;
	event->period += s->period;
	s->n_samples = s->period = 0;
}

/* Adds the row of a new unique sample. */
static void add_row(struct mapresolve *p, const struct uniques *uniques, struct unique *s)
{
	struct profile_row row = {.event = s->event};
	u64 labels[LABEL_COUNT];

	row.frame = frame_of(p, s->space, s->ip, s->mode, false);
	row.callers = s->chain == TABLE_NONE ? 0 : uniques->chains.at[s->chain].stack;
	row.branches = uniques->has_history
		? (u32)(uniques->first_branch + *uniques_branches(uniques, s))
		: 0;
	for (unsigned k = 0; k < p->profile->n_labels; k++)
		labels[k] = place_label(p, uniques, s, &row, k);
	move_counts(p, uniques, s, &row);
	profile_add_row(p->profile, &row, labels);
}

static void move_branches(struct uniques *s, struct profile *p)
{
	/* There are many of them: take the whole array if the profile has none. */
	if (!p->branches.n) {
		memcpy(&p->branches, &s->branches, sizeof(p->branches));
		memset(&s->branches, 0, sizeof(s->branches));
		return;
	}
	for (size_t i = 0; i < s->branches.n; i++) {
		if (s->first_branch + i == p->branches.n)
			vec_add(&p->branches, ((struct profile_branch){0}));
		profile_add_branch(&p->branches.at[s->first_branch + i], &s->branches.at[i]);
	}
	s->branches.n = 0;
}

static void move_endings(struct mapresolve *p, struct uniques *s)
{
	vec_each(end, &s->endings)
		profile_add_ending(p->profile, end->ending,
			dso_of(p, p->machine->dsos.at.at[end->dso]), end->n_samples);
	s->endings.n = 0;
}

/* Notes the positions of the DSOs that the profile already has. */
static void find_dsos(struct mapresolve *p)
{
	p->dsos = mem_zalloc(p->machine->dsos.at.n * sizeof(*p->dsos));
	for (size_t i = 0; i < p->profile->dsos.n; i++)
		p->dsos[p->profile->dsos.at[i].source] = (u32)i + 1;
}

static bool place_all(struct mapresolve *p, struct uniques *s, u64 allowed)
{
	struct profile *profile = p->profile;
	bool fits = true;

	for (u32 k = 0; k < s->n_placed; k++)
		move_counts(p, s, uniques_at(s, k), &profile->rows.at[s->first_row + k]);
	while (fits && s->n_placed_chains < s->chains.n) {
		place_stack(p, &s->chains.at[s->n_placed_chains++]);
		fits = profile_bytes(profile) <= allowed;
	}
	while (fits && s->n_placed < s->n) {
		add_row(p, s, uniques_at(s, s->n_placed++));
		fits = profile_bytes(profile) <= allowed;
	}
	return fits;
}

bool mapresolve_add(struct uniques *uniques, const struct machine *m, u32 max_stack, u64 allowed,
	struct profile *profile)
{
	struct mapresolve p = {.machine = m, .profile = profile, .max_stack = max_stack};
	const size_t first_dso = profile->dsos.n;
	bool fits;

	uniques_settle(uniques);
	if (!uniques->n_placed) {
		uniques->first_row = profile->rows.n;
		uniques->first_branch = profile->branches.n;
	}
	find_dsos(&p);
	p.memo = memo_of(FRAMES_REMEMBERED);
	profile->has_stacks |= uniques->chains.n > 0;
	move_endings(&p, uniques);
	table_reserve(&profile->stack_index, uniques->chains.n);
	vec_reserve(&profile->rows, uniques->first_row + uniques->n);
	vec_reserve(&profile->cells, (uniques->first_row + uniques->n) * uniques->n_labels);
	fits = place_all(&p, uniques, allowed);
	move_branches(uniques, profile);
	own_strings(profile, first_dso);
	mem_free(p.dsos);
	memo_fini(&p.memo);
	vec_fini(&p.frames);
	vec_fini(&p.path);
	return fits;
}
