/*
 * api_sample.c - values and samples as the public functions hand them out.
 */
#include "api.h"

#include <math.h>

#include "event/abi.h"

struct pace_value api_public_value(const struct counter_value *v, bool has_times)
{
	struct pace_value out = {.value = v->value,
		.time_enabled = v->time_enabled,
		.time_running = v->time_running,
		.id = v->id,
		.lost = v->lost};

	if (has_times && !v->time_running) {
		out.counted = PACE_NOT_COUNTED;
		out.scaled = NAN;
	} else if (has_times && v->time_running < v->time_enabled) {
		out.counted = PACE_ESTIMATED;
		out.scaled = (double)v->value * ((double)v->time_enabled / (double)v->time_running);
	} else {
		out.counted = PACE_COUNTED;
		out.scaled = (double)v->value;
	}
	return out;
}

static void fill_values(const struct sample_format *format, const struct sample_read *read,
	struct pace_value *ret_values)
{
	for (u64 i = 0; i < read->n_values; i++) {
		struct sample_value one = sample_read_value(format, read, i);
		struct counter_value v = {.value = one.value,
			.id = one.id,
			.lost = one.lost,
			.time_enabled = read->time_enabled,
			.time_running = read->time_running};

		ret_values[i] =
			api_public_value(&v, format->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	}
}

static struct pace_regs public_regs(const struct sample_regs *regs, u64 mask, const void *values)
{
	return (struct pace_regs){.abi = regs->abi,
		.mask = regs->abi ? mask : 0,
		.values = values,
		.n_values = (u32)regs->values.n};
}

struct pace_sample api_public_sample(const struct sample_format *format, const struct sample *s,
	const struct pace_record *record, const struct api_lists *lists)
{
	if (lists->values)
		fill_values(format, &s->read, lists->values);
	return (struct pace_sample){.record = record,
		.fields = format->type,
		.pid = s->pid,
		.tid = s->tid,
		.cpu = s->cpu,
		.time = s->time,
		.ip = s->ip,
		.addr = s->addr,
		.id = s->id,
		.stream_id = s->stream_id,
		.period = s->period,
		.weight = s->weight,
		.data_src = s->data_src,
		.phys_addr = s->phys_addr,
		.cgroup = s->cgroup,
		.transaction = s->transaction,
		.chain = lists->chain,
		.n_chain = s->chain.n,
		.raw = s->raw.at,
		.n_raw = s->raw.n,
		.branches = lists->branches,
		.n_branches = (u32)s->branches.n,
		.mode = (enum pace_mode)(record->misc & PERF_RECORD_MISC_CPUMODE_MASK),
		.data_page_size = s->data_page_size,
		.code_page_size = s->code_page_size,
		.values = lists->values,
		.n_values = lists->values ? (u32)s->read.n_values : 0,
		.user_regs = public_regs(&s->user_regs, format->user_regs, lists->user_regs),
		.intr_regs = public_regs(&s->intr_regs, format->intr_regs, lists->intr_regs),
		.stack = s->user_stack.bytes.at,
		.n_stack = (u32)MIN(s->user_stack.dyn_size, s->user_stack.bytes.n)};
}
