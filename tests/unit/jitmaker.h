/*
 * jitmaker.h - jitdumps made by hand, for tests.
 *
 * Out      the file's bytes, in this machine's byte order or the other one
 * Owns     the bytes, until jitmaker_fini()
 */
#ifndef PACE_TESTS_UNIT_JITMAKER_H
#define PACE_TESTS_UNIT_JITMAKER_H

#include "base/str.h"
#include "base/types.h"

struct jitmaker {
	struct str file;
	bool swap;
};

struct jitmaker_line {
	u64 va;
	u32 line;
	const char *file;
};

void jitmaker_init(struct jitmaker *m, bool swap, u64 flags);
void jitmaker_fini(struct jitmaker *m);

void jitmaker_load(struct jitmaker *m, u64 time, u64 index, u64 va, u64 size, const char *name);
void jitmaker_move(struct jitmaker *m, u64 time, u64 index, u64 from, u64 to, u64 size);
void jitmaker_lines(struct jitmaker *m, u64 va, const struct jitmaker_line *lines, size_t n);
/* For the code that comes next: its .eh_frame and its .eh_frame_hdr. */
void jitmaker_unwinding(struct jitmaker *m, const char *frames, size_t n_frames, const char *header,
	size_t n_header);
/* A record without fields that matter, of n bytes. */
void jitmaker_other(struct jitmaker *m, u32 id, size_t n);

#endif
