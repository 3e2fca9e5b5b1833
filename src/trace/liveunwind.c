#include "trace/liveunwind.h"

#include "event/abi.h"
#include "unwind/ending.h"

enum { DUMP_BITS = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER };

static bool has_dumps(const struct event_attr *attr)
{
	return (attr->sample_type & DUMP_BITS) == DUMP_BITS;
}

/* ---- the machine's state ---- */

static void apply(struct liveunwind *u, const struct record *rec, u32 event, u64 time)
{
	struct machine *m = &u->machine;
	union record_body body;
	struct err ignored;

	if (record_decode(rec, formats_format(&u->formats, event)->trailer, &body, &ignored) <= 0)
		return;
	m->followed_to = MAX(m->followed_to, time);
	machine_apply(m, rec, &body, m->followed_to);
}

void liveunwind_begin(struct liveunwind *u, const void *records, size_t n)
{
	struct record rec;

	for (size_t at = 0; record_in(records, n, at, &rec); at += rec.size)
		if (record_is_state(rec.type))
			apply(u, &rec, 0, 0);
}

static void see(void *ctx, const struct record *rec, bool is_due)
{
	struct liveunwind *u = ctx;
	u32 event = formats_event(&u->formats, rec);
	u64 time = formats_time(&u->formats, rec, event);

	if (is_due)
		u->due_time = MAX(u->due_time, time);
	if (!record_is_state(rec->type))
		return;
	queue_add(&u->pending, rec, 0, event, time, false);
}

/*
 * The machine takes records in order of time. Records later than the round's last time wait: earlier ones
 * may still come from another ring.
 */
static void settle(void *ctx)
{
	struct liveunwind *u = ctx;
	const struct queued *q;

	machine_advance(&u->machine, u->due_time);
	livecode_next_round(&u->walk.live);
	livestack_next_round(&u->livestack);
	queue_release(&u->pending, u->due_time);
	while ((q = queue_next(&u->pending)))
		apply(u, &q->rec, q->event, q->time);
	if (machine_forget_ended(&u->machine, u->due_time)) {
		liveproc_forget(&u->files.liveproc);
		callers_forget(&u->callers, &u->walk);
	}
}

/* ---- samples ---- */

static void add_record(struct str *out, u32 type, u16 misc, size_t start)
{
	struct record_header header = {type, misc, (u16)(out->n - start)};

	memcpy(out->at + start, &header, sizeof(header));
}

/* The file has one sample less: it is counted as lost. */
static void add_loss(struct liveunwind *u, u32 event, struct str *out)
{
	const struct sample_format *format = formats_format(&u->formats, event);
	union record_body body = {.lost.lost = 1};
	const struct event *e = &u->events->at[event];
	struct sample who = {.id = e->n_ids ? e->ids[0] : 0};

	u->n_unreadable++;
	record_encode(PERF_RECORD_LOST_SAMPLES, 0, &body, format->trailer, out);
	str_cut(out, out->n - format->trailer);
	sample_encode_trailer(format, &who, out);
}

/* Cuts the chain to `limit` addresses. Returns whether it was longer. */
static bool cut_chain(struct sample_words *chain, u64 limit)
{
	u64 n = 0;

	for (u64 i = 0; i < chain->n; i++) {
		n += load_u64(chain->at + 8 * i) < PERF_CONTEXT_MAX;
		if (n <= limit)
			continue;
		chain->n = i;
		return true;
	}
	return false;
}

/* Notes what would let later samples be walked further. */
static void note_ending(struct liveunwind *u, const struct stack_end *end, const char *comm)
{
	const struct sample_stack *stack = &u->sample.user_stack;

	u->n_samples++;
	u->n_ended[end->ending]++;
	if (end->ending == STACK_DUMP_TOO_SMALL)
		u->deep_comm = comm;
	if (end->ending == STACK_NOT_COPIED && end->sp)
		livestack_touch(&u->livestack, u->sample.pid, end->sp + stack->dyn_size,
			end->sp + stack->bytes.n);
}

/* Whether the kernel has followed frame pointers. */
static bool has_own_callers(const struct sample_words *chain)
{
	for (u64 i = 0; i < chain->n; i++)
		if (load_u64(chain->at + 8 * i) == PERF_CONTEXT_USER)
			return true;
	return false;
}

/* Walks the sample's stack. The chain is in u->chain. */
static void walk(struct liveunwind *u, u32 event, u64 regs, const struct thread_state *state)
{
	const struct event *e = &u->events->at[event];
	struct sample_words chain = u->sample.chain;
	u64 words[ENDING_WORDS];
	struct stack_end end;
	u32 n = 0;

	u->chain.n = 0;
	if (u->is_late && has_own_callers(&chain)) {
		u->n_hurried++;
	} else if (callers_find(&u->walk, state->user, regs, &u->sample, &chain, &end)) {
		if (e->own.max_stack && cut_chain(&chain, e->own.max_stack))
			end.ending = STACK_TOO_DEEP;
		note_ending(u, &end, state->comm);
		n = ending_words(end.ending, words);
	}
	vec_reserve(&u->chain, chain.n + n);
	if (chain.n)
		memcpy(u->chain.at, chain.at, chain.n * 8);
	memcpy(u->chain.at + chain.n, words, n * 8);
	u->chain.n = chain.n + n;
}

/* Appends u->sample with its chain instead of its registers and stack. */
static void put_sample(struct liveunwind *u, u32 event, u64 regs, u16 misc, struct str *out)
{
	struct sample *s = &u->sample;
	struct thread_state state;
	size_t start = out->n;
	/* Without times, use the present state. */
	u64 time = u->formats.at[event].type & PERF_SAMPLE_TIME ? s->time : UINT64_MAX;

	machine_state_at(&u->machine, s->pid, s->tid, time, &u->strings, &state);
	walk(u, event, regs, &state);
	s->chain = (struct sample_words){(const u8 *)u->chain.at, u->chain.n};
	str_fill(out, '\0', RECORD_HEADER_SIZE);
	sample_encode(&u->written[event], s, out);
	if (UNLIKELY(out->n - start > UINT16_MAX)) {
		/*
		 * A sample with raw data of nearly a record's maximum size, and a deep stack, does not fit.
		 */
		str_cut(out, start);
		add_loss(u, event, out);
		return;
	}
	add_record(out, PERF_RECORD_SAMPLE, misc, start);
}

void liveunwind_add(struct liveunwind *u, u32 event, const struct sample *sample, u64 known_regs,
	u16 misc, struct str *out)
{
	u->sample = *sample;
	u->sample_event = TABLE_NONE;
	put_sample(u, event, known_regs, misc, out);
}

static void take_sample(struct liveunwind *u, const struct record *rec, u32 event, struct str *out)
{
	struct sample *s = &u->sample;
	struct err ignored;

	if (u->sample_event != event)
		memset(s, 0, sizeof(*s));
	u->sample_event = event;
	if (sample_decode(&u->formats.at[event], rec->at + RECORD_HEADER_SIZE,
		    rec->size - RECORD_HEADER_SIZE, UINT64_MAX, s, &ignored))
		add_loss(u, event, out);
	else
		put_sample(u, event, u->events->at[event].attr.sample_regs_user, rec->misc, out);
}

static void take(void *ctx, const struct record *rec, struct str *out)
{
	struct liveunwind *u = ctx;
	u32 event = rec->type == PERF_RECORD_SAMPLE ? formats_event(&u->formats, rec) : TABLE_NONE;

	if (event != TABLE_NONE && has_dumps(&u->events->at[event].attr))
		take_sample(u, rec, event, out);
	else
		str_addn(out, rec->at, rec->size);
}

static void hurry(void *ctx, bool is_late)
{
	struct liveunwind *u = ctx;

	u->is_late = is_late;
}

/* ---- set-up ---- */

static void take_out_dumps(const struct event *e, struct event_attr *attr)
{
	if (!has_dumps(attr))
		return;
	attr->sample_type &= ~(u64)PERF_SAMPLE_STACK_USER;
	if (!e->own.has_user_regs) {
		attr->sample_type &= ~(u64)PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user = 0;
	}
	attr->flags &= ~ATTR_EXCLUDE_CALLCHAIN_USER;
}

void liveunwind_describe(const struct event_list *events, struct event_list *ret_written)
{
	vec_each(e, events) {
		struct event *copy = event_add(ret_written, &e->attr, e->name);

		*copy = (struct event){.attr = e->attr,
			.name = copy->name,
			.leader = e->leader,
			.n_members = e->n_members,
			.wishes = e->wishes,
			.pmu = e->pmu,
			.scale = e->scale,
			.unit = e->unit,
			.ids = e->ids,
			.n_ids = e->n_ids};
		take_out_dumps(e, &copy->attr);
	}
}

void liveunwind_init(struct liveunwind *u, const struct event_list *events,
	const struct find_places *places, const char *arch)
{
	memset(u, 0, sizeof(*u));
	u->events = events;
	u->sample_event = TABLE_NONE;
	u->filter = (struct recorder_filter){u, see, settle, take, hurry};
	formats_init(&u->formats, events);
	u->written = mem_zalloc((events->n + 1) * sizeof(*u->written));
	for (size_t i = 0; i < events->n; i++) {
		struct event_attr attr = events->at[i].attr;

		take_out_dumps(&events->at[i], &attr);
		sample_format_init(&u->written[i], &attr);
	}
	machine_init(&u->machine);
	/* Reports say what its dumps lack. */
	jitcode_init(&u->jitcode, events, places->symfs, NULL);
	u->machine.coder = &u->jitcode.coder;
	livestack_init(&u->livestack);
	dso_files_init(&u->files, &u->machine, places);
	callers_init(&u->callers, &u->files, arch);
	u->callers.jitcode = &u->jitcode;
	callers_walk_init(&u->walk, &u->callers);
}

void liveunwind_change_ids(struct liveunwind *u)
{
	formats_fini(&u->formats);
	formats_init(&u->formats, u->events);
}

void liveunwind_fini(struct liveunwind *u)
{
	if (!u->written)
		return;
	callers_walk_fini(&u->walk);
	callers_fini(&u->callers);
	dso_files_fini(&u->files);
	jitcode_fini(&u->jitcode);
	machine_fini(&u->machine);
	formats_fini(&u->formats);
	intern_fini(&u->strings);
	mem_free(u->written);
	queue_fini(&u->pending);
	vec_fini(&u->chain);
	memset(u, 0, sizeof(*u));
}
