/*
 * report_options.h - report: its options, as given.
 *
 * In       argv, by base/opts
 * Out      struct report_options
 * Owns     nothing but the list of --fail-if
 * Errors   ERR_INVAL names the word
 */
#ifndef PACE_CMD_REPORT_OPTIONS_H
#define PACE_CMD_REPORT_OPTIONS_H

#include "base/opts.h"
#include "cmd/codeoptions.h"
#include "cmd/report/report_answer.h"
#include "cmd/graphwords.h"
#include "cmd/report/report_keys.h"
#include "cmd/fleetinput.h"
#include "cmd/symbols.h"
#include "profile/gather/filter.h"
#include "profile/check/recorded.h"
#include "view/text/colour.h"

struct report_options {
	const char *input;
	const char *at;         /* a window of a store; NULL: a file is read */
	const char *input_name; /* what messages call the input; NULL: its path */
	enum colour_mode colour;
	struct keys_options keys;
	struct symbol_options symbols;
	struct code_options code; /* of the screen that shows code */
	struct graph_options graph;
	const char *cpus, *pids, *tids, *time, *parallelisms, *part, *widths;
	struct profile_filter filter;
	struct switching_options switching;
	const char *forgotten; /* functions whose callees count for them; NULL: none */
	bool is_inverted, has_header, has_header_only, has_details, is_quiet, has_ledger, is_strict;
	bool is_dump, is_stats, is_tasks, is_mmaps;
	bool has_thread_counts, has_ns;
	bool is_forced; /* no effect: files of any owner are read */
	u64 socket;     /* UINT64_MAX: all */
	u64 n_kept;     /* an option of perf's browser; no effect */
	struct answer_options answer;
	bool is_text; /* --stdio: plain text, also where --tui is given */
	int browser;  /* --tui; -1: on terminals */
	int children;
	double percent_limit;
	bool has_full_paths, stitches;
	bool lends_callers; /* --show-ref-call-graph */
	int inlines, wall;  /* -1: as the recording was made */
	u64 n_workers, max_stack;
	double debuginfod_s;
	u64 time_quantum;
	unsigned verbose;
};

/* Which samples: of all commands whose options begin with struct report_options. */
/* clang-format off: rows of option tables */
#define REPORT_AT(member) offsetof(struct report_options, member)
#define REPORT_SAMPLE_ROWS                                                                                        \
	{'C', "cpu", OPT_STR, REPORT_AT(cpus), "LIST",                                                            \
		"only samples on these CPUs, like 0-3,8; thread names are taken as --comms"},                     \
		{0, "socket-filter", OPT_U64, REPORT_AT(socket), "N",                                             \
			"only samples on processor socket N", .max = UINT16_MAX},                                 \
		AT_ROW(struct report_options),                                                                    \
		{0, "time", OPT_STR, REPORT_AT(time), "SPAN,...",                                                 \
			"only samples of this time: FROM,TO in seconds, 10%-20%, or 10%/2 for the second tenth"}, \
		{0, "switch-on", OPT_STR, REPORT_AT(switching.on), "EVENT",                                       \
			"only samples after one of EVENT"},                                                       \
		{0, "switch-off", OPT_STR, REPORT_AT(switching.off), "EVENT",                                     \
			"only samples before one of EVENT, and again after --switch-on"},                         \
		{0, "show-on-off-events", OPT_BOOL, REPORT_AT(switching.shows_switches), NULL,                    \
			"also the samples that switch on or off"},                                                \
		{0, "pid", OPT_STR, REPORT_AT(pids), "PID,...",                                                   \
			"only samples of these processes"},                                                       \
		{0, "tid", OPT_STR, REPORT_AT(tids), "TID,...", "only samples of these threads"},                 \
		{0, "parallelism", OPT_STR, REPORT_AT(parallelisms), "LIST",                                      \
			"only samples taken while so many threads ran, like 1,4-8"},                              \
		{'c', "comms", OPT_STR, REPORT_AT(filter.comms), "COMM,...",                                      \
			"only samples of threads with these names"},                                              \
		{'d', "dsos", OPT_STR, REPORT_AT(filter.dsos), "DSO,...",                                         \
			"only samples in these files"},                                                           \
		{'S', "symbols", OPT_STR, REPORT_AT(filter.symbols), "NAME,...",                                  \
			"only samples in these functions"},                                                       \
	{                                                                                                         \
		'U', "hide-unresolved", OPT_BOOL, REPORT_AT(filter.has_names), NULL,                              \
			"leave out samples in code without a known function; shares are of the rest"              \
	}
#define REPORT_MAX_STACK_ROW                                                                                  \
	{                                                                                                     \
		0, "max-stack", OPT_U64, REPORT_AT(max_stack), "N",                                           \
			"keep at most N addresses of a call chain, starting at the sampled one; default 127", \
			.min = 1, .max = UINT16_MAX                                                           \
	}
#define REPORT_INLINE_ROW                                                                   \
	{                                                                                   \
		0, "inline", OPT_TRI, REPORT_AT(inlines), NULL,                             \
			"with inlined functions (default where there is debug information)" \
	}
/* Where names come from: what all other commands end with. */
#define REPORT_NAME_ROWS                                                                      \
	{0, NULL, OPT_TITLE, 0, NULL, "Names"}, SYMBOL_FILE_ROWS(report_options),             \
		SYMBOL_FETCH_ROW(report_options), SYMBOL_NAME_ROWS(report_options),           \
		SYMBOL_MADE_ROW(report_options),                                              \
		{'v', "verbose", OPT_COUNT, REPORT_AT(verbose), NULL,                         \
			"say where files were looked for, show parameters of C++ functions"}, \
	{                                                                                     \
		'j', "threads", OPT_U64, REPORT_AT(n_workers), "N",                           \
			"use N threads; default all cores", .min = 1, .max = WORKERS_MAX      \
	}
/* clang-format on */

extern const struct opt report_option_table[];

/* The defaults. */
void report_options_init(struct report_options *o);
/* Copies options that concern several stages to each of them. */
void report_options_settle(struct report_options *o);
void report_options_fini(struct report_options *o);

#endif
