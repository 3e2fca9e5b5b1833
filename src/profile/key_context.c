#include "profile/key_family.h"

#include <string.h>

#include "base/num.h"

static int compare_comm(const struct profile *p, u64 a, u64 b)
{
	(void)p;
	return strcmp(profile_text(a), profile_text(b));
}

static void print_text(const struct hist *h, const struct hist_entry *e, u64 value,
	struct str *text)
{
	(void)h;
	(void)e;
	str_add_safe(text, profile_text(value), strlen(profile_text(value)));
}

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

static void print_task(const struct hist *h, const struct hist_entry *e, u64 tid, struct str *text)
{
	const char *comm = comm_of(h->profile, (u32)tid);

	(void)e;
	/* Tasks that are just ending have the number -1. */
	str_addf(text, "%7d:", (s32)tid);
	if (*comm)
		str_add_safe(text, comm, strlen(comm));
	else if (!tid)
		str_add(text, "swapper");
	else
		str_addf(text, ":%d", (s32)tid);
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
	num_add_u64(text, value * e->self.n_samples);
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
		.compare = compare_comm,
		.print = print_text},
	{.name = "pid",
		.alias = "tid",
		.header = "    Pid:Command",
		.help = "thread: its number and last name",
		.label = LABEL_TID,
		.print = print_task},
	{.name = "tgid",
		.header = "   Tgid:Command",
		.help = "process: its number and last name",
		.label = LABEL_PID,
		.print = print_task},
	{.name = "cpu",
		.header = "CPU",
		.help = "processor that was sampled",
		.label = LABEL_CPU,
		.min_width = 3,
		.print = print_cpu},
	{.name = "time",
		.header = "Time",
		.help = "when it was sampled, by --time-quantum",
		.label = LABEL_TIME,
		.min_width = 12,
		.print = print_time},
	{.name = "local_weight",
		.header = "Local Weight",
		.help = "what the processor says a sample cost",
		.label = LABEL_WEIGHT,
		.print = print_number},
	{.name = "weight",
		.header = "Weight",
		.help = "that, times the number of samples",
		.label = LABEL_WEIGHT,
		.print = print_sum},
	{.name = "code_page_size",
		.header = "Code Page Size",
		.help = "of the page that the code lies in",
		.label = LABEL_CODE_PAGE,
		.print = print_page_size},
	{.name = "data_page_size",
		.header = "Data Page Size",
		.help = "of the page that the code accessed",
		.label = LABEL_DATA_PAGE,
		.print = print_page_size},
};
/* clang-format on */

const struct key_family key_contexts = {keys, ARRAY_SIZE(keys)};
