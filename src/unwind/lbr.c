#include "unwind/lbr.h"

#include "base/hash.h"
#include "event/abi.h"
#include "record/branch.h"

void lbr_fini(struct lbr *l)
{
	vec_each(t, &l->threads)
		vec_fini(&t->calls);
	vec_fini(&l->threads);
	vec_fini(&l->calls);
	vec_fini(&l->chain);
	table_fini(&l->by_tid);
}

/* The thread's last sample; empty before its first one. */
static struct lbr_thread *thread_of(struct lbr *l, u32 tid)
{
	struct table_probe probe = table_probe(&l->by_tid, hash_u64(tid));
	u32 i;

	while ((i = table_next(&l->by_tid, &probe)) != TABLE_NONE)
		if (l->threads.at[i].tid == tid)
			return &l->threads.at[i];
	table_add(&l->by_tid, hash_u64(tid), l->threads.n);
	vec_add(&l->threads, ((struct lbr_thread){.tid = tid}));
	return &l->threads.at[l->threads.n - 1];
}

static bool is_same(const struct lbr_call *a, const struct lbr_call *b)
{
	return a->from == b->from && a->to == b->to;
}

/*
 * Where the oldest of the current records is in the previous stack, or SIZE_MAX. It must be in the same
 * register or, where register numbers are not recorded, one of two matches in a row; and it must be unique.
 */
static size_t place_of_oldest(const struct lbr *l, const struct lbr_thread *before, u64 hw_index)
{
	size_t n = l->calls.n, place = SIZE_MAX;
	bool has_index = hw_index != LBR_NO_INDEX && before->hw_index != LBR_NO_INDEX;

	for (size_t k = 0; k < before->calls.n; k++) {
		size_t run = 0;

		/* The i-th newest record is in register index - i, modulo their number. */
		if (has_index && (k + 1 + hw_index + n - before->hw_index % n) % n)
			continue;
		while (run < n && run <= k &&
			is_same(&before->calls.at[k - run], &l->calls.at[n - 1 - run]))
			run++;
		if (run < (has_index ? 1 : 2))
			continue;
		if (place != SIZE_MAX)
			return SIZE_MAX;
		place = k;
	}
	return place;
}

/* Whether all registers are in use, so that deeper calls are lost. */
static bool is_full(const struct lbr *l, u64 n)
{
	return l->depth ? n >= l->depth : n == 16 || n == 32;
}

/*
 * Extends the calls by those of the previous sample if they overlap. Returns whether they then reach the
 * root.
 */
static bool stitch(struct lbr *l, u32 tid, u64 hw_index, bool is_complete)
{
	struct lbr_thread *before = thread_of(l, tid);

	if (!is_complete && before->calls.n) {
		size_t k = place_of_oldest(l, before, hw_index);

		if (k != SIZE_MAX) {
			l->n_stitched += k + 1 < before->calls.n;
			is_complete = before->is_complete;
			while (++k < before->calls.n && l->calls.n < LBR_STITCHED_MAX)
				vec_add(&l->calls, before->calls.at[k]);
			is_complete &= k >= before->calls.n;
		}
	}
	before->calls.n = 0;
	vec_each(call, &l->calls)
		vec_add(&before->calls, *call);
	before->hw_index = hw_index;
	before->is_complete = is_complete;
	return is_complete;
}

static void add(struct lbr *l, u64 ip)
{
	vec_add(&l->chain, (u64)PERF_CONTEXT_USER);
	vec_add(&l->chain, ip);
}

enum stack_ending lbr_walk(struct lbr *l, const struct lbr_input *in)
{
	bool is_complete = !is_full(l, in->branches->n);

	l->chain.n = l->calls.n = 0;
	for (u64 i = 0; i < in->branches->n && i < LBR_STITCHED_MAX; i++) {
		struct branch b = branch_at(in->branches->entries, i);

		vec_add(&l->calls, ((struct lbr_call){b.from, b.to}));
	}
	if (l->stitches)
		is_complete = stitch(l, in->tid, in->hw_index, is_complete);
	if (l->calls.n)
		add(l, in->ip ? in->ip : l->calls.at[0].to);
	vec_each(call, &l->calls)
		add(l, call->from);
	return is_complete ? STACK_COMPLETE : STACK_CALLS_FORGOTTEN;
}
