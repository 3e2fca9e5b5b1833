/*
 * api_recording.c - the public functions that read recordings.
 */
#include "api.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "event/abi.h"
#include "profile/check/ledger.h"
#include "trace/follow.h"

struct pace_recording {
	char *path;
	int memory_fd; /* -1: none */
	struct pace_source source;
	bool has_begun; /* reading has begun: a pipe cannot be read again */
	/* copies of the lists of the current sample, aligned for words */
	struct str lists;
	VEC(struct pace_value) values;
};

/* ---- opening ---- */

struct recording_opening {
	const char *path;
	int fd;
	struct pace_recording *recording; /* NULL: not created yet */
	struct err err;
};

static void do_open(void *opening)
{
	struct recording_opening *o = opening;
	struct pace_recording *r = o->recording = mem_zalloc(sizeof(*r));

	r->memory_fd = -1;
	r->path = mem_strdup(o->path);
	r->source.owner = r->path;
	r->source.unnamed = "samples have places only when they are read in time order";
	r->source.is_open = true;
	trace_open_fd(&r->source.trace, o->fd, r->path, NULL, &o->err);
}

static struct pace_recording *open_session(const char *path, int fd, struct pace_error *ret_err)
{
	struct recording_opening o = {.path = path, .fd = fd};
	size_t size;

	if (mem_try(do_open, &o, &size)) {
		if (!o.err.code)
			return o.recording;
		mem_free(o.recording->path);
		mem_free(o.recording);
	} else {
		api_exhausted(size, &o.err, "opening '%s'", path);
		pace_recording_close(o.recording);
	}
	api_give_error(&o.err, ret_err);
	return NULL;
}

PUBLIC struct pace_recording *pace_recording_open(const char *path, struct pace_error *err)
{
	return open_session(path, strcmp(path, "-") ? -1 : STDIN_FILENO, err);
}

PUBLIC struct pace_recording *pace_recording_open_fd(int fd, struct pace_error *ret_err)
{
	struct err err;

	if (fd < 0) {
		err_set(&err, ERR_INVAL, "%d is not a descriptor", fd);
		api_give_error(&err, ret_err);
		return NULL;
	}
	return open_session("the descriptor", fd, ret_err);
}

PUBLIC struct pace_recording *pace_recording_open_memory(const void *bytes, size_t size,
	struct pace_error *ret_err)
{
	int fd = memfd_create("pace", MFD_CLOEXEC), sys;
	struct pace_recording *r;
	struct err err;

	sys = fd < 0 ? errno : fd_write(fd, bytes, size);
	if (sys) {
		err_sys(&err, sys, "copying %zu bytes", size);
		api_give_error(&err, ret_err);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	r = open_session("the memory", fd, ret_err);
	close(fd);
	return r;
}

PUBLIC void pace_recording_close(struct pace_recording *r)
{
	if (!r)
		return;
	api_source_close(&r->source);
	intern_fini(&r->source.strings);
	str_fini(&r->lists);
	vec_fini(&r->values);
	mem_free(r->path);
	mem_free(r);
}

/* ---- what the recording says about itself ---- */

PUBLIC uint32_t pace_recording_events(const struct pace_recording *r)
{
	return (uint32_t)r->source.trace.session.reader.events.n;
}

struct pace_event api_public_event(const struct event *e)
{
	return (struct pace_event){.name = e->name,
		.attr = &e->attr,
		.attr_size = sizeof(e->attr),
		.ids = e->ids,
		.n_ids = e->n_ids};
}

PUBLIC int pace_recording_event(const struct pace_recording *r, uint32_t number,
	struct pace_event *ret_event, struct pace_error *ret_err)
{
	const struct event_list *events = &r->source.trace.session.reader.events;
	const struct event *e;
	struct err err;

	if (number >= events->n) {
		err_set(&err, ERR_NOENT, "there is no event %u: the recording has %zu", number,
			events->n);
		return api_give_error(&err, ret_err);
	}
	e = &events->at[number];
	*ret_event = api_public_event(e);
	return 0;
}

PUBLIC void pace_recording_facts(const struct pace_recording *r, struct pace_facts *ret_facts)
{
	const struct file_info *info = &r->source.trace.session.reader.info;

	*ret_facts = (struct pace_facts){.hostname = info->host.hostname,
		.release = info->host.release,
		.arch = info->host.arch,
		.cpu = info->host.cpu_description,
		.cpuid = info->host.cpuid,
		.version = info->version,
		.command = info->cmdline.at,
		.n_command = (uint32_t)info->cmdline.n,
		.n_cpus = info->host.cpus_available,
		.total_memory_kb = info->host.memory_kb,
		.first_time = info->has_times ? info->first_time : 0,
		.last_time = info->has_times ? info->last_time : 0};
}

/* ---- reading ---- */

static struct pace_record public_record(const struct visit *v)
{
	return (struct pace_record){.type = v->rec->type,
		.misc = v->rec->misc,
		.size = v->rec->size,
		.bytes = v->rec->at,
		.offset = v->rec->offset,
		.time = v->time,
		.event = v->event};
}

/* A walk over a recording. Each step runs inside mem_try(), and hands its result out afterwards. */
struct walk {
	struct pace_recording *recording;
	const struct pace_slots *slots;
	enum pace_order order;
	struct follow follow;
	struct visit *visit;
	struct pace_record record;
	struct pace_sample sample;
	bool is_sample, is_wanted; /* what the visit is */
	struct str losses;
	int result;
	struct err err;
};

static void begin_walk(void *walk)
{
	const struct trace_options options = {0};
	struct walk *w = walk;
	struct pace_source *s = &w->recording->source;
	bool is_in_time = w->order == PACE_TIME_ORDER;
	u64 wanted = w->slots->wanted ? w->slots->wanted : UINT64_MAX;

	/* A second walk must not begin with the state at the end of the first. */
	if (is_in_time)
		w->result = trace_begin(&s->trace, &options, &w->err);
	locator_init(&s->locator, &s->trace.machine, &s->trace.resolver);
	follow_init(&w->follow, &s->trace, is_in_time ? FOLLOW_IN_TIME : FOLLOW_IN_FILE,
		wanted | (is_in_time ? CALLERS_FIELDS : 0));
}

/* Returns the list's offset in `lists`, which may still move. */
static size_t add_list(struct pace_recording *r, const void *at, size_t n)
{
	size_t start = r->lists.n;

	if (n)
		str_addn(&r->lists, at, n);
	return start;
}

static void take_sample(struct walk *w)
{
	struct pace_recording *r = w->recording;
	struct visit *v = w->visit;
	const struct sample *s = v->sample;
	const struct sample_format *format = v->format;
	struct pace_sample *out = &w->sample;
	struct api_lists lists = {0};
	size_t chain, branches, user, intr;

	w->is_wanted = s && !v->is_idle;
	if (!w->is_wanted)
		return;
	/* Lists in records may be unaligned, but users expect words at aligned addresses. */
	str_clear(&r->lists);
	str_reserve(&r->lists, 1);
	chain = add_list(r, s->chain.at, s->chain.n * 8);
	branches = add_list(r, s->branches.entries, s->branches.n * sizeof(*out->branches));
	user = add_list(r, s->user_regs.values.at, s->user_regs.values.n * 8);
	intr = add_list(r, s->intr_regs.values.at, s->intr_regs.values.n * 8);
	lists.chain = r->lists.at + chain;
	lists.branches = r->lists.at + branches;
	lists.user_regs = r->lists.at + user;
	lists.intr_regs = r->lists.at + intr;
	if (format->type & PERF_SAMPLE_READ) {
		vec_reserve(&r->values, s->read.n_values + 1);
		lists.values = r->values.at;
	}
	*out = api_public_sample(format, s, &w->record, &lists);
	out->cpu = format->type & PERF_SAMPLE_CPU ? s->cpu : 0;
	out->source = &r->source;
	r->source.visit = w->order == PACE_TIME_ORDER ? v : NULL;
}

static void step(void *walk)
{
	struct walk *w = walk;

	w->result = follow_next(&w->follow, &w->visit, &w->err);
	if (w->result <= 0)
		return;
	w->record = public_record(w->visit);
	w->is_sample = w->visit->rec->type == PERF_RECORD_SAMPLE;
	w->is_wanted = w->is_sample ? w->slots->sample != NULL : w->slots->record != NULL;
	if (w->is_sample && w->is_wanted)
		take_sample(w);
}

static void sum_up(void *walk)
{
	struct walk *w = walk;
	struct ledger ledger = {0};

	ledger_add_tally(&ledger, &w->recording->source.trace.session.tally);
	ledger_add_text(&ledger, true, &w->losses);
	ledger_fini(&ledger);
}

/* Runs `work`; false if memory runs out: then the recording cannot be used any more. */
static bool walk_try(struct walk *w, void (*work)(void *walk))
{
	struct pace_recording *r = w->recording;
	size_t size;

	if (mem_try(work, w, &size))
		return true;
	r->source.is_spent = true;
	w->result = api_exhausted(size, &r->source.exhaustion, "reading '%s'", r->path);
	w->err = r->source.exhaustion;
	return false;
}

static int hand_out(struct walk *w)
{
	const struct pace_slots *slots = w->slots;

	if (!w->is_wanted)
		return 0;
	return w->is_sample ? slots->sample(slots->context, &w->sample)
			    : slots->record(slots->context, &w->record);
}

/* Returns a slot's answer other than 0, else 0 or a negative error. */
static int walk_all(struct walk *w)
{
	struct pace_recording *r = w->recording;
	int said = 0;

	if (!walk_try(w, begin_walk) || w->result < 0)
		return w->result;
	while (!said && walk_try(w, step) && w->result > 0) {
		said = hand_out(w);
		/* Naming a place may have run out of memory. */
		if (r->source.is_spent) {
			w->err = r->source.exhaustion;
			w->result = w->err.code;
			break;
		}
	}
	r->source.visit = NULL;
	return said ? said : w->result;
}

static void tell_losses(struct walk *w)
{
	const struct pace_slots *slots = w->slots;
	char *line, *next;

	/*
	 * Each line is "# sentence
	 * ".
	 */
	for (line = w->losses.at; slots->loss && line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		slots->loss(slots->context, line + (strncmp(line, "# ", 2) ? 0 : 2));
	}
}

static int check_readable(const struct pace_recording *r, struct err *err)
{
	if (r->source.is_spent)
		*err = r->source.exhaustion;
	else if (r->has_begun && r->source.trace.session.reader.is_stream)
		err_set(err, ERR_INVAL, "'%s' was read already: a pipe can be read only once",
			r->path);
	return err->code;
}

PUBLIC int pace_recording_read(struct pace_recording *r, enum pace_order order,
	const struct pace_slots *slots, struct pace_error *ret_err)
{
	struct walk w = {.recording = r, .slots = slots, .order = order};
	int result;

	if (check_readable(r, &w.err))
		return api_give_error(&w.err, ret_err);
	r->has_begun = true;
	memset(&r->source.trace.session.tally, 0, sizeof(r->source.trace.session.tally));
	result = walk_all(&w);
	if (!result && !walk_try(&w, sum_up))
		result = w.result;
	if (!result)
		tell_losses(&w);
	str_fini(&w.losses);
	follow_fini(&w.follow);
	/* A slot may return a negative number of its own. */
	return result < 0 && result == w.err.code ? api_give_error(&w.err, ret_err) : result;
}

PUBLIC int pace_recording_place(struct pace_recording *r, const struct pace_sample *sample,
	uint64_t ip, struct pace_place *ret, struct pace_error *err)
{
	struct pace_sample own = *sample;
	/* All addresses but the innermost are return addresses. */
	const struct pace_frame frame = {.ip = ip,
		.mode = ip >> 63 ? PACE_MODE_KERNEL : PACE_MODE_USER,
		.is_return = ip != sample->ip};

	own.source = &r->source;
	return pace_sample_place(&own, &frame, ret, err);
}
