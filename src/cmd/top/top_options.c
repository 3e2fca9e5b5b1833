#include "cmd/top/top_options.h"

#include <string.h>

#include "cmd/colourrow.h"
#include "cmd/record/record_wall.h"
#include "profile/rows/key.h"

enum { DELAY_S = 2, FLEET_DELAY_S = 10 };

#define AT(member)     offsetof(struct top_options, member)
#define RECORD(member) AT(record.member)

static int set_percentage(void *target, const char *value, struct err *err)
{
	struct top_options *o = target;

	return profile_filter_set_percentage(&o->filter, value, err);
}

/* A number behind "fp" or "dwarf" belongs to it. */
static size_t mode_length(const char *value)
{
	size_t n = strcspn(value, ",");

	if (value[n] == ',' && value[n + 1] >= '0' && value[n + 1] <= '9' &&
		(!strncmp(value, "fp,", 3) || !strncmp(value, "dwarf,", 6)))
		n += 1 + strcspn(value + n + 1, ",");
	return n;
}

/* As in perf: how chains are found, then how they are drawn. Either part may be missing. */
static int set_call_graph(void *target, const char *value, struct err *err)
{
	struct top_options *o = target;
	struct str mode = {0};
	size_t n = mode_length(value);

	o->record.callers.has_chains = true;
	if (!strncmp(value, "fp", 2) || !strncmp(value, "dwarf", 5) || !strncmp(value, "lbr", 3)) {
		str_addn(&mode, value, n);
		if (record_set_call_graph(target, str_text(&mode), err)) {
			str_fini(&mode);
			return err->code;
		}
		str_fini(&mode);
		value += n + (value[n] == ',');
	}
	return *value ? graph_options_parse(&o->graph, value, err) : 0;
}

#define NO_BRANCHES "top counts samples: 'pace record %s', then 'pace report', counts branches"

COLOUR_SETTER(top_options, colour)

const struct opt top_option_rows[] = {
	{0, NULL, OPT_TITLE, 0, NULL, "What to measure"},
	EVENT_ROWS("events to sample; default cycles, or cpu-clock without a PMU"),
	{'F', "freq", OPT_STR, RECORD(frequency), "HZ",
		"samples per second and CPU, or 'max'; default 4000, with -g 1000",
		.flags = OPT_COMMON},
	{'c', "count", OPT_U64, RECORD(period), "N", "take one sample every N events instead",
		.min = 1},
	{'g', NULL, OPT_BOOL, RECORD(callers.has_chains), NULL,
		"record call chains, and show them below the rows", .flags = OPT_COMMON},
	{0, "call-graph", OPT_CALL, 0, "HOW",
		"fp[,N], dwarf[,SIZE] or lbr: how callers are found; then how they are shown, as in 'pace report -g'",
		.call = set_call_graph},
	{0, "max-stack", OPT_U64, AT(count_most), "N",
		"keep at most N addresses of a call chain; default 127", .min = 1,
		.max = UINT16_MAX},
	{0, "all-cgroups", OPT_BOOL, RECORD(records.has_cgroups), NULL,
		"take each sample's cgroup with it, for -s cgroup"},
	{0, "no-bpf-event", OPT_BOOL, RECORD(records.has_no_bpf), NULL,
		"do not name BPF programs that are loaded meanwhile"},

	{0, NULL, OPT_TITLE, 0, NULL, "What to measure it on"},
	{'a', "all-cpus", OPT_BOOL, RECORD(target.all_cpus), NULL,
		"everything that runs, on all CPUs (default)", .flags = OPT_COMMON},
	{'C', "cpu", OPT_STR, RECORD(target.cpus), "LIST", "only these CPUs, like 0-3,8"},
	{'p', "pid", OPT_STR, RECORD(target.pids), "PID,...",
		"running processes with all their threads", .flags = OPT_COMMON},
	{'t', "tid", OPT_STR, RECORD(target.tids), "TID,...", "running threads"},
	{'u', "uid", OPT_STR, RECORD(target.users), "USER",
		"everything that runs as this user (name or number)"},
	{'i', "no-inherit", OPT_TRI, RECORD(no_inherit), NULL, "leave out the children they start"},
	{0, "fleet", OPT_STR, AT(fleet), "URL",
		"what the hosts of a fleet sent in the last five minutes, or since from=, as in 'pace report -i clickhouse://...'",
		.flags = OPT_COMMON},

	{0, NULL, OPT_TITLE, 0, NULL, "Which samples"},
	{0, "wall", OPT_BOOL, RECORD(records.has_wall), NULL,
		"count time instead, on CPUs and off them: what threads wait for",
		.flags = OPT_COMMON},
	{'K', "hide_kernel_symbols", OPT_BOOL, AT(hides_kernel), NULL,
		"leave out samples in the kernel"},
	{'U', "hide_user_symbols", OPT_BOOL, AT(hides_user), NULL,
		"leave out samples in user space"},
	{0, "idle", OPT_BOOL, AT(has_idle), NULL, "also samples of CPUs that had nothing to do"},
	{0, "comms", OPT_STR, AT(filter.comms), "COMM,...",
		"only samples of threads with these names"},
	{0, "dsos", OPT_STR, AT(filter.dsos), "DSO,...", "only samples in these files"},
	{0, "symbols", OPT_STR, AT(filter.symbols), "NAME,...", "only samples in these functions"},
	{0, "percentage", OPT_CALL, 0, "OF",
		"shares of the filtered samples (relative) or of all samples (absolute; default)",
		.call = set_percentage},

	{0, NULL, OPT_TITLE, 0, NULL, "What to show"},
	{'s', "sort", OPT_STR, AT(sort), "KEY,...",
		"group by these keys, as in 'pace report -s'; default dso,symbol",
		.flags = OPT_COMMON},
	{0, "fields", OPT_STR, AT(fields), "KEY,...", "show these columns"},
	{'n', "show-nr-samples", OPT_BOOL, AT(has_counts), NULL,
		"add a column with the number of samples"},
	{0, "show-total-period", OPT_BOOL, AT(has_periods), NULL,
		"add a column with the sum of the periods"},
	{0, "children", OPT_TRI, AT(children), NULL,
		"also add rows for callers, with everything they called (default with call chains)"},
	{0, "ignore-callees", OPT_STR, AT(ignored_callees), "REGEX",
		"count what functions with these names call as their own"},
	{0, "inline", OPT_TRI, AT(inlines), NULL, "with inlined functions, in call chains"},
	{'E', "entries", OPT_U64, AT(n_rows), "N",
		"show the N hottest rows; default as many as fit", .flags = OPT_COMMON, .min = 1},
	{'f', "count-filter", OPT_U64, AT(least_samples), "N", "leave out rows with fewer samples"},
	{0, "percent-limit", OPT_DOUBLE, AT(percent_limit), "PCT",
		"leave out rows below this share", .max = 100},
	{'w', "column-widths", OPT_STR, AT(widths), "N,...", "columns have these widths"},

	{0, NULL, OPT_TITLE, 0, NULL, "How to show it"},
	{'d', "delay", OPT_DOUBLE, AT(delay_s), "SECONDS",
		"show it anew after so long; default 2, with --fleet 10", .flags = OPT_COMMON,
		.max = TOP_DELAY_MOST},
	{'z', "zero", OPT_BOOL, AT(is_zeroed), NULL,
		"forget what was counted each time; else older samples fade, by an eighth each time",
		.flags = OPT_COMMON},
	{0, "refreshes", OPT_U64, AT(n_refreshes), "N", "end after it was shown N times", .min = 1},
	{0, "tui", OPT_TRI, AT(browser), NULL,
		"walk through the rows on the terminal (default there; PACE_TUI=0: plain text)"},
	{0, "stdio", OPT_BOOL, AT(is_text), NULL,
		"plain text (default where the output is not a terminal)"},
	{0, "json", OPT_BOOL, AT(is_json), NULL,
		"a JSON document, on one line, each time it is shown; see pace-top(1)"},
	COLOUR_ROW,

	{0, NULL, OPT_TITLE, 0, NULL, "How"},
	{'m', "mmap-pages", OPT_STR, RECORD(rings.pages), "PAGES",
		"size of each CPU's ring, in pages, or in bytes with B, K, M, G"},
	{'r', "realtime", OPT_U64, RECORD(rings.priority), "PRIO",
		"read rings with this real-time priority (SCHED_FIFO)", .min = 1, .max = 99},
	{'v', "verbose", OPT_COUNT, RECORD(verbose), NULL,
		"say how events were opened and files found"},
	{0, NULL, OPT_TITLE, 0, NULL, "Names"},
	{0, "symfs", OPT_STR, AT(symbols.symfs), "DIR", "look for files below DIR"},
	{'k', "vmlinux", OPT_STR, AT(symbols.vmlinux), "FILE",
		"take the kernel's functions from this ELF file"},
	{0, "kallsyms", OPT_STR, AT(symbols.kallsyms), "FILE",
		"take the kernel's functions from this copy of /proc/kallsyms"},
	{0, "ignore-vmlinux", OPT_BOOL, AT(symbols.ignores_vmlinux), NULL,
		"do not look for a vmlinux"},
	SYMBOL_NAME_ROWS(top_options),
	SYMBOL_MADE_ROW(top_options),
	{0, NULL, OPT_TITLE, 0, NULL, "Code of functions, on the terminal (the key a)"},
	CODE_ROWS(top_options),

	{'b', "branch-any", OPT_REFUSED, 0, NULL,
		"top counts samples: 'pace record -b', then 'pace report', counts branches"},
	{'j', "branch-filter", OPT_REFUSED, 0, "WORD,...",
		"top counts samples: 'pace record -j', then 'pace report', counts branches"},
	{0, "branch-history", OPT_REFUSED, 0, NULL,
		"top counts samples: 'pace record -b', then 'pace report --branch-history', shows the branches before them"},
	{0, "addr2line", OPT_NOTHING, 0, "PATH", "lines are read without another program"},
	{0, "stitch-lbr", OPT_REFUSED, 0, NULL,
		"chains of one sample are not completed by another's in top: 'pace report --stitch-lbr' does"},
	{'D', "dump-symtab", OPT_REFUSED, 0, NULL,
		"top keeps no table of all symbols: 'nm' prints that of a file"},
	{0, "group", OPT_REFUSED, 0, NULL,
		"top shows one event at a time (Tab): write groups as -e {a,b}"},
	{0, "group-sort-idx", OPT_REFUSED, 0, "N", "top shows one event at a time (Tab)"},
	{'H', "hierarchy", OPT_REFUSED, 0, NULL,
		"'pace record', then 'pace report --hierarchy', nests rows"},
	{0, "namespaces", OPT_REFUSED, 0, NULL,
		"'pace record --namespaces', then 'pace report -s cgroup_id', tells namespaces apart"},
	{0, "raw-trace", OPT_REFUSED, 0, NULL,
		"top has no keys for the fields of tracepoints: 'pace record', then 'pace report', has"},
	{0, "switch-on", OPT_REFUSED, 0, "EVENT", "'pace report --switch-on' selects samples"},
	{0, "switch-off", OPT_REFUSED, 0, "EVENT", "'pace report --switch-off' selects samples"},
	{0, "show-on-off-events", OPT_REFUSED, 0, NULL,
		"'pace report --show-on-off-events' has them"},
	{0, "overwrite", OPT_NOTHING, 0, NULL, "rings are read before they are full"},
	{0, "force", OPT_NOTHING, 0, NULL, "files of any owner are read"},
	{0, "demangle-kernel", OPT_NOTHING, 0, NULL, "names in the kernel are never mangled C++"},
	{0, "num-thread-synthesize", OPT_NOTHING, 0, "N", "one thread is fast enough"},
	{0, "proc-map-timeout", OPT_NOTHING, 0, "MS", "maps are always read completely"},
	{0, "sym-annotate", OPT_REFUSED, 0, "NAME",
		"the key a shows the code of the row's function; 'pace annotate NAME' that of a recording"},
	{.kind = OPT_END},
};

void top_options_init(struct top_options *o)
{
	const struct record_options record = RECORD_OPTIONS_DEFAULT;

	*o = (struct top_options){.record = record,
		.graph = {.limit = -1},
		.delay_s = -1,
		.children = -1,
		.inlines = -1,
		.browser = -1,
		.symbols = {.demangles = true, .makes_names = true},
		.code = CODE_OPTIONS_DEFAULT};
}

/* What is measured is the hosts' choice; which of it is shown is said by words of the address. */
static int check_fleet(const struct top_options *o, bool has_command, struct err *err)
{
	const struct record_options *r = &o->record;
	const struct target_words *t = &r->target;
	const struct {
		bool is_given;
		const char *option, *instead;
	} others[] = {
		{has_command, "a command", "it starts none"},
		{t->all_cpus || t->cpus || t->pids || t->tids || t->users, "-a, -C, -p, -t and -u",
			"host=NAME,..., service= and comm= behind '?' choose what is shown"},
		{r->events.words.n, "-e", "type=NAME behind '?' chooses an event"},
		{r->frequency || r->period, "-F and -c",
			"hosts sample as 'pace watch' there was told"},
		{r->records.has_wall, "--wall", "hosts send samples"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i].is_given)
			return err_set(err, ERR_INVAL,
				"%s cannot be combined with --fleet, which shows what other hosts have sent: %s",
				others[i].option, others[i].instead);
	return 0;
}

static double delay_of(const struct top_options *o)
{
	return o->delay_s >= 0 ? o->delay_s : o->fleet ? FLEET_DELAY_S : DELAY_S;
}

int top_options_check(const struct top_options *o, bool has_command, struct err *err)
{
	if (o->fleet && check_fleet(o, has_command, err))
		return err->code;
	if (o->is_text && o->is_json)
		return err_set(err, ERR_INVAL, "--stdio is text, --json is not: choose one");
	if (o->hides_kernel && o->hides_user)
		return err_set(err, ERR_INVAL, "-K and -U together leave nothing to show");
	if (o->delay_s >= 0 && o->delay_s < TOP_DELAY_LEAST)
		return err_set(err, ERR_INVAL, "-d %g: at least %g seconds", o->delay_s,
			TOP_DELAY_LEAST);
	if (code_options_check(&o->code, err))
		return err->code;
	return o->record.records.has_wall ? record_wall_check(&o->record, err) : 0;
}

struct feed_options top_options_feed(const struct top_options *o)
{
	return (struct feed_options){.record = &o->record,
		.symbols = &o->symbols,
		.filter = &o->filter,
		.done = "shown",
		.instead = "name a command, as in 'pace top make'",
		.ignored_callees = o->ignored_callees,
		.fleet = o->fleet,
		.sort = o->sort ? o->sort : o->fields,
		.delay_s = delay_of(o),
		.count_most = o->count_most,
		.hides_kernel = o->hides_kernel,
		.hides_user = o->hides_user,
		.has_idle = o->has_idle,
		.has_inlined = o->inlines > 0,
		.is_zeroed = o->is_zeroed};
}

void top_options_fini(struct top_options *o)
{
	event_words_fini(&o->record.events);
	profile_filter_fini(&o->filter);
}
