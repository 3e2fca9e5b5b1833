/*
 * bycode.h - finds a caller without call frame information, by the function's code and by frame pointers.
 *
 * In       a walk, and the code around its instruction
 * Out      the walk, moved to the caller, if the address found follows a call instruction
 * Errors   false: nothing was found; the walk is unchanged, except that has_missed_above says whether
 *          bycode_step() would have needed a larger dump
 */
#ifndef PACE_UNWIND_BYCODE_H
#define PACE_UNWIND_BYCODE_H

#include "unwind/walk.h"

/*
 * Steps out of a function that was interrupted in its prologue or epilogue, where its own code shows the way.
 */
bool bycode_edge(struct walk *w, bool is_end_only);
/* Whether this code is the function that the kernel starts programs in, which has no caller. */
bool bycode_is_entry(const struct walk *w, u64 ip);

/*
 * Whether a known function begins at this address and no function before it ends with a call. A return
 * address like this was planted (V8 leaves deoptimized code this way).
 */
bool bycode_is_start(const struct walk *w, u64 ip);

/* Whether the code that is returned to ends the thread, so that it has no caller. */
bool bycode_is_last(const struct walk *w);

/* Steps from a function whose start was planted as a return address: the frame pointer is the caller's. */
bool bycode_by_frame_pointer(struct walk *w);

/* Steps up by any of the ways above. `is_return`: the function is suspended in a call. */
bool bycode_step(struct walk *w, bool is_return);

#endif
