#include "profile/memory/aborts.h"

#include <stdlib.h>

#include "arch/arch.h"
#include "base/hash.h"
#include "event/abi.h"
#include "event/tsx.h"
#include "record/branch.h"
#include "symbol/dwarf/line.h"
#include "unwind/chain.h"

enum { IS_NONE, IS_FLAGGED, IS_ABORT }; /* of aborts.kinds */

const char *abort_cause_word(enum abort_cause cause)
{
	static const char *const words[] = {[ABORT_EXPLICIT] = "explicit",
		[ABORT_CONFLICT] = "conflict",
		[ABORT_WRITES] = "capacity_write",
		[ABORT_READS] = "capacity_read",
		[ABORT_INSTRUCTION] = "instruction",
		[ABORT_OUTSIDE] = "outside",
		[ABORT_UNTOLD] = "untold"};

	return words[cause];
}

const char *abort_cause_title(enum abort_cause cause)
{
	static const char *const titles[] = {[ABORT_EXPLICIT] =
						     "explicit: the program gave up (XABORT)",
		[ABORT_CONFLICT] = "conflict: another CPU used the same memory",
		[ABORT_WRITES] = "capacity: more written than a transaction can hold",
		[ABORT_READS] = "capacity: more read than a transaction can hold",
		[ABORT_INSTRUCTION] =
			"instruction: one that transactions may not execute, or a fault",
		[ABORT_OUTSIDE] = "outside: an interrupt, or something else from without",
		[ABORT_UNTOLD] = "not known: recorded without --transaction"};

	return titles[cause];
}

/* ---- what was seen, how often ---- */

static void see(aborts_seen *seen, u64 value)
{
	vec_each(s, seen) {
		if (s->value != value)
			continue;
		s->n++;
		return;
	}
	if (seen->n < ABORTS_SEEN_MOST)
		vec_add(seen, ((struct aborts_seen){value, 1}));
}

static u32 get_place(struct aborts *a, u32 dso, u64 address, bool is_kernel)
{
	const u64 hash = hash_mix(address, (u64)dso << 1 | is_kernel);
	struct table_probe probe = table_probe(&a->place_index, hash);
	u32 i;

	while ((i = table_next(&a->place_index, &probe)) != TABLE_NONE) {
		const struct aborts_place *p = &a->places.at[i];

		if (p->address == address && p->dso == dso && p->is_kernel == is_kernel)
			return i;
	}
	table_add(&a->place_index, hash, (u32)a->places.n);
	vec_add(&a->places,
		((struct aborts_place){.dso = dso, .address = address, .is_kernel = is_kernel}));
	return (u32)a->places.n - 1;
}

/* The place of an address in memory; of code without a map, in the DSO that stands for all such. */
static u32 place_of(struct aborts *a, const struct thread_state *t, u64 ip, u8 mode)
{
	const struct map *map = machine_find(machine_space(t, mode), ip);

	return get_place(a, map ? map->dso->id : 0, map ? map_offset(map, ip) : ip,
		mode == PERF_RECORD_MISC_KERNEL);
}

static struct aborts_site *get_site(struct aborts *a, u32 place)
{
	struct table_probe probe = table_probe(&a->site_index, hash_mix(place, 0));
	u32 i;

	while ((i = table_next(&a->site_index, &probe)) != TABLE_NONE)
		if (a->sites.at[i].place == place)
			return &a->sites.at[i];
	table_add(&a->site_index, hash_mix(place, 0), (u32)a->sites.n);
	vec_add(&a->sites, ((struct aborts_site){.place = place}));
	return &a->sites.at[a->sites.n - 1];
}

/* ---- causes ---- */

static enum abort_cause cause_of(u64 transaction, bool has_status, u32 status)
{
	enum { EXPLICIT = 1 };

	if (transaction >> PERF_TXN_ABORT_SHIFT || (has_status && status & EXPLICIT))
		return ABORT_EXPLICIT;
	if (transaction & PERF_TXN_CONFLICT)
		return ABORT_CONFLICT;
	if (transaction & PERF_TXN_CAPACITY_WRITE)
		return ABORT_WRITES;
	if (transaction & PERF_TXN_CAPACITY_READ)
		return ABORT_READS;
	if (transaction & PERF_TXN_SYNC)
		return ABORT_INSTRUCTION;
	return transaction & PERF_TXN_ASYNC ? ABORT_OUTSIDE : ABORT_UNTOLD;
}

static void count(struct aborts_count *c, const struct sample *s, enum abort_cause cause,
	u64 cycles)
{
	c->n++;
	c->aborts += s->period;
	c->cycles += cycles;
	c->by_cause[cause]++;
	c->cycles_by_cause[cause] += cycles;
	c->n_elided += (s->transaction & PERF_TXN_ELISION) != 0;
	c->n_retry += (s->transaction & PERF_TXN_RETRY) != 0;
}

/* The weight: with WEIGHT_STRUCT its low half, with WEIGHT all of it. */
static u64 cycles_of(u64 type, const struct sample *s)
{
	if (!(type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)))
		return 0;
	return type & PERF_SAMPLE_WEIGHT_STRUCT ? (u32)s->weight : s->weight;
}

/* AX is the first of the registers, on x86. Only RTM returns a status there. */
static bool status_of(const struct visit *v, u32 *ret_status)
{
	const struct sample_words *values = &v->sample->intr_regs.values;
	const struct arch *arch = v->visits->trace->callers.arch;

	if (!arch || !arch->is_x86 || !(v->format->type & PERF_SAMPLE_REGS_INTR) ||
		!(v->format->intr_regs & 1) || !values->n ||
		!(v->sample->transaction & PERF_TXN_TRANSACTION))
		return false;
	*ret_status = (u32)load_u64(values->at);
	return true;
}

/* ---- paths ---- */

/* The branches within one transaction, the newest first. */
struct inside {
	u64 first, end; /* entries */
	bool is_known;
	bool is_whole; /* the entry at `end` is from before it began */
};

static bool is_unused(const struct branch *b)
{
	return !b->from && !b->to;
}

/*
 * per sample: newer than the abort itself are the branches of what it led to. Entries that the processor has not filled
 * are all zeros.
 */
static struct inside find_inside(const struct sample_branches *br)
{
	struct inside in = {.end = br->n};
	u64 i = 0;

	while (i < br->n && !(branch_at(br->entries, i).flags & BRANCH_ABORT))
		i++;
	in.is_known = i < br->n;
	in.first = MIN(i + 1, br->n);
	for (in.end = in.first; in.end < br->n; in.end++) {
		struct branch b = branch_at(br->entries, in.end);

		if (is_unused(&b) || !(b.flags & BRANCH_IN_TRANSACTION))
			break;
	}
	in.is_whole = in.end < br->n;
	return in;
}

/* Branches lead from user space into the kernel and back: the address of each end tells its mode. */
static u32 place_of_branch(struct aborts *a, const struct thread_state *t, u64 ip)
{
	return place_of(a, t, ip, ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
}

/* The newest branches of the path, the oldest of them first, each once in a row; their number. */
static u32 take_steps(struct aborts *a, const struct thread_state *t,
	const struct sample_branches *br, const struct inside *in,
	struct aborts_step steps[ABORTS_BRANCHES_MOST], bool *ret_is_cut)
{
	u32 n = 0;

	*ret_is_cut = false;
	for (u64 i = in->first; i < in->end; i++) {
		struct branch b = branch_at(br->entries, i);
		struct aborts_step step = {place_of_branch(a, t, b.from),
			place_of_branch(a, t, b.to), 1};

		if (n && steps[n - 1].from == step.from && steps[n - 1].to == step.to) {
			steps[n - 1].n_times++;
			continue;
		}
		if (n == a->n_branches) {
			*ret_is_cut = true;
			break;
		}
		steps[n++] = step;
	}
	for (u32 i = 0; i < n / 2; i++) {
		struct aborts_step other = steps[i];

		steps[i] = steps[n - 1 - i];
		steps[n - 1 - i] = other;
	}
	return n;
}

static bool is_path(const struct aborts *a, const struct aborts_path *p,
	const struct aborts_step *steps, const struct aborts_path *key)
{
	if (p->site != key->site || p->n_steps != key->n_steps || p->is_whole != key->is_whole ||
		p->begun != key->begun)
		return false;
	for (u32 i = 0; i < p->n_steps; i++)
		if (a->steps.at[p->first + i].from != steps[i].from ||
			a->steps.at[p->first + i].to != steps[i].to)
			return false;
	return true;
}

static struct aborts_path *get_path(struct aborts *a, const struct aborts_path *key,
	const struct aborts_step *steps)
{
	u64 hash = hash_mix(key->site, (u64)key->begun << 1 | key->is_whole);
	struct table_probe probe;
	u32 i;

	for (u32 k = 0; k < key->n_steps; k++)
		hash = hash_mix(hash, (u64)steps[k].from << 32 | steps[k].to);
	probe = table_probe(&a->path_index, hash);
	while ((i = table_next(&a->path_index, &probe)) != TABLE_NONE)
		if (is_path(a, &a->paths.at[i], steps, key))
			return &a->paths.at[i];
	table_add(&a->path_index, hash, (u32)a->paths.n);
	vec_add(&a->paths, *key);
	a->paths.at[a->paths.n - 1].first = (u32)a->steps.n;
	for (u32 k = 0; k < key->n_steps; k++)
		vec_add(&a->steps, ((struct aborts_step){steps[k].from, steps[k].to, 0}));
	return &a->paths.at[a->paths.n - 1];
}

static void add_path(struct aborts *a, const struct aborts_path *key,
	const struct aborts_step *steps, u64 cycles)
{
	struct aborts_path *path = get_path(a, key, steps);

	path->n++;
	path->cycles += cycles;
	for (u32 i = 0; i < key->n_steps; i++)
		a->steps.at[path->first + i].n_times += steps[i].n_times;
}

static void take_path(struct aborts *a, u32 n_site, struct visit *v, u64 cycles)
{
	const struct sample_branches *br = &v->sample->branches;
	const struct inside in = find_inside(br);
	struct aborts_step steps[ABORTS_BRANCHES_MOST];
	struct aborts_path key = {.site = n_site, .begun = ABORTS_NO_PLACE};
	bool is_cut;

	if (!in.is_known)
		return;
	key.n_steps = take_steps(a, visit_state(v), br, &in, steps, &is_cut);
	key.is_whole = in.is_whole && !is_cut;
	if (key.is_whole) {
		struct branch before = branch_at(br->entries, in.end);

		if (!is_unused(&before))
			key.begun = place_of_branch(a, visit_state(v), before.to);
	}
	a->sites.at[n_site].n_with_branches++;
	add_path(a, &key, steps, cycles);
}

/* ---- critical sections ---- */

static bool is_library(const struct dso *dso)
{
	return strstr(dso->name, ".so") != NULL;
}

/*
 * Who began the transaction: the chain begins where the abort led. If that is in a library, whose locks elide, it is the
 * first caller elsewhere; else it is that place itself.
 */
static u32 section_of(struct aborts *a, struct visit *v)
{
	const struct thread_state *t = visit_state(v);
	const struct machine *machine = &v->visits->trace->machine;
	struct chain_walk walk;
	struct chain_step step;
	u32 landed = ABORTS_NO_PLACE;

	visit_callers(v);
	walk = chain_walk(&v->chain, v->mode);
	while (chain_next(&walk, &step)) {
		u32 place;

		if (step.mode != PERF_RECORD_MISC_USER)
			continue;
		place = place_of(a, t, step.ip - step.is_return, step.mode);
		if (landed == ABORTS_NO_PLACE) {
			landed = place;
			if (!is_library(machine->dsos.at.at[a->places.at[place].dso]))
				return place;
		} else if (a->places.at[place].dso != a->places.at[landed].dso) {
			return place;
		}
	}
	return landed;
}

/* ---- samples ---- */

static u8 kind_of(const struct event *e)
{
	const enum tsx_count kind = tsx_count_of(e);

	if (kind == TSX_ABORTS || kind == TSX_ELISION_ABORTS)
		return IS_ABORT;
	return e->attr.sample_type & PERF_SAMPLE_TRANSACTION ? IS_FLAGGED : IS_NONE;
}

/* per sample; in a pipe, events come one by one */
static bool is_abort(struct aborts *a, const struct visit *v)
{
	const struct event_list *events = &v->visits->trace->session.reader.events;

	while (UNLIKELY(a->kinds.n <= v->taken_by)) {
		const u8 kind = kind_of(&events->at[a->kinds.n]);

		vec_add(&a->kinds, kind);
	}
	return a->kinds.at[v->taken_by] != IS_NONE &&
		visit_is_abort(v, a->kinds.at[v->taken_by] == IS_ABORT);
}

/* per sample */
static void take_abort(void *aborts, struct visit *v)
{
	struct aborts *a = aborts;
	const struct sample *sample = v->sample;
	const u64 type = v->format->type, cycles = cycles_of(type, sample);
	bool has_status;
	u32 status = 0, place, n_site;
	enum abort_cause cause;
	struct aborts_site *site;

	if (v->is_next)
		return;
	if (!is_abort(a, v)) {
		a->n_others++;
		return;
	}
	has_status = status_of(v, &status);
	cause = cause_of(sample->transaction, has_status, status);
	place = place_of(a, visit_state(v), sample->ip, v->mode);
	site = get_site(a, place);
	n_site = (u32)(site - a->sites.at);
	count(&a->total, sample, cause, cycles);
	count(&site->count, sample, cause, cycles);
	if (cause == ABORT_EXPLICIT) {
		/* The kernel keeps the code only; the status has it, too. */
		u64 code = has_status ? status >> 24 : sample->transaction >> PERF_TXN_ABORT_SHIFT;

		see(&a->codes, code);
		see(&site->codes, code);
	}
	if (has_status) {
		see(&a->statuses, status);
		see(&site->statuses, status);
	}
	if (a->has_callers) {
		u32 section = section_of(a, v);

		if (section != ABORTS_NO_PLACE && section != place)
			see(&a->sites.at[n_site].sections, section);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		take_path(a, n_site, v, cycles);
}

/* ---- order ---- */

static int by_cost(const void *left, const void *right)
{
	const struct aborts_site *a = left, *b = right;

	if (a->count.cycles != b->count.cycles)
		return a->count.cycles > b->count.cycles ? -1 : 1;
	if (a->count.n != b->count.n)
		return a->count.n > b->count.n ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/* Those of one site together. */
static int by_frequency(const void *left, const void *right)
{
	const struct aborts_path *a = left, *b = right;

	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

static int by_number(const void *left, const void *right)
{
	const struct aborts_seen *a = left, *b = right;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return a->value < b->value ? -1 : a->value > b->value;
}

static void sort_seen(aborts_seen *seen)
{
	if (seen->n)
		qsort(seen->at, seen->n, sizeof(*seen->at), by_number);
}

/* ---- beginning and end ---- */

static void *join(void *aborts)
{
	return aborts;
}

static u64 held(const void *aborts)
{
	const struct aborts *a = aborts;

	return a->places.n * sizeof(*a->places.at) + a->steps.n * sizeof(*a->steps.at) +
		a->paths.n * sizeof(*a->paths.at) +
		a->sites.n * (sizeof(*a->sites.at) + 4 * sizeof(struct aborts_seen));
}

/* To be called while sites have the numbers that paths know. */
static void sort_paths(struct aborts *a)
{
	if (a->paths.n)
		qsort(a->paths.at, a->paths.n, sizeof(*a->paths.at), by_frequency);
	for (size_t i = 0; i < a->paths.n; i++) {
		struct aborts_site *site = &a->sites.at[a->paths.at[i].site];

		if (!site->n_paths++)
			site->first_path = i;
	}
}

static void leave(void *aborts, void *worker)
{
	struct aborts *a = worker;

	(void)aborts;
	sort_paths(a);
	if (a->sites.n)
		qsort(a->sites.at, a->sites.n, sizeof(*a->sites.at), by_cost);
	table_clear(&a->site_index);
	table_clear(&a->path_index);
	sort_seen(&a->codes);
	sort_seen(&a->statuses);
	vec_each(site, &a->sites) {
		sort_seen(&site->codes);
		sort_seen(&site->statuses);
		sort_seen(&site->sections);
	}
}

int aborts_init(struct aborts *a, const struct trace *t, unsigned n_branches, struct err *err)
{
	bool is_there = false;

	*a = (struct aborts){.n_branches = MIN(n_branches, (unsigned)ABORTS_BRANCHES_MOST)};
	vec_each(e, &t->session.reader.events) {
		const u64 type = e->attr.sample_type;
		const u8 kind = kind_of(e);

		vec_add(&a->kinds, kind);
		if (kind == IS_NONE)
			continue;
		is_there = true;
		a->has_flags |= (type & PERF_SAMPLE_TRANSACTION) != 0;
		a->has_weights |= (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)) != 0;
		a->has_landings |= attr_precise(&e->attr) < 2;
		a->has_branches |= (type & PERF_SAMPLE_BRANCH_STACK) != 0;
		a->has_callers |= (type & PERF_SAMPLE_CALLCHAIN) ||
			(type & PERF_SAMPLE_REGS_USER && type & PERF_SAMPLE_STACK_USER);
	}
	return is_there
		? 0
		: err_set(err, ERR_INVAL,
			  "no event of the recording samples aborts of transactions: 'pace tsx record' does (record -e cpu/tx-abort/pp --transaction -W -b -g)");
}

struct visitor aborts_visitor(struct aborts *a, const struct trace *t)
{
	return (struct visitor){.wanted = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD |
			PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT |
			PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_INTR |
			(a->has_callers ? visits_need_for_callers(t) : 0),
		.has_callers = a->has_callers,
		/* Places are numbered in the order of the samples. */
		.is_serial = true,
		.ctx = a,
		.join = join,
		.sample = take_abort,
		.held = held,
		.leave = leave};
}

void aborts_name(struct aborts *a, struct resolver *resolver, unsigned style)
{
	vec_each(p, &a->places) {
		const struct dso *dso = resolver->machine->dsos.at.at[p->dso];
		struct line_frame frames[LINE_DEPTH_MAX];
		struct resolver_answer answer;

		p->dso_name = dso->name;
		resolver_load(resolver, dso);
		answer = resolver_find(resolver, dso, p->address);
		p->function = resolver_title(&answer, style, &a->strings);
		p->function_offset = answer.at - answer.start;
		resolver_load_lines(resolver, dso);
		if (!resolver_find_chain(resolver, dso, answer.at, frames) || !frames[0].file)
			continue;
		p->file = intern_str(&a->strings, frames[0].file);
		p->line = frames[0].line;
	}
}

void aborts_fini(struct aborts *a)
{
	vec_each(site, &a->sites) {
		vec_fini(&site->codes);
		vec_fini(&site->statuses);
		vec_fini(&site->sections);
	}
	vec_fini(&a->sites);
	vec_fini(&a->places);
	vec_fini(&a->paths);
	vec_fini(&a->steps);
	vec_fini(&a->codes);
	vec_fini(&a->statuses);
	vec_fini(&a->kinds);
	table_fini(&a->site_index);
	table_fini(&a->place_index);
	table_fini(&a->path_index);
	intern_fini(&a->strings);
	memset(a, 0, sizeof(*a));
}
