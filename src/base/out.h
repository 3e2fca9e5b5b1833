/*
 * out.h - a command's output, buffered for a file descriptor.
 *
 * Write to out->text with the str functions and call out_flush_some() now and then; out_close()
 * tells whether every byte arrived, so that a full disk is an error and not a short report.
 *
 * Owns     the buffer; not the descriptor
 */
#ifndef PACE_BASE_OUT_H
#define PACE_BASE_OUT_H

#include "base/err.h"
#include "base/str.h"

struct out {
	const char *name; /* of the file, for errors; NULL: it is the output */
	int fd;
	int sys; /* errno of the first write that failed; nothing is written after it */
	struct str text;
};

/* Writes the buffer; out_flush_some() does so only if it holds 64 KiB or more. */
void out_flush(struct out *o);
void out_flush_some(struct out *o);
int out_close(struct out *o, struct err *err);

/*
 * Text for standard output goes to `write`, which returns 0 or an errno; NULL: to the descriptor, as always. After EPIPE
 * the reader has had enough: nothing more is written, and out_close() does not fail.
 */
void out_route(int (*write)(const char *text, size_t n));

#endif
