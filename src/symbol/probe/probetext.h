/*
 * probetext.h - reads the definition of a probe: where it is, and what it records.
 *
 *     [[GROUP:]EVENT=]FUNC[@FILE][:LINE|+OFFSET|%return|;PATTERN] [ARG...]
 *     [[GROUP:]EVENT=]FILE:LINE [ARG...]    FILE;PATTERN    0xADDRESS
 *     %[sdt_]PROVIDER:NAME    sdt_PROVIDER:NAME
 *     ARG: [NAME=]VARIABLE[.MEMBER|->MEMBER|[N]]...[:TYPE][@user]    $vars    $params
 *          [NAME=]%REG|$retval|$stackN|$comm|@ADDRESS|+N(...)|\N[:TYPE], as the kernel has it
 *
 * FUNC may have scopes (ns::f), templates (f<int>) and wildcards. LINE counts from the function's.
 *
 * Owns     its strings and lists, until probetext_fini()
 * Errors   ERR_INVAL with the word that makes no sense
 * Source   perf-probe(1); Documentation/trace/{k,u}probetracer.rst
 */
#ifndef PACE_SYMBOL_PROBETEXT_H
#define PACE_SYMBOL_PROBETEXT_H

#include "base/err.h"
#include "base/mem.h"
#include "base/types.h"
#include "base/vec.h"

struct probe_member {
	const char *name; /* NULL: an element of an array */
	u64 index;
	bool is_arrow; /* written with -> */
};

enum probe_arg_kind {
	PROBE_ARG_VARIABLE,
	PROBE_ARG_KERNEL, /* the kernel's own notation: `text` */
	PROBE_ARG_VARS,   /* $vars: all variables there */
	PROBE_ARG_PARAMS, /* $params: the parameters of the function */
};

struct probe_arg {
	enum probe_arg_kind kind;
	const char *name; /* NULL: not given */
	const char *text; /* the variable's name, or the kernel's notation */
	const char *type; /* NULL: not given */
	VEC(struct probe_member) members;
};

struct probe_text {
	const char *given;           /* all of it */
	const char *group, *event;   /* NULL: not given */
	const char *function, *file; /* NULL: not given */
	const char *pattern;         /* lines that contain it; NULL: none */
	const char *provider, *mark; /* of a marker in the program; mark NULL: it is none */
	u64 line, offset, address;
	bool has_line, has_offset, has_address, is_return;
	VEC(struct probe_arg) args;
	struct arena texts;
};

/* Lines to show: FUNC[@FILE][:FROM[+MORE|-TO]] counts from the function, FILE[:FROM[+MORE|-TO]] from the file's start. */
struct probe_lines {
	const char *function, *file; /* NULL: not given */
	u64 from, to;                /* both are shown; to 0: as far as is useful */
	struct arena texts;
};

int probetext_parse(struct probe_text *t, const char *text, struct err *err);
void probetext_fini(struct probe_text *t);

int probelines_parse(struct probe_lines *l, const char *text, struct err *err);
void probelines_fini(struct probe_lines *l);

/* Whether an argument needs debug information. */
bool probetext_needs_variables(const struct probe_text *t);

#endif
