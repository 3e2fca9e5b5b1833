/*
 * record_options.h - the options of 'record'.
 *
 * Owns     the words of events; other strings are argv's
 */
#ifndef PACE_CMD_RECORD_OPTIONS_H
#define PACE_CMD_RECORD_OPTIONS_H

#include "base/opts.h"
#include "cmd/events.h"
#include "collect/open/sampling.h"
#include "collect/record/synth.h"
#include "event/target.h"
#include "collect/record/recorder.h"

enum record_switch_mode {
	RECORD_SWITCH_NEVER,
	RECORD_SWITCH_SIGNAL,
	RECORD_SWITCH_SIZE,
	RECORD_SWITCH_TIME,
};

/* -g, --call-graph */
struct record_callers {
	u64 stack_bytes, max_stack;
	bool has_chains, has_chain_mode, keeps_stacks, has_lbr; /* mode: --call-graph was given */
	bool has_stack_size; /* the size of stack copies was given */
	bool has_only_kernel_chains, has_only_user_chains;
};

/* What samples carry. */
struct record_samples {
	bool has_data, has_data_maps, has_data_source, has_phys, has_data_page, has_code_page,
		has_weight, has_weight_struct, has_transaction, has_raw, has_cpu, has_identifier,
		has_running_time, has_stat;
	int has_timestamps, has_periods; /* -1: the default */
	bool has_any_branch;
	u64 branches;
	u64 intr_regs, user_regs;
	bool lists_intr_regs, lists_user_regs; /* -I? */
	bool has_clock;
	s32 clock;
};

/* What else is recorded or left out; what existed before. */
struct record_besides {
	bool has_namespaces, has_cgroups, has_switches, has_no_bpf;
	bool has_wall;  /* where threads are while they do not run */
	unsigned synth; /* enum synth_what */
	bool is_synthesized_late;
};

/* When to start and to end; what is watched meanwhile. */
struct record_timing {
	const char *delay, *control;
	u64 ring_ns; /* 0: everything is written */
	const char *when;
	double overhead_pct; /* 0: no limit */
	double until_pct;    /* 0: to the end */
	u64 for_ns;          /* 0: to the end */
};

/* Which files are written, and what they hold besides records. */
struct record_files {
	const char *output;
	const char *compat;
	int level; /* of compression; 0: none, -1: the default for what is recorded */
	bool has_time_in_name, has_time_bounds;
	enum record_switch_mode switch_mode;
	u64 switch_size; /* bytes, or ns */
	struct event_words triggers;
	u64 max_files, max_size;
	int no_build_ids; /* -1: the default for these files */
	int no_cache;     /* 0: sampled files are kept in the cache of build-ids */
	bool has_all_build_ids, has_build_id_maps, has_no_embedding, has_no_brief;
};

/* How rings are read. */
struct record_rings {
	const char *pages;
	bool is_overwritten, is_unbuffered;
	u64 flush_bytes, priority;
	enum recorder_affinity affinity;
};

/* Options without effect: -v says what stands in for them. */
struct record_accepted {
	bool has_aio, has_threads, has_kcore, has_debuginfod, has_map_timeout, has_synth_threads;
};

struct record_options {
	struct event_words events; /* first: see cmd/events.h */
	const char *frequency;
	u64 period;
	bool is_strict, has_no_samples, is_one_group, is_all_kernel, is_all_user;
	struct target_words target;
	int no_inherit; /* -1: the default for the target */
	struct record_callers callers;
	struct record_samples samples;
	struct record_besides records;
	struct record_timing timing;
	struct record_files files;
	struct record_rings rings;
	struct record_accepted accepted;
	bool is_dry, is_quiet;
	unsigned verbose;
};

/* The defaults. */
#define RECORD_OPTIONS_DEFAULT                                                                     \
	{                                                                                          \
		.no_inherit = -1, .samples = {.has_timestamps = -1, .has_periods = -1},            \
		.records = {.synth = SYNTH_ALL},                                                   \
		.files = {.output = "perf.data", .level = -1, .no_build_ids = -1, .no_cache = -1}, \
	}

/* The rows, ended by OPT_END; they fill in a struct record_options. */
extern const struct opt record_option_rows[];

/*
 * How often to sample, and what samples carry; `ret` lacks whether a command is measured, and --compat. ERR_INVAL:
 * options that exclude each other.
 */
int record_sampling(const struct record_options *o, struct sampling *ret, struct err *err);

/*
 * -g without a mode records whole stacks. Frame pointers find only the callers of functions that keep them, which leaf
 * functions and C libraries do not; registers and a copy of the stack find the others.
 */
void record_choose_callers(const struct record_options *o, const struct target *target, u64 pages,
	struct sampling *sampling);

/* Logs which options have no effect. ERR_INVAL: options that contradict them. */
int record_check(const struct record_options *o, struct log *log, struct err *err);

/* "30", "30s", "5m"; at least some time. */
int record_parse_time(const char *value, u64 *ret_ns, struct err *err);

/* -m: a number of pages, or of bytes with a unit; rounded up to a power of two. 0: not given. */
int record_parse_pages(const struct record_options *o, u64 *ret_pages, struct err *err);

/* -I? and --user-regs=?: lists the available registers as lines. */
void record_add_registers(const struct record_options *o, struct str *text);

/* Values of options, for opts_parse(): `target` is the struct record_options. */
/* Whether the word is a mode of --call-graph, and not a program to run (-g dwarf). */
bool record_is_chain_mode(const char *word);
int record_set_chains(void *target, const char *value, struct err *err);
int record_set_call_graph(void *target, const char *value, struct err *err);
int record_set_clock(void *target, const char *value, struct err *err);
int record_set_compression(void *target, const char *value, struct err *err);
int record_set_no_compression(void *target, const char *value, struct err *err);
int record_set_branches(void *target, const char *value, struct err *err);
int record_set_intr_regs(void *target, const char *value, struct err *err);
int record_set_user_regs(void *target, const char *value, struct err *err);
int record_set_switch(void *target, const char *value, struct err *err);
int record_set_ring(void *target, const char *value, struct err *err);
int record_set_overhead(void *target, const char *value, struct err *err);
int record_set_until(void *target, const char *value, struct err *err);
int record_set_for(void *target, const char *value, struct err *err);
int record_set_trigger(void *target, const char *value, struct err *err);
int record_set_synth(void *target, const char *value, struct err *err);
int record_set_affinity(void *target, const char *value, struct err *err);
int record_set_max_size(void *target, const char *value, struct err *err);
int record_set_flush(void *target, const char *value, struct err *err);
/* Values without effect; malformed ones are refused all the same. */
int record_accept_aio(void *target, const char *value, struct err *err);
int record_accept_threads(void *target, const char *value, struct err *err);
int record_accept_debuginfod(void *target, const char *value, struct err *err);
int record_accept_map_timeout(void *target, const char *value, struct err *err);
int record_accept_synth_threads(void *target, const char *value, struct err *err);

#endif
