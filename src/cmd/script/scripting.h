/*
 * scripting.h - what the parts of `pace script` share: its options, and the run over one recording.
 */
#ifndef PACE_CMD_SCRIPTING_H
#define PACE_CMD_SCRIPTING_H

#include "base/namelist.h"
#include "base/num.h"
#include "base/out.h"
#include "cmd/cmd.h"
#include "cmd/script/runner.h"
#include "cmd/symbols.h"
#include "profile/check/ledger.h"
#include "trace/follow.h"
#include "trace/where.h"
#include "view/records/script.h"

struct script_command {
	bool is_strict, is_list, is_system_wide;
	const char *input, *comms, *pids, *tids, *cpus, *time;
	const char *names, *dsos, *stops; /* -S, --dsos, --stop-bt */
	u64 address_range;                /* --addr-range; 0: none */
	const char *on, *off;             /* --switch-on, --switch-off */
	bool shows_switching;
	struct symbol_options symbols;
	struct opt_list fields;
	struct script_options print;
	const char *script;  /* -s; NULL: samples are printed */
	const char *starter; /* -g; NULL: none */
	char **script_args;  /* NULL-terminated */
	const char *traces;  /* the option that asks for a decoded instruction trace; NULL: none */
	bool stitches, is_split, is_checked;
	bool has_header, has_header_only, has_details, is_json, is_dump, is_dump_in_file_order;
	bool shows_tasks, shows_mmaps, shows_switches, shows_lost, shows_namespaces, shows_bpf,
		shows_cgroups, shows_pokes, shows_rounds;
	int inlines;
	u64 max_stack, max_blocks;
	unsigned verbose;
};

extern const struct opt script_command_options[];

/* Samples chosen by where they are and when: -S, --dsos, --switch-on and --switch-off. */
struct script_choice {
	struct name_list names, dsos;
	VEC(u64) addresses;   /* of -S */
	u64 range;            /* --addr-range */
	const char *on, *off; /* names of events; NULL: none */
	bool is_off, shows_switching;
};

/* Files of --per-event-dump, by event. */
struct script_split {
	VEC(struct out *) outs;
	VEC(u64) n_samples;
	const char *path; /* the recording's */
	u64 n_written;
};

/* Counts of `stat record`, which are no samples. */
struct script_count {
	u32 event;
	s32 cpu;
	u32 thread; /* its number in the recording */
	u64 value, enabled_ns, running_ns;
};

struct script_counts {
	VEC(struct script_count) at; /* of the moment that has not ended yet */
	VEC(s32) tids;               /* of the recording's threads */
	bool has_head;               /* a moment was printed */
	u64 n_lines;                 /* that could have been printed so far */
};

struct scripting {
	const struct script_command *options;
	struct log log;
	struct trace trace;
	struct script script;
	struct tracepoints tracepoints;
	struct ledger ledger;
	struct spans spans;
	struct cpus cpus;
	struct num_list pids, tids;
	struct name_list comms, stops;
	struct script_choice choice;
	struct script_split split;
	struct script_counts counts;
	struct script_runner runner; /* -s */
	struct trace_where where;    /* of spans, cpus, pids and tids */
	bool has_all;                /* `where` has all samples */
	u64 latest, n_misordered;    /* -d */
	struct intern strings;
	struct out out;
};

/* Prints a record that is not a sample, if an option asks for its type. */
void script_take_record(struct scripting *s, const struct visit *v);

/* Takes a record of `stat record`; the one that ends a moment prints its counts. Does nothing with other records. */
int script_take_counts(struct scripting *s, const struct record *rec, struct err *err);
void script_counts_fini(struct script_counts *c);

int script_choice_init(struct script_choice *c, const struct script_command *o,
	const struct event_list *events, struct err *err);
void script_choice_fini(struct script_choice *c);

/* per sample: samples must come in the order of time */
bool script_choice_has(struct script_choice *c, struct script *s, struct visit *v);

/* Where the text of a sample of this event goes; NULL: its file cannot be made, *err says why. */
struct out *script_split_out(struct script_split *p, const struct event_list *events, u32 event,
	struct err *err);

/* Closes the files, and tells of each what it got. */
int script_split_end(struct script_split *p, struct str *text, struct err *err);
void script_split_fini(struct script_split *p);

#endif
