/*
 * tsx_command.h - the parts of 'pace tsx': its options, the report of recordings, and the steps of the whole way.
 */
#ifndef PACE_CMD_TSX_COMMAND_H
#define PACE_CMD_TSX_COMMAND_H

#include "base/opts.h"
#include "cmd/cmd.h"
#include "cmd/symbols.h"
#include "view/forms/forms.h"
#include "view/memory/txreport.h"

struct tsx_command {
	const char *input; /* NULL: none was named */
	struct symbol_options symbols;
	double debuginfod_s;
	struct txreport_options view;
	u64 n_branches;
	struct form_choice forms;
	unsigned verbose;
	/* of the steps */
	const char *output; /* a folder, or of 'record' a file; NULL: none was named */
	const char *pids;
	bool is_system_wide, shows;
};

/* Prints what files of counts and of samples say together; the exit status. */
int tsx_report(const struct tsx_command *o, const char *const *files, size_t n);

/* Measures the command step by step; the exit status. */
int tsx_run_steps(const struct tsx_command *o, char **command, int n);

/* 'pace record' with the options that aborts need. */
int tsx_run_record(const struct tsx_command *o, char **words, int n);

#endif
