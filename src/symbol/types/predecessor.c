#include "symbol/types/predecessor.h"

#include "base/search.h"

enum { NEAR = 40 }; /* more than the size of two instructions */

static const struct datatype_answer no_access = {.outcome = DATATYPE_NO_ACCESS,
	.type = "",
	.member = ""};

void predecessor_begin(struct predecessor *f, const u64 *pcs, size_t n)
{
	*f = (struct predecessor){.pcs = pcs, .n = n};
	f->ways = mem_zalloc((n + 1) * sizeof(*f->ways));
}

bool predecessor_needs(const struct predecessor *f, u64 pc, const struct operand *o)
{
	size_t next = f->at;

	while (next < f->n && f->pcs[next] <= pc)
		next++;
	return (next < f->n && f->pcs[next] - pc <= NEAR) ||
		(o->is_compare && o->access == OPERAND_MEMORY);
}

/* The index of the first address that equals pc; n: none. */
static size_t find(const struct predecessor *f, u64 pc)
{
	size_t i = search_from(f->pcs, f->n, sizeof(*f->pcs), pc);

	return i < f->n && f->pcs[i] == pc ? i : f->n;
}

static bool is_same(const struct datatype_answer *a, const struct datatype_answer *b)
{
	return a->outcome == b->outcome && a->offset == b->offset && !strcmp(a->type, b->type) &&
		!strcmp(a->member, b->member);
}

static void add_way(struct predecessor *f, size_t i, const struct datatype_answer *a, bool is_back)
{
	struct predecessor_ways *w = &f->ways[i];

	if (!w->n++)
		w->first = *a;
	else if (!is_same(&w->first, a))
		w->differ = true;
	w->pcs_differ |= w->first.pc != a->pc;
	if (is_back) {
		w->n_back++;
		w->back = *a;
	}
}

/* What a branch accessed together with the comparison before it. */
static const struct datatype_answer *of_branch(const struct predecessor_instruction *branch,
	const struct predecessor_instruction *before)
{
	return before->is_there && before->operand.is_compare ? &before->answer : &branch->answer;
}

static bool is_jump(const struct operand *o)
{
	return o->flow == OPERAND_BRANCH || o->flow == OPERAND_JUMP;
}

static struct datatype_answer without_access(u64 pc)
{
	struct datatype_answer a = no_access;

	a.pc = pc;
	return a;
}

static bool goes_on(const struct operand *o)
{
	return o->flow == OPERAND_ON || o->flow == OPERAND_BRANCH || o->flow == OPERAND_CALL;
}

void predecessor_take(struct predecessor *f, u64 pc, const struct operand *o,
	const struct datatype_answer *a)
{
	const struct predecessor_instruction taken = {true, *o,
		is_jump(o) ? without_access(pc) : *a};

	while (f->at < f->n && f->pcs[f->at] < pc)
		f->at++;
	if (f->at < f->n && f->pcs[f->at] == pc && f->last.is_there && goes_on(&f->last.operand))
		add_way(f, f->at,
			f->last.operand.flow == OPERAND_BRANCH
				? of_branch(&f->last, &f->before_last)
				: &f->last.answer,
			false);
	if (is_jump(o)) {
		u64 to = pc + o->size + (u64)o->to;
		size_t i = find(f, to);

		if (i < f->n)
			add_way(f, i,
				o->flow == OPERAND_BRANCH ? of_branch(&taken, &f->last)
							  : &taken.answer,
				to <= pc);
	}
	f->before_last = f->last;
	f->last = taken;
}

void predecessor_finish(struct predecessor *f, struct datatype_answer *answers)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct predecessor_ways *w = &f->ways[find(f, f->pcs[i])];

		/* Without a known jump, it is reached by calls or jumps through registers. */
		answers[i] = !w->n       ? no_access
			: w->n_back == 1 ? w->back
			: !w->differ     ? w->first
					 : no_access;
		if (w->n && w->n_back != 1 && w->differ)
			answers[i].outcome = DATATYPE_WAYS;
		if (w->n_back != 1 && w->pcs_differ)
			answers[i].pc = 0;
	}
	mem_free(f->ways);
}
