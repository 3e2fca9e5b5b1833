#include "view/records/script.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/num.h"
#include "event/abi.h"
#include "event/tsx.h"
#include "record/access.h"
#include "record/regs.h"
#include "unwind/chain.h"
#include "view/records/recordtext.h"

void script_take_events(struct script *s)
{
	if (LIKELY(s->n_fields == s->events->n))
		return;
	if (s->events->n + 1 > s->fields_cap) {
		s->fields_cap = 2 * s->events->n + 1;
		s->fields = mem_realloc(s->fields, s->fields_cap * sizeof(*s->fields));
	}
	for (; s->n_fields < s->events->n; s->n_fields++) {
		const struct event *e = &s->events->at[s->n_fields];
		enum tsx_count count = tsx_count_of(e);

		vec_add(&s->are_aborts, (u8)(count == TSX_ABORTS || count == TSX_ELISION_ABORTS));
		s->fields[s->n_fields] = script_fields_of(s, e);
		s->name_width = MAX(s->name_width, (u32)strlen(e->name));
	}
}

/* The file of the kernel, which the table of build-ids may name. Those of modules have a suffix. */
static const char *kernel_path(const struct file_info *info)
{
	vec_each(entry, &info->build_ids)
		if ((entry->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL &&
			*entry->path == '/' && !strstr(entry->path, ".ko"))
			return entry->path;
	return NULL;
}

void script_init(struct script *s, const struct script_options *options, struct trace *trace)
{
	memset(s, 0, sizeof(*s));
	s->options = options;
	s->trace = trace;
	s->events = &trace->session.reader.events;
	s->kernel_path = kernel_path(&trace->session.reader.info);
	locator_init(&s->locator, &trace->machine, &trace->resolver);
	script_take_events(s);
}

void script_fini(struct script *s)
{
	mem_free(s->fields);
	vec_fini(&s->are_aborts);
	intern_fini(&s->strings);
	str_fini(&s->texts);
	str_fini(&s->source);
	vec_fini(&s->places);
	table_fini(&s->index);
}

/* ---- numbers, which are most of the text ---- */

static void add_u64(struct str *text, u64 v, size_t width)
{
	size_t start = text->n;

	num_add_u64(text, v);
	str_pad_left(text, start, width);
}

static void add_id(struct str *text, s32 id, size_t width)
{
	size_t start = text->n;

	if (id < 0)
		str_addf(text, "%d", id);
	else
		num_add_u64(text, (u64)id);
	str_pad_left(text, start, width);
}

static void add_hex(struct str *text, u64 v, size_t width)
{
	size_t start = text->n;

	num_add_hex(text, v, 1);
	str_pad_left(text, start, width);
}

static void add_digits(struct str *text, u64 v, unsigned digits)
{
	char buf[20];

	for (unsigned i = digits; i--; v /= 10)
		buf[i] = (char)('0' + v % 10);
	str_addn(text, buf, digits);
}

static void add_seconds(struct str *text, u64 ns, bool has_ns)
{
	const size_t start = text->n;

	if (has_ns) {
		add_u64(text, ns / 1000000000, 5);
		str_addc(text, '.');
		add_digits(text, ns % 1000000000, 9);
		return;
	}
	num_add_u64(text, ns / 1000000000);
	str_addc(text, '.');
	add_digits(text, ns % 1000000000 / 1000, 6);
	str_pad_left(text, start, 12);
}

static void add_time(struct script *s, u64 time, struct str *text)
{
	const struct script_options *o = s->options;

	if (o->is_relative) {
		if (!s->first_time)
			s->first_time = time;
		add_seconds(text, time - MIN(time, s->first_time), o->has_ns);
	} else if (o->is_delta) {
		add_seconds(text, s->last_time ? time - MIN(time, s->last_time) : 0, o->has_ns);
		s->last_time = time;
	} else {
		add_seconds(text, time, o->has_ns);
	}
	str_add(text, ": ");
}

bool script_has_gap(const struct script *s, const struct visit *v)
{
	struct chain_walk walk = chain_walk(&v->chain, v->mode);
	struct chain_step first;

	return visit_is_abort(v, s->are_aborts.at[v->taken_by]) && chain_next(&walk, &first) &&
		first.ip != v->sample->ip;
}

/* Where the transaction was aborted, above the callers that ran afterwards; as lines that readers of perf's take for frames. */
static void add_abort(struct script *s, const struct visit *v, const struct thread_state *t,
	u64 fields, struct str *text)
{
	script_add_place(s, t, &(struct chain_step){v->sample->ip, v->mode, false}, fields,
		SCRIPT_IN_CHAIN, text);
	str_addf(text, "\t%16d%s%s\n", 0, fields & SCRIPT_SYM ? " [transaction aborted]" : "",
		fields & SCRIPT_DSO ? " ([unknown])" : "");
}

/* Whether the chain is to end at this function. */
static bool stops_at(struct script *s, const struct thread_state *t, const struct chain_step *step)
{
	struct resolver_answer a;
	struct location l;
	const char *name;

	locator_find(&s->locator, t, step, &l);
	a = locator_name(&s->locator, &l);
	name = resolver_title(&a, s->options->name_style, &s->strings);
	return name && name_list_has(s->stops, name);
}

static void add_chain(struct script *s, const struct visit *v, const struct thread_state *t,
	u64 fields, struct str *text)
{
	struct chain_walk walk = chain_walk(&v->chain, v->mode);
	struct chain_step step;
	u32 n = 0;

	if (UNLIKELY(script_has_gap(s, v)))
		add_abort(s, v, t, fields, text);
	while (chain_next(&walk, &step) && n++ < s->options->max_stack) {
		script_add_place(s, t, &step, script_chain_fields(v, &step, fields),
			SCRIPT_IN_CHAIN, text);
		if (UNLIKELY(s->stops != NULL) && stops_at(s, t, &step))
			break;
	}
}

/* ---- the other fields ---- */

void script_add_regs(const struct script *s, u64 mask, const struct sample_regs *regs,
	struct str *text)
{
	const struct arch *arch = s->trace->callers.arch;
	u64 k = 0;

	for (unsigned bit = 0; bit < 64 && k < regs->values.n; bit++) {
		char name[16];

		if (!(mask >> bit & 1))
			continue;
		str_addf(text, "%5s:0x%llx ", regs_name(arch, bit, name, sizeof(name)),
			(unsigned long long)load_u64(regs->values.at + 8 * k++));
	}
}

static void add_regs(const struct script *s, u64 mask, const struct sample_regs *regs,
	struct str *text)
{
	str_addf(text, " ABI:%llu    ", (unsigned long long)regs->abi);
	script_add_regs(s, mask, regs, text);
}

static const char *page_size_name(u64 size, char *buf, size_t n)
{
	if (size >= 1 << 30)
		snprintf(buf, n, "%lluG", (unsigned long long)size >> 30);
	else if (size >= 1 << 20)
		snprintf(buf, n, "%lluM", (unsigned long long)size >> 20);
	else
		snprintf(buf, n, "%lluK", (unsigned long long)size >> 10);
	return size ? buf : "N/A";
}

/* Adds the time of day at a time of the recording's clock, in this machine's time zone. */
static void add_date(const struct script *s, u64 time, struct str *text)
{
	const struct file_info *info = &s->trace->session.reader.info;
	u64 ns = info->wall_ns + (time - info->clock_ns);
	time_t seconds = (time_t)(ns / 1000000000);
	char date[64] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%F %T", &tm);
	str_addf(text, "%s.", date);
	if (s->options->has_ns)
		add_digits(text, ns % 1000000000, 9);
	else
		add_digits(text, ns % 1000000000 / 1000, 6);
	str_addc(text, ' ');
}

static void add_comm(const struct script *s, const char *comm, bool has_chain, struct str *text)
{
	enum { WIDTH = 16, NARROW = 8 };
	size_t start = text->n, n = strlen(comm);

	str_add_safe(text, comm, s->options->is_narrow ? MIN(n, (size_t)NARROW) : n);
	if (s->options->is_narrow || !has_chain)
		str_pad_left(text, start, s->options->is_narrow ? NARROW : WIDTH);
	str_addc(text, ' ');
}

void script_add_start(struct script *s, const struct script_who *who, u64 fields, bool has_chain,
	struct str *text)
{
	const unsigned width = s->options->has_perf7s_form ? 7 : 5;

	if (fields & SCRIPT_COMM)
		add_comm(s, who->comm, has_chain, text);
	if (fields & SCRIPT_PID && fields & SCRIPT_TID) {
		size_t start;

		add_id(text, (s32)who->pid, width);
		str_addc(text, '/');
		start = text->n;
		add_id(text, (s32)who->tid, 0);
		while (text->n - start < width)
			str_addc(text, ' ');
		str_addc(text, ' ');
	} else if (fields & (SCRIPT_PID | SCRIPT_TID)) {
		add_id(text, (s32)(fields & SCRIPT_PID ? who->pid : who->tid), width);
		str_addc(text, ' ');
	}
	if (fields & SCRIPT_CPU)
		str_addf(text, s->options->is_narrow ? "%3d " : "[%03d] ", (s32)who->cpu);
	if (fields & SCRIPT_MISC)
		recordtext_add_misc(who->type, who->misc, text);
	if (fields & SCRIPT_TOD && script_has_date(s))
		add_date(s, who->time, text);
	if (fields & SCRIPT_TIME)
		add_time(s, who->time, text);
}

/* ---- costs and memory accesses ---- */

/* "|OP LOAD|LVL L1 hit|...", padded so that the following columns line up. */
static void add_access(struct script *s, u64 data_src, struct str *text)
{
	size_t start;

	add_hex(text, data_src, 16);
	str_addc(text, ' ');
	start = text->n;
	access_add_summary(data_src, text);
	s->access_width = MAX(s->access_width, text->n - start);
	str_fill(text, ' ', s->access_width - (text->n - start));
}

/* " TX SYNC :ff (the lock was busy)". */
static void add_transaction(u64 transaction, struct str *text)
{
	const u64 code = transaction >> PERF_TXN_ABORT_SHIFT;
	const char *means = code <= UINT8_MAX ? access_abort_code((u8)code) : NULL;

	str_addc(text, ' ');
	access_add_transaction(transaction, text);
	if (means)
		str_addf(text, " (%s)", means);
}

/* Whether an event's addresses are of code and variables: page faults. */
static bool has_named_addresses(const struct event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE &&
		(a->config == PERF_COUNT_SW_PAGE_FAULTS ||
			a->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
			a->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

static void add_data_address(struct script *s, u64 fields, struct visit *v, struct str *text)
{
	u64 addr = v->sample->addr;
	struct chain_step step = {addr,
		(s64)addr < 0 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, false};

	add_hex(text, addr, 16);
	if (fields & (SCRIPT_SYM | SCRIPT_DSO) &&
		has_named_addresses(&s->events->at[v->event].attr))
		script_add_place(s, visit_state(v), &step, fields & SCRIPT_PLACE & ~SCRIPT_SRCLINE,
			SCRIPT_AS_DATA, text);
}

static void add_costs(struct script *s, u64 fields, struct visit *v, struct str *text)
{
	const struct sample *sample = v->sample;
	const u64 type = v->format->type;
	struct script_weight w = script_weight(type, sample->weight);

	if (fields & SCRIPT_ADDR)
		add_data_address(s, fields, v, text);
	if (fields & SCRIPT_DATA_SRC)
		add_access(s, sample->data_src, text);
	if (fields & SCRIPT_WEIGHT)
		add_u64(text, w.cost, 16);
	if (fields & SCRIPT_INS_LAT)
		add_u64(text, w.ins_lat, 16);
	if (fields & SCRIPT_RETIRE_LAT)
		add_u64(text, w.retire_lat, 16);
	if (fields & SCRIPT_TRANSACTION)
		add_transaction(sample->transaction, text);
	if (fields & SCRIPT_CGROUP) {
		const char *name = machine_cgroup(&s->trace->machine, sample->cgroup);

		str_addc(text, ' ');
		str_add_safe(text, name ? name : "unknown", strlen(name ? name : "unknown"));
	}
}

static void add_rest(struct script *s, u64 fields, const struct thread_state *t,
	const struct sample_format *format, const struct sample *sample, u8 mode, struct str *text)
{
	const u64 branches = SCRIPT_BRSTACK | SCRIPT_BRSTACKSYM | SCRIPT_BRSTACKOFF;
	struct chain_step here = {sample->ip, mode, false};
	char buf[32];

	if (fields & SCRIPT_IREGS)
		add_regs(s, format->intr_regs, &sample->intr_regs, text);
	if (fields & SCRIPT_UREGS)
		add_regs(s, format->user_regs, &sample->user_regs, text);
	if (fields & branches)
		script_add_branches(s, t, sample, fields, text);
	if (fields & SCRIPT_BPF_OUTPUT)
		script_add_bpf_output(&sample->raw, text);
	if (fields & SCRIPT_CODE)
		script_add_place(s, t, &here, fields & SCRIPT_CODE, SCRIPT_AS_CODE, text);
	if (fields & SCRIPT_BRSTACKINSN)
		script_add_branch_code(s, t, sample, fields, text);
	if (fields & SCRIPT_PHYS_ADDR)
		add_hex(text, sample->phys_addr, 16);
	if (fields & SCRIPT_DATA_PAGE_SIZE)
		str_addf(text, " %s", page_size_name(sample->data_page_size, buf, sizeof(buf)));
	if (fields & SCRIPT_CODE_PAGE_SIZE)
		str_addf(text, " %s", page_size_name(sample->code_page_size, buf, sizeof(buf)));
}

bool script_shows_chain(const struct script *s, u32 event)
{
	return s->fields[event] & SCRIPT_IP && !s->options->hides_chains &&
		script_has_chain(s->events->at[event].attr.sample_type);
}

void script_add_sample(struct script *s, struct visit *v, struct str *text)
{
	enum { TRACED_WIDTH = 24 };
	const u64 placed = SCRIPT_COMM | SCRIPT_IP | SCRIPT_CODE | SCRIPT_BRSTACKSYM |
		SCRIPT_BRSTACKOFF | SCRIPT_BRSTACKINSN;
	const struct event *e = &s->events->at[v->event];
	const struct sample *sample = v->sample;
	const struct sample_format *format = v->format;
	u64 fields = s->fields[v->event], place = fields & SCRIPT_PLACE;
	bool has_chain = script_shows_chain(s, v->event);
	static const struct thread_state nobody;
	const struct thread_state *t = fields & placed ? visit_state(v) : &nobody;

	/* If other records have no times, v->time is only a place in the file's order. */
	script_add_start(s,
		&(struct script_who){t->comm, sample->pid, sample->tid, sample->cpu, sample->time,
			PERF_RECORD_SAMPLE, v->mode},
		fields, has_chain, text);
	if (fields & SCRIPT_PERIOD) {
		add_u64(text, sample->period, 10);
		str_addc(text, ' ');
	}
	if (fields & SCRIPT_EVENT) {
		size_t start = text->n;

		str_add_safe(text, e->name, strlen(e->name));
		str_pad_left(text, start, s->name_width);
		str_add(text, ": ");
	}
	if (fields & SCRIPT_TRACED)
		str_fill(text, ' ', TRACED_WIDTH);
	if (fields & SCRIPT_TRACE && s->tracepoints && e->attr.type == PERF_TYPE_TRACEPOINT)
		tracepoints_add_text(s->tracepoints, e->attr.config, sample->cpu, &sample->raw,
			text);
	add_costs(s, fields, v, text);
	if (fields & SCRIPT_IP) {
		str_addc(text, has_chain ? '\n' : ' ');
		if (has_chain)
			visit_callers(v);
		if (has_chain)
			add_chain(s, v, t, place, text);
		else
			script_add_place(s, t, &(struct chain_step){sample->ip, v->mode, false},
				place, SCRIPT_ALONE, text);
	}
	add_rest(s, fields, t, format, sample, v->mode, text);
	str_addc(text, '\n');
	if (fields & SCRIPT_SRCCODE) {
		struct chain_step here = {sample->ip, v->mode, false};
		struct location l;

		locator_find(&s->locator, visit_state(v), &here, &l);
		script_add_source_code(s, &l, text);
	}
}
