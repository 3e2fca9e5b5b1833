/*
 * api_place.c - the public functions that name a sample's callers, their places and lines.
 */
#include "api.h"

#include <stdio.h>
#include <unistd.h>

#include "event/abi.h"
#include "event/target.h"
#include "symbol/name/demangle.h"
#include "unwind/ending.h"

/* ---- the state of a running machine ---- */

void api_source_open_live(struct pace_source *s, const struct event_list *events)
{
	s->is_open = true;
	trace_begin_live(&s->trace, events, NULL);
	visits_init(&s->visits, &s->trace);
	locator_init(&s->locator, &s->trace.machine, &s->trace.resolver);
}

/* Applies the records to the machine. `only_maps`: its tasks are known, and must not begin a second time. */
static void take_all(struct pace_source *s, struct str *records, bool only_maps)
{
	static const struct sample_format plain;
	struct record rec;

	for (size_t at = 0; record_in(records->at, records->n, at, &rec); at += rec.size)
		if (!only_maps || rec.type == PERF_RECORD_MMAP2 || rec.type == PERF_RECORD_MMAP)
			api_source_take(s, &plain, &rec, 0);
	str_clear(records);
}

static int take_some(void *source, struct err *err)
{
	struct pace_source *s = source;

	(void)err;
	take_all(s, &s->synth.out, false);
	return 0;
}

void api_source_begin(struct pace_source *s, pid_t pid, bool has_kernel)
{
	struct synth *synth = &s->synth;
	struct err ignored;

	synth_init(synth, 0, NULL);
	if (has_kernel) {
		synth_kernel(synth);
		synth_modules(synth);
	}
	if (pid == -1)
		synth_all(synth, take_some, s, &ignored);
	else
		synth_process(synth, pid ? target_process(pid) : getpid());
	take_all(s, &synth->out, false);
	synth_fini(synth);
	memset(synth, 0, sizeof(*synth));
}

void api_source_next_round(struct pace_source *s)
{
	s->has_refreshed = false;
	if (s->is_open && s->visits.has_walk)
		livecode_next_round(&s->visits.walk.live);
}

void api_source_take(struct pace_source *s, const struct sample_format *format,
	const struct record *rec, u64 time)
{
	union record_body body;
	struct err ignored;

	if (record_is_state(rec->type) && record_decode(rec, format->trailer, &body, &ignored) > 0)
		machine_apply_late(&s->trace.machine, rec, &body, time);
}

void api_source_point(struct pace_source *s, const struct sample *sample,
	const struct sample_format *format, u64 time, u16 misc)
{
	s->own = (struct visit){.visits = &s->visits,
		.sample = sample,
		.format = format,
		.time = time,
		.mode = misc & PERF_RECORD_MISC_CPUMODE_MASK};
	s->visit = sample ? &s->own : NULL;
}

void api_source_close(struct pace_source *s)
{
	if (s->is_open) {
		visits_fini(&s->visits);
		trace_close(&s->trace);
		synth_fini(&s->synth);
		memset(&s->synth, 0, sizeof(s->synth));
	}
	s->is_open = false;
	s->visit = NULL;
}

/* ---- answering ---- */

/* One question and its answer. */
struct naming {
	struct pace_source *source;
	struct chain_step step;
	struct pace_place *place;
	struct pace_frame *frames;
	struct pace_line *lines;
	const char **ending;
	size_t max, n;
	void (*work)(struct naming *n);
};

static struct chain_step step_of(const struct pace_source *s, const struct pace_frame *frame)
{
	if (frame)
		return (struct chain_step){frame->ip, (u8)frame->mode, frame->is_return != 0};
	return s->visit ? (struct chain_step){s->visit->sample->ip, s->visit->mode, false}
			: (struct chain_step){0};
}

static const struct thread_state *state_now(struct pace_source *s)
{
	struct machine *m = &s->trace.machine;

	/* Programs that are measured now may have generated code in the meantime. */
	if (s->trace.files.places.is_now) {
		machine_advance(m, MAX(m->followed_to, s->visit->time));
		s->visit->state = NULL;
		visits_follow(&s->visits);
	}
	return visit_state(s->visit);
}

/*
 * No record tells of maps that were made while the counter was off, or by a thread that it does not count. They are
 * looked up when an address is in no map.
 */
static void refresh_maps(struct pace_source *s)
{
	struct synth *synth = &s->synth;

	s->has_refreshed = true;
	synth_init(synth, 0, NULL);
	synth_process(synth, (pid_t)s->visit->sample->pid);
	take_all(s, &synth->out, true);
	synth_fini(synth);
	memset(synth, 0, sizeof(*synth));
}

/* Returns the name of the thread, which is valid as long as the source's strings. */
static const char *locate(struct naming *n, struct location *ret_location)
{
	struct pace_source *s = n->source;
	const struct thread_state *t = state_now(s);

	locator_find(&s->locator, t, &n->step, ret_location);
	if (ret_location->map || !s->trace.files.places.is_now || s->has_refreshed ||
		n->step.mode != PERF_RECORD_MISC_USER)
		return t->comm;
	refresh_maps(s);
	t = state_now(s);
	locator_find(&s->locator, t, &n->step, ret_location);
	return t->comm;
}

static void find_place(struct naming *n)
{
	struct pace_source *s = n->source;
	struct location location;
	const char *comm = locate(n, &location);
	struct resolver_answer a = locator_name(&s->locator, &location);

	*n->place = (struct pace_place){.function = resolver_title(&a, 0, &s->strings),
		.offset = a.at - a.start,
		.file = location.dso->path,
		.thread = comm};
}

static void find_lines(struct naming *n)
{
	struct pace_source *s = n->source;
	struct resolver *resolver = &s->trace.resolver;
	struct line_frame found[LINE_DEPTH_MAX];
	struct resolver_answer a;
	struct location location;

	locate(n, &location);
	a = locator_name(&s->locator, &location);
	resolver_load_lines(resolver, location.dso);
	if (!resolver_has_lines(resolver, location.dso))
		return;
	n->n = resolver_find_chain(resolver, location.dso, a.at - location.is_return, found);
	for (size_t i = 0; i < n->n && i < n->max; i++)
		n->lines[i] = (struct pace_line){.function = found[i].function
				? demangle(found[i].function, 0, &s->strings)
				: NULL,
			.file = found[i].file,
			.folder = found[i].dir,
			.line = found[i].line,
			.column = found[i].column};
}

static void add_frame(struct naming *n, const struct chain_step *step)
{
	if (n->n < n->max)
		n->frames[n->n] = (struct pace_frame){.ip = step->ip,
			.mode = (enum pace_mode)step->mode,
			.is_return = step->is_return};
	n->n++;
}

/* As in reports: if the chain begins in the sample's mode, its first address is the sample's own ip. */
static void find_callers(struct naming *n)
{
	struct pace_source *s = n->source;
	struct visit *v = s->visit;
	const struct chain_step own = step_of(s, NULL);
	struct chain_step step;
	struct chain_walk walk;

	state_now(s);
	visit_callers(v);
	if (n->ending)
		*n->ending = v->end.ending == STACK_ENDINGS ? NULL : ending_text(v->end.ending);
	add_frame(n, &own);
	walk = chain_walk(&v->chain, v->mode);
	for (size_t i = 0; chain_next(&walk, &step); i++)
		if (i || step.mode != v->mode)
			add_frame(n, &step);
}

/* 0, or the reason why the source cannot answer. */
static int check_source(const struct pace_source *s, struct err *err)
{
	if (!s)
		return err_set(err, ERR_INVAL,
			"this ring cannot name its samples: open its counter with PACE_SIDE_BAND");
	if (s->is_spent)
		*err = s->exhaustion;
	else if (!s->visit)
		return err_set(err, ERR_INVAL, "%s",
			s->unnamed ? s->unnamed : "a sample can be named only while its slot runs");
	return err->code;
}

static void answer(void *naming)
{
	struct naming *n = naming;
	struct pace_source *s = n->source;

	if (!s->is_open && s->open)
		s->open(s, s->open_owner);
	n->work(n);
}

/* Runs `work` with a guard against running out of memory. Returns a number of results, or a negative code. */
static int ask(struct naming *n, void (*work)(struct naming *n), struct pace_error *ret_err)
{
	struct pace_source *s = n->source;
	struct err err = {0};
	size_t size;

	if (check_source(s, &err))
		return api_give_error(&err, ret_err);
	n->work = work;
	if (mem_try(answer, n, &size))
		return (int)n->n;
	/* The work may have been interrupted while it held locks: the source cannot be used any more. */
	s->is_spent = true;
	api_exhausted(size, &s->exhaustion, "naming 0x%llx of '%s'", (unsigned long long)n->step.ip,
		s->owner);
	return api_give_error(&s->exhaustion, ret_err);
}

static struct naming naming_of(const struct pace_sample *sample, const struct pace_frame *frame)
{
	/* The source belongs to the ring or recording that hands out the sample, and does nothing else meanwhile. */
	struct pace_source *s = (struct pace_source *)sample->source;

	return (struct naming){.source = s, .step = s ? step_of(s, frame) : (struct chain_step){0}};
}

PUBLIC int pace_sample_callers(const struct pace_sample *sample, struct pace_frame *ret_frames,
	size_t max, const char **ret_ending, struct pace_error *err)
{
	struct naming n = naming_of(sample, NULL);

	n.frames = ret_frames;
	n.max = max;
	n.ending = ret_ending;
	return ask(&n, find_callers, err);
}

PUBLIC int pace_sample_place(const struct pace_sample *sample, const struct pace_frame *frame,
	struct pace_place *ret_place, struct pace_error *err)
{
	struct naming n = naming_of(sample, frame);

	n.place = ret_place;
	return ask(&n, find_place, err);
}

PUBLIC int pace_sample_lines(const struct pace_sample *sample, const struct pace_frame *frame,
	struct pace_line *ret_lines, size_t max, struct pace_error *err)
{
	struct naming n = naming_of(sample, frame);

	n.lines = ret_lines;
	n.max = max;
	return ask(&n, find_lines, err);
}
