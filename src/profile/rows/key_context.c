#include "profile/rows/key_family.h"

#include <string.h>

#include "base/search.h"
#include "record/access.h"

static const char *comm_of(const struct profile *p, u32 tid)
{
	const size_t at = search_first(i, p->tasks.n, p->tasks.at[i].tid >= tid);

	return at < p->tasks.n && p->tasks.at[at].tid == tid ? p->tasks.at[at].comm : "";
}

static void cell_of_task(const struct key_value *v, struct cell *ret)
{
	const u32 tid = (u32)v->label;
	const char *comm = comm_of(v->hist->profile, tid);

	if (v->hist->profile->is_imported && tid == (u32)-1) {
		cell_unknown(ret, CELL_NOT_KNOWN);
		return;
	}

	/* A task that is just ending has the tid -1. */
	cell_number(ret, CELL_SIGNED, (u64)(s64)(s32)tid);
	if (!*comm && tid)
		str_addf(v->room, ":%d", (s32)tid);
	ret->name = *comm ? comm : tid ? str_text(v->room) : "swapper";
}

/* A CPU or socket; -1: not known. */
static void cell_of_cpu(const struct key_value *v, struct cell *ret)
{
	const s32 n = (s32)(u32)v->label;

	if (n == -1)
		cell_unknown(ret, CELL_NOT_KNOWN);
	else
		cell_number(ret, CELL_SIGNED, (u64)(s64)n);
}

static void cell_of_time(const struct key_value *v, struct cell *ret)
{
	cell_number(ret, CELL_TIME, v->label);
	ret->digits = v->hist->options->has_ns ? CELL_TIME_NS : 0;
}

static void cell_of_number(const struct key_value *v, struct cell *ret)
{
	cell_number(ret, CELL_COUNT, v->label);
}

static void cell_of_sum(const struct key_value *v, struct cell *ret)
{
	cell_number(ret, CELL_COUNT, v->label * v->entry->of[0].self.n_samples);
}

static void cell_of_transaction(const struct key_value *v, struct cell *ret)
{
	access_add_transaction(v->label, v->room);
	cell_text(ret, str_text(v->room));
}

void key_cell_text_or_not(const struct key_value *v, struct cell *ret)
{
	if (v->label)
		key_cell_name(v, ret);
	else
		cell_unknown(ret, CELL_NOT_KNOWN);
}

static void cell_of_page_size(const struct key_value *v, struct cell *ret)
{
	if (v->label)
		cell_number(ret, CELL_SIZE, v->label);
	else
		cell_unknown(ret, CELL_NOT_KNOWN);
}

/* clang-format off: a row a fact */
static const struct key keys[] = {
	{.name = "comm",
		.title = "Command",
		.help = "name of the thread when it was sampled",
		.label = LABEL_COMM,
		.compare = key_compare_texts,
		.kind = CELL_TEXT,
		.cell = key_cell_text_or_not},
	{.name = "comm_nodigit",
		.title = "CommandNoDigit",
		.help = "the same, with <N> for each number in it",
		.label = LABEL_COMM_NODIGIT,
		.compare = key_compare_texts,
		.kind = CELL_TEXT,
		.cell = key_cell_text_or_not},
	{.name = "pid",
		.alias = "tid",
		.title = "Pid:Command",
		.help = "thread: its number and last name",
		.label = LABEL_TID,
		.kind = CELL_SIGNED,
		.cell = cell_of_task,
		.has_name = true},
	{.name = "tgid",
		.title = "Tgid:Command",
		.help = "process: its number and last name",
		.label = LABEL_PID,
		.kind = CELL_SIGNED,
		.cell = cell_of_task,
		.has_name = true},
	{.name = "cpu",
		.title = "CPU",
		.help = "processor that was sampled",
		.label = LABEL_CPU,
		.kind = CELL_SIGNED,
		.cell = cell_of_cpu},
	{.name = "socket",
		.title = "Socket",
		.help = "socket of the processor",
		.label = LABEL_SOCKET,
		.kind = CELL_SIGNED,
		.cell = cell_of_cpu},
	{.name = "cgroup",
		.title = "Cgroup",
		.help = "control group (record --all-cgroups)",
		.label = LABEL_CGROUP,
		.compare = key_compare_texts,
		.kind = CELL_TEXT,
		.cell = key_cell_text_or_not},
	{.name = "cgroup_id",
		.title = "cgroup id (dev/inode)",
		.help = "namespace of control groups, as device/inode (record --namespaces)",
		.label = LABEL_CGROUP_NAMESPACE,
		.compare = key_compare_texts,
		.kind = CELL_TEXT,
		.cell = key_cell_text_or_not},
	{.name = "parallelism",
		.title = "Parallelism",
		.help = "threads that were on a CPU at that moment (record --switch-events)",
		.label = LABEL_PARALLELISM,
		.kind = CELL_COUNT,
		.cell = cell_of_number},
	{.name = "trace",
		.title = "Trace output",
		.help = "text of a tracepoint; its fields are keys too, by their names",
		.label = LABEL_TRACE,
		.compare = key_compare_texts,
		.kind = CELL_TEXT,
		.cell = key_cell_text_or_not},
	{.name = "transaction",
		.title = "Transaction",
		.help = "aborted transaction: kind, reason, code",
		.label = LABEL_TRANSACTION,
		.kind = CELL_TEXT,
		.cell = cell_of_transaction},
	{.name = "time",
		.title = "Time",
		.help = "time of the sample, rounded down to --time-quantum",
		.label = LABEL_TIME,
		.kind = CELL_TIME,
		.cell = cell_of_time},
	{.name = "local_weight",
		.title = "Local Weight",
		.help = "cost of a sample, as the processor reports it",
		.is_descending = true,
		.label = LABEL_WEIGHT,
		.kind = CELL_COUNT,
		.cell = cell_of_number},
	{.name = "weight",
		.alias = "global_weight",
		.title = "Weight",
		.help = "the same, times the number of samples",
		.is_descending = true,
		.label = LABEL_WEIGHT,
		.kind = CELL_COUNT,
		.cell = cell_of_sum},
	{.name = "local_ins_lat",
		.title = "Local INSTR Latency",
		.help = "cycles that the instruction took, from its start",
		.is_descending = true,
		.label = LABEL_INS_LATENCY,
		.kind = CELL_COUNT,
		.cell = cell_of_number},
	{.name = "ins_lat",
		.title = "INSTR Latency",
		.help = "the same, times the number of samples",
		.is_descending = true,
		.label = LABEL_INS_LATENCY,
		.kind = CELL_COUNT,
		.cell = cell_of_sum},
	{.name = "local_p_stage_cyc",
		.title = "Local Pipeline Stage Cycle",
		.help = "cycles in a pipeline stage (POWER)",
		.is_descending = true,
		.label = LABEL_STAGE,
		.kind = CELL_COUNT,
		.cell = cell_of_number},
	{.name = "p_stage_cyc",
		.title = "Pipeline Stage Cycle",
		.help = "the same, times the number of samples",
		.is_descending = true,
		.label = LABEL_STAGE,
		.kind = CELL_COUNT,
		.cell = cell_of_sum},
	{.name = "local_retire_lat",
		.title = "Local Retire Latency",
		.help = "cycles until the instruction retired (Intel)",
		.is_descending = true,
		.label = LABEL_STAGE,
		.kind = CELL_COUNT,
		.cell = cell_of_number},
	{.name = "retire_lat",
		.title = "Retire Latency",
		.help = "the same, times the number of samples",
		.is_descending = true,
		.label = LABEL_STAGE,
		.kind = CELL_COUNT,
		.cell = cell_of_sum},
	{.name = "code_page_size",
		.title = "Code Page Size",
		.help = "size of the page that contains the code",
		.label = LABEL_CODE_PAGE,
		.kind = CELL_SIZE,
		.cell = cell_of_page_size},
	{.name = "data_page_size",
		.title = "Data Page Size",
		.help = "size of the page that the code accessed",
		.label = LABEL_DATA_PAGE,
		.kind = CELL_SIZE,
		.cell = cell_of_page_size},
};
/* clang-format on */

const struct key_family key_contexts = {"thread, CPU, time and context", keys, ARRAY_SIZE(keys)};
