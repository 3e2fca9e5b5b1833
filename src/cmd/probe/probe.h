/*
 * probe.h - the parts of `pace probe`: what was asked, and what does it.
 *
 * Errors   one sentence each, as cmd_fail() prints them
 */
#ifndef PACE_CMD_PROBE_H
#define PACE_CMD_PROBE_H

#include "base/opts.h"
#include "base/out.h"
#include "symbol/probe/probefile.h"
#include "symbol/probe/probeline.h"

struct probe_asked {
	struct opt_list adds, definitions, deletes;
	const char *lines, *variables; /* -L, -V */
	const char *list, *functions;  /* -l, -F: "" without a pattern; NULL: not asked */
	const char *filter;
	const char *program, *vmlinux, *module, *sources;
	const char *symfs; /* files that are probed have their symbols below it; NULL: no */
	u64 most, target_pid;
	int inlines;
	int demangles;
	bool is_dry, is_quiet, is_forced, has_externs, has_ranges;
	bool is_bootconfig; /* definitions as the kernel's boot configuration has them */
	bool lists_cache;   /* with -l: what the build-id cache has to probe */
	unsigned verbosity;
};

/* The file that -x, -m and -k name. *ret_has: whether there is one; the kernel can be probed without. */
int probe_open_file(const struct probe_asked *o, struct probe_file *f, bool *ret_has,
	struct err *err);

/* Defines probes: those of -a and -D. */
int probe_add(const struct probe_asked *o, struct out *out, struct err *err);

int probe_show_variables(const struct probe_asked *o, struct out *out, struct err *err);
int probe_show_lines(const struct probe_asked *o, struct out *out, struct err *err);
int probe_show_functions(const struct probe_asked *o, struct out *out, struct err *err);

/* Whether a word fits a filter: globs with !, &, |, and brackets. NULL fits everything. */
bool probe_fits_filter(const char *filter, const char *word);

#endif
