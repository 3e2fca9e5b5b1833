/*
 * script_fields.c - which fields of samples are printed: those of -F that an event's samples have.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/selfname.h"
#include "event/abi.h"
#include "view/records/script.h"

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
u64 script_fields_of(const struct script *s, const struct event *e)
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
		if (script_fields_of(s, e) & field)
			return true;
		is_asked = true;
	}
	return !is_asked;
}

bool script_has_date(const struct script *s)
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
	for (size_t i = 0; i < sizeof(upper) - 1 && name[i]; i++) {
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
	if (wants_date && !script_has_date(s))
		return err_set(err, ERR_INVAL,
			"-F tod: the recording does not say what time of day its clock showed: record with -k monotonic");
	for (size_t i = 0; s->options->has_said_fields && i < ARRAY_SIZE(field_names); i++)
		if (!(field_names[i].field & (SCRIPT_CPU | SCRIPT_BPF_OUTPUT)) &&
			!has_field(s, field_names[i].field))
			return refuse_field(s, field_names[i].name, field_names[i].field, err);
	return 0;
}
