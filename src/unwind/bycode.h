/*
 * bycode.h - a caller without call frame information: by what the code itself does, and by frame
 * pointers.
 *
 * In       a walk, code around its instruction
 * Out      the walk in the caller, where what was found is behind a call
 * Errors   false: nothing is known; the walk is as it was, but that has_missed_above says whether a
 *          larger dump would have helped bycode_step()
 */
#ifndef PACE_UNWIND_BYCODE_H
#define PACE_UNWIND_BYCODE_H

#include "unwind/walk.h"

/* A function that was interrupted where its own code says how to get out of it. */
bool bycode_edge(struct walk *w, bool is_end_only);
/* Whether the kernel starts programs in the function that has this code: nobody called it. */
bool bycode_is_entry(const struct walk *w, u64 ip);

/*
 * Whether a known function begins at an address, and none ends before it with a call: who returns there was
 * made to (V8 leaves code that it has deoptimized so).
 */
bool bycode_is_start(const struct walk *w, u64 ip);

/* Whether whoever is returned to there ends the thread: nobody called it. */
bool bycode_is_last(const struct walk *w);

/* Of who was made to return to a function's start, the frame pointer is the caller's. */
bool bycode_by_frame_pointer(struct walk *w);

/* By whatever is there. `is_return`: the function has called somebody. */
bool bycode_step(struct walk *w, bool is_return);

#endif
