#include "view/records/script.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/nearest.h"
#include "base/num.h"
#include "base/selfname.h"
#include "event/abi.h"
#include "event/tsx.h"
#include "record/access.h"
#include "record/regs.h"
#include "unwind/chain.h"
#include "view/records/recordtext.h"

/* ---- fields ---- */

static const struct {
	const char *name;
	u64 field;
	u64 needs; /* PERF_SAMPLE_* */
} field_names[] = {
	{"comm", SCRIPT_COMM, 0},
	{"pid", SCRIPT_PID, PERF_SAMPLE_TID},
	{"tid", SCRIPT_TID, PERF_SAMPLE_TID},
	{"cpu", SCRIPT_CPU, PERF_SAMPLE_CPU},
	{"time", SCRIPT_TIME, PERF_SAMPLE_TIME},
	{"period", SCRIPT_PERIOD, 0},
	{"event", SCRIPT_EVENT, 0},
	{"trace", SCRIPT_TRACE, 0},
	{"addr", SCRIPT_ADDR, PERF_SAMPLE_ADDR},
	{"weight", SCRIPT_WEIGHT, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT},
	{"ip", SCRIPT_IP, PERF_SAMPLE_IP},
	{"sym", SCRIPT_SYM, 0},
	{"symoff", SCRIPT_SYMOFF, 0},
	{"dso", SCRIPT_DSO, 0},
	{"srcline", SCRIPT_SRCLINE, 0},
	{"brstack", SCRIPT_BRSTACK, PERF_SAMPLE_BRANCH_STACK},
	{"uregs", SCRIPT_UREGS, PERF_SAMPLE_REGS_USER},
	{"iregs", SCRIPT_IREGS, PERF_SAMPLE_REGS_INTR},
	{"phys_addr", SCRIPT_PHYS_ADDR, PERF_SAMPLE_PHYS_ADDR},
	{"data_page_size", SCRIPT_DATA_PAGE_SIZE, PERF_SAMPLE_DATA_PAGE_SIZE},
	{"code_page_size", SCRIPT_CODE_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE},
	{"data_src", SCRIPT_DATA_SRC, PERF_SAMPLE_DATA_SRC},
	{"ins_lat", SCRIPT_INS_LAT, PERF_SAMPLE_WEIGHT_STRUCT},
	{"retire_lat", SCRIPT_RETIRE_LAT, PERF_SAMPLE_WEIGHT_STRUCT},
	{"cgroup", SCRIPT_CGROUP, PERF_SAMPLE_CGROUP},
	{"transaction", SCRIPT_TRANSACTION, PERF_SAMPLE_TRANSACTION},
	{"misc", SCRIPT_MISC, 0},
	{"tod", SCRIPT_TOD, PERF_SAMPLE_TIME},
	{"insn", SCRIPT_INSN, PERF_SAMPLE_IP},
	{"insnlen", SCRIPT_INSNLEN, PERF_SAMPLE_IP},
	{"brstacksym", SCRIPT_BRSTACKSYM, PERF_SAMPLE_BRANCH_STACK},
	{"brstackoff", SCRIPT_BRSTACKOFF, PERF_SAMPLE_BRANCH_STACK},
	{"brstackinsn", SCRIPT_BRSTACKINSN, PERF_SAMPLE_BRANCH_STACK},
	{"brstackinsnlen", SCRIPT_BRSTACKINSN | SCRIPT_BRSTACKINSNLEN, PERF_SAMPLE_BRANCH_STACK},
	{"dsoff", SCRIPT_DSOFF | SCRIPT_DSO, 0},
	{"srccode", SCRIPT_SRCCODE, PERF_SAMPLE_IP},
	{"bpf-output", SCRIPT_BPF_OUTPUT, PERF_SAMPLE_RAW},
	/* For samples made from decoded traces and for merged guests; empty columns otherwise. */
	{"flags", SCRIPT_TRACED, 0},
	{"callindent", 0, 0},
	{"synth", 0, 0},
	{"ipc", 0, 0},
	{"machine_pid", 0, 0},
	{"vcpu", 0, 0},
};

/* Fields of perf that pace does not have: what does that. */
static const struct {
	const char *name, *instead;
} refused_fields[] = {
	{"metric", "'pace stat -I' computes metrics as time goes on"},
	{"disasm", "'insn' has the bytes, and 'pace annotate' the code"},
	{"brstackdisasm", "'brstackinsn' has the bytes, and 'pace annotate' the code"},
	{"brcntr", "counters of branches are not decoded"},
};

static const char *const kind_names[SCRIPT_KINDS] = {
	[SCRIPT_HW] = "hw",
	[SCRIPT_SW] = "sw",
	[SCRIPT_TRACEPOINT] = "trace",
	[SCRIPT_RAW] = "raw",
	[SCRIPT_OTHER] = "other",
	[SCRIPT_SYNTH] = "synth",
};

static enum script_kind kind_of(const struct event_attr *a)
{
	switch (a->type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
		return SCRIPT_HW;
	case PERF_TYPE_SOFTWARE:
		return SCRIPT_SW;
	case PERF_TYPE_TRACEPOINT:
		return SCRIPT_TRACEPOINT;
	case PERF_TYPE_RAW:
		return SCRIPT_RAW;
	}
	return a->type == (u32)INT32_MAX + 1 ? SCRIPT_SYNTH : SCRIPT_OTHER;
}

void script_default_fields(struct script_options *o)
{
	const u64 start = SCRIPT_COMM | SCRIPT_TID | SCRIPT_CPU | SCRIPT_TIME | SCRIPT_EVENT;
	const u64 place = SCRIPT_IP | SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO;

	for (unsigned i = 0; i < SCRIPT_KINDS; i++)
		o->fields[i] = start | place | SCRIPT_PERIOD;
	o->fields[SCRIPT_TRACEPOINT] = start | SCRIPT_TRACE;
	o->fields[SCRIPT_SW] |= SCRIPT_BPF_OUTPUT;
	o->fields[SCRIPT_RAW] |= SCRIPT_ADDR | SCRIPT_DATA_SRC | SCRIPT_WEIGHT | SCRIPT_INS_LAT |
		SCRIPT_PHYS_ADDR | SCRIPT_DATA_PAGE_SIZE | SCRIPT_CODE_PAGE_SIZE;
}

static int unknown_field(const char *word, size_t n, struct err *err)
{
	char asked[64];
	struct nearest near = {.typed = asked};
	struct str hint = {0};

	snprintf(asked, sizeof(asked), "%.*s", (int)MIN(n, sizeof(asked) - 1), word);
	for (size_t i = 0; i < ARRAY_SIZE(field_names); i++)
		nearest_offer(&near, field_names[i].name);
	nearest_add_hint(&near, &hint);
	err_set(err, ERR_INVAL, "-F: there is no field '%s'%s", asked, str_text(&hint));
	str_fini(&hint);
	return err->code;
}

static bool is_word(const char *name, const char *word, size_t n)
{
	return strlen(name) == n && !memcmp(name, word, n);
}

static int find_field(const char *word, size_t n, u64 *ret_field, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(field_names); i++) {
		if (is_word(field_names[i].name, word, n)) {
			*ret_field = field_names[i].field;
			return 0;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused_fields); i++)
		if (is_word(refused_fields[i].name, word, n))
			return err_set(err, ERR_UNSUPPORTED, "-F %s: pace does not have this: %s",
				refused_fields[i].name, refused_fields[i].instead);
	return unknown_field(word, n, err);
}

int script_parse_fields(struct script_options *o, const char *text, struct err *err)
{
	const char *colon = strchr(text, ':');
	unsigned kinds = (1 << SCRIPT_KINDS) - 1;
	bool is_first = true;

	if (colon) {
		kinds = 0;
		for (unsigned i = 0; i < SCRIPT_KINDS; i++)
			if (is_word(kind_names[i], text, (size_t)(colon - text)))
				kinds = 1u << i;
		if (!kinds)
			return err_set(err, ERR_INVAL,
				"-F %s: the kind of events before ':' is hw, sw, trace, raw, synth or other",
				text);
		text = colon + 1;
	}
	for (;;) {
		size_t n = strcspn(text, ",");
		char sign = *text == '+' || *text == '-' ? *text : 0;
		u64 field = 0;

		text += sign != 0;
		n -= sign != 0;
		/* The first word without a sign starts a new list. */
		if (is_first && !sign) {
			o->has_said_fields = true;
			for (unsigned i = 0; i < SCRIPT_KINDS; i++)
				o->fields[i] = kinds >> i & 1 ? 0 : o->fields[i];
		}
		is_first = false;
		if (n && find_field(text, n, &field, err))
			return err->code;
		for (unsigned i = 0; i < SCRIPT_KINDS; i++) {
			if (!(kinds >> i & 1))
				continue;
			if (sign == '-') {
				o->fields[i] &= ~field;
				o->taken_out[i] |= field;
			} else {
				o->fields[i] |= field;
				o->taken_out[i] &= ~field;
			}
		}
		text += n;
		if (!*text)
			return 0;
		text++;
	}
}

/* The requested fields that this event's samples have. */
static u64 fields_of(const struct script *s, const struct event *e)
{
	u64 fields = s->options->fields[kind_of(&e->attr)];
	u64 type = e->attr.sample_type;

	for (size_t i = 0; i < ARRAY_SIZE(field_names); i++)
		if (field_names[i].needs && !(field_names[i].needs & type))
			fields &= ~field_names[i].field;
	if (e->attr.type != PERF_TYPE_SOFTWARE || e->attr.config != PERF_COUNT_SW_BPF_OUTPUT)
		fields &= ~(u64)SCRIPT_BPF_OUTPUT;
	if (script_has_chain(type) && !s->options->hides_chains && !s->options->has_said_fields)
		fields |= (SCRIPT_IP | SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO) &
			~s->options->taken_out[kind_of(&e->attr)];
	return fields;
}

/* True if any event's samples have the field, or no event was asked for it. */
static bool has_field(const struct script *s, u64 field)
{
	bool is_asked = false;

	vec_each(e, s->events) {
		if (!(s->options->fields[kind_of(&e->attr)] & field))
			continue;
		if (fields_of(s, e) & field)
			return true;
		is_asked = true;
	}
	return !is_asked;
}

static bool has_date(const struct script *s)
{
	return s->trace->session.reader.info.has_clock_data;
}

/* Says that a field is missing. perf2bolt knows by perf's words that a recording has no addresses of data, and goes on. */
static int refuse_field(const struct script *s, const char *name, u64 field, struct err *err)
{
	char upper[32] = "";

	if (!program_is_perf())
		return err_set(err, ERR_INVAL,
			"-F: no sample has a field '%s': it was not recorded", name);
	for (size_t i = 0; name[i] && i < sizeof(upper) - 1; i++) {
		upper[i] = (char)toupper((unsigned char)name[i]);
		upper[i + 1] = '\0';
	}
	vec_each(e, s->events)
		if (s->options->fields[kind_of(&e->attr)] & field)
			return err_set(err, ERR_INVAL,
				"Samples for '%s' event do not have %s attribute set. Cannot print '%s' field.",
				e->name, upper, name);
	return 0;
}

int script_check(const struct script *s, struct err *err)
{
	bool wants_date = false;

	for (unsigned i = 0; i < SCRIPT_KINDS; i++)
		wants_date |= (s->options->fields[i] & SCRIPT_TOD) != 0;
	if (wants_date && !has_date(s))
		return err_set(err, ERR_INVAL,
			"-F tod: the recording does not say what time of day its clock showed: record with -k monotonic");
	for (size_t i = 0; s->options->has_said_fields && i < ARRAY_SIZE(field_names); i++)
		if (!(field_names[i].field & (SCRIPT_CPU | SCRIPT_BPF_OUTPUT)) &&
			!has_field(s, field_names[i].field))
			return refuse_field(s, field_names[i].name, field_names[i].field, err);
	return 0;
}

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
		s->fields[s->n_fields] = fields_of(s, e);
		s->name_width = MAX(s->name_width, (u32)strlen(e->name));
	}
}

void script_init(struct script *s, const struct script_options *options, struct trace *trace)
{
	memset(s, 0, sizeof(*s));
	s->options = options;
	s->trace = trace;
	s->events = &trace->session.reader.events;
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
		script_add_place(s, t, &step, fields, SCRIPT_IN_CHAIN, text);
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
	if (fields & SCRIPT_COMM)
		add_comm(s, who->comm, has_chain, text);
	if (fields & SCRIPT_PID && fields & SCRIPT_TID) {
		size_t start;

		add_id(text, (s32)who->pid, 5);
		str_addc(text, '/');
		start = text->n;
		add_id(text, (s32)who->tid, 0);
		while (text->n - start < 5)
			str_addc(text, ' ');
		str_addc(text, ' ');
	} else if (fields & (SCRIPT_PID | SCRIPT_TID)) {
		add_id(text, (s32)(fields & SCRIPT_PID ? who->pid : who->tid), 5);
		str_addc(text, ' ');
	}
	if (fields & SCRIPT_CPU)
		str_addf(text, s->options->is_narrow ? "%3d " : "[%03d] ", (s32)who->cpu);
	if (fields & SCRIPT_MISC)
		recordtext_add_misc(who->type, who->misc, text);
	if (fields & SCRIPT_TOD && has_date(s))
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
