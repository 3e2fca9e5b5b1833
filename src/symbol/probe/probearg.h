/*
 * probearg.h - a variable at a place of code, as the kernel's probes fetch it: key=%si:s32, n=+0(-40(%bp)):x32.
 *
 * In       a spot; an argument as it was typed
 * Out      the argument in the kernel's notation, with its type
 * Owns     nothing: texts are appended to the caller's
 * Errors   ERR_NOENT: there is no such variable or member (with the nearest one), or it is optimized out here;
 *          ERR_UNSUPPORTED: its value would have to be computed, which the kernel's probes cannot
 * Source   DWARF 5, 2.5 and 2.6 (expressions, locations); Documentation/trace/uprobetracer.rst
 */
#ifndef PACE_SYMBOL_PROBEARG_H
#define PACE_SYMBOL_PROBEARG_H

#include "symbol/probe/probepoint.h"

/* Appends " NAME=FETCH:TYPE" for each variable that the argument stands for. */
int probearg_add(struct probe_file *f, const struct probe_spot *spot, const struct probe_arg *arg,
	struct str *text, struct err *err);

struct probe_variable {
	const char *name;
	Dwarf_Die type; /* addr NULL: unknown */
	Dwarf_Die entry;
	bool is_parameter, is_global;
};

typedef VEC(struct probe_variable) probe_variables;

/*
 * The variables that a probe there can name, outer ones first; also globals of the unit, on request. With
 * `every`, those that have no place there, too.
 */
void probearg_list(struct probe_file *f, const struct probe_spot *spot, bool globals, bool every,
	probe_variables *ret);

/* Whether a variable has a place at the spot. */
bool probearg_is_there(struct probe_file *f, const struct probe_spot *spot, Dwarf_Die *variable);

#endif
