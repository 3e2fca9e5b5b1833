#include "trace/liveunwind.h"

#include "event/abi.h"
#include "unwind/ending.h"

enum { DUMP_BITS = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER };

static bool has_dumps(const struct event_attr *attr)
{
	return (attr->sample_type & DUMP_BITS) == DUMP_BITS;
}

/* ---- the machine's state ---- */

/* Applies the records that wait up to a time, and forgets what has ended. */
static void catch_up(struct liveunwind *u, u64 until)
{
	struct visit *state;
	struct err ignored;

	stream_finish_round(&u->follow.stream, until);
	while (follow_next(&u->follow, &state, &ignored) > 0)
		;
	machine_advance(&u->trace.machine, until);
}

void liveunwind_begin(struct liveunwind *u, const void *records, size_t n)
{
	struct record rec;

	for (size_t at = 0; record_in(records, n, at, &rec); at += rec.size)
		if (record_is_state(rec.type))
			stream_put(&u->follow.stream, &rec);
	catch_up(u, 0);
}

static void see(void *ctx, const struct record *rec, bool is_due)
{
	struct liveunwind *u = ctx;
	struct stream_event e = {.rec = *rec};

	if (record_is_state(rec->type))
		e.time = stream_put(&u->follow.stream, rec);
	else if (is_due)
		stream_place(&u->trace.session, &e);
	if (is_due)
		u->due_time = MAX(u->due_time, e.time);
}

/*
 * The machine takes records in order of time. Records later than the round's last time wait: earlier ones
 * may still come from another ring.
 */
static void settle(void *ctx)
{
	struct liveunwind *u = ctx;

	livestack_next_round(&u->livestack);
	catch_up(u, u->due_time);
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
	const struct sample_format *format = &u->trace.session.reader.formats.at[event];
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
static void note_ending(struct liveunwind *u, const struct stack_end *end, const struct sample *s,
	const char *comm)
{
	const struct sample_stack *stack = &s->user_stack;

	u->n_samples++;
	u->n_ended[end->ending]++;
	if (end->ending == STACK_DUMP_TOO_SMALL)
		u->deep_comm = comm;
	if (end->ending == STACK_NOT_COPIED && end->sp)
		livestack_touch(&u->livestack, s->pid, end->sp + stack->dyn_size,
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

/* Gives the sample the chain of its stack, which is in u->chain. */
static void walk(struct liveunwind *u, u32 event, u64 regs, struct visit *v, struct sample *s)
{
	u32 max_stack = u->events->at[event].own.max_stack;
	u64 words[ENDING_WORDS];
	u32 n = 0;

	v->chain = s->chain;
	if (u->is_late && has_own_callers(&v->chain)) {
		u->n_hurried++;
	} else if (callers_find(visits_walk(v->visits), visit_state(v)->user, regs, s, &v->chain,
			   &v->end)) {
		if (max_stack && cut_chain(&v->chain, max_stack))
			v->end.ending = STACK_TOO_DEEP;
		note_ending(u, &v->end, s, v->state->comm);
		n = ending_words(v->end.ending, words);
	}
	u->chain.n = 0;
	vec_reserve(&u->chain, v->chain.n + n);
	if (v->chain.n)
		memcpy(u->chain.at, v->chain.at, v->chain.n * 8);
	memcpy(u->chain.at + v->chain.n, words, n * 8);
	u->chain.n = v->chain.n + n;
	s->chain = (struct sample_words){(const u8 *)u->chain.at, u->chain.n};
}

/* Appends the sample with its chain instead of its registers and stack. */
static void put_sample(struct liveunwind *u, u32 event, struct sample *s, u64 regs, u16 misc,
	struct str *out)
{
	struct visit v = {.visits = &u->follow.visits,
		.sample = s,
		/* Without times, use the present state. */
		.time = u->trace.session.has_times ? s->time : UINT64_MAX};
	size_t start = out->n;

	visits_follow(v.visits);
	walk(u, event, regs, &v, s);
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
	struct sample own = *sample;

	put_sample(u, event, &own, known_regs, misc, out);
}

static void take(void *ctx, const struct record *rec, struct str *out)
{
	const struct formats *formats;
	struct liveunwind *u = ctx;
	u32 event = TABLE_NONE;
	struct sample *s;

	formats = &u->trace.session.reader.formats;
	if (rec->type == PERF_RECORD_SAMPLE)
		event = formats_event(formats, rec);
	if (event == TABLE_NONE || !has_dumps(&u->events->at[event].attr))
		str_addn(out, rec->at, rec->size);
	else if ((s = decoder_next(&u->follow.decoder, rec, event)))
		put_sample(u, event, s, u->events->at[event].attr.sample_regs_user, rec->misc, out);
	else
		add_loss(u, event, out);
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
	const struct find_places *places)
{
	memset(u, 0, sizeof(*u));
	u->events = events;
	u->filter = (struct recorder_filter){u, see, settle, take, hurry};
	u->written = mem_zalloc((events->n + 1) * sizeof(*u->written));
	for (size_t i = 0; i < events->n; i++) {
		struct event_attr attr = events->at[i].attr;

		take_out_dumps(&events->at[i], &attr);
		sample_format_init(&u->written[i], &attr);
	}
	livestack_init(&u->livestack);
	trace_begin_live(&u->trace, events, places);
	follow_init(&u->follow, &u->trace, FOLLOW_LIVE, UINT64_MAX);
}

void liveunwind_change_ids(struct liveunwind *u)
{
	session_change_ids(&u->trace.session);
}

void liveunwind_fini(struct liveunwind *u)
{
	if (!u->written)
		return;
	follow_fini(&u->follow);
	trace_close(&u->trace);
	mem_free(u->written);
	vec_fini(&u->chain);
	memset(u, 0, sizeof(*u));
}
