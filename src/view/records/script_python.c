#include "view/records/script_python.h"

#include <string.h>

#include "base/marshal.h"
#include "event/abi.h"
#include "record/access.h"
#include "record/branch.h"
#include "symbol/name/demangle.h"
#include "unwind/chain.h"

static void add_text(struct str *s, const char *text)
{
	marshal_text(s, text, strlen(text));
}

static void add_key(struct str *s, const char *key)
{
	add_text(s, key);
}

static size_t begin(struct str *text, enum script_python_kind kind)
{
	size_t place = marshal_open(text, MARSHAL_TUPLE);

	marshal_u64(text, kind);
	return place;
}

/* ---- places ---- */

static const char *dso_name(const struct dso *dso)
{
	return dso->kind == DSO_FILE || dso->kind == DSO_JITDUMP ? dso->path : dso->name;
}

/* A frame: {"ip", "sym": {"start", "end", "binding", "name"}, "sym_off", "dso"}. */
static void add_frame(const struct location *l, u64 ip, const struct resolver_answer *a,
	const char *name, struct str *text)
{
	enum { GLOBAL = 1 }; /* symbol tables are not asked whether a function is local */

	marshal_open_dict(text);
	add_key(text, "ip");
	marshal_u64(text, ip);
	if (name) {
		add_key(text, "sym");
		marshal_open_dict(text);
		add_key(text, "start");
		marshal_u64(text, a->start);
		add_key(text, "end");
		marshal_u64(text, a->end);
		add_key(text, "binding");
		marshal_u64(text, GLOBAL);
		add_key(text, "name");
		add_text(text, name);
		marshal_close_dict(text);
		add_key(text, "sym_off");
		marshal_u64(text, a->at - a->start);
	}
	if (l->map) {
		add_key(text, "dso");
		add_text(text, dso_name(l->dso));
	}
	marshal_close_dict(text);
}

void script_python_place(struct script *s, const struct location *l, u64 ip, u64 fields,
	struct str *text)
{
	struct resolver_answer a = locator_name(&s->locator, l);
	const char *name = resolver_title(&a, s->options->name_style, &s->strings);
	struct script_frames f;
	size_t place = marshal_open(text, MARSHAL_TUPLE), list;

	script_find_frames(s, l, fields, &f);
	list = marshal_open(text, MARSHAL_LIST);
	for (size_t i = 0; i < f.n_inlined; i++)
		add_frame(l, ip, &a,
			f.at[i].function
				? demangle(f.at[i].function, s->options->name_style, &s->strings)
				: "[unknown]",
			text);
	if (f.has_function)
		add_frame(l, ip, &a, name, text);
	marshal_close(text, list, (u32)(f.n_inlined + f.has_function));
	marshal_bytes(text, l->dso->build_id, l->map ? l->dso->build_id_size : 0);
	marshal_u64(text, l->map ? l->map->start : 0);
	marshal_u64(text, l->map ? l->map->end : 0);
	marshal_close(text, place, 4);
}

static void add_callers(struct script *s, struct visit *v, struct str *text)
{
	const struct thread_state *t = visit_state(v);
	size_t list = marshal_open(text, MARSHAL_LIST);
	struct chain_walk walk;
	struct chain_step step;
	u32 n = 0;

	if (script_has_chain(v->format->type) && !s->options->hides_chains) {
		visit_callers(v);
		walk = chain_walk(&v->chain, v->mode);
		while (n < s->options->max_stack && chain_next(&walk, &step)) {
			script_add_place(s, t, &step, script_chain_fields(v, &step, 0),
				SCRIPT_AS_PYTHON, text);
			n++;
		}
	}
	marshal_close(text, list, n);
}

/* Entries: from, to, flags, where from, where to. */
static void add_branches(struct script *s, struct visit *v, struct str *text)
{
	const struct sample_branches *br = &v->sample->branches;
	size_t list = marshal_open(text, MARSHAL_LIST);
	u64 n = v->format->type & PERF_SAMPLE_BRANCH_STACK ? br->n : 0;

	for (u64 i = 0; i < n; i++) {
		struct branch b = branch_at(br->entries, i);
		const u64 ends[] = {b.from, b.to};
		size_t entry = marshal_open(text, MARSHAL_TUPLE);

		marshal_u64(text, b.from);
		marshal_u64(text, b.to);
		marshal_u64(text, b.flags);
		for (unsigned k = 0; k < ARRAY_SIZE(ends); k++) {
			struct chain_step step = {ends[k],
				(s64)ends[k] < 0 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
				false};

			script_add_place(s, visit_state(v), &step, 0, SCRIPT_AS_PYTHON, text);
		}
		marshal_close(text, entry, 5);
	}
	marshal_close(text, list, (u32)n);
}

/* ---- parts of samples ---- */

/* (enabled, running, [(id, value, lost)...]) */
static void add_read(const struct visit *v, struct str *text)
{
	const struct sample_read *read = &v->sample->read;
	size_t place = marshal_open(text, MARSHAL_TUPLE), list;
	u64 n = v->format->type & PERF_SAMPLE_READ ? read->n_values : 0;

	marshal_u64(text, read->time_enabled);
	marshal_u64(text, read->time_running);
	list = marshal_open(text, MARSHAL_LIST);
	for (u64 i = 0; i < n; i++) {
		struct sample_value value = sample_read_value(v->format, read, i);
		size_t entry = marshal_open(text, MARSHAL_TUPLE);

		marshal_u64(text, value.id);
		marshal_u64(text, value.value);
		marshal_u64(text, value.lost);
		marshal_close(text, entry, 3);
	}
	marshal_close(text, list, (u32)n);
	marshal_close(text, place, 3);
}

static void add_registers(const struct script *s, u64 mask, const struct sample_regs *regs,
	struct str *text)
{
	struct str said = {0};

	if (mask && regs->values.n)
		script_add_regs(s, mask, regs, &said);
	marshal_text(text, str_text(&said), said.n);
	str_fini(&said);
}

static void add_access(u64 data_src, struct str *text)
{
	struct str said = {0};

	access_add_summary(data_src, &said);
	marshal_text(text, str_text(&said), said.n);
	str_fini(&said);
}

struct fields {
	struct str *text;
	u32 n;
};

/* name, value */
static void see_field(void *ctx, const struct tracepoint_value *v)
{
	struct fields *f = ctx;

	add_text(f->text, v->name);
	switch (v->kind) {
	case TRACEPOINT_SIGNED:
		marshal_s64(f->text, (s64)v->number);
		break;
	case TRACEPOINT_UNSIGNED:
		marshal_u64(f->text, v->number);
		break;
	case TRACEPOINT_TEXT:
		marshal_text(f->text, (const char *)v->at, v->n);
		break;
	case TRACEPOINT_BYTES:
		marshal_bytes(f->text, v->at, v->n);
	}
	f->n += 2;
}

/* [name, value, ...] of a tracepoint whose format is known; else None. */
static void add_fields(struct script *s, const struct visit *v, struct str *text)
{
	const struct event_attr *attr = &s->events->at[v->event].attr;
	struct fields f = {text, 0};
	size_t start = text->n, list;

	if (attr->type != PERF_TYPE_TRACEPOINT || !s->tracepoints) {
		marshal_none(text);
		return;
	}
	list = marshal_open(text, MARSHAL_LIST);
	if (tracepoints_each_value(s->tracepoints, attr->config, &v->sample->raw, see_field, &f)) {
		marshal_close(text, list, f.n);
	} else {
		str_cut(text, start);
		marshal_none(text);
	}
}

static void add_code(struct script *s, const struct location *l, struct str *text)
{
	struct code code;
	unsigned size = 0;

	if (script_code_find(&code, s, l, 0))
		size = script_code_size(&code, 0);
	marshal_bytes(text, code.at, size);
	code_fini(&code);
}

/* (file, line), or None */
static void add_source(struct script *s, const struct location *l, struct str *text)
{
	struct line_frame frames[LINE_DEPTH_MAX];
	size_t n = script_find_sources(s, l, false, frames), place;
	struct str path = {0};

	if (!n || !frames[n - 1].file) {
		marshal_none(text);
		return;
	}
	if (*frames[n - 1].file != '/' && frames[n - 1].dir)
		str_addf(&path, "%s/", frames[n - 1].dir);
	str_add(&path, frames[n - 1].file);
	place = marshal_open(text, MARSHAL_TUPLE);
	marshal_text(text, str_text(&path), path.n);
	marshal_u64(text, frames[n - 1].line);
	marshal_close(text, place, 2);
	str_fini(&path);
}

static void add_wishes(struct script *s, struct visit *v, const struct script_python_wishes *wishes,
	struct str *text)
{
	struct chain_step step = {v->sample->ip, v->mode, false};
	struct location l;

	if (wishes->instructions || wishes->sources)
		locator_find(&s->locator, visit_state(v), &step, &l);
	if (wishes->instructions)
		add_code(s, &l, text);
	else
		marshal_none(text);
	if (wishes->sources)
		add_source(s, &l, text);
	else
		marshal_none(text);
}

/* What an access is that was not recorded: nothing of it is known. */
static const u64 no_access = 0x5080021;

void script_python_sample(struct script *s, struct visit *v,
	const struct script_python_wishes *wishes, struct str *text)
{
	const struct sample *sample = v->sample;
	const struct thread_state *t = visit_state(v);
	const struct script_weight w = script_weight(v->format->type, sample->weight);
	const u64 data_src = v->format->type & PERF_SAMPLE_DATA_SRC ? sample->data_src : no_access;
	const u64 numbers[] = {v->event, sample->id, sample->stream_id, sample->pid, sample->tid,
		sample->cpu, sample->ip, sample->time, sample->period, sample->phys_addr,
		sample->addr, w.cost, w.ins_lat, sample->transaction, data_src, v->mode};
	size_t place = begin(text, PYTHON_SAMPLE);

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		marshal_u64(text, numbers[i]);
	add_access(data_src, text);
	add_read(v, text);
	marshal_bytes(text, sample->raw.at, sample->raw.n);
	add_text(text, t->comm);
	script_add_place(s, t, &(struct chain_step){sample->ip, v->mode, false}, 0,
		SCRIPT_AS_PYTHON, text);
	add_callers(s, v, text);
	add_branches(s, v, text);
	add_registers(s, v->format->intr_regs, &sample->intr_regs, text);
	add_registers(s, v->format->user_regs, &sample->user_regs, text);
	add_fields(s, v, text);
	add_wishes(s, v, wishes, text);
	marshal_close(text, place, 1 + (u32)ARRAY_SIZE(numbers) + 12);
}

/* ---- events and records ---- */

struct words {
	struct str *text;
	u32 event, n;
};

static void see_word(void *ctx, const struct tracepoint_word *word)
{
	struct words *w = ctx;
	size_t place = begin(w->text, PYTHON_WORD);

	marshal_u64(w->text, w->event);
	add_text(w->text, word->field);
	if (word->delimiter)
		add_text(w->text, word->delimiter);
	else
		marshal_none(w->text);
	add_text(w->text, word->value);
	add_text(w->text, word->word);
	marshal_close(w->text, place, 6);
	w->n++;
}

u32 script_python_event(struct script *s, u32 event, struct str *text)
{
	const struct event *e = &s->events->at[event];
	struct words words = {text, event, 0};
	size_t place = begin(text, PYTHON_EVENT);
	struct str name = {0};
	bool is_known = s->tracepoints && e->attr.type == PERF_TYPE_TRACEPOINT &&
		tracepoints_add_name(s->tracepoints, e->attr.config, &name);

	marshal_u64(text, event);
	add_text(text, e->name);
	marshal_bytes(text, &e->attr, sizeof(e->attr));
	marshal_u64(text, e->attr.read_format);
	if (is_known)
		marshal_text(text, str_text(&name), name.n);
	else
		marshal_none(text);
	marshal_close(text, place, 6);
	str_fini(&name);
	if (is_known)
		tracepoints_each_word(s->tracepoints, e->attr.config, see_word, &words);
	return 1 + words.n;
}

static void add_switch(const struct visit *v, const struct sample *who,
	const union record_body *body, struct str *text)
{
	bool is_wide = v->rec->type == PERF_RECORD_SWITCH_CPU_WIDE;
	size_t place = begin(text, PYTHON_SWITCH);

	marshal_u64(text, who->time);
	marshal_s64(text, (s32)who->cpu);
	marshal_s64(text, (s32)who->pid);
	marshal_s64(text, (s32)who->tid);
	marshal_s64(text, is_wide ? (s32)body->sched_switch.next_prev_pid : -1);
	marshal_s64(text, is_wide ? (s32)body->sched_switch.next_prev_tid : -1);
	marshal_bool(text, v->rec->misc & PERF_RECORD_MISC_SWITCH_OUT);
	marshal_bool(text, v->rec->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	marshal_close(text, place, 9);
}

static void add_throttle(const struct visit *v, const struct sample *who,
	const union record_body *body, struct str *text)
{
	size_t place = begin(text, PYTHON_THROTTLE);

	marshal_bool(text, v->rec->type == PERF_RECORD_THROTTLE);
	marshal_u64(text, body->throttle.time);
	marshal_u64(text, body->throttle.id);
	marshal_u64(text, body->throttle.stream_id);
	marshal_s64(text, (s32)who->cpu);
	marshal_s64(text, (s32)who->pid);
	marshal_s64(text, (s32)who->tid);
	marshal_close(text, place, 8);
}

static void add_aux_error(const struct visit *v, const union record_body *body, struct str *text)
{
	const struct record_auxtrace_error *e = &body->auxtrace_error;
	size_t place = begin(text, PYTHON_AUX_ERROR);

	marshal_u64(text, e->error_type);
	marshal_u64(text, e->code);
	marshal_s64(text, (s32)e->cpu);
	marshal_s64(text, (s32)e->pid);
	marshal_s64(text, (s32)e->tid);
	marshal_u64(text, e->ip);
	marshal_u64(text, e->time);
	marshal_text(text, (const char *)e->msg.at, strnlen((const char *)e->msg.at, e->msg.n));
	marshal_u64(text, v->rec->misc & PERF_RECORD_MISC_CPUMODE_MASK);
	marshal_u64(text, e->machine_pid);
	marshal_u64(text, e->vcpu);
	marshal_close(text, place, 12);
}

bool script_python_record(struct script *s, const struct visit *v, const union record_body *body,
	struct str *text)
{
	struct sample who = {.cpu = (u32)-1, .pid = (u32)-1, .tid = (u32)-1};

	(void)s;
	if (v->rec->type < PERF_RECORD_USER_TYPE_START && v->format->trailer)
		sample_decode_trailer(v->format, v->rec, &who);
	switch (v->rec->type) {
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		add_switch(v, &who, body, text);
		return true;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		add_throttle(v, &who, body, text);
		return true;
	case PERF_RECORD_AUXTRACE_ERROR:
		add_aux_error(v, body, text);
		return true;
	}
	return false;
}

void script_python_end(struct str *text)
{
	size_t place = begin(text, PYTHON_END);

	marshal_close(text, place, 1);
}
