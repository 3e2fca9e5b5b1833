#include "profile/gather/profile.h"

#include <assert.h>

#include "base/hash.h"

void profile_init(struct profile *p, u64 labels)
{
	memset(p, 0, sizeof(*p));
	p->labels = labels & ~LABEL_BIT(LABEL_NONE);
	for (unsigned label = 0; label < LABEL_COUNT; label++) {
		if (!(p->labels & LABEL_BIT(label)))
			continue;
		p->label_at[p->n_labels++] = label;
		p->slots[label] = p->n_labels;
	}
	vec_add(&p->stacks, ((struct profile_stack){0, 0}));
	vec_add(&p->symbols, ((struct profile_symbol){0}));
}

void profile_fini(struct profile *p)
{
	intern_fini(&p->strings);
	vec_fini(&p->dsos);
	vec_fini(&p->frames);
	vec_fini(&p->symbols);
	vec_fini(&p->inlined);
	vec_fini(&p->sites);
	vec_fini(&p->stacks);
	vec_fini(&p->events);
	vec_fini(&p->rows);
	vec_fini(&p->cells);
	vec_fini(&p->branches);
	vec_fini(&p->types);
	vec_fini(&p->members);
	vec_fini(&p->accesses);
	vec_fini(&p->endings);
	vec_fini(&p->tasks);
	table_fini(&p->frame_index);
	table_fini(&p->stack_index);
	timeline_free(p->timeline);
}

enum profile_kind profile_kind(enum profile_label label)
{
	switch (label) {
	case LABEL_COMM:
	case LABEL_COMM_NODIGIT:
	case LABEL_CGROUP:
	case LABEL_CGROUP_NAMESPACE:
	case LABEL_TRACE:
		return PROFILE_TEXT;
	case LABEL_FRAME:
	case LABEL_FROM:
	case LABEL_TO:
	case LABEL_DATA:
		return PROFILE_FRAME;
	case LABEL_BLOCK:
		return PROFILE_FRAMES;
	default:
		return label >= LABEL_FIELD && label <= LABEL_FIELD_LAST ? PROFILE_TEXT
									 : PROFILE_NUMBER;
	}
}

void profile_add_row(struct profile *p, const struct profile_row *row, const u64 *labels)
{
	vec_add(&p->rows, *row);
	vec_reserve(&p->cells, p->cells.n + p->n_labels);
	for (unsigned i = 0; i < p->n_labels; i++)
		p->cells.at[p->cells.n++] = labels[i];
}

void profile_keep_rows(struct profile *p, bool (*is_kept)(void *ctx, size_t row), void *ctx)
{
	u32 *rows =
		mem_alloc((p->rows.n + 1) * sizeof(*rows)); /* where each of them is afterwards */
	size_t kept = 0;

	for (size_t row = 0; row < p->rows.n; row++) {
		rows[row] = TABLE_NONE;
		if (!is_kept(ctx, row))
			continue;
		rows[row] = (u32)kept;
		p->rows.at[kept] = p->rows.at[row];
		for (unsigned i = 0; i < p->n_labels; i++)
			p->cells.at[kept * p->n_labels + i] = p->cells.at[row * p->n_labels + i];
		kept++;
	}
	p->rows.n = kept;
	p->cells.n = kept * p->n_labels;
	if (p->timeline)
		timeline_move(p->timeline, rows);
	mem_free(rows);
}

u32 profile_frame(struct profile *p, const struct profile_frame *frame)
{
	u64 hash = hash_mix(frame->address,
		(u64)frame->dso << 16 | (u64)frame->ending << 9 | (u64)frame->mode << 1 |
			frame->is_return | (u64)frame->is_data << 63 | (u64)frame->branch << 61);
	struct table_probe probe = table_probe(&p->frame_index, hash);
	u32 i;

	while ((i = table_next(&p->frame_index, &probe)) != TABLE_NONE) {
		const struct profile_frame *f = &p->frames.at[i];

		if (f->address == frame->address && f->dso == frame->dso &&
			f->mode == frame->mode && f->is_return == frame->is_return &&
			f->is_data == frame->is_data && f->ending == frame->ending &&
			f->branch == frame->branch)
			return i;
	}
	table_add(&p->frame_index, hash, p->frames.n);
	vec_add(&p->frames, *frame);
	return p->frames.n - 1;
}

u32 profile_stack(struct profile *p, u32 parent, u32 frame)
{
	u64 hash = hash_u64((u64)parent << 32 | frame);
	struct table_probe probe = table_probe(&p->stack_index, hash);
	u32 i;

	while ((i = table_next(&p->stack_index, &probe)) != TABLE_NONE)
		if (p->stacks.at[i].parent == parent && p->stacks.at[i].frame == frame)
			return i;
	table_add(&p->stack_index, hash, p->stacks.n);
	vec_add(&p->stacks, ((struct profile_stack){parent, frame}));
	return p->stacks.n - 1;
}

void profile_add_ending(struct profile *p, u8 ending, u32 dso, u64 n)
{
	vec_each(e, &p->endings) { /* there are few */
		if (e->ending != ending || e->dso != dso)
			continue;
		e->n_samples += n;
		return;
	}
	vec_add(&p->endings, ((struct profile_ending){ending, dso, n}));
}

static u32 merge_dso(struct profile *p, const struct profile_dso *dso)
{
	/* There are few DSOs, and they are merged once for each worker. */
	vec_each(known, &p->dsos)
		if (known->source == dso->source && known->kind == dso->kind)
			return known - p->dsos.at;
	vec_add(&p->dsos, *dso);
	p->dsos.at[p->dsos.n - 1].path = intern_str(&p->strings, dso->path);
	p->dsos.at[p->dsos.n - 1].name = intern_str(&p->strings, dso->name);
	if (dso->build)
		p->dsos.at[p->dsos.n - 1].build = intern_str(&p->strings, dso->build);
	return p->dsos.n - 1;
}

static u64 merge_block(u64 label, const u32 *frames)
{
	struct profile_block block = profile_block(label);

	if (block.start != PROFILE_NO_FRAME)
		block.start = frames[block.start];
	block.end = frames[block.end];
	return profile_block_label(block);
}

static u64 merge_label(struct profile *p, enum profile_label label, u64 value, const u32 *frames)
{
	switch (profile_kind(label)) {
	case PROFILE_TEXT:
		return value ? (u64)(uintptr_t)intern_str(&p->strings, profile_text(value)) : 0;
	case PROFILE_FRAME:
		return frames[value];
	case PROFILE_FRAMES:
		return merge_block(value, frames);
	case PROFILE_NUMBER:
		break;
	}
	return value;
}

/* Adds the rows of `from` with p's numbers of frames and stacks, and p's strings. */
static void merge_rows(struct profile *p, const struct profile *from, const u32 *frames,
	const u32 *stacks)
{
	const u32 n_branches = (u32)p->branches.n;

	assert(p->labels == from->labels);
	vec_each(branch, &from->branches)
		vec_add(&p->branches, *branch);
	for (size_t i = 0; i < from->rows.n; i++) {
		struct profile_row mine = from->rows.at[i];
		u64 *cells;

		mine.frame = frames[mine.frame];
		mine.callers = stacks[mine.callers];
		mine.branches += n_branches;
		profile_add_row(p, &mine, from->cells.at + i * from->n_labels);
		cells = p->cells.at + p->cells.n - p->n_labels;
		for (unsigned k = 0; k < p->n_labels; k++)
			cells[k] = merge_label(p, p->label_at[k], cells[k], frames);
	}
}

/* Sums up the events that both have; adds those that p lacks. */
static void merge_events(struct profile *p, const struct profile *from)
{
	for (size_t i = 0; i < from->events.n; i++) {
		struct profile_event event = from->events.at[i];

		if (i < p->events.n) {
			p->events.at[i].n_samples += event.n_samples;
			p->events.at[i].period += event.period;
			continue;
		}
		event.name = intern_str(&p->strings, event.name);
		event.group = event.group ? intern_str(&p->strings, event.group) : NULL;
		vec_add(&p->events, event);
	}
}

void profile_merge(struct profile *p, const struct profile *from)
{
	u32 *dsos = mem_alloc((from->dsos.n + 1) * sizeof(u32));
	u32 *frames = mem_alloc((from->frames.n + 1) * sizeof(u32));
	u32 *stacks = mem_alloc((from->stacks.n + 1) * sizeof(u32));

	table_reserve(&p->frame_index, p->frames.n + from->frames.n / 2);
	table_reserve(&p->stack_index, p->stacks.n + from->stacks.n / 2);
	vec_reserve(&p->rows, p->rows.n + from->rows.n);
	vec_reserve(&p->cells, p->cells.n + from->cells.n);
	for (size_t i = 0; i < from->dsos.n; i++)
		dsos[i] = merge_dso(p, &from->dsos.at[i]);
	for (size_t i = 0; i < from->frames.n; i++) {
		struct profile_frame frame = from->frames.at[i];

		frame.dso = dsos[frame.dso];
		frames[i] = profile_frame(p, &frame);
	}
	stacks[0] = 0;
	for (size_t i = 1; i < from->stacks.n; i++)
		stacks[i] = profile_stack(p, stacks[from->stacks.at[i].parent],
			frames[from->stacks.at[i].frame]);
	if (from->timeline && !p->timeline)
		p->timeline = timeline_new(from->timeline->every);
	if (from->timeline)
		timeline_merge(p->timeline, from->timeline, (u32)p->rows.n);
	merge_rows(p, from, frames, stacks);
	merge_events(p, from);
	vec_each(e, &from->endings)
		profile_add_ending(p, e->ending, dsos[e->dso], e->n_samples);
	p->has_stacks |= from->has_stacks;
	p->n_cut += from->n_cut;
	p->n_walked += from->n_walked;
	p->n_passed_over += from->n_passed_over;
	mem_free(dsos);
	mem_free(frames);
	mem_free(stacks);
}

/* ---- live ---- */

void profile_add_branch(struct profile_branch *branch, const struct profile_branch *more)
{
	branch->n_told += more->n_told;
	branch->n_predicted += more->n_predicted;
	branch->n_aborts += more->n_aborts;
	branch->cycles += more->cycles;
	branch->n_iterations += more->n_iterations;
	branch->loop_cycles += more->loop_cycles;
}

static u64 scaled(u64 n, double factor)
{
	return (u64)((double)n * factor);
}

/* Everything but rows and events. */
static void scale_others(struct profile *p, double factor)
{
	vec_each(branch, &p->branches)
		*branch = (struct profile_branch){scaled(branch->n_told, factor),
			scaled(branch->n_predicted, factor), scaled(branch->n_aborts, factor),
			scaled(branch->cycles, factor), scaled(branch->n_iterations, factor),
			scaled(branch->loop_cycles, factor)};
	vec_each(e, &p->endings)
		e->n_samples = scaled(e->n_samples, factor);
	p->n_walked = scaled(p->n_walked, factor);
	p->n_passed_over = scaled(p->n_passed_over, factor);
}

/* Events count what their rows do. */
static void sum_events(struct profile *p)
{
	vec_each(e, &p->events)
		e->n_samples = e->period = 0;
	vec_each(row, &p->rows) {
		p->events.at[row->event].n_samples += row->n_samples;
		p->events.at[row->event].period += row->period;
	}
}

void profile_scale(struct profile *p, double factor)
{
	vec_each(row, &p->rows) {
		row->n_samples = scaled(row->n_samples, factor);
		row->period = scaled(row->period, factor);
	}
	sum_events(p);
	scale_others(p, factor);
}

void profile_fade(struct profile *p, u32 n, u32 of, u64 *rest)
{
	vec_each(row, &p->rows) {
		const u64 before = row->n_samples, left = before * n + *rest;

		row->n_samples = left / of;
		*rest = left % of;
		row->period = scaled(row->period,
			before ? (double)row->n_samples / (double)before : (double)n / of);
	}
	sum_events(p);
	scale_others(p, (double)n / of);
}

/* A copy of a profile with its rows and only what they use. */
struct compacting {
	const struct profile *from;
	struct profile to;
	u32 *dsos, *frames, *stacks; /* by number in `from`: the number in `to`, + 1; 0: none yet */
	struct table rows;
};

static u32 kept_dso(struct compacting *c, u32 dso)
{
	if (!c->dsos[dso])
		c->dsos[dso] = merge_dso(&c->to, &c->from->dsos.at[dso]) + 1;
	return c->dsos[dso] - 1;
}

static u32 kept_frame(struct compacting *c, u32 number)
{
	struct profile_frame frame = c->from->frames.at[number];

	if (!c->frames[number]) {
		frame.dso = kept_dso(c, frame.dso);
		c->frames[number] = profile_frame(&c->to, &frame) + 1;
	}
	return c->frames[number] - 1;
}

/* Walks up to the first node that is copied already, then copies the path down from there. */
static u32 kept_stack(struct compacting *c, u32 number)
{
	VEC(u32) path = {0};
	u32 kept;

	for (; number && !c->stacks[number]; number = c->from->stacks.at[number].parent)
		vec_add(&path, number);
	kept = number ? c->stacks[number] - 1 : 0;
	while (path.n) {
		number = path.at[--path.n];
		kept = profile_stack(&c->to, kept, kept_frame(c, c->from->stacks.at[number].frame));
		c->stacks[number] = kept + 1;
	}
	vec_fini(&path);
	return kept;
}

static u64 kept_label(struct compacting *c, enum profile_label label, u64 value)
{
	struct profile_block block = profile_block(value);

	switch (profile_kind(label)) {
	case PROFILE_FRAME:
		return kept_frame(c, (u32)value);
	case PROFILE_FRAMES:
		block.start =
			block.start == PROFILE_NO_FRAME ? block.start : kept_frame(c, block.start);
		block.end = kept_frame(c, block.end);
		return profile_block_label(block);
	default:
		return merge_label(&c->to, label, value, NULL);
	}
}

/* The equal row in c->to, or a new one without counts. */
static struct profile_row *kept_row(struct compacting *c, const struct profile_row *row,
	const u64 *labels)
{
	const struct profile *p = &c->to;
	u64 hash = hash_mix((u64)row->callers << 32 | row->frame, row->event);
	struct table_probe probe;
	u32 i;

	for (unsigned k = 0; k < p->n_labels; k++)
		hash = hash_mix(hash, labels[k]);
	probe = table_probe(&c->rows, hash);
	while ((i = table_next(&c->rows, &probe)) != TABLE_NONE) {
		struct profile_row *known = &p->rows.at[i];

		if (known->callers == row->callers && known->frame == row->frame &&
			known->event == row->event &&
			(!p->n_labels ||
				!memcmp(p->cells.at + (size_t)i * p->n_labels, labels,
					p->n_labels * sizeof(*labels))))
			return known;
	}
	table_add(&c->rows, hash, (u32)p->rows.n);
	profile_add_row(&c->to, row, labels);
	return &c->to.rows.at[p->rows.n - 1];
}

/* The number of branches at the innermost end of a row's stack. */
static u32 n_branches_of(const struct profile *p, const struct profile_row *row)
{
	u32 n = 0;

	for (u32 s = row->callers; s && p->frames.at[p->stacks.at[s].frame].branch;
		s = p->stacks.at[s].parent)
		n += p->frames.at[p->stacks.at[s].frame].branch == PROFILE_BRANCH_FROM;
	return n;
}

static void keep_row(struct compacting *c, size_t i)
{
	const struct profile *from = c->from;
	const struct profile_row *row = &from->rows.at[i];
	struct profile_row mine = {.event = row->event,
		.frame = kept_frame(c, row->frame),
		.callers = kept_stack(c, row->callers),
		.branches = (u32)c->to.branches.n};
	const u32 n_branches = from->branches.n ? n_branches_of(from, row) : 0;
	struct profile_row *kept;
	u64 labels[LABEL_COUNT];

	for (unsigned k = 0; k < from->n_labels; k++)
		labels[k] =
			kept_label(c, from->label_at[k], from->cells.at[i * from->n_labels + k]);
	kept = kept_row(c, &mine, labels);
	kept->n_samples += row->n_samples;
	kept->period += row->period;
	for (u32 k = 0; k < n_branches; k++) {
		if (kept->branches + k == c->to.branches.n)
			vec_add(&c->to.branches, ((struct profile_branch){0}));
		profile_add_branch(&c->to.branches.at[kept->branches + k],
			&from->branches.at[row->branches + k]);
	}
}

void profile_compact(struct profile *p)
{
	struct compacting c = {.from = p,
		.dsos = mem_zalloc((p->dsos.n + 1) * sizeof(u32)),
		.frames = mem_zalloc((p->frames.n + 1) * sizeof(u32)),
		.stacks = mem_zalloc((p->stacks.n + 1) * sizeof(u32))};

	profile_init(&c.to, p->labels);
	vec_each(e, &p->events) {
		vec_add(&c.to.events, *e);
		c.to.events.at[c.to.events.n - 1].name = intern_str(&c.to.strings, e->name);
	}
	for (size_t i = 0; i < p->rows.n; i++)
		if (p->rows.at[i].n_samples || p->rows.at[i].period)
			keep_row(&c, i);
	vec_each(e, &p->endings)
		if (e->n_samples)
			profile_add_ending(&c.to, e->ending, kept_dso(&c, e->dso), e->n_samples);
	c.to.has_stacks = p->has_stacks;
	c.to.has_branches = p->has_branches;
	c.to.has_blocks = p->has_blocks;
	c.to.n_cut = p->n_cut;
	c.to.n_walked = p->n_walked;
	c.to.n_passed_over = p->n_passed_over;
	profile_fini(p);
	*p = c.to;
	mem_free(c.dsos);
	mem_free(c.frames);
	mem_free(c.stacks);
	table_fini(&c.rows);
}
