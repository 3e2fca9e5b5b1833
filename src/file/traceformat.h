/*
 * traceformat.h - whether a tracepoint's format is safe to give to libtraceevent.
 *
 * Formats come from the kernel, which writes them all alike. On some that differ, libtraceevent's parser
 * follows null pointers; it also divides by constants that are 0.
 * In       text that ends with a NUL, from a recording
 * Errors   none: it is a format, or not
 * Source   /sys/kernel/tracing/events/SYSTEM/EVENT/format
 */
#ifndef PACE_FILE_TRACEFORMAT_H
#define PACE_FILE_TRACEFORMAT_H

#include "base/types.h"

enum {
	/*
	 * The parser recurses for each operator, and overflows an 8 MiB stack at 24,000. The
	 * largest of the kernel's formats have 1,500.
	 */
	TRACEFORMAT_OPERATORS = 4096,
};

/* Whether n characters are a format. *ret_print: the start of its print line, within `text`. */
bool traceformat_is_one(const char *text, size_t n, const char **ret_print);

/* Whether a print line can be parsed safely. */
bool traceformat_is_printable(const char *print);

#endif
