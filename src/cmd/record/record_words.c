#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "cmd/record/record_options.h"
#include "cmd/settings.h"
#include "collect/open/branches.h"
#include "collect/open/program.h"
#include "event/abi.h"
#include "event/clockid.h"
#include "event/cpus.h"
#include "file/packer.h"
#include "record/regs.h"

#define AT(member) offsetof(struct record_options, member)

/* ---- single options ---- */

int record_set_call_graph(void *target, const char *value, struct err *err)
{
	struct record_options *o = target;
	bool has_size = !strncmp(value, "dwarf,", 6);

	o->callers.has_chains = o->callers.has_chain_mode = true;
	o->callers.has_stack_size = has_size;
	o->callers.stack_bytes = 0;
	o->callers.has_lbr = !strcmp(value, "lbr");
	/* perf's "defer" lets the kernel walk user space later: what pace does anyway, as far as the kernel can. */
	if (!strcmp(value, "fp") || !strcmp(value, "fp,defer") || o->callers.has_lbr)
		return 0;
	/* As in perf, N is the number of addresses. */
	if (!strncmp(value, "fp,", 3)) {
		if (num_parse(value + 3, &o->callers.max_stack, err))
			return err->code;
		return o->callers.max_stack && o->callers.max_stack <= UINT16_MAX
			? 0
			: err_set(err, ERR_INVAL, "'%s': a chain has 1 to %d addresses", value,
				  UINT16_MAX);
	}
	if (strcmp(value, "dwarf") && !has_size)
		return err_set(err, ERR_INVAL,
			"'%s' is none of fp (frame pointers), dwarf (call frame information) and lbr (the CPU's record of calls)",
			value);
	o->callers.stack_bytes = SAMPLING_DEFAULT_STACK;
	if (has_size && num_parse_bytes(value + 6, &o->callers.stack_bytes, err))
		return err->code;
	if (!o->callers.stack_bytes || align_up(o->callers.stack_bytes, 8) > SAMPLING_MAX_STACK)
		return err_set(err, ERR_INVAL, "'%s': a sample can hold 1 to %d bytes of stack",
			value, SAMPLING_MAX_STACK);
	return 0;
}

bool record_is_chain_mode(const char *word)
{
	static const char *const modes[] = {"fp", "dwarf", "lbr"};
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		size_t n = strlen(modes[i]);

		if (!strncmp(word, modes[i], n) && (!word[n] || word[n] == ','))
			return !program_find(word, path);
	}
	return false;
}

int record_set_chains(void *target, const char *value, struct err *err)
{
	char mode[64];

	if (value || settings_chain_mode(mode, sizeof(mode)))
		return record_set_call_graph(target, value ? value : mode, err);
	((struct record_options *)target)->callers.has_chains = true;
	return 0;
}

int record_set_clock(void *target, const char *value, struct err *err)
{
	struct record_options *o = target;

	o->samples.has_clock = true;
	return clockid_parse(value, &o->samples.clock, err);
}

int record_set_compression(void *target, const char *value, struct err *err)
{
	struct record_options *o = target;
	u64 level = PACKER_LEVEL;

	/* perf takes -z=3, too. */
	if (value && value[0] == '=')
		value++;
	if (value && (num_parse(value, &level, err) || level > 22))
		return err_set(err, ERR_INVAL,
			"'%s' is not a level from 1 to 22, or 0 for no compression", value);
	o->files.level = (int)level;
	return 0;
}

int record_set_no_compression(void *target, const char *value, struct err *err)
{
	(void)value;
	(void)err;
	((struct record_options *)target)->files.level = 0;
	return 0;
}

int record_set_branches(void *target, const char *value, struct err *err)
{
	struct record_options *o = target;

	return branches_parse(value, &o->samples.branches, err);
}

static int set_regs(const char *value, bool has_vectors, u64 *mask, bool *lists, struct err *err)
{
	u64 available = regs_available(arch_of_host(), has_vectors);

	if (!available)
		return err_set(err, ERR_UNSUPPORTED,
			"pace does not know the names of this machine's registers yet");
	*lists = value && !strcmp(value, "?");
	if (value && !*lists)
		return regs_parse(arch_of_host(), value, available, mask, err);
	*mask = regs_available(arch_of_host(), false);
	return 0;
}

int record_set_intr_regs(void *target, const char *value, struct err *err)
{
	struct record_options *o = target;

	return set_regs(value, true, &o->samples.intr_regs, &o->samples.lists_intr_regs, err);
}

int record_set_user_regs(void *target, const char *value, struct err *err)
{
	struct record_options *o = target;

	return set_regs(value, false, &o->samples.user_regs, &o->samples.lists_user_regs, err);
}

void record_add_registers(const struct record_options *o, struct str *text)
{
	struct str names = {0};

	regs_add_names(arch_of_host(), regs_available(arch_of_host(), false), &names);
	str_addf(text, "available registers: %s\n", str_text(&names));
	str_clear(&names);
	regs_add_names(arch_of_host(),
		regs_available(arch_of_host(), true) & ~regs_available(arch_of_host(), false),
		&names);
	if (o->samples.lists_intr_regs && names.n)
		str_addf(text, "also, with events that the CPU itself records (PEBS): %s\n",
			str_text(&names));
	str_fini(&names);
}

int record_set_max_size(void *target, const char *value, struct err *err)
{
	struct record_options *o = target;

	if (num_parse_bytes(value, &o->files.max_size, err))
		return err->code;
	return o->files.max_size ? 0
				 : err_set(err, ERR_INVAL, "'%s' is not a size like 10M", value);
}

int record_set_flush(void *target, const char *value, struct err *err)
{
	return num_parse_bytes(value, &((struct record_options *)target)->rings.flush_bytes, err);
}

/* "500ms", "30s", "5m", "1h"; a number alone means seconds. */
int record_parse_time(const char *value, u64 *ret_ns, struct err *err)
{
	static const struct {
		const char *unit;
		u64 ns;
	} units[] = {{"", 1000000000}, {"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000},
		{"h", 3600000000000}};
	const char *p = value;
	u64 n;

	if (num_scan(&p, 10, &n) && n)
		for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
			if (strcmp(p, units[i].unit) || n > UINT64_MAX / 2 / units[i].ns)
				continue;
			*ret_ns = n * units[i].ns;
			return 0;
		}
	return err_set(err, ERR_INVAL, "'%s' is not a time like 5 (seconds), 500ms, 30s, 5m or 1h",
		value);
}

int record_set_ring(void *target, const char *value, struct err *err)
{
	return record_parse_time(value, &((struct record_options *)target)->timing.ring_ns, err);
}

/* More than 0, up to 100, with or without a percent sign. */
static int set_percent(const char *value, double *ret_pct, struct err *err)
{
	char *end;
	double pct = strtod(value, &end);

	if (value[0] < '0' || value[0] > '9' || !(pct > 0) || pct > 100 ||
		(*end && strcmp(end, "%")))
		return err_set(err, ERR_INVAL, "'%s' is not a percentage like 5 or 0.5%%", value);
	*ret_pct = pct;
	return 0;
}

int record_set_overhead(void *target, const char *value, struct err *err)
{
	return set_percent(value, &((struct record_options *)target)->timing.overhead_pct, err);
}

int record_set_until(void *target, const char *value, struct err *err)
{
	return set_percent(value, &((struct record_options *)target)->timing.until_pct, err);
}

int record_set_for(void *target, const char *value, struct err *err)
{
	return record_parse_time(value, &((struct record_options *)target)->timing.for_ns, err);
}

/* "10M" or "30s": the unit decides whether it is a size or a time. */
int record_set_switch(void *target, const char *value, struct err *err)
{
	static const struct {
		char unit;
		u64 seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	struct record_options *o = target;
	const char *p = value;
	u64 n;

	o->files.switch_mode = RECORD_SWITCH_SIGNAL;
	if (!value || !strcmp(value, "signal"))
		return 0;
	if (!num_scan(&p, 10, &n) || !n || !p[0] || p[1])
		return err_set(err, ERR_INVAL,
			"'%s' is none of signal, a size (10M) and a time (30s, 5m, 1h)", value);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (*p != units[i].unit || n > UINT64_MAX / 1000000000 / units[i].seconds)
			continue;
		o->files.switch_mode = RECORD_SWITCH_TIME;
		o->files.switch_size = n * units[i].seconds * 1000000000;
		return 0;
	}
	o->files.switch_mode = RECORD_SWITCH_SIZE;
	return num_parse_bytes(value, &o->files.switch_size, err);
}

int record_set_trigger(void *target, const char *value, struct err *err)
{
	struct record_options *o = target;

	o->files.switch_mode = RECORD_SWITCH_SIGNAL;
	return event_words_event(&o->files.triggers, value, err);
}

int record_set_synth(void *target, const char *value, struct err *err)
{
	static const struct {
		const char *word;
		unsigned what;
	} words[] = {
		{"no", 0},
		{"all", SYNTH_ALL},
		{"task", SYNTH_TASKS},
		{"mmap", SYNTH_TASKS | SYNTH_MAPS},
		{"cgroup", SYNTH_CGROUPS},
	};
	struct record_options *o = target;

	o->records.synth = 0;
	for (const char *p = value;; p++) {
		size_t n = strcspn(p, ","), i = 0;

		while (i < ARRAY_SIZE(words) &&
			(strlen(words[i].word) != n || strncasecmp(words[i].word, p, n)))
			i++;
		if (i == ARRAY_SIZE(words))
			return err_set(err, ERR_INVAL,
				"'%s' is none of all, task, mmap, cgroup, no", value);
		o->records.synth |= words[i].what;
		p += n;
		if (!*p)
			return 0;
	}
}

int record_set_affinity(void *target, const char *value, struct err *err)
{
	static const char *const words[] = {[RECORDER_ANY_CPU] = "sys",
		[RECORDER_CPU_OF_RING] = "cpu",
		[RECORDER_NODE_OF_RING] = "node"};
	struct record_options *o = target;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcasecmp(value, words[i]))
			continue;
		o->rings.affinity = (enum recorder_affinity)i;
		return 0;
	}
	return err_set(err, ERR_INVAL, "'%s' is none of cpu, node, sys", value);
}

/* ---- options without effect ---- */

#define ACCEPT(what)                                                               \
	int record_accept_##what(void *target, const char *value, struct err *err) \
	{                                                                          \
		(void)value;                                                       \
		(void)err;                                                         \
		((struct record_options *)target)->accepted.has_##what = true;     \
		return 0;                                                          \
	}

/* The value, if there is one, must be a number. */
#define ACCEPT_NUMBER(what)                                                        \
	int record_accept_##what(void *target, const char *value, struct err *err) \
	{                                                                          \
		u64 ignored;                                                       \
                                                                                   \
		((struct record_options *)target)->accepted.has_##what = true;     \
		return value ? num_parse(value, &ignored, err) : 0;                \
	}

ACCEPT(debuginfod)
ACCEPT_NUMBER(aio)
ACCEPT_NUMBER(map_timeout)
ACCEPT_NUMBER(synth_threads)

/* Adds the online CPUs of a list of --threads to `taken`: at least one, and none twice. */
static int take_mask(const char *list, const char *spec, const struct cpus *online,
	struct cpus *taken, struct err *err)
{
	struct cpus mask = {0};
	size_t before = taken->n;
	int r = cpus_parse(&mask, list, err);

	vec_each(cpu, &mask) {
		if (r || !cpus_has(online, *cpu))
			continue;
		for (size_t i = 0; i < before; i++)
			if (taken->at[i] == *cpu)
				r = err_set(err, ERR_INVAL,
					"'%s': CPU %u is in two lists of the same kind", spec,
					*cpu);
		vec_add(taken, *cpu);
	}
	if (!r && taken->n == before)
		r = err_set(err, ERR_INVAL, "'%s': none of the CPUs '%s' is online", spec, list);
	cpus_fini(&mask);
	return r;
}

/* "0,2-4/2-4:1,5-7/5-7": for each thread the CPUs that it reads and those that it runs on. */
static int check_masks(const char *spec, struct err *err)
{
	struct cpus online = {0}, read = {0}, run = {0};
	struct str words = {0};
	char *at, *part, *slash;
	int r = cpus_online(&online, err);

	str_add(&words, spec);
	for (at = words.at; !r && (part = strsep(&at, ":")) && (*part || at);) {
		slash = strchr(part, '/');
		if (!slash || slash == part || !slash[1]) {
			r = err_set(err, ERR_INVAL,
				"'%s' is none of cpu, core, package, numa, nor a list like 0,2-4/2-4:1,5-7/5-7",
				spec);
			break;
		}
		*slash = '\0';
		r = take_mask(part, spec, &online, &read, err);
		if (!r)
			r = take_mask(slash + 1, spec, &online, &run, err);
	}
	str_fini(&words);
	cpus_fini(&online);
	cpus_fini(&read);
	cpus_fini(&run);
	return r;
}

int record_accept_threads(void *target, const char *value, struct err *err)
{
	static const char *const layouts[] = {"cpu", "core", "package", "numa"};

	((struct record_options *)target)->accepted.has_threads = true;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (!value || !*value || !strcmp(value, layouts[i]))
			return 0;
	return check_masks(value, err);
}

static const struct {
	size_t at; /* offset of the option's bool */
	const char *text;
	bool is_said; /* also without -v, because perf would leave different files */
} hints[] = {
	{AT(accepted.has_aio),
		"--aio: nothing waits for the disk anyway: the kernel writes in the background"},
	{AT(accepted.has_threads),
		"--threads: one thread reads all rings into one file; there is no directory of files",
		true},
	{AT(accepted.has_kcore),
		"--kcore: the file itself gets the names and code of sampled kernel functions; there is no directory with a copy of /proc/kcore",
		true},
	{AT(accepted.has_debuginfod),
		"--debuginfod: nothing is fetched while recording; 'pace report' asks the servers of DEBUGINFOD_URLS"},
	{AT(accepted.has_map_timeout),
		"--proc-map-timeout: the maps of processes are always read completely"},
	{AT(accepted.has_synth_threads),
		"--num-thread-synthesize: one thread records what exists before the start"},
};

/* ---- all options together ---- */

/* The bits that an option stands for. */
static const struct {
	size_t at; /* offset of the option's bool */
	u64 sample_type, side_flags, no_side_flags, flags, cleared_flags, read_format;
} meanings[] = {
	{AT(samples.has_data), .sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC},
	{AT(samples.has_data_source), .sample_type = PERF_SAMPLE_DATA_SRC},
	{AT(samples.has_phys), .sample_type = PERF_SAMPLE_PHYS_ADDR},
	{AT(samples.has_data_page), .sample_type = PERF_SAMPLE_DATA_PAGE_SIZE},
	{AT(samples.has_code_page), .sample_type = PERF_SAMPLE_CODE_PAGE_SIZE},
	{AT(samples.has_weight), .sample_type = PERF_SAMPLE_WEIGHT_STRUCT},
	{AT(samples.has_weight_struct), .sample_type = PERF_SAMPLE_WEIGHT_STRUCT},
	{AT(samples.has_transaction), .sample_type = PERF_SAMPLE_TRANSACTION},
	{AT(samples.has_raw), .sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_CPU},
	{AT(samples.has_cpu), .sample_type = PERF_SAMPLE_CPU},
	{AT(samples.has_identifier), .sample_type = PERF_SAMPLE_IDENTIFIER},
	{AT(samples.has_running_time),
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING},
	{AT(samples.has_stat), .flags = ATTR_INHERIT_STAT,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING},
	{AT(callers.has_only_kernel_chains), .flags = ATTR_EXCLUDE_CALLCHAIN_USER},
	{AT(callers.has_only_user_chains), .flags = ATTR_EXCLUDE_CALLCHAIN_KERNEL},
	{AT(is_all_kernel), .flags = ATTR_EXCLUDE_USER, .cleared_flags = ATTR_EXCLUDE_KERNEL},
	{AT(is_all_user), .flags = ATTR_EXCLUDE_KERNEL, .cleared_flags = ATTR_EXCLUDE_USER},
	{AT(records.has_namespaces), .side_flags = ATTR_NAMESPACES},
	{AT(records.has_cgroups), .sample_type = PERF_SAMPLE_CGROUP, .side_flags = ATTR_CGROUP},
	{AT(files.has_build_id_maps), .side_flags = ATTR_BUILD_ID},
	{AT(records.has_switches), .side_flags = ATTR_CONTEXT_SWITCH},
	{AT(records.has_no_bpf), .no_side_flags = ATTR_BPF_EVENT},
};

/* Pairs of options that exclude each other. */
static const struct {
	size_t a, b; /* offsets of their bools */
	const char *message;
} exclusions[] = {
	{AT(is_all_kernel), AT(is_all_user),
		"--all-kernel and --all-user together leave nothing: choose one"},
	{AT(callers.has_only_kernel_chains), AT(callers.has_only_user_chains),
		"--kernel-callchains and --user-callchains together leave nothing: choose one"},
	{AT(accepted.has_kcore), AT(files.has_no_embedding),
		"--kcore asks for the kernel's code, --no-embed for a file without code: choose one"},
};

static bool is_set(const struct record_options *o, size_t at)
{
	return *(const bool *)((const u8 *)o + at);
}

int record_check(const struct record_options *o, struct log *log, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++)
		if (is_set(o, hints[i].at))
			log_say(log, hints[i].is_said ? LOG_NOTE : LOG_DEBUG, "%s", hints[i].text);
	if (o->accepted.has_threads && !strcmp(o->files.output, "-"))
		return err_set(err, ERR_INVAL,
			"-o - writes a single stream, and --threads asks for several: choose one");
	if (o->rings.pages && strchr(o->rings.pages, ','))
		log_debug(log, "-m: the size of the AUX area has no effect: no event has one");
	return 0;
}

static enum sampling_choice choice_of(int said)
{
	return said < 0 ? SAMPLING_DEFAULT : said ? SAMPLING_YES : SAMPLING_NO;
}

static int parse_frequency(const struct record_options *o, struct sampling *s, struct err *err)
{
	s->period = o->period;
	s->is_strict = o->is_strict;
	if (!o->frequency)
		return 0;
	if (o->period)
		return err_set(err, ERR_INVAL,
			"-c sets a fixed period, -F a frequency: choose one");
	if (!strcasecmp(o->frequency, "max")) {
		s->is_max = true;
		return 0;
	}
	if (num_parse(o->frequency, &s->frequency, err))
		return err_prefix(err, "-F");
	return s->frequency ? 0 : err_set(err, ERR_INVAL, "-F 0: the frequency must be at least 1");
}

int record_sampling(const struct record_options *o, struct sampling *ret, struct err *err)
{
	struct sampling s = {.has_chains = o->callers.has_chains,
		.stack_bytes = (u32)o->callers.stack_bytes,
		.has_lbr = o->callers.has_lbr,
		.max_stack = (u16)o->callers.max_stack,
		.has_time = choice_of(o->samples.has_timestamps),
		.has_period = choice_of(o->samples.has_periods),
		.intr_regs = o->samples.intr_regs,
		.user_regs = o->samples.user_regs,
		.branches =
			o->samples.has_any_branch ? PERF_SAMPLE_BRANCH_ANY : o->samples.branches,
		.has_no_samples = o->has_no_samples,
		.has_data_maps = o->samples.has_data || o->samples.has_data_maps,
		.keeps_stacks = o->callers.keeps_stacks,
		/* A user who names single threads does not mean those that they start. */
		.has_no_inherit = o->no_inherit > 0 || (o->no_inherit < 0 && o->target.tids) ||
			o->target.per_thread,
		.is_unbuffered = o->rings.is_unbuffered,
		.is_overwritten = o->rings.is_overwritten,
		.has_clock = o->samples.has_clock,
		.clock = o->samples.clock,
		.changes_periods = o->timing.overhead_pct > 0};

	for (size_t i = 0; i < ARRAY_SIZE(exclusions); i++)
		if (is_set(o, exclusions[i].a) && is_set(o, exclusions[i].b))
			return err_set(err, ERR_INVAL, "%s", exclusions[i].message);
	if (o->samples.has_any_branch && o->samples.branches)
		return err_set(err, ERR_INVAL, "-b records all branches, -j only some: choose one");
	for (size_t i = 0; i < ARRAY_SIZE(meanings); i++) {
		if (!is_set(o, meanings[i].at))
			continue;
		s.sample_type |= meanings[i].sample_type;
		s.side_flags |= meanings[i].side_flags;
		s.no_side_flags |= meanings[i].no_side_flags;
		s.flags |= meanings[i].flags;
		s.cleared_flags |= meanings[i].cleared_flags;
		s.read_format |= meanings[i].read_format;
	}
	/* These flags apply to chains only. */
	if (!o->callers.has_chains)
		s.flags &= ~(ATTR_EXCLUDE_CALLCHAIN_USER | ATTR_EXCLUDE_CALLCHAIN_KERNEL);
	if (parse_frequency(o, &s, err))
		return err->code;
	*ret = s;
	return 0;
}

void record_choose_callers(const struct record_options *o, const struct target *target, u64 pages,
	struct sampling *sampling)
{
	enum { SAMPLES_LEAST = 16, BYTES_LEAST = 512 };

	if (!o->callers.has_chains || o->callers.has_chain_mode ||
		o->callers.has_only_kernel_chains || !regs_for_callers(arch_of_host()))
		return;
	/* Copies of the stack at every context switch of the system would be more than anybody can read. */
	if (target->is_system_wide && o->records.has_wall)
		return;
	sampling->has_few_stacks = target->is_system_wide;
	sampling->stack_bytes = SAMPLING_DEFAULT_STACK;
	/* In small rings there is room for small copies, or for none. */
	if (pages)
		sampling->stack_bytes = (u32)MIN((u64)SAMPLING_DEFAULT_STACK,
			pages * (u64)sysconf(_SC_PAGESIZE) / SAMPLES_LEAST);
	if (sampling->stack_bytes < BYTES_LEAST)
		sampling->stack_bytes = 0;
	/* perf would take each of the two chains for callers of the other. */
	sampling->has_frame_pointers = !o->callers.keeps_stacks;
}

/* Parses a number of pages, or of bytes with a unit, of `n` characters. */
static int parse_pages(const char *text, size_t n, u64 *ret_pages, struct err *err)
{
	u64 page_size = sysconf(_SC_PAGESIZE), pages, most = 1ULL << 30;
	char word[32];

	if (n >= sizeof(word))
		return err_set(err, ERR_INVAL, "-m %s: the number has too many digits", text);
	memcpy(word, text, n);
	word[n] = '\0';
	if (num_parse_bytes(word, &pages, err))
		return err_prefix(err, "-m");
	if (n && strchr("bkmgtBKMGT", word[n - 1]))
		pages = (pages + page_size - 1) / page_size;
	if (!pages || pages > most / page_size)
		return err_set(err, ERR_INVAL,
			"-m %s: a ring has 1 to %llu pages of %llu bytes (1 GiB)", word,
			(unsigned long long)(most / page_size), (unsigned long long)page_size);
	*ret_pages = 1;
	while (*ret_pages < pages)
		*ret_pages *= 2;
	return 0;
}

int record_parse_pages(const struct record_options *o, u64 *ret_pages, struct err *err)
{
	const char *text = o->rings.pages;
	size_t n = text ? strcspn(text, ",") : 0;
	u64 ignored;

	*ret_pages = 0;
	if (!text)
		return 0;
	if (text[n] && parse_pages(text + n + 1, strlen(text + n + 1), &ignored, err))
		return err->code;
	/* "-m,64": the AUX area's size alone. */
	return n || !text[n] ? parse_pages(text, n, ret_pages, err) : 0;
}
