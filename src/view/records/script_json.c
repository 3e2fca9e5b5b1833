/*
 * script_json.c - a sample as one line of JSON. The schema is in pace-script(1).
 *
 * It is written at once, without a table of cells: for the first seven members of each sample alone that
 * took a sixth more instructions of all of script.
 */
#include "base/json.h"
#include "event/abi.h"
#include "record/access.h"
#include "unwind/chain.h"
#include "view/records/script.h"

static void add_stack(struct script *s, struct visit *v, bool has_chain, u64 fields,
	struct str *text)
{
	const struct thread_state *t = visit_state(v);
	struct chain_step step = {v->sample->ip, v->mode, false};
	struct chain_walk walk;
	u32 n = 0;

	json_open(text, "stack", '[');
	if (has_chain) {
		visit_callers(v);
		if (script_has_gap(s, v)) {
			script_add_place(s, t, &step, fields & SCRIPT_SRCLINE, SCRIPT_AS_JSON,
				text);
			str_addc(text, ',');
		}
		walk = chain_walk(&v->chain, v->mode);
		while (chain_next(&walk, &step) && n++ < s->options->max_stack) {
			script_add_place(s, t, &step, fields & SCRIPT_SRCLINE, SCRIPT_AS_JSON,
				text);
			str_addc(text, ',');
		}
	} else {
		script_add_place(s, t, &step, fields & SCRIPT_SRCLINE, SCRIPT_AS_JSON, text);
		str_addc(text, ',');
	}
	json_close(text, ']');
	if (has_chain && script_has_gap(s, v))
		json_u64(text, "stack_aborted", 1);
}

/* Why the transaction was aborted: the flags, the number that XABORT was given, and what that means by custom. */
static void add_transaction(u64 transaction, struct str *text)
{
	const u64 code = transaction >> PERF_TXN_ABORT_SHIFT;
	struct str said = {0};

	access_add_transaction(transaction, &said);
	json_text(text, "transaction", str_text(&said));
	if (code)
		json_u64(text, "abort_code", code);
	if (code && code <= UINT8_MAX && access_abort_code((u8)code))
		json_text(text, "abort_code_means", access_abort_code((u8)code));
	str_fini(&said);
}

static void add_weight(u64 type, const struct sample *sample, struct str *text)
{
	struct script_weight w = script_weight(type, sample->weight);

	json_u64(text, "weight", w.cost);
	if (type & PERF_SAMPLE_WEIGHT_STRUCT) {
		json_u64(text, "ins_lat", w.ins_lat);
		json_u64(text, "retire_lat", w.retire_lat);
	}
}

static void add_access(u64 data_src, struct str *text)
{
	struct str said = {0};

	access_add_summary(data_src, &said);
	json_hex(text, "data_src", data_src);
	json_text(text, "access", str_text(&said));
	str_fini(&said);
}

void script_add_json(struct script *s, struct visit *v, struct str *text)
{
	const struct machine *machine = &s->trace->machine;
	const struct event *e = &s->events->at[v->event];
	const struct thread_state *t = visit_state(v);
	const struct sample *sample = v->sample;
	u64 type = v->format->type, fields = s->fields[v->event];

	str_addc(text, '{');
	json_text(text, "comm", t->comm);
	json_s64(text, "pid", (s32)sample->pid);
	json_s64(text, "tid", (s32)sample->tid);
	if (type & PERF_SAMPLE_CPU)
		json_s64(text, "cpu", (s32)sample->cpu);
	if (type & PERF_SAMPLE_TIME)
		json_u64(text, "time_ns", sample->time);
	json_text(text, "event", e->name);
	json_u64(text, "period", sample->period);
	if (type & PERF_SAMPLE_ADDR)
		json_hex(text, "addr", sample->addr);
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		add_weight(type, sample, text);
	if (type & PERF_SAMPLE_DATA_SRC)
		add_access(sample->data_src, text);
	if (type & PERF_SAMPLE_TRANSACTION)
		add_transaction(sample->transaction, text);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		json_hex(text, "phys_addr", sample->phys_addr);
	if (type & PERF_SAMPLE_CGROUP && machine_cgroup(machine, sample->cgroup))
		json_text(text, "cgroup", machine_cgroup(machine, sample->cgroup));
	if (s->tracepoints && e->attr.type == PERF_TYPE_TRACEPOINT) {
		struct str said = {0};

		if (tracepoints_add_text(s->tracepoints, e->attr.config, sample->cpu, &sample->raw,
			    &said))
			json_text(text, "trace", str_text(&said));
		else
			json_null(text, "trace");
		str_fini(&said);
	}
	if (type & PERF_SAMPLE_IP)
		add_stack(s, v, script_has_chain(type) && !s->options->hides_chains, fields, text);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		script_add_branches_json(s, t, sample, fields, text);
	json_end(text, '}');
	str_addc(text, '\n');
}
