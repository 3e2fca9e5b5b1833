/*
 * symbols.h - the options of all commands that name functions: where names come from, how they look.
 *
 *     --symfs DIR   -k, --vmlinux FILE   --kallsyms FILE   --ignore-vmlinux
 *     --guestmount DIR   --guestvmlinux FILE   --guestkallsyms FILE   --guestmodules FILE
 *     --no-demangle   --parameters   --compact-names   --no-unnamed-functions
 *
 * A command's struct of options has a member `symbols`, and its table has SYMBOL_FILE_ROWS and
 * SYMBOL_NAME_ROWS.
 */
#ifndef PACE_CMD_SYMBOLS_H
#define PACE_CMD_SYMBOLS_H

#include "base/opts.h"
#include "profile/check/recorded.h"
#include "symbol/resolve/resolver.h"

struct symbol_options {
	const char *symfs, *vmlinux, *kallsyms;
	struct guest_files guest;
	bool ignores_vmlinux, is_compact, has_parameters;
	int demangles;   /* set to true before parsing */
	int makes_names; /* likewise */
};

/* clang-format off: rows of option tables */
#define SYMBOL_ROW_AT(type, member) offsetof(struct type, symbols.member)
#define SYMBOL_FILE_ROWS(type)                                                              \
	{0, "symfs", OPT_STR, SYMBOL_ROW_AT(type, symfs), "DIR",                            \
		"look for recorded files below DIR; DIR,flat: in DIR by name"},             \
		{'k', "vmlinux", OPT_STR, SYMBOL_ROW_AT(type, vmlinux), "FILE",             \
			"take the kernel's functions from this ELF file"},                  \
		{0, "kallsyms", OPT_STR, SYMBOL_ROW_AT(type, kallsyms), "FILE",             \
			"take the kernel's functions from this copy of /proc/kallsyms"},    \
		{0, "ignore-vmlinux", OPT_BOOL, SYMBOL_ROW_AT(type, ignores_vmlinux), NULL, \
			"do not look for a vmlinux"},                                       \
		{0, "guestmount", OPT_STR, SYMBOL_ROW_AT(type, guest.mount), "DIR",         \
			"DIR/PID is the root folder of the guest that process PID runs"},   \
		{0, "guestvmlinux", OPT_STR, SYMBOL_ROW_AT(type, guest.vmlinux), "FILE",    \
			"take guests' kernel functions from this ELF file"},                \
		{0, "guestkallsyms", OPT_STR, SYMBOL_ROW_AT(type, guest.kallsyms), "FILE",  \
			"take them from this copy of the guest's /proc/kallsyms"},          \
	{                                                                                   \
		0, "guestmodules", OPT_STR, SYMBOL_ROW_AT(type, guest.modules), "FILE",     \
			"and its modules from this copy of /proc/modules"                   \
	}
#define SYMBOL_FETCH_ROW(type)                                                                             \
	{                                                                                                  \
		0, "debuginfod", OPT_DOUBLE, offsetof(struct type, debuginfod_s), "SECONDS",               \
			"fetch missing files (DEBUGINFOD_URLS) for at most SECONDS; default 10, 0: never", \
			.max = 86400                                                                       \
	}
#define SYMBOL_NAME_ROWS(type)                                                         \
	{0, "demangle", OPT_TRI, SYMBOL_ROW_AT(type, demangles), NULL,                 \
		"show names as in the source (default) or as in the file"},            \
		{0, "parameters", OPT_BOOL, SYMBOL_ROW_AT(type, has_parameters), NULL, \
			"show parameters of C++ functions, as perf 7.2 and -v do"},    \
	{                                                                              \
		0, "compact-names", OPT_BOOL, SYMBOL_ROW_AT(type, is_compact), NULL,   \
			"fold template arguments: f<...>"                              \
	}
/* For commands that show functions rather than addresses. */
#define SYMBOL_MADE_ROW(type)                                                                     \
	{                                                                                         \
		0, "unnamed-functions", OPT_TRI, SYMBOL_ROW_AT(type, makes_names), NULL,          \
			"show stripped code by function, as fun_ADDRESS (default), or by address" \
	}
/* clang-format on */

/* Flags for demangle(); verbose names have their parameters. */
unsigned symbol_options_style(const struct symbol_options *o, unsigned verbose);

/* Opens a trace so that names are looked for where the options say. */
struct trace_options symbol_options_trace(const struct symbol_options *o);

/* The folder of --symfs DIR[,flat|,hierarchy]; flat: files lie in it, not below it at their paths. */
const char *symbol_symfs(const char *said, bool *ret_is_flat);

/* The same for a whole profile; servers may take `servers_s` seconds. */
void symbol_options_tell(const struct symbol_options *o, double servers_s,
	struct recorded_options *reading);

/*
 * Called around the lookup of names: asks the servers of DEBUGINFOD_URLS, all at the same time and for at most
 * `seconds`, for the files of DSOs that are missing here and have a share of the samples. A terminal shows the
 * progress, and Ctrl-C continues without the rest (struct recorded_options). `shares`: by DSO id.
 */
void symbol_servers_begin(struct resolver *r, double seconds, const double *shares);
void symbol_servers_end(struct resolver *r);

#endif
