/*
 * symbols.h - the options of all commands that name functions: where names come from, how they look.
 *
 *     --symfs DIR   -k, --vmlinux FILE   --kallsyms FILE   --ignore-vmlinux
 *     --guestmount DIR   --guestvmlinux FILE   --guestkallsyms FILE   --guestmodules FILE
 *     --no-demangle   --compact-names   --no-unnamed-functions
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
	bool ignores_vmlinux, is_compact;
	int demangles;   /* set to true before parsing */
	int makes_names; /* the same */
};

/* clang-format off: rows of option tables */
#define SYMBOL_ROW_AT(type, member) offsetof(struct type, symbols.member)
#define SYMBOL_FILE_ROWS(type)                                                              \
	{0, "symfs", OPT_STR, SYMBOL_ROW_AT(type, symfs), "DIR",                            \
		"look for the recorded files below DIR"},                                   \
		{'k', "vmlinux", OPT_STR, SYMBOL_ROW_AT(type, vmlinux), "FILE",             \
			"take the kernel's functions from this ELF file"},                  \
		{0, "kallsyms", OPT_STR, SYMBOL_ROW_AT(type, kallsyms), "FILE",             \
			"take them from this copy of /proc/kallsyms"},                      \
		{0, "ignore-vmlinux", OPT_BOOL, SYMBOL_ROW_AT(type, ignores_vmlinux), NULL, \
			"do not look for a vmlinux"},                                       \
		{0, "guestmount", OPT_STR, SYMBOL_ROW_AT(type, guest.mount), "DIR",         \
			"DIR/PID is the root folder of the guest that process PID runs"},   \
		{0, "guestvmlinux", OPT_STR, SYMBOL_ROW_AT(type, guest.vmlinux), "FILE",    \
			"take guests' kernel functions from this ELF file"},                \
		{0, "guestkallsyms", OPT_STR, SYMBOL_ROW_AT(type, guest.kallsyms), "FILE",  \
			"take them from this copy of a guest's /proc/kallsyms"},            \
	{                                                                                   \
		0, "guestmodules", OPT_STR, SYMBOL_ROW_AT(type, guest.modules), "FILE",     \
			"and this copy of its /proc/modules"                                \
	}
#define SYMBOL_NAME_ROWS(type)                                                       \
	{0, "demangle", OPT_TRI, SYMBOL_ROW_AT(type, demangles), NULL,               \
		"names as in the source (default), or as in the file"},              \
	{                                                                            \
		0, "compact-names", OPT_BOOL, SYMBOL_ROW_AT(type, is_compact), NULL, \
			"fold template arguments: f<...>"                            \
	}
/* Of those that show functions rather than addresses. */
#define SYMBOL_MADE_ROW(type)                                                                \
	{                                                                                    \
		0, "unnamed-functions", OPT_TRI, SYMBOL_ROW_AT(type, makes_names), NULL,     \
			"stripped code by function, as fun_ADDRESS (default), or by address" \
	}
/* clang-format on */

/* What demangle() wants to know; verbose names have their parameters. */
unsigned symbol_options_style(const struct symbol_options *o, unsigned verbose);

/* How a trace is opened so that names are looked for where the options say. */
struct trace_options symbol_options_trace(const struct symbol_options *o);

/* The same for a whole profile; servers are asked for so many seconds. */
void symbol_options_tell(const struct symbol_options *o, double servers_s,
	struct recorded_options *reading);

/*
 * While names are looked up: servers are asked (DEBUGINFOD_URLS) for what of the DSOs is missing here
 * and has a share of the samples, all at the same time, for so many seconds. A terminal sees how far
 * that is, and Ctrl-C goes on without what has not come. `shares` by DSO id.
 */
void symbol_servers_begin(struct resolver *r, double seconds, const double *shares);
void symbol_servers_end(struct resolver *r);

#endif
