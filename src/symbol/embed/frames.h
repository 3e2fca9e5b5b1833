/*
 * frames.h - the call frame information of sampled functions, as recordings with stack dumps carry it.
 *
 * In       a file's cfi and the addresses that stacks led through; later the section
 * Out      entries of the section; a cfi that knows these functions, and no others
 * Owns     struct frames: sections with holes, at the addresses of the file
 * Errors   none: what is damaged is not there
 * Threads  frames may be read by any number
 */
#ifndef PACE_SYMBOL_FRAMES_H
#define PACE_SYMBOL_FRAMES_H

#include "symbol/embed/embedder.h"
#include "unwind/cfi.h"

/* For the DSO that was added last: the functions at n ascending addresses. */
void frames_add(struct embedder *e, const struct cfi *cfi, const u64 *at, size_t n);

struct frames {
	struct cfi cfi;
	u8 *sections[2]; /* .eh_frame, .debug_frame; mapped */
	u64 sizes[2];
};

/* False if the recording has nothing of the sort for that DSO. */
bool frames_open(struct frames *f, const struct embedded *e, const struct embedded_dso *d);
void frames_close(struct frames *f);

#endif
