#include "profile/key_family.h"

#include <string.h>

#include "base/num.h"
#include "record/access.h"

static const char *comm_of(const struct profile *p, u32 tid)
{
	size_t low = 0, high = p->tasks.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct profile_task *task = &p->tasks.at[middle];

		if (task->tid == tid)
			return task->comm;
		if (task->tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return "";
}

static void print_task_name(const struct hist *h, const struct hist_entry *e, u64 tid,
	struct str *text)
{
	const char *comm = comm_of(h->profile, (u32)tid);

	(void)e;
	if (*comm)
		str_add_safe(text, comm, strlen(comm));
	else if (!tid)
		str_add(text, "swapper");
	else
		str_addf(text, ":%d", (s32)tid);
}

static void print_task(const struct hist *h, const struct hist_entry *e, u64 tid, struct str *text)
{
	/* Tasks that are just ending have the number -1. */
	str_addf(text, "%7d:", (s32)tid);
	print_task_name(h, e, tid, text);
}

/* What is recorded in 32 bits, and may be -1. */
static void print_s32(const struct hist *h, const struct hist_entry *e, u64 value, struct str *text)
{
	(void)h;
	(void)e;
	str_addf(text, "%d", (s32)(u32)value);
}

static void print_cpu(const struct hist *h, const struct hist_entry *e, u64 cpu, struct str *text)
{
	(void)h;
	(void)e;
	str_addf(text, "%.3d", (s32)(u32)cpu); /* -001: not recorded */
}

static void print_time(const struct hist *h, const struct hist_entry *e, u64 ns, struct str *text)
{
	const u64 us = ns / 1000;

	(void)h;
	(void)e;
	str_addf(text, "%llu.%06llu", (unsigned long long)(us / 1000000),
		(unsigned long long)(us % 1000000));
}

static void print_number(const struct hist *h, const struct hist_entry *e, u64 value,
	struct str *text)
{
	(void)h;
	(void)e;
	num_add_u64(text, value);
}

static void print_sum(const struct hist *h, const struct hist_entry *e, u64 value, struct str *text)
{
	(void)h;
	num_add_u64(text, value * e->of[0].self.n_samples);
}

static void print_socket(const struct hist *h, const struct hist_entry *e, u64 socket,
	struct str *text)
{
	(void)h;
	(void)e;
	str_addf(text, "%.3d", (s32)(u32)socket); /* -001: not known */
}

static void print_transaction(const struct hist *h, const struct hist_entry *e, u64 value,
	struct str *text)
{
	(void)h;
	(void)e;
	access_add_transaction(value, text);
}

static void print_text_or_not(const struct hist *h, const struct hist_entry *e, u64 value,
	struct str *text)
{
	if (value)
		key_print_name(h, e, value, text);
	else
		str_add(text, "N/A");
}

/* Pages come in powers of two. */
static void print_page_size(const struct hist *h, const struct hist_entry *e, u64 size,
	struct str *text)
{
	static const char units[] = "BKMGT";
	size_t unit = 0;

	(void)h;
	(void)e;
	if (!size) {
		str_add(text, "N/A");
		return;
	}
	for (; size >= 1024 && unit + 2 < sizeof(units); size /= 1024)
		unit++;
	num_add_u64(text, size);
	str_addc(text, units[unit]);
}

/* clang-format off: a row a fact */
static const struct key keys[] = {
	{.name = "comm",
		.header = "Command",
		.help = "name of the thread when it was sampled",
		.label = LABEL_COMM,
		.compare = key_compare_texts,
		.print = key_print_name},
	{.name = "pid",
		.alias = "tid",
		.header = "    Pid:Command",
		.help = "thread: its number and last name",
		.label = LABEL_TID,
		.print = print_task,
		.number = print_s32,
		.number_name = print_task_name},
	{.name = "tgid",
		.header = "   Tgid:Command",
		.help = "process: its number and last name",
		.label = LABEL_PID,
		.print = print_task,
		.number = print_s32,
		.number_name = print_task_name},
	{.name = "cpu",
		.header = "CPU",
		.unknown = "-001",
		.help = "processor that was sampled",
		.label = LABEL_CPU,
		.min_width = 3,
		.print = print_cpu,
		.number = print_s32},
	{.name = "socket",
		.header = "Socket",
		.unknown = "-001",
		.help = "of the processor",
		.label = LABEL_SOCKET,
		.print = print_socket,
		.number = print_s32},
	{.name = "cgroup",
		.header = "Cgroup",
		.unknown = "N/A",
		.help = "control group, of record --all-cgroups",
		.label = LABEL_CGROUP,
		.compare = key_compare_texts,
		.print = print_text_or_not},
	{.name = "cgroup_id",
		.header = "cgroup id (dev/inode)",
		.unknown = "N/A",
		.help = "namespace of control groups, of record --namespaces: device/inode",
		.label = LABEL_CGROUP_NAMESPACE,
		.compare = key_compare_texts,
		.print = print_text_or_not},
	{.name = "parallelism",
		.header = "Parallelism",
		.help = "threads that were on a CPU at that moment, of record --switch-events",
		.is_right = true,
		.label = LABEL_PARALLELISM,
		.print = print_number,
		.number = print_number},
	{.name = "trace",
		.header = "Trace output",
		.unknown = "N/A",
		.help = "what a tracepoint says; its fields are keys too, by their names",
		.label = LABEL_TRACE,
		.compare = key_compare_texts,
		.print = print_text_or_not},
	{.name = "transaction",
		.header = "Transaction",
		.help = "of a transaction that was aborted: which kind, why, code",
		.label = LABEL_TRANSACTION,
		.print = print_transaction},
	{.name = "time",
		.header = "Time",
		.help = "when it was sampled, by --time-quantum",
		.label = LABEL_TIME,
		.min_width = 12,
		.print = print_time,
		.number = print_time},
	{.name = "local_weight",
		.header = "Local Weight",
		.help = "what the processor says a sample cost",
		.is_descending = true,
		.label = LABEL_WEIGHT,
		.print = print_number,
		.number = print_number},
	{.name = "weight",
		.alias = "global_weight",
		.header = "Weight",
		.help = "that, times the number of samples",
		.is_descending = true,
		.label = LABEL_WEIGHT,
		.print = print_sum,
		.number = print_sum},
	{.name = "local_ins_lat",
		.header = "Local INSTR Latency",
		.help = "cycles that the instruction took, from its start on",
		.is_descending = true,
		.label = LABEL_INS_LATENCY,
		.print = print_number,
		.number = print_number},
	{.name = "ins_lat",
		.header = "INSTR Latency",
		.help = "that, times the number of samples",
		.is_descending = true,
		.label = LABEL_INS_LATENCY,
		.print = print_sum,
		.number = print_sum},
	{.name = "local_p_stage_cyc",
		.header = "Local Pipeline Stage Cycle",
		.help = "cycles in a stage of the pipeline (POWER)",
		.is_descending = true,
		.label = LABEL_STAGE,
		.print = print_number,
		.number = print_number},
	{.name = "p_stage_cyc",
		.header = "Pipeline Stage Cycle",
		.help = "that, times the number of samples",
		.is_descending = true,
		.label = LABEL_STAGE,
		.print = print_sum,
		.number = print_sum},
	{.name = "local_retire_lat",
		.header = "Local Retire Latency",
		.help = "cycles until it retired (Intel)",
		.is_descending = true,
		.label = LABEL_STAGE,
		.print = print_number,
		.number = print_number},
	{.name = "retire_lat",
		.header = "Retire Latency",
		.help = "that, times the number of samples",
		.is_descending = true,
		.label = LABEL_STAGE,
		.print = print_sum,
		.number = print_sum},
	{.name = "code_page_size",
		.header = "Code Page Size",
		.unknown = "N/A",
		.help = "of the page that the code lies in",
		.label = LABEL_CODE_PAGE,
		.print = print_page_size,
		.number = print_number},
	{.name = "data_page_size",
		.header = "Data Page Size",
		.unknown = "N/A",
		.help = "of the page that the code accessed",
		.label = LABEL_DATA_PAGE,
		.print = print_page_size,
		.number = print_number},
};
/* clang-format on */

const struct key_family key_contexts = {keys, ARRAY_SIZE(keys)};
