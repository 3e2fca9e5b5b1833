/*
 * script_options.c - the options of `pace script`.
 */
#include <string.h>

#include "cmd/headerrow.h"
#include "cmd/script/scripting.h"
#include "cmd/strict.h"

/*
 * What asks for a decoded instruction trace decodes nothing where there is none: run_session() refuses it where there is. The fields that
 * it stands for are those of all samples; NULL: it stands for none.
 */
static int ask_traces(struct script_command *o, const char *option, const char *fields)
{
	o->traces = option;
	if (fields) {
		vec_add(&o->fields, fields);
		o->print.has_ns = true;
	}
	return 0;
}

static int choose_frames(void *target, const char *value, struct err *err)
{
	struct script_command *o = target;

	o->print.has_perf7s_form = !strcmp(value, "perf7");
	o->print.has_perfs_frames = o->print.has_perf7s_form || !strcmp(value, "perf");
	o->print.has_memory_addresses = o->print.has_perf7s_form || !strcmp(value, "memory");
	if (!o->print.has_perfs_frames && !o->print.has_memory_addresses && strcmp(value, "pace"))
		return err_set(err, ERR_INVAL, "--frames is perf, perf7, memory or pace, not '%s'",
			value);
	return 0;
}

#define CALL_FIELDS "-ip,-addr,-event,-period,+callindent"
#define ASK(function, option, fields)                                         \
	static int function(void *target, const char *value, struct err *err) \
	{                                                                     \
		(void)value;                                                  \
		(void)err;                                                    \
		return ask_traces(target, option, fields);                    \
	}
ASK(ask_itrace, "--itrace", NULL)
ASK(ask_insn_trace, "--insn-trace", "+insn,-event,-period")
ASK(ask_call_trace, "--call-trace", CALL_FIELDS)
ASK(ask_call_ret_trace, "--call-ret-trace", CALL_FIELDS ",+flags")

#define TRACE_OPTION(option, value, function)                                               \
	{                                                                                   \
		0, option, OPT_CALL, AT(traces), value,                                     \
			"refused if there is an instruction trace: pace decodes none",      \
			.flags = OPT_OPTIONAL | OPT_ATTACHED | OPT_HIDDEN, .call = function \
	}

#define AT(member) offsetof(struct script_command, member)

const struct opt script_command_options[] = {
	{'i', "input", OPT_STR, AT(input), "FILE",
		"read FILE; default perf.data, or what is piped in"},
	{0, NULL, OPT_TITLE, 0, NULL, "Scripts, in place of text"},
	{'s', "script", OPT_STR, AT(script), "FILE.py",
		"hand the samples to a script for perf; what follows FILE.py are its arguments"},
	{'g', "gen-script", OPT_STR, AT(starter), "python|FILE.py",
		"write perf-script.py or FILE.py, a script to begin with, for the recording's tracepoints"},
	{'l', "list", OPT_BOOL, AT(is_list), NULL, "list perf's scripts that are installed"},
	{'a', "all-cpus", OPT_BOOL, AT(is_system_wide), NULL,
		"with 'record SCRIPT', record the whole system"},
	{0, NULL, OPT_TITLE, 0, NULL, "What to print of each sample"},
	{'F', "fields", OPT_LIST, AT(fields), "FIELDS",
		"comm,pid,tid,cpu,time,event,period,...; +NAME adds a field, and - before it removes one"},
	{'G', "hide-call-graph", OPT_BOOL, AT(print.hides_chains), NULL, "leave out call chains"},
	{0, "inline", OPT_TRI, AT(inlines), NULL,
		"show inlined functions in call chains (default where there is debug information)"},
	{0, "full-source-path", OPT_BOOL, AT(print.has_full_paths), NULL,
		"show source files with their directories"},
	{0, "show-kernel-path", OPT_BOOL, AT(print.has_kernel_paths), NULL,
		"show the kernel and its modules by their paths if their build-ids were recorded"},
	{0, "frames", OPT_CALL, 0, "perf|perf7|memory",
		"callers as perf 6.1 or 7 writes them, or at addresses in memory instead of in files",
		.call = choose_frames},
	{0, "max-stack", OPT_U64, AT(max_stack), "N",
		"keep at most N addresses of a chain; default 127", .min = 1, .max = UINT16_MAX},
	{0, "stop-bt", OPT_STR, AT(stops), "NAME,...", "end call chains at these functions"},
	{0, "max-blocks", OPT_U64, AT(max_blocks), "N",
		"with -F brstackinsn, at most N blocks of code per sample", .min = 1},
	{'L', "Latency", OPT_BOOL, AT(print.is_narrow), NULL,
		"names of threads in 8 columns, CPUs as bare numbers"},
	{0, "stitch-lbr", OPT_BOOL, AT(stitches), NULL,
		"with --call-graph lbr, complete chains that are too deep for the CPU from the sample before"},
	{0, "ns", OPT_BOOL, AT(print.has_ns), NULL, "print times with nine digits"},
	{0, "reltime", OPT_BOOL, AT(print.is_relative), NULL, "print times since the first sample"},
	{0, "deltatime", OPT_BOOL, AT(print.is_delta), NULL,
		"print times since the previous sample"},
	{0, "json", OPT_BOOL, AT(is_json), NULL,
		"print everything, one line of JSON for each sample"},
	{0, NULL, OPT_TITLE, 0, NULL, "Which samples"},
	{'c', "comms", OPT_STR, AT(comms), "NAME,...",
		"only samples of threads with these names; file://PATH: those in a file"},
	{'S', "symbols", OPT_STR, AT(names), "NAME,...",
		"only samples in these functions, or at these addresses (0x...)"},
	{0, "addr-range", OPT_U64, AT(address_range), "BYTES",
		"with addresses in -S, samples in so many bytes from each"},
	{0, "dsos", OPT_STR, AT(dsos), "NAME,...", "only samples in these files, by name or path"},
	{0, "pid", OPT_STR, AT(pids), "PID,...", "only samples of these processes"},
	{0, "tid", OPT_STR, AT(tids), "TID,...", "only samples of these threads"},
	{'C', "cpu", OPT_STR, AT(cpus), "LIST", "only samples on these CPUs, like 0-3,8"},
	{0, "time", OPT_STR, AT(time), "SPAN",
		"only samples from START,STOP in seconds, 10%-20%, 10%/2"},
	{0, "switch-on", OPT_STR, AT(on), "EVENT", "only samples after one of EVENT"},
	{0, "switch-off", OPT_STR, AT(off), "EVENT",
		"only samples before one of EVENT, and again after --switch-on"},
	{0, "show-on-off-events", OPT_BOOL, AT(shows_switching), NULL,
		"the samples that switch count, too"},
	{0, NULL, OPT_TITLE, 0, NULL, "What to print besides samples"},
	{'D', "dump-raw-trace", OPT_BOOL, AT(is_dump), NULL,
		"print every record instead of samples, byte by byte and field by field"},
	{0, "dump-unsorted-raw-trace", OPT_BOOL, AT(is_dump_in_file_order), NULL,
		"the same (it is in the file's order anyway)", .flags = OPT_HIDDEN},
	HEADER_ROWS(struct script_command),
	{0, "show-task-events", OPT_BOOL, AT(shows_tasks), NULL, "FORK, COMM and EXIT records"},
	{0, "show-mmap-events", OPT_BOOL, AT(shows_mmaps), NULL, "MMAP and MMAP2 records"},
	{0, "show-switch-events", OPT_BOOL, AT(shows_switches), NULL, "context switches"},
	{0, "show-lost-events", OPT_BOOL, AT(shows_lost), NULL, "records that the kernel dropped"},
	{0, "show-namespace-events", OPT_BOOL, AT(shows_namespaces), NULL, "NAMESPACES records"},
	{0, "show-bpf-events", OPT_BOOL, AT(shows_bpf), NULL, "KSYMBOL and BPF_EVENT records"},
	{0, "show-cgroup-events", OPT_BOOL, AT(shows_cgroups), NULL, "CGROUP records"},
	{0, "show-text-poke-events", OPT_BOOL, AT(shows_pokes), NULL, "changes of kernel code"},
	{0, "show-round-events", OPT_BOOL, AT(shows_rounds), NULL, "ends of rounds"},
	{0, NULL, OPT_TITLE, 0, NULL, "How"},
	{0, "per-event-dump", OPT_BOOL, AT(is_split), NULL,
		"write the samples of each event into a file of their own, FILE.EVENT.dump"},
	{'d', "debug-mode", OPT_BOOL, AT(is_checked), NULL,
		"say how many samples are not in the order of time"},
	SYMBOL_FILE_ROWS(script_command),
	STRICT_ROW(struct script_command),
	SYMBOL_NAME_ROWS(script_command),
	SYMBOL_MADE_ROW(script_command),
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL,
		"say where files were looked for, show parameters of C++ functions"},
	{'f', "force", OPT_NOTHING, 0, NULL, "files of any owner are read"},
	{0, "demangle-kernel", OPT_NOTHING, 0, NULL, "the kernel's names are demangled, too"},
	{0, "guest-code", OPT_NOTHING, 0, NULL,
		"guests' code is looked for where it is said to be"},
	{0, "addr2line", OPT_NOTHING, 0, "PATH", "pace reads debug information itself"},
	{0, "objdump", OPT_NOTHING, 0, "PATH", "pace reads instructions itself"},
	TRACE_OPTION("itrace", "HOW", ask_itrace),
	TRACE_OPTION("insn-trace", "HOW", ask_insn_trace),
	TRACE_OPTION("call-trace", "HOW", ask_call_trace),
	TRACE_OPTION("call-ret-trace", "HOW", ask_call_ret_trace),
	{0, "xed", OPT_REFUSED, 0, "HOW",
		"Intel's xed is not started: '-F +insn' prints the bytes of instructions, for 'xed -F insn: -A -64' behind a pipe",
		.flags = OPT_OPTIONAL | OPT_ATTACHED},
	{0, "merge-callchains", OPT_NOTHING, 0, NULL, "deferred chains are records of their own"},
	{0, "unwind-style", OPT_NOTHING, 0, "HOW", "pace unwinds stacks itself"},
	{0, "graph-function", OPT_REFUSED, 0, "NAME,...",
		"it is for decoded instruction traces, which pace has not; -S selects samples by function"},
	{0, "dlfilter", OPT_REFUSED, 0, "FILE",
		"shared objects that know the insides of perf cannot be loaded; -s runs Python scripts"},
	{0, "dlarg", OPT_REFUSED, 0, "ARG", "there is no --dlfilter"},
	{0, "list-dlfilters", OPT_REFUSED, 0, NULL, "there is no --dlfilter; -l lists scripts"},
	{.kind = OPT_END},
};
