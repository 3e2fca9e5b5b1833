/*
 * annotating.h - what annotate does with a recording before anything is shown of it: options, reading, finding a function.
 *
 * In       options of the command line; a recording
 * Out      functions, counted; what assembly_init() needs to know of each
 * Owns     the recording and all that was made of it, until annotating_fini()
 * Errors   ERR_INVAL for what the user should write differently; else those of profile/check/recorded
 */
#ifndef PACE_CMD_ANNOTATING_H
#define PACE_CMD_ANNOTATING_H

#include "base/log.h"
#include "base/out.h"
#include "cmd/codeoptions.h"
#include "cmd/symbols.h"
#include "event/cpus.h"
#include "profile/code/annotation.h"
#include "profile/code/assembly.h"
#include "profile/gather/blocks.h"
#include "profile/check/recorded.h"
#include "view/code/annotate.h"
#include "view/forms/forms.h"
#include "view/text/colour.h"

/* Of numbers: the option was not given. */
#define ANNOTATE_NOT_SAID UINT64_MAX

struct annotate_command {
	bool is_strict;
	const char *input, *symbol, *dsos, *comms, *cpus;
	struct symbol_options symbols;
	struct code_options code;
	const char *per;
	u64 skid, n_functions, around, n_workers;
	double percent_limit, debuginfod_s;
	struct form_choice forms;
	enum colour_mode colour;
	int browser; /* --tui; -1: not said */
	bool shows_all, is_text, is_forced, is_grouped, is_diff, is_dump;
	bool has_modules, has_kernel_demangled; /* always on */
	bool has_places, has_counts, has_periods, has_full_paths, skips_missing;
	bool is_quiet, has_types, has_code_types, skips_empty;
	bool shows_types, has_type_stat, has_insn_stat; /* each of them: has_types */
	const char *type;                               /* NULL: all types */
	unsigned verbose;
};

/* How far a command came. */
struct annotate_result {
	bool is_open;  /* the options make sense, and the recordings could be opened */
	bool is_whole; /* there were no warnings */
	bool has_lost; /* samples were lost, and --strict is given */
};

/* A recording on its way to the page. */
struct annotating {
	const struct annotate_command *options;
	struct log log;
	struct recorded recorded;
	struct annotation annotation;
	struct blocks blocks;
	struct datanames datanames;
	struct typefiles typefiles;
	struct cpus cpus;
	struct assembly_options assembly;
	struct annotate_options view;
	unsigned n_workers;
};

/* Reads the options and opens the recording. If it fails, nothing is left to be freed. */
int annotating_open(struct annotating *r, const struct annotate_command *options, const char *input,
	struct err *err);

/* Reads the recording and counts its samples by function. */
int annotating_count(struct annotating *r, struct err *err);

/* Finds the functions called `name`. `ret` has room for all functions. */
int annotating_find(const struct annotating *r, const char *name, u32 *ret, size_t *ret_n,
	struct err *err);

/* Under -v: says where the code is from, and what disassembled it. */
void annotating_say_code(struct annotating *r, const struct assembly *a);

/* True if there were no warnings. */
bool annotating_is_whole(const struct annotating *r);

/* Reports lost samples under --strict; true if there are any. */
bool annotating_has_lost(const struct annotating *r);

void annotating_fini(struct annotating *r);

#endif
