#include "profile/gather/argc.h"

#include <string.h>

#include "unwind/ending.h"

struct argc_search {
	struct profile *p;
	bool *is_argc; /* by stack node: it is no caller */
	u32 *first;    /* by stack node: the node of _start or main directly below argc; 0: none */
};

static bool is_argc(const struct profile *p, const struct profile_stack *node)
{
	const struct profile_frame *f = &p->frames.at[node->frame];
	const struct profile_frame *below = &p->frames.at[p->stacks.at[node->parent].frame];

	return node->parent && below->ending == STACK_NO_FRAME_POINTER && !f->ending &&
		f->is_return && f->address && f->address <= ARGC_MOST && !p->dsos.at[f->dso].source;
}

static bool is_first(const struct profile *p, u32 frame)
{
	const char *name = p->symbols.at[p->frames.at[frame].symbol].name;

	return name && (!strcmp(name, "_start") || !strcmp(name, "main"));
}

/* Fills in s->is_argc and s->first, and unlinks argc from the stacks. Parents come before their children. */
static void find(struct argc_search *s)
{
	struct profile *p = s->p;

	for (u32 i = 1; i < p->stacks.n; i++) {
		struct profile_stack *node = &p->stacks.at[i];

		s->is_argc[i] = is_argc(p, node);
		s->first[i] = s->first[node->parent];
		if (!s->is_argc[node->parent])
			continue;
		if (is_first(p, node->frame))
			s->first[i] = i;
		node->parent = s->first[i] ? 0 : p->stacks.at[node->parent].parent;
	}
}

/* Moves n samples to STACK_COMPLETE. They were counted for the file of the last caller, if there was one. */
static void count_as_whole(struct profile *p, u32 dso, bool has_caller, u64 n)
{
	vec_each(e, &p->endings)
		if (e->ending == STACK_NO_FRAME_POINTER &&
			(has_caller ? e->dso == dso : !p->dsos.at[e->dso].source))
			e->n_samples -= MIN(e->n_samples, n);
	profile_add_ending(p, STACK_COMPLETE, dso, n);
}

static void settle_row(struct argc_search *s, struct profile_row *row)
{
	struct profile *p = s->p;

	if (s->first[row->callers]) {
		count_as_whole(p, p->frames.at[p->stacks.at[s->first[row->callers]].frame].dso,
			true, row->n_samples);
	} else if (s->is_argc[row->callers] && is_first(p, row->frame)) {
		count_as_whole(p, p->frames.at[row->frame].dso, false, row->n_samples);
		row->callers = 0;
	} else if (s->is_argc[row->callers]) {
		row->callers = p->stacks.at[row->callers].parent;
	}
}

void argc_remove(struct profile *p)
{
	struct argc_search s = {.p = p,
		.is_argc = mem_zalloc(p->stacks.n + 1),
		.first = mem_zalloc((p->stacks.n + 1) * sizeof(*s.first))};
	size_t n = 0;

	find(&s);
	vec_each(row, &p->rows)
		settle_row(&s, row);
	vec_each(e, &p->endings)
		if (e->n_samples)
			p->endings.at[n++] = *e;
	p->endings.n = n;
	mem_free(s.is_argc);
	mem_free(s.first);
}
