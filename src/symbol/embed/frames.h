/*
 * frames.h - the call frame information of sampled functions, as recordings with stack dumps contain it.
 *
 * In       a file's cfi and the addresses that stacks led through; later the section
 * Out      entries of the section; a cfi that has these functions and no others
 * Owns     struct frames: sections with holes, at the addresses of the file
 * Errors   none: damaged entries count as absent
 * Threads  frames may be read by any number
 */
#ifndef PACE_SYMBOL_FRAMES_H
#define PACE_SYMBOL_FRAMES_H

#include "symbol/embed/embedder.h"
#include "unwind/cfi.h"

/* Adds the functions at n ascending addresses to the DSO that was added last. */
void frames_add(struct embedder *e, const struct cfi *cfi, const u64 *at, size_t n);

struct frames {
	struct cfi cfi;
	u8 *sections[2]; /* .eh_frame, .debug_frame; mapped */
	u64 sizes[2];
};

/* Returns false if the recording has no call frame information of that DSO. */
bool frames_open(struct frames *f, const struct embedded *e, const struct embedded_dso *d);
void frames_close(struct frames *f);

#endif
