/*
 * traceformat.h - whether the text of a tracepoint's format is one that libtraceevent can be given.
 *
 * Formats come from the kernel, which writes them all alike. libtraceevent's parser follows null
 * pointers in some that are not so, and divides by constants that are 0.
 * In       text that ends with a NUL, from a recording
 * Errors   none: it is one, or not
 * Source   /sys/kernel/tracing/events/SYSTEM/EVENT/format
 */
#ifndef PACE_FILE_TRACEFORMAT_H
#define PACE_FILE_TRACEFORMAT_H

#include "base/types.h"

enum {
	/*
	 * The parser calls itself for each of them, and ends the program when the stack is full: at
	 * 24,000 with the usual 8 MiB. The largest of the kernel's formats have 1,500.
	 */
	TRACEFORMAT_OPERATORS = 4096,
};

/* n characters: a format. *ret_print: where its print line begins, in `text`. */
bool traceformat_is_one(const char *text, size_t n, const char **ret_print);

/* A print line that can be parsed. */
bool traceformat_is_printable(const char *print);

#endif
