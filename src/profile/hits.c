#include "profile/hits.h"

#include "base/hash.h"
#include "base/workers.h"
#include "event/abi.h"
#include "unwind/chain.h"

enum { PLACES_REMEMBERED = 4096 };

/* A page of a space that was looked up before. */
struct place {
	const struct space *space;
	u64 page; /* + 1 */
};

struct hits_worker {
	const struct machine *machine;
	bool *hit;
	struct place places[PLACES_REMEMBERED];
	struct thread_state state;
	u32 pid, tid;
	struct intern strings;
};

static void hit_address(struct hits_worker *w, u64 ip, u8 mode)
{
	const struct space *space = machine_space(&w->state, mode);
	struct place *place =
		&w->places[hash_mix(ip >> 12, (u64)(uintptr_t)space) % PLACES_REMEMBERED];
	const struct map *map;

	if (place->space == space && place->page == (ip >> 12) + 1)
		return;
	*place = (struct place){space, (ip >> 12) + 1};
	map = machine_find(space, ip);
	if (map)
		w->hit[map->dso->id] = true;
}

/*
 * Callers that will be found in a stack dump: whatever it points to may be one. To unwind it here
 * would cost more than some build-ids too many.
 */
static void hit_dump(struct hits_worker *w, const struct sample *s)
{
	bool is_32 = s->user_regs.abi == PERF_SAMPLE_REGS_ABI_32;
	u32 word = is_32 ? 4 : 8;
	const u8 *at = s->user_stack.bytes.at;

	for (u64 k = 0; k < s->user_regs.values.n; k++)
		hit_address(w, load_u64(s->user_regs.values.at + 8 * k), PERF_RECORD_MISC_USER);
	for (u64 k = 0; k + word <= s->user_stack.dyn_size; k += word)
		hit_address(w, is_32 ? load_u32(at + k) : load_u64(at + k), PERF_RECORD_MISC_USER);
}

static void take_sample(void *ctx, const struct session_sample *in)
{
	const struct sample *s = in->sample;
	struct hits_worker *w = ctx;
	u8 mode = in->rec->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct chain_walk walk = chain_walk(&s->chain, mode);
	struct chain_step step;

	if (s->pid != w->pid || s->tid != w->tid || in->time < w->state.from ||
		in->time >= w->state.until) {
		machine_state_at(w->machine, s->pid, s->tid, in->time, &w->strings, &w->state);
		w->pid = s->pid;
		w->tid = s->tid;
	}
	hit_address(w, s->ip, mode);
	while (chain_next(&walk, &step))
		hit_address(w, step.ip, step.mode);
	if (s->user_stack.dyn_size)
		hit_dump(w, s);
}

int hits_find(struct session *s, const struct machine *m, unsigned n_workers, bool **ret_hit,
	struct err *err)
{
	size_t n_dsos = m->dsos.at.n;
	struct hits_worker *workers[WORKERS_MAX];
	struct session_sink sink = {PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN |
			PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		take_sample, (void **)workers};
	bool *hit = mem_zalloc(n_dsos + 1);
	int r;

	n_workers = MIN((size_t)MIN(n_workers, (unsigned)WORKERS_MAX), MAX(s->pieces.n, (size_t)1));
	for (unsigned i = 0; i < n_workers; i++) {
		workers[i] = mem_zalloc(sizeof(*workers[i]));
		workers[i]->machine = m;
		workers[i]->hit = mem_zalloc(n_dsos + 1);
	}
	r = session_samples(s, n_workers, &sink, err);
	for (unsigned i = 0; i < n_workers; i++) {
		for (size_t k = 0; k < n_dsos; k++)
			hit[k] |= workers[i]->hit[k];
		mem_free(workers[i]->hit);
		intern_fini(&workers[i]->strings);
		mem_free(workers[i]);
	}
	*ret_hit = hit;
	return r;
}
