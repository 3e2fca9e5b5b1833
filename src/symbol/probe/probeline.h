/*
 * probeline.h - a probe as it is defined in the kernel: event names, places, arguments.
 *
 * In       what was typed (probetext), an open file; or no file, for functions of the kernel by name
 * Out      lines for uprobe_events or kprobe_events; a place in words
 * Owns     the lines, until probelist_fini()
 * Errors   of probepoint and probearg; ERR_INVAL: an offset is not the start of an instruction
 * Source   Documentation/trace/uprobetracer.rst; names are perf's: probe_PROGRAM:FUNCTION, __return
 */
#ifndef PACE_SYMBOL_PROBELINE_H
#define PACE_SYMBOL_PROBELINE_H

#include "symbol/probe/probepoint.h"

struct probe_line {
	bool is_return;
	const char *group, *event; /* the event without a number that makes it unique */
	const char *place;         /* FILE:0xOFFSET, or [MODULE:]FUNCTION+OFFSET */
	const char *args;          /* "" or " a=%di:s32 ..." */
	const char *words;         /* the place as it was typed, and the names of the arguments */
	u64 offset; /* of the probed code in the file, and of its semaphore; 0: none */
	u64 semaphore;
};

struct probe_list {
	VEC(struct probe_line) at;
	struct str notes; /* what else is to be said, one sentence a line */
	struct arena texts;
};

struct probe_options {
	unsigned flags;     /* enum probepoint_flag */
	u64 most;           /* places of one probe; 0: no limit */
	bool is_forced;     /* also where no instruction begins */
	const char *module; /* of the kernel; NULL: the kernel itself */
};

/* f NULL: a function of the running kernel, of which only names are known. */
int probelist_make(struct probe_file *f, const struct probe_text *t, const struct probe_options *o,
	struct probe_list *ret, struct err *err);
void probelist_fini(struct probe_list *l);

/* Adds the whole definition, with the event called `event`. */
void probeline_add(const struct probe_line *l, const char *event, struct str *text);

/* Adds a place in words: FUNCTION[:LINE|+OFFSET]@SOURCE. False: nothing is known of it. */
bool probeline_add_place(struct probe_file *f, u64 offset, bool is_return, struct str *text);

/* The group of events in a program: probe_PROGRAM. */
void probeline_add_group(const char *path, struct str *text);

#endif
