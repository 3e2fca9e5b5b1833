#include "profile/gather/hits.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memo.h"
#include "event/abi.h"
#include "record/branch.h"
#include "symbol/resolve/location.h"
#include "unwind/chain.h"

enum { PLACES_REMEMBERED = 4096 };

/* An earlier look-up: of a page of a space, or of an address in it. */
struct place {
	const struct space *space;
	u64 at;
	bool is_page, is_return;
	u32 found; /* for an address: its position in worker->found; TABLE_NONE: in no map */
};

struct hits_worker {
	bool *hit;
	bool has_places, has_callers;
	struct memo memo; /* over `places` */
	VEC(struct place) places;
	VEC(struct hit) found;
	struct table index; /* of these */
	const struct thread_state *state;
};

/* The hit's position in worker->found; created if new. */
static u32 get_hit(struct hits_worker *w, const struct hit *hit)
{
	u64 hash = hash_mix(hit->address, (u64)hit->dso << 2 | hit->is_return << 1 | hit->is_look);
	struct table_probe probe = table_probe(&w->index, hash);
	u32 i;

	while ((i = table_next(&w->index, &probe)) != TABLE_NONE)
		if (w->found.at[i].address == hit->address && w->found.at[i].dso == hit->dso &&
			w->found.at[i].is_return == hit->is_return &&
			w->found.at[i].is_look == hit->is_look)
			return i;
	table_add(&w->index, hash, w->found.n);
	vec_add(&w->found, *hit);
	return (u32)w->found.n - 1;
}

/* Whether `key` was looked up before. If not, the caller looks it up and stores the result in *ret_place. */
static bool is_known(struct hits_worker *w, const struct place *key, struct place **ret_place)
{
	u32 *slot = memo_slot(&w->memo, hash_mix(key->at, (u64)(uintptr_t)key->space));
	const struct place *place = *slot ? &w->places.at[*slot - 1] : NULL;
	bool is_it = place && place->space == key->space && place->at == key->at &&
		place->is_page == key->is_page && place->is_return == key->is_return;

	if (!is_it)
		memo_keep(&w->places, slot, *key);
	*ret_place = &w->places.at[*slot - 1];
	return is_it;
}

/* per word */
static void hit_page(struct hits_worker *w, u64 ip, u8 mode)
{
	const struct space *space = machine_space(w->state, mode);
	const struct map *map;
	struct place *ignored;

	if (is_known(w, &(struct place){space, ip >> 12, .is_page = true}, &ignored))
		return;
	map = machine_find(space, ip);
	if (map)
		w->hit[map->dso->id] = true;
}

/* per address; NULL: it is in no map, or places are not wanted */
static struct hit *hit_address(struct hits_worker *w, u64 ip, u8 mode, bool is_return)
{
	const struct space *space = machine_space(w->state, mode);
	const struct map *map;
	struct place *place;

	if (!w->has_places) {
		hit_page(w, ip, mode);
		return NULL;
	}
	if (!is_known(w, &(struct place){space, ip, .is_return = is_return}, &place)) {
		place->found = TABLE_NONE;
		map = machine_find(space, ip);
		if (map) {
			w->hit[map->dso->id] = true;
			place->found = get_hit(w,
				&(struct hit){map_offset(map, ip), map->dso->id, is_return});
		}
	}
	return place->found == TABLE_NONE ? NULL : &w->found.at[place->found];
}

/*
 * Counts every address in a stack dump as a caller. Unwinding the dump here would cost more than a few
 * unneeded build-ids.
 */
static void hit_dump(struct hits_worker *w, const struct sample *s)
{
	bool is_32 = s->user_regs.abi == PERF_SAMPLE_REGS_ABI_32;
	u32 word = is_32 ? 4 : 8;
	const u8 *at = s->user_stack.bytes.at;

	for (u64 k = 0; k < s->user_regs.values.n; k++)
		hit_page(w, load_u64(s->user_regs.values.at + 8 * k), PERF_RECORD_MISC_USER);
	for (u64 k = 0; k + word <= s->user_stack.dyn_size; k += word)
		hit_page(w, is_32 ? load_u32(at + k) : load_u64(at + k), PERF_RECORD_MISC_USER);
}

static void hit_chain(struct hits_worker *w, const struct sample_words *chain, u8 mode)
{
	struct chain_walk walk = chain_walk(chain, mode);
	struct chain_step step;

	while (chain_next(&walk, &step))
		hit_address(w, step.ip, step.mode, step.is_return);
}

/* Branches do not tell their CPU mode: the kernel has the upper half of the addresses. */
static u8 mode_at(u64 ip)
{
	return ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
}

static void hit_branches(struct hits_worker *w, const struct sample_branches *branches)
{
	for (u64 i = 0; i < branches->n; i++) {
		const struct branch b = branch_at(branches->entries, i);

		hit_address(w, b.from, mode_at(b.from), false);
		hit_address(w, b.to, mode_at(b.to), false);
	}
}

/* What the walk of this sample's stack asked of code. */
static void hit_looks(struct hits_worker *w, struct callers_walk *walk)
{
	vec_each(look, &walk->looks) {
		w->hit[look->dso] = true;
		get_hit(w, &(struct hit){look->off, look->dso, .is_look = true});
	}
	walk->looks.n = 0;
}

static void take_sample(void *ctx, struct visit *v)
{
	const struct sample *s = v->sample;
	struct hits_worker *w = ctx;
	struct hit *hit;

	if (v->is_next)
		return;
	w->state = visit_state(v);
	hit = hit_address(w, s->ip, v->mode, false);
	if (hit)
		hit->n_samples++;
	hit_chain(w, &s->chain, v->mode);
	if (w->has_places)
		hit_branches(w, &s->branches);
	if (w->has_callers && callers_has_source(v->format) && visit_callers(v)) {
		hit_chain(w, &v->chain, v->mode);
		hit_looks(w, &v->visits->walk);
	} else if (s->user_stack.dyn_size)
		hit_dump(w, s);
}

static int by_place(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	if (x->dso != y->dso)
		return x->dso < y->dso ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->is_return != y->is_return)
		return (int)x->is_return - (int)y->is_return;
	return (int)x->is_look - (int)y->is_look;
}

static void sort_places(struct hits *h)
{
	size_t n = 0;

	if (h->places.n)
		qsort(h->places.at, h->places.n, sizeof(*h->places.at), by_place);
	vec_each(p, &h->places)
		if (n && !by_place(&h->places.at[n - 1], p))
			h->places.at[n - 1].n_samples += p->n_samples;
		else
			h->places.at[n++] = *p;
	h->places.n = n;
}

struct finding {
	const struct machine *machine;
	const struct hits_options *options;
	struct hits *hits;
};

static void *join(void *finding)
{
	const struct finding *f = finding;
	struct hits_worker *w = mem_zalloc(sizeof(*w));

	w->hit = mem_zalloc(f->machine->dsos.at.n + 1);
	w->memo = memo_of(PLACES_REMEMBERED);
	w->has_places = f->options->has_places;
	w->has_callers = f->options->has_places && f->options->has_callers;
	return w;
}

static void leave(void *finding, void *worker)
{
	const struct finding *f = finding;
	struct hits_worker *w = worker;

	for (size_t k = 0; k < f->machine->dsos.at.n; k++)
		f->hits->dsos[k] |= w->hit[k];
	vec_each(hit, &w->found)
		vec_add(&f->hits->places, *hit);
	mem_free(w->hit);
	memo_fini(&w->memo);
	vec_fini(&w->places);
	vec_fini(&w->found);
	table_fini(&w->index);
	mem_free(w);
}

int hits_find(struct trace *t, const struct hits_options *options, struct hits *ret,
	struct err *err)
{
	struct finding finding = {&t->machine, options, ret};
	const struct visitor visitor = {.wanted = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
			(options->has_places ? PERF_SAMPLE_BRANCH_STACK : 0),
		.has_callers = options->has_places && options->has_callers,
		.ctx = &finding,
		.join = join,
		.sample = take_sample,
		.leave = leave};
	const struct visitor *visitors[] = {&visitor};
	struct pass_options pass = {.n_workers = options->n_workers};
	int r;

	memset(ret, 0, sizeof(*ret));
	t->callers.notes_looks = options->has_places && options->has_callers;
	ret->dsos = mem_zalloc(t->machine.dsos.at.n + 1);
	r = pass_run(t, &pass, visitors, 1, err);
	t->callers.notes_looks = false;
	sort_places(ret);
	return r;
}

void hits_fini(struct hits *h)
{
	mem_free(h->dsos);
	vec_fini(&h->places);
	memset(h, 0, sizeof(*h));
}
