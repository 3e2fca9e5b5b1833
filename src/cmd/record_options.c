#include "cmd/record_options.h"

#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "event/clockid.h"
#include "file/packer.h"

#define AT(member) offsetof(struct record_options, member)

static int set_call_graph(void *target, const char *value, struct err *err)
{
	struct record_options *o = target;
	bool has_size = !strncmp(value, "dwarf,", 6);

	o->has_chains = true;
	o->stack_bytes = 0;
	o->has_branches = !strcmp(value, "lbr");
	if (!strcmp(value, "fp") || o->has_branches)
		return 0;
	if (strcmp(value, "dwarf") && !has_size)
		return err_set(err, ERR_INVAL,
			"'%s' is none of fp (frame pointers), dwarf (call frame information) and lbr (the CPU's record of calls)",
			value);
	o->stack_bytes = SAMPLING_DEFAULT_STACK;
	if (has_size && num_parse_bytes(value + 6, &o->stack_bytes, err))
		return err->code;
	if (!o->stack_bytes || align_up(o->stack_bytes, 8) > SAMPLING_MAX_STACK)
		return err_set(err, ERR_INVAL, "'%s': a sample can hold 1 to %d bytes of stack",
			value, SAMPLING_MAX_STACK);
	return 0;
}

static int set_clock(void *target, const char *value, struct err *err)
{
	struct record_options *o = target;

	o->has_clock = true;
	return clockid_parse(value, &o->clock, err);
}

static int set_compression(void *target, const char *value, struct err *err)
{
	struct record_options *o = target;

	o->is_compressed = true;
	o->level = PACKER_LEVEL;
	if (value && (num_parse(value, &o->level, err) || o->level < 1 || o->level > 22))
		return err_set(err, ERR_INVAL, "'%s' is no level from 1 to 22", value);
	return 0;
}

const struct opt record_option_rows[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "What to measure"},
	EVENT_ROWS("events to sample; default cycles, or cpu-clock without a PMU"),
	{'F', "freq", OPT_STR, AT(frequency), "HZ", "samples a second, or 'max'; default 4000"},
	{'c', "count", OPT_U64, AT(period), "N", "one sample each N events instead", .min = 1},
	{'g', NULL, OPT_BOOL, AT(has_chains), NULL, "record call chains (by frame pointers)"},
	{0, "call-graph", OPT_CALL, 0, "MODE",
		"fp: the same; dwarf[,SIZE]: by call frame information, in SIZE bytes of the stack (8192); lbr: by the CPU's record of calls",
		.call = set_call_graph},
	{0, "keep-stacks", OPT_BOOL, AT(keeps_stacks), NULL,
		"with dwarf: write the copies of registers and stack, for 'report' to find callers in; large"},
	{0, "max-stack", OPT_U64, AT(max_stack), "N", "at most N addresses of a call chain",
		.min = 1, .max = UINT16_MAX},
	{'d', "data", OPT_BOOL, AT(has_data), NULL,
		"record the addresses of data, and maps that hold data"},
	{'T', "timestamp", OPT_BOOL, AT(has_timestamps), NULL,
		"record the time of samples (always done)"},
	{'k', "clockid", OPT_CALL, 0, "CLOCK",
		"by this clock: monotonic (mono), monotonic_raw, realtime, boottime, tai",
		.call = set_clock},
	{0, NULL, OPT_TITLE, 0, NULL, "Whom to measure"},
	{'a', "all-cpus", OPT_BOOL, AT(target.all_cpus), NULL, "everything that runs, on all CPUs"},
	{'C', "cpu", OPT_STR, AT(target.cpus), "LIST", "only these CPUs, like 0-3,8"},
	{'p', "pid", OPT_STR, AT(target.pids), "PID,...",
		"running processes with all their threads"},
	{'t', "tid", OPT_STR, AT(target.tids), "TID,...", "running threads"},
	{0, NULL, OPT_TITLE, 0, NULL, "How"},
	{'o', "output", OPT_STR, AT(output), "FILE",
		"write to FILE, or with - to standard output as a stream; default perf.data"},
	{'z', "compression-level", OPT_CALL, 0, "LEVEL",
		"compress the recording with zstd, 1 (the default) to 22", .call = set_compression,
		.flags = OPT_OPTIONAL | OPT_ATTACHED},
	{'m', "mmap-pages", OPT_STR, AT(pages), "PAGES",
		"size of each CPU's ring: pages, or bytes with B, K, M, G"},
	{0, "compat", OPT_STR, AT(compat), "VERSION",
		"so that perf of that VERSION, like 5.10, can read it"},
	{'B', "no-buildid", OPT_BOOL, AT(has_no_build_ids), NULL,
		"do not look for the build-ids of sampled files"},
	{0, "no-embed", OPT_BOOL, AT(has_no_embedding), NULL,
		"do not put names, lines and code of what was sampled into the recording"},
	{'q', "quiet", OPT_BOOL, AT(is_quiet), NULL, "say nothing but errors"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL,
		"say how events were opened and files found"},
	{.kind = OPT_END},
};

/* ---- what the words mean ---- */

int record_parse_frequency(const struct record_options *o, struct sampling *s, struct err *err)
{
	s->period = o->period;
	if (!o->frequency)
		return 0;
	if (o->period)
		return err_set(err, ERR_INVAL,
			"-c asks for a fixed period, -F for a frequency: choose one");
	if (!strcmp(o->frequency, "max")) {
		s->is_max = true;
		return 0;
	}
	if (num_parse(o->frequency, &s->frequency, err))
		return err_prefix(err, "-F");
	return s->frequency ? 0 : err_set(err, ERR_INVAL, "-F 0: a frequency is at least 1");
}

int record_parse_pages(const struct record_options *o, u64 *ret_pages, struct err *err)
{
	const char *text = o->pages;
	u64 page_size = sysconf(_SC_PAGESIZE), n, most = 1ULL << 30;
	bool is_bytes;

	*ret_pages = 0;
	if (!text)
		return 0;
	if (num_parse_bytes(text, &n, err))
		return err_prefix(err, "-m");
	is_bytes = text[0] && strchr("bkmgtBKMGT", text[strlen(text) - 1]);
	if (is_bytes)
		n = (n + page_size - 1) / page_size;
	if (!n || n > most / page_size)
		return err_set(err, ERR_INVAL,
			"-m %s: a ring has 1 to %llu pages of %llu bytes (1 GiB)", text,
			(unsigned long long)(most / page_size), (unsigned long long)page_size);
	*ret_pages = 1;
	while (*ret_pages < n)
		*ret_pages *= 2;
	return 0;
}
